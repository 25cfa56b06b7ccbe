import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { Label } from '../messages/label.js'
import type { RateLimitHeaders } from '../messages/rate-limit-headers.js'
import type { Usage } from '../messages/usage.js'
import type { PluginStamp } from '../store/records.js'
import type { Asking, EffectOutcome, Receipt, Sent } from './receipt.js'

/** What every gate and every closing observer is told about the effect. Read-only and deep-frozen. */
export interface CommonContext {
  /** Identity of the guarded effect: the same in every repeated asking, replay and resume. */
  readonly effectId: string
  /** 1 for the first attempt; grows when the attempt before it began or was closed. */
  readonly attempt: number
  /** The execution that the effect belongs to; `null` in `beforeExecution` and in a plain call outside a run. */
  readonly executionId: string | null
  /** Always there: the root of the tree; for a plain call outside a run an id that names no record. */
  readonly rootExecutionId: string
  readonly parentExecutionId: string | null
  /** Id of the `generateText` call, 32 hex characters; `null` outside one. */
  readonly requestId: string | null
  /** 0 for a top-level run. */
  readonly depth: number
  readonly tenant: string | null
  /** Sources of untrusted text in the request that led here. */
  readonly labels: readonly Label[]
  /**
   * Of a gate: fires at its deadline and on abort. Of a closing observer: fires where it missed its deadline and the run goes on
   * without it; an abort does not end it, since it tells how an aborted effect ended. Made when first read.
   */
  readonly signal: AbortSignal
  /** At stage `record`: the answers of all gates asked before this one; `undefined` elsewhere. */
  readonly answers: Asking['gates'] | undefined
}

export interface BeforeExecutionContext extends CommonContext {
  readonly agentId: string
  readonly agentCode: string
  readonly createdBy: string | null
  readonly appId: string | null
  readonly sessionId: string
  /** Keys of the run as they are bound; here `getExecutionContext()` is still empty. */
  readonly runContext: Readonly<Record<string, string | number | boolean>>
}

export interface BeforeModelCallContext extends CommonContext {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  /** Provider id, the part before the slash. */
  readonly provider: string
  readonly model: string
  /** 1 for the first request of a call. */
  readonly round: number
  readonly maxOutputTokens: number
  /** Upper bound of the input tokens (UTF-8 bytes of the request body); `null` where there is none (files). Computed when first read. */
  readonly inputTokensAtMost: number | null
  readonly tools: readonly string[]
  readonly hostedTools: readonly HostedToolInfo[]
  /** True for the last request of a run that is landing. */
  readonly landing: boolean
}

export interface HostedToolInfo {
  readonly code: string
  readonly effect: 'read' | 'write' | 'send'
  readonly untrusted: boolean
  readonly maxUses: number | null
  readonly cost: { readonly usd: string } | null
}

/** `whileInFlight`: the identity of the effect that is open. */
export interface WhileInFlightContext extends CommonContext {
  readonly effect: 'model_call' | 'tool_call'
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly toolCode: string | null
  /** Milliseconds since the effect began. */
  readonly elapsedMs: number
}

export interface InspectReplyContext extends CommonContext {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly provider: string
  readonly model: string
  /** All text of the reply, blocks joined by newlines; `null` where it holds none. */
  readonly text: string | null
  /** The validated structured output, `undefined` where none was asked for or the reply is not final. */
  readonly output: JsonValue | undefined
  readonly finishReason: FinishReason
  /** Codes of the tools that the reply asks for. */
  readonly toolCalls: readonly string[]
}

export interface BeforeToolCallContext extends CommonContext {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly toolCode: string
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly callId: string
  readonly tool: ToolInfo
}

export interface ToolInfo {
  readonly effect: 'read' | 'write' | 'send'
  readonly untrusted: boolean
  readonly cost: { readonly usd: string } | null
  /** Digest of the tool's definition (code, description, schema, effect). */
  readonly definitionDigest: string
  /** Code of the agent behind the tool, where it has one. */
  readonly agent: string | null
}

/** A human's answer to a `Pause`. */
export interface Decision {
  readonly decision: 'approve' | 'deny'
  readonly by: string
  readonly note: string | null
  readonly at: number
}

export interface InspectToolInputContext extends BeforeToolCallContext {
  /** A deep-frozen copy of the validated arguments, equal to what the handler will get. */
  readonly args: JsonObject
  readonly argsDigest: string
  /** After a pause: the answer given for this effect. */
  readonly decision: Decision | undefined
  /** The gate plugins that this run is asked by, as its record names them: what a human approved can be bound to them. */
  readonly gatePlugins: readonly PluginStamp[]
}

interface Closing extends Omit<CommonContext, 'answers'> {
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly outcome: EffectOutcome
  readonly sent: Sent
  /** Milliseconds from the moment the effect began to its end; 0 where it did not begin. */
  readonly durationMs: number
  readonly error: ErrorSnapshot | null
  readonly receipt: Receipt
}

export interface AfterModelCallContext extends Closing {
  readonly provider: string
  readonly model: string
  /** The model that answered, as the provider names it. */
  readonly answeredModel: string | null
  /** `null` where nothing was reported. */
  readonly usage: Usage | null
  /** What the provider itself says that the call cost, in US dollars as a decimal text; `null` where it says nothing. */
  readonly reportedUsd: string | null
  readonly finishReason: FinishReason | null
  readonly rateLimit: RateLimitHeaders | null
  readonly maxOutputTokens: number
  readonly inputTokensAtMost: number | null
}

export interface AfterToolCallContext extends Closing {
  readonly toolCode: string
  readonly callId: string
  readonly tool: ToolInfo
  readonly argsDigest: string | null
  readonly resultDigest: string | null
  readonly errorReference: string | null
}

/** A frozen snapshot of an error; never the caller's own. */
export interface ErrorSnapshot {
  readonly name: string
  readonly code: string | null
  readonly message: string
  readonly details: JsonObject | null
}

export interface AfterExecutionContext {
  readonly executionId: string
  readonly rootExecutionId: string
  readonly effectId: string
  readonly status: 'completed' | 'failed'
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly appId: string | null
  readonly sessionId: string | null
  readonly tenant: string | null
  /** Tokens of the run's own calls. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly usage: Usage
  /** Tokens of the whole tree. */
  readonly treeUsage: Usage
  readonly failure: { readonly kind: string; readonly error: ErrorSnapshot } | null
  /** True when it is sent for a run whose process died. */
  readonly recovered: boolean
  readonly receipt: Receipt | null
  /** Fires where an observer missed its deadline and the run goes on without it. Made when first read. */
  readonly signal: AbortSignal
}

/** A stop, a refusal or a pause, with who gave it. */
export interface OnStopContext {
  readonly point: string
  readonly plugin: string | null
  readonly answer: 'vetoed' | 'failed' | 'timed_out' | 'aborted' | 'refused' | 'paused' | 'limit' | 'timeout'
  readonly code: string
  readonly reason: string
  readonly details: JsonObject | null
  readonly effectId: string | null
  readonly attempt: number | null
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly tenant: string | null
  readonly receipt: Receipt | null
  /** Fires where an observer missed its deadline and the run goes on without it. Made when first read. */
  readonly signal: AbortSignal
}

/** Context of `augmentSystemPrompt`, beside the prompt itself. */
export interface PromptContext {
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly agentId: string | null
  readonly agentCode: string | null
  readonly createdBy: string | null
  readonly sessionId: string | null
  readonly appId: string | null
  readonly tenant: string | null
  readonly depth: number
  readonly signal: AbortSignal
}
