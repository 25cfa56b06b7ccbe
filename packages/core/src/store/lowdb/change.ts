import type { JsonObject, JsonValue } from '../../internal/json.js'
import type { ExecutionRecord, MessageRecord, SessionRecord, ToolErrorRecord } from '../records.js'
import type { LogEntry } from '../store.js'

/**
 * One change in a record of the redo log, short because it is written on every call: `c` a document (without a value:
 * deleted), `x` an execution, `u` fields of an execution, `s` the header of a session, `m` message rows, `r` receipts, `e` an error,
 * `l` entries of a log (stream, first place, time, values).
 */
export type Change =
  | readonly ['c', string]
  | readonly ['c', string, JsonValue]
  | readonly ['x', ExecutionRecord]
  | readonly ['u', string, Partial<ExecutionRecord>]
  | readonly ['s', SessionRecord]
  | readonly ['m', string, readonly MessageRecord[]]
  | readonly ['r', string, readonly JsonObject[]]
  | readonly ['e', ToolErrorRecord]
  | readonly ['l', string, number, number, readonly JsonValue[]]

export function logChange(stream: string, entries: readonly LogEntry[]): Change {
  const first = entries[0] as LogEntry
  return ['l', stream, first.index, first.at, entries.map((entry) => entry.value)]
}

/** The entries of a change of {@link logChange}. */
export function entriesOf(first: number, at: number, values: readonly JsonValue[]): LogEntry[] {
  return values.map((value, offset) => Object.freeze({ index: first + offset, at, value }))
}
