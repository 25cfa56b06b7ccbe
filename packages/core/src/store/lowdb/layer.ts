import type { JsonObject, JsonValue } from '../../internal/json.js'
import type { ExecutionRecord, MessageRecord, SessionRecord, ToolErrorRecord } from '../records.js'
import type { LogEntry } from '../store.js'

/** What a layer holds of one session. */
export interface SessionPart {
  header: SessionRecord | undefined
  readonly rows: MessageRecord[]
}

/**
 * Writes that are in the redo log and not yet in the files they belong to. The store looks through its layers from the
 * newest down before it looks into a file.
 */
export class Layer {
  /** Documents by cell; `undefined` where one was deleted. */
  readonly cells = new Map<string, JsonValue | undefined>()
  readonly sessions = new Map<string, SessionPart>()
  readonly executions = new Map<string, ExecutionRecord>()
  /** By reference. */
  readonly errors = new Map<string, ToolErrorRecord>()
  /** By root execution id. */
  readonly receipts = new Map<string, JsonObject[]>()
  /** By stream (namespace and name encoded as one key). */
  readonly logs = new Map<string, LogEntry[]>()

  get isEmpty(): boolean {
    const { cells, sessions, executions, errors, receipts, logs } = this
    return cells.size + sessions.size + executions.size + errors.size + receipts.size + logs.size === 0
  }

  setHeader(header: SessionRecord): void {
    this.#session(header.sessionId).header = header
  }

  addRows(sessionId: string, rows: readonly MessageRecord[]): void {
    const kept = this.#session(sessionId).rows
    for (const row of rows) kept.push(row)
  }

  addReceipts(rootExecutionId: string, receipts: readonly JsonObject[]): void {
    append(this.receipts, rootExecutionId, receipts)
  }

  addEntries(stream: string, entries: readonly LogEntry[]): void {
    append(this.logs, stream, entries)
  }

  /** Takes over everything of a newer layer. */
  absorb(newer: Layer): void {
    for (const [cell, value] of newer.cells) this.cells.set(cell, value)
    for (const [sessionId, part] of newer.sessions) {
      if (part.header !== undefined) this.setHeader(part.header)
      if (part.rows.length > 0) this.addRows(sessionId, part.rows)
    }
    for (const [id, record] of newer.executions) this.executions.set(id, record)
    for (const [reference, record] of newer.errors) this.errors.set(reference, record)
    for (const [root, receipts] of newer.receipts) this.addReceipts(root, receipts)
    for (const [stream, entries] of newer.logs) this.addEntries(stream, entries)
  }

  #session(sessionId: string): SessionPart {
    let part = this.sessions.get(sessionId)
    if (part === undefined) {
      part = { header: undefined, rows: [] }
      this.sessions.set(sessionId, part)
    }
    return part
  }
}

function append<Item>(lists: Map<string, Item[]>, key: string, items: readonly Item[]): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [...items])
  else for (const item of items) list.push(item)
}
