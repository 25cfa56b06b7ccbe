import type { Clock } from '../../internal/clock.js'
import type { JsonObject, JsonValue } from '../../internal/json.js'
import { encodeKey } from '../embedded/check-key.js'
import type { DefinitionTable } from '../embedded/definition-table.js'
import type { CellChange, DefinitionChange, DefinitionKind, View } from '../embedded/ground.js'
import type { ExecutionRecord, MessageRecord, SessionRecord, ToolErrorRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import { type Change, logChange } from './change.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import { Layer } from './layer.js'
import { Lookup } from './lookup.js'
import { encodeLine } from './record-line.js'

/**
 * The writes that go into the redo log together, each with everything before it in view. A write reads first and records
 * last, once: whatever throws before that leaves no trace.
 */
export class Batch implements View {
  readonly layer = new Layer()
  readonly lookup: Lookup
  readonly #state: FolderState
  readonly #clock: Clock
  readonly #tables: Partial<Record<DefinitionKind, DefinitionTable>> = {}
  #lines = ''

  constructor(parts: { readonly state: FolderState; readonly reader: FileReader; readonly clock: Clock }) {
    this.#state = parts.state
    this.#clock = parts.clock
    this.lookup = new Lookup(parts.state, parts.reader, this.layer)
  }

  /** The records of the batch, as they go into the redo log. */
  get lines(): string {
    return this.#lines
  }

  now(): number {
    return this.#clock.now()
  }

  cells(cells: readonly string[]): (JsonValue | undefined)[] {
    return this.lookup.cells(cells)
  }

  /** True where there is such a document; its value need not be read for that. */
  has(cell: string): boolean {
    return this.layer.cells.has(cell) ? this.layer.cells.get(cell) !== undefined : this.#state.index.has(cell)
  }

  definitions(kind: DefinitionKind): DefinitionTable {
    return this.#tables[kind] ?? this.#state.tables[kind]
  }

  hasRuns(agentId: string): boolean {
    if (this.#state.executions.hasAgent(agentId)) return true
    for (const record of this.layer.executions.values()) if (record.agentId === agentId) return true
    return false
  }

  write(cells: readonly CellChange[], definitions: readonly DefinitionChange[]): void {
    const all = [...cells]
    for (const { kind, table, records } of definitions) {
      this.#tables[kind] = table
      for (const [id, record] of records) {
        all.push({ cell: encodeKey([kind, id]), value: record as unknown as JsonValue | undefined })
      }
    }
    this.#record(all.map(({ cell, value }): Change => (value === undefined ? ['c', cell] : ['c', cell, value])))
    for (const { cell, value } of all) this.layer.cells.set(cell, value)
  }

  insertExecution(record: ExecutionRecord): void {
    this.#record([['x', record]])
    this.layer.executions.set(record.id, record)
  }

  changeExecution(current: ExecutionRecord, fields: Partial<ExecutionRecord>): ExecutionRecord {
    const next = { ...current, ...fields }
    this.#record([['u', current.id, fields]])
    this.layer.executions.set(current.id, next)
    return next
  }

  setHeader(header: SessionRecord): void {
    this.#record([['s', header]])
    this.layer.setHeader(header)
  }

  addRows(sessionId: string, rows: readonly MessageRecord[]): void {
    if (rows.length === 0) return
    this.#record([['m', sessionId, rows]])
    this.layer.addRows(sessionId, rows)
  }

  hasError(reference: string): boolean {
    const { layers, errorPlaces } = this.#state
    return (
      this.layer.errors.has(reference) ||
      layers.some((layer) => layer.errors.has(reference)) ||
      errorPlaces.has(reference)
    )
  }

  insertError(record: ToolErrorRecord): void {
    this.#record([['e', record]])
    this.layer.errors.set(record.reference, record)
  }

  addReceipts(rootExecutionId: string, receipts: readonly JsonObject[]): void {
    if (receipts.length === 0) return
    this.#record([['r', rootExecutionId, receipts]])
    this.layer.addReceipts(rootExecutionId, receipts)
  }

  addEntries(stream: string, entries: readonly LogEntry[]): void {
    if (entries.length === 0) return
    this.#record([logChange(stream, entries)])
    this.layer.addEntries(stream, entries)
  }

  #record(changes: readonly Change[]): void {
    this.#lines += encodeLine(JSON.stringify(changes))
  }
}
