import type { JsonObject, MaybePromise } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { AssistantPart, Message } from '../messages/message.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'
import type { Usage } from '../messages/usage.js'

/** Wire protocols that Sluice's own adapters speak; an adapter of a stranger names its own. */
export type Protocol =
  | 'openai-responses'
  | 'openai-chat'
  | 'anthropic-messages'
  | 'google-generate-content'
  | 'ollama-chat'
  | 'oci-generic'
  | 'oci-cohere'
  | (string & {})

/** A tool as it is offered to the model: its schema is JSON Schema (draft 7 or 2020-12) of the arguments object. */
export interface OfferedTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: JsonObject
}

/** A tool that runs at the provider, as declared by `hostedTool`. `configuration` is the provider's own entry for its tool list. */
export interface OfferedHostedTool {
  readonly code: string
  readonly configuration: JsonObject
}

/** The form that the final answer must have. */
export interface OutputFormat {
  /** Letters, digits, `_` and `-`, at most 64 characters; default `structured_output`. */
  readonly name: string
  /** JSON Schema of the answer as the author wrote it; the adapter converts it to what its protocol takes. */
  readonly schema: JsonObject
}

/** How much the model should think (G-49). Absent: whatever the provider does by default. */
export interface ReasoningSettings {
  readonly level?: 'low' | 'medium' | 'high'
  /** Token budget, for protocols that take one; wins over `level`. */
  readonly budgetTokens?: number
  /** Ask for a readable summary, where the protocol has one. */
  readonly summary?: 'auto' | 'concise' | 'detailed'
}

/**
 * One request to a model, provider-neutral and frozen. It carries everything the call needs; an adapter keeps nothing
 * between two requests.
 */
export interface ModelRequest {
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools: readonly OfferedTool[]
  readonly hostedTools: readonly OfferedHostedTool[]
  readonly toolChoice?: 'auto' | 'required' | 'none' | { readonly tool: string }
  readonly output?: OutputFormat
  /** Hard cap of output tokens, reasoning included; always sent. */
  readonly maxOutputTokens: number
  readonly reasoning?: ReasoningSettings
  readonly temperature?: number
  readonly topP?: number
  readonly stopSequences?: readonly string[]
  /** Raw options of this provider, merged into the request body at the top level; never tools (use `hostedTools`). */
  readonly providerOptions?: JsonObject
  /** Overrides for this one request: never written onto the provider object (CASE-27). */
  readonly connection?: {
    readonly apiKey?: string
    readonly baseUrl?: string
    readonly headers?: Readonly<Record<string, string>>
  }
}

/** One complete reply. Parts stand in the order of the reply, reasoning before the text it belongs to. */
export interface ModelReply {
  readonly parts: readonly AssistantPart[]
  readonly finishReason: FinishReason
  /** The provider's own word for it. */
  readonly rawFinishReason?: string
  /** What was reported; `USAGE_NOT_REPORTED` where nothing was. */
  readonly usage: Usage
  /** The model that answered, as the provider names it. */
  readonly model?: string
  readonly responseId?: string
  readonly requestId?: string
  readonly rateLimit?: RateLimitHeaders
  /** Set where the usage classes do not add up to the provider's own total (CASE-11). */
  readonly usageMismatch?: JsonObject
  /** What the provider itself says that the call cost: US dollars as a decimal text. Absent where it says nothing. */
  readonly reportedUsd?: string
}

/**
 * What a streaming adapter yields: deltas as they arrive, then exactly one `reply` that holds everything, as `generate`
 * would have returned it. A stream that breaks throws a `ProviderError` whose `partial` holds what came before.
 */
export type StreamPart =
  | { readonly type: 'text_delta'; readonly text: string }
  | { readonly type: 'reasoning_delta'; readonly text: string }
  | {
      readonly type: 'tool_call_delta'
      readonly index: number
      readonly toolCallId?: string
      readonly toolName?: string
      readonly argsDelta: string
    }
  | { readonly type: 'reply'; readonly reply: ModelReply }

/**
 * An adapter of one wire protocol. It translates and nothing more: no retries (an SDK's own are off), no hooks, no store.
 * It throws `ProviderError` for everything that goes wrong, and the signal's reason when `signal` fired.
 */
export interface ModelProvider {
  /** The part of a model reference before the slash, and the key of `providerOptions`: `openai`, `anthropic`. */
  readonly id: string
  readonly protocol: Protocol
  /** What happens on this provider when a handler throws and when the bound of tool calls is met (design 4.4). */
  readonly defaults: { readonly onToolError: 'throw' | 'return'; readonly onToolLimit: 'throw' | 'finish' }
  /** One request, one whole reply. */
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
  /** The same as a stream. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<StreamPart>
  /**
   * An upper bound of the input tokens of this request: the UTF-8 length in bytes of the body that `generate` would send;
   * `null` where the request holds something without a bound (a file). Default: the length of the request as JSON.
   */
  inputTokensAtMost?(request: ModelRequest): number | null
  /**
   * Called when a tool or an answer schema is defined for this provider: throws `SCHEMA_UNSUPPORTED` with path and protocol
   * where the protocol cannot express it, so that one tool never spoils the request of the others.
   */
  checkSchema?(schema: JsonObject, use: 'tool' | 'output'): void
  /** A tidy-up hook for adapters that hold connections. */
  close?(): MaybePromise<void>
}

/** Splits `provider/model` at the first slash; `undefined` where there is none. */
export function splitModelReference(reference: string): { provider: string; model: string } | undefined {
  const slash = reference.indexOf('/')
  if (slash <= 0 || slash === reference.length - 1) return undefined
  return { provider: reference.slice(0, slash), model: reference.slice(slash + 1) }
}
