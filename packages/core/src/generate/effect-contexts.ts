import type { RunContext } from '../context/run-context.js'
import { AskingContext } from '../hooks/asking-context.js'
import type { AskingState, EffectFacts } from '../hooks/asking-context.js'
import type { Decision, HostedToolInfo, ToolInfo } from '../hooks/hook-contexts.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { PluginStamp } from '../store/records.js'

/** `beforeExecution`: no record exists yet. */
export class ExecutionGateContext extends AskingContext {
  readonly runContext: RunContext

  constructor(facts: EffectFacts, state: AskingState, runContext: RunContext) {
    super(facts, state)
    this.runContext = runContext
    Object.freeze(this)
  }
}

/** What a model call is about. */
export interface ModelFacts {
  readonly provider: string
  readonly model: string
  readonly round: number
  readonly maxOutputTokens: number
  readonly tools: readonly string[]
  readonly hostedTools: readonly HostedToolInfo[]
  readonly landing: boolean
  /** Computed when first asked for. */
  inputTokensAtMost(): number | null
}

/** `beforeModelCall`. */
export class ModelGateContext extends AskingContext {
  readonly provider: string
  readonly model: string
  readonly round: number
  readonly maxOutputTokens: number
  readonly tools: readonly string[]
  readonly hostedTools: readonly HostedToolInfo[]
  readonly landing: boolean
  readonly #facts: ModelFacts

  constructor(facts: EffectFacts, state: AskingState, model: ModelFacts) {
    super(facts, state)
    this.provider = model.provider
    this.model = model.model
    this.round = model.round
    this.maxOutputTokens = model.maxOutputTokens
    this.tools = model.tools
    this.hostedTools = model.hostedTools
    this.landing = model.landing
    this.#facts = model
    Object.freeze(this)
  }

  get inputTokensAtMost(): number | null {
    return this.#facts.inputTokensAtMost()
  }
}

/** `inspectReply`. */
export class ReplyGateContext extends AskingContext {
  readonly provider: string
  readonly model: string
  readonly text: string | null
  readonly output: JsonValue | undefined
  readonly finishReason: FinishReason
  readonly toolCalls: readonly string[]

  constructor(
    facts: EffectFacts,
    state: AskingState,
    reply: {
      provider: string
      model: string
      text: string | null
      output: JsonValue | undefined
      finishReason: FinishReason
      toolCalls: readonly string[]
    },
  ) {
    super(facts, state)
    this.provider = reply.provider
    this.model = reply.model
    this.text = reply.text
    this.output = reply.output
    this.finishReason = reply.finishReason
    this.toolCalls = reply.toolCalls
    Object.freeze(this)
  }
}

/** What a tool call is about. */
export interface ToolFacts {
  readonly toolCode: string
  readonly callId: string
  readonly tool: ToolInfo
}

/** `beforeToolCall`: never the arguments. */
export class ToolGateContext extends AskingContext {
  readonly toolCode: string
  readonly callId: string
  readonly tool: ToolInfo

  constructor(facts: EffectFacts, state: AskingState, tool: ToolFacts) {
    super(facts, state)
    this.toolCode = tool.toolCode
    this.callId = tool.callId
    this.tool = tool.tool
    Object.freeze(this)
  }
}

/** `inspectToolInput`: with a frozen copy of the validated arguments. */
export class ToolInputGateContext extends AskingContext {
  readonly toolCode: string
  readonly callId: string
  readonly tool: ToolInfo
  readonly args: JsonObject
  readonly decision: Decision | undefined
  readonly gatePlugins: readonly PluginStamp[]
  readonly #argsDigest: () => string

  constructor(
    facts: EffectFacts,
    state: AskingState,
    tool: ToolFacts,
    args: JsonObject,
    argsDigest: () => string,
    decision: Decision | undefined,
    gatePlugins: readonly PluginStamp[],
  ) {
    super(facts, state)
    this.toolCode = tool.toolCode
    this.callId = tool.callId
    this.tool = tool.tool
    this.args = args
    this.decision = decision
    this.gatePlugins = gatePlugins
    this.#argsDigest = argsDigest
    Object.freeze(this)
  }

  get argsDigest(): string {
    return this.#argsDigest()
  }
}

/** `whileInFlight`. */
export class InFlightGateContext extends AskingContext {
  readonly effect: 'model_call' | 'tool_call'
  readonly provider: string | null
  readonly model: string | null
  readonly toolCode: string | null
  readonly elapsedMs: number

  constructor(
    facts: EffectFacts,
    state: AskingState,
    open: {
      effect: 'model_call' | 'tool_call'
      provider: string | null
      model: string | null
      toolCode: string | null
    },
    elapsedMs: number,
  ) {
    super(facts, state)
    this.effect = open.effect
    this.provider = open.provider
    this.model = open.model
    this.toolCode = open.toolCode
    this.elapsedMs = elapsedMs
    Object.freeze(this)
  }
}

// what a plugin is handed leads to these prototypes, which all plugins share
for (const context of [
  ExecutionGateContext,
  ModelGateContext,
  ReplyGateContext,
  ToolGateContext,
  ToolInputGateContext,
  InFlightGateContext,
])
  Object.freeze(context.prototype)
