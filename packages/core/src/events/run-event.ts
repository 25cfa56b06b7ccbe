import type { JsonObject } from '../internal/json.js'

/** The five event types of every call, and those that `stream` adds. Compare through these constants (E-8). */
export const EventType = Object.freeze({
  assistantText: 'assistant_text',
  assistantReasoning: 'assistant_reasoning',
  toolCall: 'tool_call',
  toolResult: 'tool_result',
  responseComplete: 'response_complete',
  assistantTextDelta: 'assistant_text_delta',
  assistantReasoningDelta: 'assistant_reasoning_delta',
  toolCallDelta: 'tool_call_delta',
  receipt: 'receipt',
  retracted: 'retracted',
  runPaused: 'run_paused',
  runEnded: 'run_ended',
} as const)

/** One of the values of {@link EventType}. */
export type EventTypeName = (typeof EventType)[keyof typeof EventType]

/** One event: frozen and JSON-safe. The run context is in no event (E-14). */
export interface RunEvent {
  readonly type: EventTypeName
  /** Id of the `generateText` call; `null` for `receipt`, `run_paused` and `run_ended` of a run. */
  readonly requestId: string | null
  readonly sessionId: string | null
  readonly executionId: string | null
  readonly agentCode: string | null
  readonly depth: number
  /** Number of this event within its tree, from 1, without gaps. */
  readonly seq: number
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly data: JsonObject
}
