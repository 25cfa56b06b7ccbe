import { AskingContext } from '../hooks/asking-context.js'
import type { AskingState, EffectFacts } from '../hooks/asking-context.js'
import type { ErrorSnapshot, ToolInfo } from '../hooks/hook-contexts.js'
import type { EffectOutcome, Receipt, Sent } from '../hooks/receipt.js'
import { digest } from '../internal/digest.js'
import type { JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'
import type { Usage } from '../messages/usage.js'
import type { ModelReply } from '../providers/model-provider.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { ModelFacts } from './effect-contexts.js'
import { frozenReceipt } from './frozen-receipt.js'
import type { RoundCall } from './round-call.js'

/** How an attempt ended. */
export interface Closed {
  /** Behind the signal of the context. */
  readonly state: AskingState
  readonly receipt: Receipt
  readonly outcome: EffectOutcome
  readonly sent: Sent
  readonly durationMs: number
  readonly error: ErrorSnapshot | null
}

/** What closing observers are told: the facts of the asking, and how the attempt ended. Subclasses freeze it. */
export class ClosingContext extends AskingContext {
  readonly outcome: EffectOutcome
  readonly sent: Sent
  readonly durationMs: number
  readonly error: ErrorSnapshot | null
  readonly #receipt: Receipt

  constructor(facts: EffectFacts, closed: Closed) {
    super(facts, closed.state)
    this.outcome = closed.outcome
    this.sent = closed.sent
    this.durationMs = closed.durationMs
    this.error = closed.error
    this.#receipt = closed.receipt
  }

  /** Frozen all the way down, when somebody looks. */
  get receipt(): Receipt {
    return frozenReceipt(this.#receipt)
  }
}

/** `afterModelCall`. */
export class ModelClosingContext extends ClosingContext {
  readonly provider: string
  readonly model: string
  readonly answeredModel: string | null
  readonly usage: Usage | null
  readonly reportedUsd: string | null
  readonly finishReason: FinishReason | null
  readonly rateLimit: RateLimitHeaders | null
  readonly maxOutputTokens: number
  readonly #facts: ModelFacts

  constructor(
    facts: EffectFacts,
    closed: Closed,
    model: ModelFacts,
    reply: ModelReply | undefined,
    usage: Usage | undefined,
    rateLimit: RateLimitHeaders | undefined,
  ) {
    super(facts, closed)
    this.provider = model.provider
    this.model = model.model
    this.answeredModel = reply?.model ?? null
    this.usage = usage === undefined || usage.unreportedCalls > 0 ? null : Object.freeze({ ...usage })
    this.reportedUsd = reply?.reportedUsd ?? null
    this.finishReason = reply?.finishReason ?? null
    this.rateLimit = rateLimit === undefined ? null : Object.freeze({ ...rateLimit })
    this.maxOutputTokens = model.maxOutputTokens
    this.#facts = model
    Object.freeze(this)
  }

  get inputTokensAtMost(): number | null {
    return this.#facts.inputTokensAtMost()
  }

  static {
    Object.freeze(this.prototype)
  }
}

/** `afterToolCall`. The digests are computed when they are first read. */
export class ToolClosingContext extends ClosingContext {
  readonly toolCode: string
  readonly callId: string
  readonly tool: ToolInfo
  readonly errorReference: string | null
  readonly #args: JsonValue | undefined
  readonly #result: string | undefined

  constructor(facts: EffectFacts, closed: Closed, entry: RoundCall) {
    super(facts, closed)
    const tool = entry.tool as ToolDefinition
    this.toolCode = tool.code
    this.callId = entry.part.toolCallId
    this.tool = tool.info
    this.errorReference = entry.result?.errorReference ?? null
    this.#args = entry.copy
    this.#result = entry.result?.text
    Object.freeze(this)
  }

  get argsDigest(): string | null {
    return this.#args === undefined ? null : digest(this.#args)
  }

  get resultDigest(): string | null {
    return this.#result === undefined ? null : digest(this.#result)
  }

  static {
    Object.freeze(this.prototype)
  }
}

// what a plugin is handed leads to this prototype, which all plugins share
Object.freeze(ClosingContext.prototype)
