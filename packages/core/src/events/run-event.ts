import type { JsonObject, JsonValue } from '../internal/json.js'
import type { FinishReason } from '../messages/finish-reason.js'
import type {
  Message,
  ReasoningPart,
  RefusalPart,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../messages/message.js'
import type { Usage } from '../messages/usage.js'
import type { ExecutionStatus, PendingRecord } from '../store/records.js'

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

/** What each type of event tells. */
export interface EventData {
  /** A text block of the reply, or the provider's own refusal. */
  readonly assistant_text: TextPart | RefusalPart
  readonly assistant_reasoning: ReasoningPart
  /** `args` is the JSON text exactly as the model sent it. */
  readonly tool_call: Pick<ToolCallPart, 'type' | 'toolCallId' | 'toolName' | 'args'>
  readonly tool_result: ToolResultPart
  /** The result of the call; `structuredOutput` only where a schema was in force. */
  readonly response_complete: {
    readonly finalMessage: string | null
    readonly finishReason: FinishReason
    readonly usage: Usage
    readonly toolCallsCount: number
    readonly model: string
    readonly provider: string
    readonly messages: readonly Message[]
    readonly structuredOutput?: JsonValue
  }
  /** A piece of text as it arrives; `checked` is false: its gates have not been asked yet. */
  readonly assistant_text_delta: { readonly text: string; readonly checked: false }
  readonly assistant_reasoning_delta: { readonly text: string; readonly checked: false }
  /** A piece of the arguments of the call `index` of the reply; its id and name come with the first piece. */
  readonly tool_call_delta: {
    readonly index: number
    readonly toolCallId?: string
    readonly toolName?: string
    readonly argsDelta: string
    readonly checked: false
  }
  /** The `Receipt` of an effect that is closed. */
  readonly receipt: JsonObject
  /** What was shown of the reply does not count: the code of the stop, and the plugin that gave it. */
  readonly retracted: { readonly code: string; readonly plugin: string | null }
  /** What waits for a human, as `run.pending` has it. */
  readonly run_paused: { readonly pending: readonly Omit<PendingRecord, 'decision'>[] }
  readonly run_ended: {
    readonly status: Exclude<ExecutionStatus, 'running' | 'paused'>
    readonly finishReason: string | null
    /** Left out where the run completed. */
    readonly error?: {
      readonly name: string
      readonly code: string | null
      readonly message: string
      readonly details: JsonObject | null
    }
  }
}

/** One event of one type: frozen and JSON-safe. The run context is in no event (E-14). */
export interface EventOf<Type extends EventTypeName> {
  readonly type: Type
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
  readonly data: EventData[Type]
}

/** One event. `type` tells what `data` holds: comparing it narrows. */
export type RunEvent = { readonly [Type in EventTypeName]: EventOf<Type> }[EventTypeName]
