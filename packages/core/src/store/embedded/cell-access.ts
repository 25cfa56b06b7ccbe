import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'
import type { JsonValue } from '../../internal/json.js'
import type { StoreCall } from '../store.js'
import type { CellLocks } from './cell-locks.js'
import type { DefinitionTable } from './definition-table.js'
import type { CellChange, DefinitionChange, DefinitionKind, Ground, View } from './ground.js'

/** What a change of documents decides: the next values in the order of the cells, and something for its caller. */
export interface Decision<Result> {
  readonly next: readonly (JsonValue | undefined)[]
  readonly result: Result
}

/** What a change of definitions decides. `changed` is absent where nothing is to be written. */
export interface DefinitionDecision<Result> {
  readonly changed?: Omit<DefinitionChange, 'kind'>
  readonly result: Result
}

/** Documents and definitions, outside of transactions or inside of one. */
export interface CellAccess {
  read(cells: readonly string[], call?: StoreCall): Promise<(JsonValue | undefined)[]>
  range(prefix: string, after: string | undefined, limit: number, call?: StoreCall): Promise<CellChange[]>
  /** One atomic read and write; the next values must be snapshots. The same value by identity writes nothing. */
  change<Result>(
    cells: readonly string[],
    decide: (current: readonly (JsonValue | undefined)[], at: number) => Decision<Result>,
    call?: StoreCall,
  ): Promise<Result>
  table(kind: DefinitionKind): Promise<DefinitionTable>
  changeDefinitions<Result>(
    kind: DefinitionKind,
    decide: (table: DefinitionTable) => DefinitionDecision<Result>,
  ): Promise<Result>
}

/** Access outside of transactions: every change is a unit of its own. */
export function directAccess(ground: Ground, locks: CellLocks): CellAccess {
  return {
    async read(cells, call) {
      ground.check(call?.signal)
      return ground.read(cells)
    },
    async range(prefix, after, limit, call) {
      ground.check(call?.signal)
      return ground.range(prefix, after, limit)
    },
    async change(cells, decide, call) {
      ground.check(call?.signal)
      return locks.run(
        cells,
        (view) => {
          const current = view.cells(cells)
          const { next, result } = decide(current, view.now())
          const changes = changesOf(cells, current, next)
          if (changes.length > 0) view.write(changes, [])
          return result
        },
        { signal: call?.signal },
      )
    },
    async table(kind) {
      ground.check()
      return ground.definitions(kind)
    },
    async changeDefinitions(kind, decide) {
      ground.check()
      return locks.run([kind], (view) => {
        const table = view.definitions(kind)
        const { changed, result } = decide(table)
        if (changed !== undefined) {
          checkOneActive(kind, changed)
          checkNoRuns(kind, table, changed, view)
          view.write([], [{ kind, ...changed }])
        }
        return result
      })
    },
  }
}

/** What is different between the values before and after. */
export function changesOf(
  cells: readonly string[],
  current: readonly (JsonValue | undefined)[],
  next: readonly (JsonValue | undefined)[],
): CellChange[] {
  const changes: CellChange[] = []
  for (let index = 0; index < cells.length; index++) {
    if (next[index] !== current[index]) changes.push({ cell: cells[index] as string, value: next[index] })
  }
  return changes
}

/**
 * At most one version of an agent is active when a unit ends, whatever the order of the steps in it. Prompt profiles
 * may have several (P-3).
 */
export function checkOneActive(kind: DefinitionKind, changed: Omit<DefinitionChange, 'kind'>): void {
  if (kind !== 'agents') return
  for (const record of changed.records.values()) {
    if (record?.status === 'active') changed.table.checkActive(record.code)
  }
}

/** An agent that has runs is not deleted. @throws HAS_HISTORY */
export function checkNoRuns(
  kind: DefinitionKind,
  before: DefinitionTable,
  changed: Omit<DefinitionChange, 'kind'>,
  rows: Pick<View, 'hasRuns'>,
): void {
  if (kind !== 'agents') return
  for (const [id, record] of changed.records) {
    const deleted = record === undefined ? before.get(id) : undefined
    if (deleted === undefined || !rows.hasRuns(id)) continue
    throw new SluiceError(
      'HAS_HISTORY',
      `Version ${deleted.version} of agent '${escapeControl(deleted.code, 200)}' has runs and cannot be deleted; nothing was written.`,
      { hint: 'Archive it, or purge the agent together with its history.' },
    )
  }
}
