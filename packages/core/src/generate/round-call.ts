import type { ToolCallPart, ToolResultPart, ToolStatus } from '../messages/message.js'
import type { Label } from '../messages/label.js'
import type { JsonObject } from '../internal/json.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { Effect } from './effect.js'

/** What the model reads of one tool call, and how it stands on record. JSON: it is a step's result. */
export interface CallResult {
  readonly status: ToolStatus
  readonly text: string
  readonly errorReference?: string
  readonly labels?: readonly Label[]
}

/** One tool call of a round on its way through both phases. */
export interface RoundCall {
  readonly part: ToolCallPart
  /** Name of its effect below the call: `m1.t2`. */
  readonly name: string
  tool: ToolDefinition | undefined
  /** Validated arguments, as the handler gets them. */
  args: unknown
  /** Frozen copy for gates and digests; made only where somebody may look at it. */
  copy: JsonObject | undefined
  /** Its open attempt, where gates were asked. */
  effect: Effect | undefined
  /** `admitted`: may run. `recorded`: the journal has its result. `begun`: the journal has its begin only. */
  state: 'new' | 'result' | 'admitted' | 'recorded' | 'begun' | 'paused' | 'stopped'
  result: CallResult | undefined
  stop: GateStop | undefined
  /** Asked a second time before it ran. */
  askedAgain: boolean
}

export function roundCall(part: ToolCallPart, name: string): RoundCall {
  return {
    part,
    name,
    tool: undefined,
    args: undefined,
    copy: undefined,
    effect: undefined,
    state: 'new',
    result: undefined,
    stop: undefined,
    askedAgain: false,
  }
}

/** Texts that stand in a history where a call has no result of its own (CASE-13). */
export const RESULT_TEXT = Object.freeze({
  skippedLimit: 'This call was not run: the limit of tool calls was reached.',
  notRun: 'This call was not run.',
  ended: 'This call was not run: the call before it ended the turn.',
  vetoed: 'This call was stopped and did not run.',
  unknown: 'This call was interrupted; whether it took effect is not known.',
})

/** The result of a call as it stands in the conversation, in the log and in its event. */
export function resultPart(entry: RoundCall): ToolResultPart {
  const result = entry.result ?? { status: 'not_run' as const, text: RESULT_TEXT.notRun }
  return {
    type: 'tool_result',
    toolCallId: entry.part.toolCallId,
    toolName: entry.part.toolName,
    result: result.text,
    status: result.status,
    ...(result.errorReference === undefined ? {} : { errorReference: result.errorReference }),
    ...(result.labels === undefined ? {} : { labels: result.labels }),
  }
}
