import type { ReceiptCounts, ToolCallRecord } from '../errors/sluice-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { CallScope } from '../generate/call-scope.js'
import type { RunScope } from '../generate/run-scope.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type { Message } from '../messages/message.js'
import type { Usage } from '../messages/usage.js'
import type { PendingRecord } from '../store/records.js'

/** One effect that waits for a human. */
export type PendingDecision = Omit<PendingRecord, 'decision'>

interface RunCommon {
  readonly executionId: string
  readonly sessionId: string
  readonly agentCode: string
  readonly agentVersion: number
  /** Tokens of the run's own calls. */
  readonly usage: Usage
  /** Tokens of the whole tree. */
  readonly treeUsage: Usage
  /** The conversation, without what a gate took back. */
  readonly messages: readonly Message[]
  readonly toolCalls: readonly ToolCallRecord[]
  readonly receipts: ReceiptCounts
}

/** A run that came to its end. */
export interface CompletedRun<Output = JsonValue | undefined> extends RunCommon {
  readonly status: 'completed'
  /** Text of the final answer; `null` where it holds none. */
  readonly text: string | null
  /** The validated structured answer; `undefined` where no schema was in force, or the provider refused. */
  readonly output: Output
  readonly finishReason: FinishReason
  /** What the pattern of the agent tells beyond its answer (a handoff's trail, a loop's reason); `null` for profile agents. */
  readonly details: JsonObject | null
  readonly pending: readonly []
  /** The model that answered, as the provider names it; `null` for agents without calls of their own. */
  readonly model: string | null
  readonly provider: string | null
}

/** A run that waits for a human: `decide`, then `resume`. */
export interface PausedRun extends RunCommon {
  readonly status: 'paused'
  readonly text: null
  readonly output: undefined
  readonly finishReason: 'paused'
  readonly details: null
  readonly pending: readonly PendingDecision[]
  readonly model: null
  readonly provider: null
}

/** What `execute` and `resume` give. Every other ending is thrown. */
export type Run<Output = JsonValue | undefined> = CompletedRun<Output> | PausedRun

/** What `generateText` and `executeProfile` give. */
export interface Generated<Output = JsonValue | undefined> {
  readonly text: string | null
  readonly output: Output
  readonly messages: readonly Message[]
  readonly finishReason: FinishReason
  readonly usage: Usage
  readonly toolCalls: readonly ToolCallRecord[]
  readonly model: string
  readonly provider: string
  /** Names the tree; its receipts are stored under it. */
  readonly rootExecutionId: string
  readonly receipts: ReceiptCounts
}

/** Puts what the run had on the error that leaves it. A foreign error that cannot be extended leaves as it is. */
export function withPartial(error: unknown, run: RunScope | undefined, call?: CallScope): unknown {
  if (run === undefined || error === null || typeof error !== 'object') return error
  const partial = Object.freeze({
    ...(run.facts.executionId === null ? {} : { executionId: run.facts.executionId }),
    // a call inside a run tells of itself, not of the conversation around it (G-42)
    usage: call?.usage ?? run.usage,
    messages: (call ?? run.call)?.shown() ?? [],
    toolCalls: Object.freeze([...(call?.records ?? run.toolCalls)]),
    receipts: run.tree.receiptCounts(),
  })
  try {
    if (SluiceError.isInstance(error)) error.partial = partial
    else
      Object.defineProperty(error, 'partial', { value: partial, enumerable: false, configurable: true, writable: true })
  } catch {
    // a frozen error of the user's own: it leaves as it is
  }
  return error
}
