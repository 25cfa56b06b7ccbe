import type { JsonObject, JsonValue } from '../internal/json.js'
import type { Label } from '../messages/label.js'
import type { ToolStatus } from '../messages/message.js'
import type { Usage } from '../messages/usage.js'

/** Status of a definition (P-2, A-4). */
export type DefinitionStatus = 'draft' | 'active' | 'archived'

/** A version of an agent or a prompt profile; `code` and `version` are unique together. Times are milliseconds since the epoch. */
export interface DefinitionRecord {
  readonly id: string
  readonly code: string
  readonly version: number
  readonly status: DefinitionStatus
  /** The definition itself, with the original's snake_case keys where it has them. */
  readonly definition: JsonObject
  /** Digest of the canonical definition: equal definitions have equal digests. */
  readonly digest: string
  readonly origin: 'code' | 'store'
  readonly createdBy: string | null
  readonly createdAt: number
  readonly updatedBy: string | null
  readonly updatedAt: number
}

/** Environment of a run, captured once per tree (S-14). */
export interface EnvironmentFields {
  readonly createdBy: string | null
  readonly tenant: string | null
  readonly audience: 'public' | 'authenticated' | 'db'
  readonly appUser: string | null
  readonly appId: string | null
  readonly appSessionId: string | null
  readonly appPageId: string | null
  readonly ipAddress: string | null
  readonly host: string | null
  readonly osUser: string | null
  readonly module: string | null
  readonly action: string | null
  readonly clientIdentifier: string | null
  /** Snapshot of everything above and of the caller's metadata. */
  readonly envContext: JsonObject
}

export type ExecutionStatus = 'running' | 'paused' | 'completed' | 'failed' | 'timeout' | 'aborted'
export type FailureKind =
  | 'veto'
  | 'hook'
  | 'limit'
  | 'provider'
  | 'tool'
  | 'input'
  | 'store'
  | 'aborted'
  | 'timeout'
  | 'crashed'

/** One gate plugin of the set under which a run started. */
export interface PluginStamp {
  readonly name: string
  readonly version: string | null
  readonly optionsDigest: string
}

/** One run, nested ones included (S-1, S-2). */
export interface ExecutionRecord extends EnvironmentFields {
  readonly id: string
  readonly rootExecutionId: string
  readonly parentExecutionId: string | null
  readonly depth: number
  readonly agentId: string
  readonly agentCode: string
  readonly agentVersion: number
  readonly agentType: string
  readonly sessionId: string
  /** Top level only, counting the turns of the session from 1; `null` for nested runs. */
  readonly turnIndex: number | null
  readonly status: ExecutionStatus
  readonly input: JsonObject
  readonly followUp: string | null
  readonly output: JsonValue
  readonly currentState: JsonValue
  readonly iterationCount: number
  readonly toolCallsCount: number
  /** Own tokens; `null` where the provider reported none. */
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly usage: Usage
  readonly runContext: Readonly<Record<string, string | number | boolean>>
  readonly labels: readonly Label[]
  readonly error: {
    readonly code: string | null
    readonly message: string
    readonly name: string
    readonly details: JsonObject | null
  } | null
  readonly failureKind: FailureKind | null
  readonly finishReason: string | null
  readonly plugins: readonly PluginStamp[]
  /** Where the set of plugins came from and the digest of a hook file. */
  readonly hooksOrigin: string
  /** What waits for a human, while paused. */
  readonly pending: readonly PendingRecord[]
  /** Every answer that a human gave about a call of this run, in the order given; kept when the run has ended. */
  readonly decisions: readonly DecisionRecord[]
  /** Calls that were in flight when the run ended and whose effect is not known. */
  readonly inFlight: readonly string[]
  /** Outer run on another runtime, if any. */
  readonly outerExecutionId: string | null
  readonly startedAt: number
  readonly completedAt: number | null
  readonly updatedAt: number
}

/** One effect that waits for a human's decision. */
export interface PendingRecord {
  readonly effectId: string
  readonly executionId: string
  readonly agentCode: string
  readonly toolCode: string
  readonly callId: string
  readonly argsDigest: string
  readonly plugin: string
  readonly code: string
  readonly details: JsonObject | null
  readonly expiresAt: number | null
  readonly decision: {
    readonly decision: 'approve' | 'deny'
    readonly by: string
    readonly note: string | null
    readonly at: number
  } | null
}

/** What a human answered about one effect, kept with the execution. */
export interface DecisionRecord {
  readonly effectId: string
  readonly toolCode: string
  readonly decision: 'approve' | 'deny'
  readonly by: string
  readonly note: string | null
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** Header of a session (S-25, S-26). */
export interface SessionRecord extends EnvironmentFields {
  readonly sessionId: string
  readonly rootAgentId: string
  readonly title: string | null
  readonly feedbackRating: 'up' | 'down' | null
  readonly feedbackComment: string | null
  readonly feedbackAt: number | null
  /** Of the most recent top-level turn. */
  readonly status: ExecutionStatus
  readonly turnCount: number
  readonly messageCount: number
  readonly inputTokens: number | null
  readonly outputTokens: number | null
  readonly runContext: Readonly<Record<string, string | number | boolean>>
  /** The execution that holds the session while it is paused; `null` otherwise. */
  readonly pausedExecutionId: string | null
  readonly startedAt: number
  readonly lastActivityAt: number
  readonly updatedAt: number
}

/** One row of the message log: one content item (S-37, S-38). */
export interface MessageRecord {
  readonly id: string
  readonly sessionId: string
  /** The top-level run of the turn. */
  readonly executionId: string
  /** Contiguous within the session, from 1. */
  readonly seq: number
  readonly role: 'user' | 'assistant' | 'tool_call' | 'tool_result' | 'reasoning' | 'system'
  readonly content: string | null
  readonly agentCode: string | null
  readonly toolName: string | null
  readonly toolCallId: string | null
  readonly toolInput: string | null
  readonly toolOutput: string | null
  readonly toolStatus: ToolStatus | null
  readonly errorReference: string | null
  /** Number of the message within its turn, from 0: items of one message share it, so that the log gives back whole messages. */
  readonly messageIndex: number
  /** Number of the round within its turn, from 0: assistant message and results of one round share it. */
  readonly round: number
  /** The part as JSON where columns do not hold all of it (files, provider options, labels); `null` otherwise. */
  readonly part: JsonObject | null
  readonly createdAt: number
}

/** What a message row has before the store gives it its number. */
export type NewMessageRecord = Omit<MessageRecord, 'seq'>

/** The true error behind an error reference (B-21). */
export interface ToolErrorRecord {
  /** `ERR-<yyyymmddhhmmssfff>` with a suffix where two fall into one millisecond. */
  readonly reference: string
  readonly executionId: string | null
  readonly rootExecutionId: string
  readonly effectId: string | null
  readonly agentCode: string | null
  readonly toolCode: string | null
  readonly name: string
  readonly message: string
  readonly stack: string | null
  readonly tenant: string | null
  readonly at: number
}
