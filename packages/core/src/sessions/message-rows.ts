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
type Writable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] }
type Row = Writable<NewMessageRecord>

/**
 * The rows of the message log for some messages of one turn: one row per content item, in order (S-37). Nothing is lost:
 * what the columns do not hold lies in `part`, and `fromRows` gives the same messages back. Objects are shared, not copied.
 */
export function toRows(messages: readonly Message[], target: RowTarget): NewMessageRecord[] {
  const rows: Row[] = []
  const firstRound = target.firstRound ?? 0
  let round = firstRound - 1
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index] as Message
    if (message.role === 'assistant') round += 1
    const from = rows.length
    addRows(message, rows, (role) => ({
      id: target.ids.id(),
      sessionId: target.sessionId,
      executionId: target.executionId,
      role,
      content: null,
      agentCode: producer(message, index, target),
      toolName: null,
      toolCallId: null,
      toolInput: null,
      toolOutput: null,
      toolStatus: null,
      errorReference: null,
      messageIndex: (target.firstMessageIndex ?? 0) + index,
      round: Math.max(round, firstRound),
      part: null,
      createdAt: target.at,
    }))
    if (target.withheld?.(index) === true)
      for (let at = from; at < rows.length; at++) mark(rows[at] as Row, 'withheld', true)
  }
  return rows
}

/** True for a row whose message a gate took back. */
export function isWithheld(row: NewMessageRecord): boolean {
  return row.part?.withheld === true
}

function producer(message: Message, index: number, target: RowTarget): string | null {
  const named = target.producedBy?.(index)
  if (named !== undefined) return named
  return message.role === 'assistant' || message.role === 'tool' ? target.agentCode : null
}

/** At least one row: a message without content leaves one that says so. */
function addRows(message: Message, rows: Row[], start: (role: Row['role']) => Row): void {
  if (message.role === 'system') {
    const row = start('system')
    row.content = message.content
    rows.push(row)
    return
  }
  const from = rows.length
  for (const part of message.content as readonly Part[]) rows.push(rowOf(part, message.role, start))
  if (rows.length === from) {
    const row = start(message.role === 'tool' ? 'tool_result' : message.role)
    mark(row, 'empty', true)
    rows.push(row)
  }
  if (message.role === 'assistant') {
    const facts = pick(message, MESSAGE_FACTS)
    if (facts !== null) mark(rows[from] as Row, 'message', facts)
  }
}

const MESSAGE_FACTS = ['provider', 'model', 'labels']
const OPTIONS = ['providerOptions']
const OPTIONS_AND_LABELS = ['providerOptions', 'labels']
const TYPE_AND_OPTIONS = ['type', 'providerOptions']
const FILE = ['type', 'mediaType', 'data', 'filename', 'providerOptions', 'labels']

function rowOf(part: Part, role: 'user' | 'assistant' | 'tool', start: (role: Row['role']) => Row): Row {
  const own = role === 'user' ? 'user' : 'assistant'
  switch (part.type) {
    case 'text':
      return withText(start(own), part.text, pick(part, OPTIONS_AND_LABELS))
    case 'reasoning':
      return withText(start('reasoning'), part.text, pick(part, OPTIONS))
    case 'refusal':
      return withText(start(own), part.text, pick(part, TYPE_AND_OPTIONS))
    case 'file': {
      const row = start(own)
      row.part = pick(part, FILE)
      return row
    }
    case 'hosted': {
      const row = withText(start(own), part.text, pick(part, TYPE_AND_OPTIONS))
      row.toolName = part.toolName
      return row
    }
    case 'tool_call': {
      const row = start('tool_call')
      row.toolName = part.toolName
      row.toolCallId = part.toolCallId
      row.toolInput = part.args
      row.part = pick(part, OPTIONS)
      return row
    }
    case 'tool_result': {
      const row = start('tool_result')
      row.toolName = part.toolName
      row.toolCallId = part.toolCallId
      row.toolOutput = part.result
      row.toolStatus = part.status
      row.errorReference = part.errorReference ?? null
      row.part = pick(part, OPTIONS_AND_LABELS)
      return row
    }
  }
}

function withText(row: Row, text: string, part: JsonObject | null): Row {
  row.content = text
  row.part = part
  return row
}

/** Notes something about the row itself, or about its message, beside what belongs to its part. */
function mark(row: Row, key: string, value: JsonValue): void {
  row.part = row.part === null ? { [key]: value } : { ...row.part, [key]: value }
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
