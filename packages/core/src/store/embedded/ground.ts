import type { JsonValue } from '../../internal/json.js'
import type { DefinitionRecord } from '../records.js'
import type { DefinitionTable } from './definition-table.js'

/** The two kinds of definitions; also the names under which a transaction holds them. */
export type DefinitionKind = 'agents' | 'prompts'

/** One document as it will be: `undefined` deletes it. */
export interface CellChange {
  readonly cell: string
  readonly value: JsonValue | undefined
}

/** Definitions of one kind as they will be, and which records that changes (`undefined` deletes). */
export interface DefinitionChange {
  readonly kind: DefinitionKind
  readonly table: DefinitionTable
  readonly records: ReadonlyMap<string, DefinitionRecord | undefined>
}

/** What a unit of work sees while nothing else may run. */
export interface View {
  /** The store's time, read now. */
  now(): number
  /** Values of documents, in the order of `cells`. A folder store may run the unit again when they lie on disk only. */
  cells(cells: readonly string[]): (JsonValue | undefined)[]
  definitions(kind: DefinitionKind): DefinitionTable
  /** True where an execution refers to the agent. */
  hasRuns(agentId: string): boolean
  /** Writes all of it or nothing; the last thing that a unit does. */
  write(cells: readonly CellChange[], definitions: readonly DefinitionChange[]): void
}

/**
 * What documents, definitions and transactions need of the embedded store below them: units of work that run one after
 * another, each with everything that is committed before it in view.
 */
export interface Ground {
  /** Runs `work` once nothing else runs; what it wrote is durable when the promise is kept. It may be called again. */
  run<Result>(work: (view: View) => Result, signal?: AbortSignal): Promise<Result>
  /** Committed values, read at one point. */
  read(cells: readonly string[]): Promise<(JsonValue | undefined)[]>
  /** Committed documents that begin with `prefix`, behind the cell `after`, in key order. */
  range(prefix: string, after: string | undefined, limit: number): Promise<CellChange[]>
  definitions(kind: DefinitionKind): DefinitionTable
  /** True where a committed execution refers to the agent. */
  hasRuns(agentId: string): boolean
  /** @throws STORE_CLOSED once the store is closed, and the reason of the signal where it has fired */
  check(signal?: AbortSignal): void
}
