import { SluiceError } from '../../errors/sluice-error.js'
import type { JsonValue } from '../../internal/json.js'
import type { DefinitionRecord } from '../records.js'
import type { StoreCall } from '../store.js'
import type { CellAccess, Decision, DefinitionDecision } from './cell-access.js'
import { checkNoRuns, checkOneActive } from './cell-access.js'
import type { CellLocks, Holder } from './cell-locks.js'
import type { DefinitionTable } from './definition-table.js'
import type { CellChange, DefinitionKind, Ground, View } from './ground.js'
import { compareText } from './sorted-list.js'

interface OpenDefinitions {
  table: DefinitionTable
  readonly records: Map<string, DefinitionRecord | undefined>
}

/**
 * A transaction while its function runs. It holds every cell and kind of definitions that it has read or written, so what
 * it saw stays true until it ends; its writes are visible to itself alone until {@link OpenTransaction.commit}.
 */
export class OpenTransaction implements CellAccess, Holder {
  readonly #ground: Ground
  readonly #locks: CellLocks
  readonly #isCaller: () => boolean
  readonly #held = new Map<string, JsonValue | undefined>()
  readonly #written = new Map<string, JsonValue | undefined>()
  readonly #definitions = new Map<DefinitionKind, OpenDefinitions>()
  readonly #pending = new Set<Promise<unknown>>()
  #over = false

  /** `isCaller` tells whether the code that runs now was started by this transaction's function. */
  constructor(ground: Ground, locks: CellLocks, isCaller: () => boolean) {
    this.#ground = ground
    this.#locks = locks
    this.#isCaller = isCaller
  }

  get over(): boolean {
    return this.#over
  }

  refuseWait(): void {
    if (!this.#isCaller()) return
    throw new SluiceError(
      'INVALID_CONFIG',
      'A write beside the transaction waits for what the transaction itself holds; nothing was written.',
      { reason: 'store.transaction', hint: 'Write through the transaction, or let it end first.' },
    )
  }

  read(cells: readonly string[], call?: StoreCall): Promise<(JsonValue | undefined)[]> {
    return this.#step(async () => {
      await this.#hold(cells, call)
      return cells.map((cell) => this.#value(cell))
    })
  }

  range(prefix: string, after: string | undefined, limit: number, call?: StoreCall): Promise<CellChange[]> {
    return this.#step(async () => {
      this.#ground.check(call?.signal)
      const own = [...this.#written].filter(([cell]) => isIn(cell, prefix, after))
      const found = await this.#ground.range(prefix, after, limit + own.length)
      const merged = new Map(found.map(({ cell, value }) => [cell, value]))
      for (const [cell, value] of own) merged.set(cell, value)
      return [...merged]
        .filter(([, value]) => value !== undefined)
        .sort(([left], [right]) => compareText(left, right))
        .slice(0, limit)
        .map(([cell, value]) => ({ cell, value }))
    })
  }

  change<Result>(
    cells: readonly string[],
    decide: (current: readonly (JsonValue | undefined)[], at: number) => Decision<Result>,
    call?: StoreCall,
  ): Promise<Result> {
    return this.#step(async () => {
      const at = await this.#hold(cells, call)
      const current = cells.map((cell) => this.#value(cell))
      const { next, result } = decide(current, at)
      for (let index = 0; index < cells.length; index++) {
        if (next[index] !== current[index]) this.#written.set(cells[index] as string, next[index])
      }
      return result
    })
  }

  table(kind: DefinitionKind): Promise<DefinitionTable> {
    return this.#step(async () => (await this.#holdDefinitions(kind)).table)
  }

  changeDefinitions<Result>(
    kind: DefinitionKind,
    decide: (table: DefinitionTable) => DefinitionDecision<Result>,
  ): Promise<Result> {
    return this.#step(async () => {
      const open = await this.#holdDefinitions(kind)
      const { changed, result } = decide(open.table)
      if (changed !== undefined) {
        checkNoRuns(kind, open.table, changed, this.#ground)
        open.table = changed.table
        for (const [id, record] of changed.records) open.records.set(id, record)
      }
      return result
    })
  }

  /** Writes everything in one unit, once all that the function started has ended. */
  async commit(): Promise<void> {
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending)
    this.#over = true
    const cells = [...this.#written].map(([cell, value]) => ({ cell, value }))
    const definitions = [...this.#definitions]
      .filter(([, open]) => open.records.size > 0)
      .map(([kind, open]) => ({ kind, table: open.table, records: open.records }))
    for (const change of definitions) checkOneActive(change.kind, change)
    if (cells.length === 0 && definitions.length === 0) return
    await this.#ground.run((view) => {
      for (const change of definitions) checkNoRuns(change.kind, view.definitions(change.kind), change, view)
      view.write(cells, definitions)
    })
  }

  /** Gives everything back; what was not committed is gone. */
  end(): void {
    this.#over = true
    this.#locks.release(this)
  }

  #step<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#over) return Promise.reject(overError())
    const step = work()
    this.#pending.add(step)
    const settled = () => {
      this.#pending.delete(step)
    }
    step.then(settled, settled)
    return step
  }

  #value(cell: string): JsonValue | undefined {
    return this.#written.has(cell) ? this.#written.get(cell) : this.#held.get(cell)
  }

  /** Holds the cells from now on; returns the store's time at which that was so. */
  #hold(cells: readonly string[], call: StoreCall | undefined): Promise<number> {
    const missing = cells.filter((cell) => !this.#held.has(cell))
    return this.#holding(missing, call, (view) => {
      const values = view.cells(missing)
      return () => missing.forEach((cell, index) => void this.#held.set(cell, values[index]))
    })
  }

  async #holdDefinitions(kind: DefinitionKind): Promise<OpenDefinitions> {
    const open = this.#definitions.get(kind)
    if (open !== undefined) return open
    await this.#holding([kind], undefined, (view) => {
      const table = view.definitions(kind)
      return () => {
        if (!this.#definitions.has(kind)) this.#definitions.set(kind, { table, records: new Map() })
      }
    })
    return this.#definitions.get(kind) as OpenDefinitions
  }

  async #holding(
    names: readonly string[],
    call: StoreCall | undefined,
    read: (view: View) => () => void,
  ): Promise<number> {
    this.#ground.check(call?.signal)
    let at = 0
    let keep: () => void = () => undefined
    try {
      await this.#locks.run(
        names,
        (view) => {
          keep = read(view)
          at = view.now()
          this.#locks.take(names, this)
        },
        { holder: this, signal: call?.signal },
      )
    } catch (error) {
      // the unit may have run in a batch that could not be written: what it took is given back
      const kept = (name: string) => this.#held.has(name) || this.#definitions.has(name as DefinitionKind)
      this.#locks.release(
        this,
        names.filter((name) => !kept(name)),
      )
      throw error
    }
    keep()
    return at
  }
}

function isIn(cell: string, prefix: string, after: string | undefined): boolean {
  return (cell === prefix || cell.startsWith(`${prefix}\0\0`)) && (after === undefined || cell > after)
}

function overError(): SluiceError {
  return new SluiceError('INVALID_CONFIG', 'The transaction has ended; nothing was written.', {
    reason: 'store.transaction',
    hint: 'Await every call before the function of the transaction returns.',
  })
}
