import type { RunContext } from '../context/run-context.js'
import type { ToolInfo } from '../hooks/hook-contexts.js'
import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { Label } from '../messages/label.js'
import type { CompiledSchema } from './compile-validator.js'

/** What a tool does to the world: it reads, it writes in systems of the owner, or it sends something out of them. */
export type ToolEffect = 'read' | 'write' | 'send'

/**
 * Whether a call whose outcome is unknown may run again after a crash: `safe` always, `by-key` under the same idempotency
 * key, `never` only when a human has said so.
 */
export type ToolRepeat = 'safe' | 'by-key' | 'never'

/** What one call costs: US dollars as a decimal string, up to nine decimals. */
export interface ToolCost {
  readonly usd: string
}

/** What the owner handed to `execute` as `resources`: open transactions, clients. Never stored. */
export type ToolResources = Readonly<Record<string, unknown>>

/**
 * Keys of effects kept in the caller's own transaction, for {@link ToolContext.once}: a table with the key as its primary
 * key will do. Both run on the transaction in which the effect itself is written.
 */
export interface OnceKeys {
  /** The result that was kept under the key; `undefined` where there is none. */
  get(key: string): MaybePromise<JsonValue | undefined>
  /** Keeps the result; fails where the key is taken. */
  put(key: string, result: JsonValue): MaybePromise<void>
}

/** What a handler and `authorize` are given beside the arguments. */
export interface ToolContext<Resources = ToolResources> {
  /** What the caller bound and the model cannot choose; frozen, empty where nothing is bound. */
  readonly runContext: RunContext
  /** Fires on abort, on a stop, and when `timeoutMs` has passed. Made when first read. */
  readonly signal: AbortSignal
  /** The same in every retry, replay and resume of this call; another for every other call. */
  readonly idempotencyKey: string
  /**
   * Runs `fn` once per call of the tool, whatever is repeated: where `keys` has this call's key, its result comes back and
   * `fn` does not run; else `fn` runs and its result is kept, in the same transaction as what `fn` wrote.
   */
  once<Result extends JsonValue>(keys: OnceKeys, fn: () => MaybePromise<Result>): Promise<Result>
  readonly resources: Resources
  readonly toolCode: string
  readonly callId: string
  readonly effectId: string
  /** `null` in a plain call outside a run. */
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly sessionId: string | null
  /** Sources of untrusted text in the request that led here. */
  readonly labels: readonly Label[]
  readonly logger: Logger
}

/** The tool as it is offered to a model. Fits `OfferedTool` of the providers. */
export interface ToolOffer {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

/** A tool as `defineTool` gives it: frozen and checked. `Input` is what the handler gets. */
export interface ToolDefinition<Input = unknown> {
  readonly kind: 'tool'
  /** The name by which the model calls it. */
  readonly code: string
  readonly description: string
  readonly effect: ToolEffect
  readonly repeat: ToolRepeat
  /** True where results are untrusted text: they are labelled. */
  readonly untrusted: boolean
  readonly cost: ToolCost | null
  /** Milliseconds that the handler may take; `null`: as long as the run. */
  readonly timeoutMs: number | null
  readonly tags: readonly string[]
  /** Keys of the run context without which the model is told that the tool cannot be used. */
  readonly requiresContext: readonly string[]
  /** Code of the agent that runs in place of a handler; `null` where there is a handler. */
  readonly agent: string | null
  /** True where a call that succeeds ends the call of the model; such calls do not count against `maxToolCalls`. */
  readonly endsCall: boolean
  /** True where the owner vouches for the answer of the agent behind it: it carries no labels. */
  readonly dropsLabels: boolean
  readonly input: CompiledSchema<Input>
  /** Labels that results carry. */
  readonly labels: readonly Label[]
  /** Made when first read, then the same object. */
  readonly offered: ToolOffer
  /** SHA-256 over code, description, schema, effect and agent. Made when first read. */
  readonly definitionDigest: string
  /** What gates are told of the tool. Made when first read, then the same object. */
  readonly info: ToolInfo
  /** Settles with `undefined`, or throws `Refusal` or `Veto`; anything else fails like a gate. */
  authorize?(args: Input, tool: ToolContext): MaybePromise<void>
  /** Returns text or JSON data, or what `refuse` made. Absent where `agent` is set. */
  handler?(args: Input, tool: ToolContext): MaybePromise<unknown>
}
