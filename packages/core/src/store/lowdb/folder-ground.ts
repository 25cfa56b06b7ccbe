import type { JsonValue } from '../../internal/json.js'
import type { DefinitionTable } from '../embedded/definition-table.js'
import type { CellChange, DefinitionKind, Ground, View } from '../embedded/ground.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import { type Lookup, resolveLookup } from './lookup.js'
import type { Batch } from './batch.js'
import type { Writer } from './writer.js'

/** Reads and writes of one open folder: what its repositories share. */
export class FolderGround implements Ground {
  readonly state: FolderState
  readonly reader: FileReader
  readonly #writer: Writer

  constructor(state: FolderState, reader: FileReader, writer: Writer) {
    this.state = state
    this.reader = reader
    this.#writer = writer
  }

  run<Result>(work: (view: View) => Result, signal?: AbortSignal): Promise<Result> {
    return this.#writer.submit(work, signal)
  }

  write<Result>(work: (batch: Batch) => Result, signal?: AbortSignal): Promise<Result> {
    return this.#writer.submit(work, signal)
  }

  look<Result>(look: (lookup: Lookup) => Result): Promise<Result> {
    return resolveLookup(this.state, this.reader, look)
  }

  read(cells: readonly string[]): Promise<(JsonValue | undefined)[]> {
    return this.look((lookup) => lookup.cells(cells))
  }

  range(prefix: string, after: string | undefined, limit: number): Promise<CellChange[]> {
    return this.look((lookup) => {
      const cells = this.state.index.range(prefix, after, limit)
      const values = lookup.cells(cells)
      return cells.map((cell, index) => ({ cell, value: values[index] }))
    })
  }

  definitions(kind: DefinitionKind): DefinitionTable {
    return this.state.tables[kind]
  }

  hasRuns(agentId: string): boolean {
    return this.state.executions.hasAgent(agentId)
  }

  check(signal?: AbortSignal): void {
    this.#writer.check(signal)
  }
}
