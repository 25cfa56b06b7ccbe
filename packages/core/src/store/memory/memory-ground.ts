import type { Clock } from '../../internal/clock.js'
import type { JsonValue } from '../../internal/json.js'
import { CellIndex } from '../embedded/cell-index.js'
import type { DefinitionTable } from '../embedded/definition-table.js'
import { DefinitionTable as Table } from '../embedded/definition-table.js'
import type { CellChange, DefinitionChange, DefinitionKind, Ground, View } from '../embedded/ground.js'

/** What the memory store adds to its documents and definitions. */
export interface MemoryGroundParts {
  readonly clock: Clock
  check(signal?: AbortSignal): void
  hasRuns(agentId: string): boolean
}

/** Documents and definitions in memory: a unit of work runs at once, and nothing else can run meanwhile. */
export class MemoryGround implements Ground, View {
  readonly #parts: MemoryGroundParts
  readonly #values = new Map<string, JsonValue>()
  readonly #index = new CellIndex()
  readonly #tables: Record<DefinitionKind, DefinitionTable> = { agents: new Table(), prompts: new Table() }

  constructor(parts: MemoryGroundParts) {
    this.#parts = parts
  }

  async run<Result>(work: (view: View) => Result, signal?: AbortSignal): Promise<Result> {
    this.check(signal)
    return work(this)
  }

  async read(cells: readonly string[]): Promise<(JsonValue | undefined)[]> {
    return this.cells(cells)
  }

  async range(prefix: string, after: string | undefined, limit: number): Promise<CellChange[]> {
    return this.#index.range(prefix, after, limit).map((cell) => ({ cell, value: this.#values.get(cell) }))
  }

  now(): number {
    return this.#parts.clock.now()
  }

  cells(cells: readonly string[]): (JsonValue | undefined)[] {
    return cells.map((cell) => this.#values.get(cell))
  }

  definitions(kind: DefinitionKind): DefinitionTable {
    return this.#tables[kind]
  }

  hasRuns(agentId: string): boolean {
    return this.#parts.hasRuns(agentId)
  }

  check(signal?: AbortSignal): void {
    this.#parts.check(signal)
  }

  write(cells: readonly CellChange[], definitions: readonly DefinitionChange[]): void {
    for (const { cell, value } of cells) {
      if (value === undefined) {
        this.#values.delete(cell)
        this.#index.delete(cell)
      } else {
        this.#values.set(cell, value)
        this.#index.add(cell)
      }
    }
    for (const { kind, table } of definitions) this.#tables[kind] = table
  }
}
