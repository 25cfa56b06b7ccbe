import type { Ids } from '../internal/ids.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import type { AssistantPart, Message, ToolResultPart, UserMessage } from '../messages/message.js'
import type { NewMessageRecord } from '../store/records.js'

/** Where the rows of a turn belong. */
export interface RowTarget {
  readonly sessionId: string
  /** The top-level run of the turn. */
  readonly executionId: string
  /** Agent of the turn: what it produced carries its code; what the caller gave carries `null` (S-43). */
  readonly agentCode: string | null
  readonly ids: Ids
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Number within the turn of the first message given. @default 0 */
  readonly firstMessageIndex?: number
  /** Number within the turn of the round that the first assistant message given belongs to. @default 0 */
  readonly firstRound?: number
  /** Wrapper patterns: the agent that produced the message at this place of the list; `undefined` for the turn's own. */
  readonly producedBy?: (index: number) => string | null | undefined
  /** True for a message that a gate took back: kept in the log, not shown, in no later history. */
  readonly withheld?: (index: number) => boolean
}

type Part = UserMessage['content'][number] | AssistantPart | ToolResultPart
type Columns = Omit<
  NewMessageRecord,
  'id' | 'sessionId' | 'executionId' | 'agentCode' | 'messageIndex' | 'round' | 'createdAt'
>

/**
 * The rows of the message log for some messages of one turn: one row per content item, in order (S-37). Nothing is lost:
 * what the columns do not hold lies in `part`, and `fromRows` gives the same messages back. Objects are shared, not copied.
 */
export function toRows(messages: readonly Message[], target: RowTarget): NewMessageRecord[] {
  const rows: NewMessageRecord[] = []
  let round = (target.firstRound ?? 0) - 1
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === 'assistant') round += 1
    const withheld = target.withheld?.(index) === true
    const agentCode = producer(message, index, target)
    for (const column of messageColumns(message)) {
      rows.push({
        id: target.ids.id(),
        sessionId: target.sessionId,
        executionId: target.executionId,
        agentCode,
        messageIndex: (target.firstMessageIndex ?? 0) + index,
        round: Math.max(round, target.firstRound ?? 0, 0),
        createdAt: target.at,
        ...(withheld ? withPart(column, 'withheld', true) : column),
      })
    }
  }
  return rows
}

function producer(message: Message, index: number, target: RowTarget): string | null {
  const named = target.producedBy?.(index)
  if (named !== undefined) return named
  return message.role === 'assistant' || message.role === 'tool' ? target.agentCode : null
}

/** True for a row whose message a gate took back. */
export function isWithheld(row: NewMessageRecord): boolean {
  return row.part?.withheld === true
}

/** At least one item: a message without content leaves a row that says so. */
function messageColumns(message: Message): Columns[] {
  if (message.role === 'system') return [item('system', message.content)]
  const columns = (message.content as readonly Part[]).map((part) => partColumns(part, message.role))
  if (columns.length === 0) {
    columns.push(withPart(item(message.role === 'tool' ? 'tool_result' : message.role, null), 'empty', true))
  }
  if (message.role === 'assistant') {
    const facts = pick(message, ['provider', 'model', 'labels'])
    if (facts !== null) columns[0] = withPart(columns[0] as Columns, 'message', facts)
  }
  return columns
}

function partColumns(part: Part, role: 'user' | 'assistant' | 'tool'): Columns {
  const own = role === 'user' ? 'user' : 'assistant'
  switch (part.type) {
    case 'text':
      return item(own, part.text, pick(part, ['providerOptions', 'labels']))
    case 'file':
      return item(own, null, pick(part, ['type', 'mediaType', 'data', 'filename', 'providerOptions', 'labels']))
    case 'reasoning':
      return item('reasoning', part.text, pick(part, ['providerOptions']))
    case 'refusal':
      return item(own, part.text, pick(part, ['type', 'providerOptions']))
    case 'hosted':
      return { ...item(own, part.text, pick(part, ['type', 'providerOptions'])), toolName: part.toolName }
    case 'tool_call':
      return {
        ...item('tool_call', null, pick(part, ['providerOptions'])),
        toolName: part.toolName,
        toolCallId: part.toolCallId,
        toolInput: part.args,
      }
    case 'tool_result':
      return {
        ...item('tool_result', null, pick(part, ['providerOptions', 'labels'])),
        toolName: part.toolName,
        toolCallId: part.toolCallId,
        toolOutput: part.result,
        toolStatus: part.status,
        errorReference: part.errorReference ?? null,
      }
  }
}

function item(role: NewMessageRecord['role'], content: string | null, part: JsonObject | null = null): Columns {
  return {
    role,
    content,
    toolName: null,
    toolCallId: null,
    toolInput: null,
    toolOutput: null,
    toolStatus: null,
    errorReference: null,
    part,
  }
}

function withPart(columns: Columns, key: string, value: JsonValue): Columns {
  return { ...columns, part: { ...columns.part, [key]: value } }
}

/** The named fields that are set; `null` where none is. */
function pick(from: object, keys: readonly string[]): JsonObject | null {
  let picked: Record<string, JsonValue> | null = null
  for (const key of keys) {
    const value = (from as Record<string, JsonValue | undefined>)[key]
    if (value === undefined) continue
    picked ??= {}
    picked[key] = value
  }
  return picked
}
