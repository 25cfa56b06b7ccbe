import type { JsonObject } from '../internal/json.js'
import type { AssistantMessage, AssistantPart, Message, ToolResultPart, UserMessage } from '../messages/message.js'
import type { NewMessageRecord } from '../store/records.js'
import { isWithheld } from './message-rows.js'

/** One message of the log, with the place it has there. */
export interface LoggedMessage {
  readonly message: Message
  readonly executionId: string
  readonly messageIndex: number
  readonly round: number
  readonly agentCode: string | null
  /** True where a gate took it back: kept in the log, not shown, in no later history. */
  readonly withheld: boolean
}

type Row = NewMessageRecord
type Kind = Message['role']

/** The messages of the log rows given, in the order of the conversation (see {@link loggedMessages}). */
export function fromRows(rows: readonly Row[]): Message[] {
  return loggedMessages(rows).map((logged) => logged.message)
}

/**
 * Puts log rows, given in `seq` order, back into the messages they came from. Turns stand in the order in which they began,
 * and messages of a turn in the order of their numbers, so that rows that repaired an earlier turn find their place.
 */
export function loggedMessages(rows: readonly Row[]): LoggedMessage[] {
  const ordered = inOrder(rows)
  const logged: LoggedMessage[] = []
  let from = 0
  for (let end = 1; end <= ordered.length; end++) {
    const next = ordered[end]
    if (next !== undefined && sameMessage(ordered[from] as Row, next)) continue
    const first = ordered[from] as Row
    logged.push({
      message: toMessage(ordered, from, end),
      executionId: first.executionId,
      messageIndex: first.messageIndex,
      round: first.round,
      agentCode: first.agentCode,
      withheld: isWithheld(first),
    })
    from = end
  }
  return ordered.length === 0 ? [] : logged
}

function kindOf(row: Row): Kind {
  if (row.role === 'user' || row.role === 'system') return row.role
  return row.role === 'tool_result' ? 'tool' : 'assistant'
}

function sameMessage(left: Row, right: Row): boolean {
  return (
    left.executionId === right.executionId && left.messageIndex === right.messageIndex && kindOf(left) === kindOf(right)
  )
}

function inOrder(rows: readonly Row[]): readonly Row[] {
  const turns = new Map<string, number>()
  let sorted = true
  let before: Row | undefined
  for (const row of rows) {
    if (before?.executionId === row.executionId) {
      if (before.messageIndex > row.messageIndex) sorted = false
    } else if (turns.has(row.executionId)) {
      sorted = false
    } else {
      turns.set(row.executionId, turns.size)
    }
    before = row
  }
  if (sorted) return rows
  // the sort is stable: rows of one number stay in `seq` order, results behind the calls that they answer
  const turnOf = (row: Row) => turns.get(row.executionId) as number
  return [...rows].sort((left, right) => turnOf(left) - turnOf(right) || left.messageIndex - right.messageIndex)
}

function toMessage(rows: readonly Row[], from: number, end: number): Message {
  const first = rows[from] as Row
  const kind = kindOf(first)
  if (kind === 'system') {
    let content = first.content ?? ''
    for (let index = from + 1; index < end; index++) content += (rows[index] as Row).content ?? ''
    return { role: 'system', content }
  }
  const content: unknown[] = []
  for (let index = from; index < end; index++) {
    const row = rows[index] as Row
    if (row.part?.empty !== true) content.push(toPart(row))
  }
  if (kind === 'user') return { role: 'user', content: content as UserMessage['content'] }
  if (kind === 'tool') return { role: 'tool', content: content as ToolResultPart[] }
  const facts = first.part?.message as Omit<AssistantMessage, 'role' | 'content'> | undefined
  return { role: 'assistant', content: content as AssistantPart[], ...facts }
}

function toPart(row: Row): UserMessage['content'][number] | AssistantPart | ToolResultPart {
  const kept = row.part === null ? undefined : withoutMarks(row.part)
  if (row.role === 'tool_result') {
    return {
      type: 'tool_result',
      toolCallId: row.toolCallId ?? '',
      toolName: row.toolName ?? '',
      result: row.toolOutput ?? '',
      status: row.toolStatus ?? 'ok',
      ...(row.errorReference === null ? {} : { errorReference: row.errorReference }),
      ...kept,
    }
  }
  if (row.role === 'tool_call') {
    const call = { toolCallId: row.toolCallId ?? '', toolName: row.toolName ?? '', args: row.toolInput ?? '' }
    return { type: 'tool_call', ...call, ...kept }
  }
  if (row.role === 'reasoning') return { type: 'reasoning', text: row.content ?? '', ...kept }
  // a file has all of its fields in `part`
  if (kept?.type === 'file') return kept as never
  if (kept?.type === 'hosted') return { ...kept, type: 'hosted', toolName: row.toolName ?? '', text: row.content ?? '' }
  if (kept?.type === 'refusal') return { ...kept, type: 'refusal', text: row.content ?? '' }
  return { type: 'text', text: row.content ?? '', ...kept }
}

/** What belongs to the part itself, without what belongs to its message. */
function withoutMarks(part: JsonObject): JsonObject {
  const { message: _message, withheld: _withheld, empty: _empty, ...own } = part
  return own
}
