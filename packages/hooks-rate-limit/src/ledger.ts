import type { JsonObject, JsonValue } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { Pace } from './gcra.js'
import { drained, paceWaitMs } from './gcra.js'

/** How the entries of a ledger live. */
export interface LedgerRule {
  /** Most that stands in it. */
  readonly max: number
  /** Milliseconds that an entry stands: the window of a rate, or the lease of a slot. */
  readonly spanMs: number
  /** How a rate is spread. Absent for slots, and where the whole limit may be taken at once: `max` per span implies it then. */
  readonly pace?: Pace
}

interface Permit {
  readonly id: string
  readonly amount: number
  readonly end: number
}

interface Cell {
  readonly end: number
  readonly amount: number
}

/**
 * What stands under one key of one limit: permits of calls that are not closed, and amounts of closed ones, until each has
 * stood for its span. Time is the store's, counted by the ledger itself and only forward, so that a clock that is set back
 * holds nobody up for longer than one span.
 */
export interface Ledger {
  readonly rule: LedgerRule
  /** The store's clock at the last reading. */
  at: number
  /** Milliseconds of the ledger's own time. */
  now: number
  level: number
  open: readonly Permit[]
  cells: readonly Cell[]
  /** The store's clock was set back since the last reading; the new reading has to be written. */
  rewound: boolean
}

/** Closed amounts that a ledger tells apart; above it, those that end close to each other become one. */
const MOST_CELLS = 128
const SLICES = 64

/**
 * Reads a ledger at the store's time `at`; what has ended is left out.
 *
 * @throws STORE_DAMAGED for a document that is no ledger
 */
export function openLedger(value: JsonValue | undefined, at: number, rule: LedgerRule): Ledger {
  if (value === undefined) return { rule, at, now: 0, level: 0, open: [], cells: [], rewound: false }
  const stored = parse(value)
  const elapsed = Math.max(0, at - stored.at)
  const now = stored.now + elapsed
  const latest = now + rule.spanMs
  return {
    rule,
    at,
    now,
    // under figures that were changed since, no level takes longer than a span to fall
    level: rule.pace === undefined ? 0 : drained(Math.min(rule.max, stored.level), rule.pace, elapsed),
    // a span that was made shorter since then holds for what was taken before, too
    open: stored.open.filter(({ end }) => end > now).map((permit) => capped(permit, latest)),
    cells: stored.cells.filter(({ end }) => end > now).map((cell) => capped(cell, latest)),
    rewound: at < stored.at,
  }
}

/** Sum of what stands. */
export function standing({ open, cells }: Ledger): number {
  let sum = 0
  for (const { amount } of open) sum += amount
  for (const { amount } of cells) sum += amount
  return sum
}

/** The permit of this id, where it stands. */
export function permitOf({ open }: Ledger, id: string): Permit | undefined {
  return open.find((permit) => permit.id === id)
}

/** Milliseconds until `amount` may be taken, at most a span; 0: now; `undefined`: never, it is more than the limit. */
export function waitMs(ledger: Ledger, amount: number): number | undefined {
  const { rule, open, cells, now, level } = ledger
  const { max, pace, spanMs } = rule
  if (amount > max || (pace !== undefined && amount > pace.burst)) return undefined
  const paced = pace === undefined ? 0 : paceWaitMs(level, pace, amount)
  let over = standing(ledger) + amount - max
  if (over <= 0 && paced === 0) return 0
  let until = now
  for (const entry of [...open, ...cells].sort((left, right) => left.end - right.end)) {
    if (over <= 0) break
    over -= entry.amount
    until = entry.end
  }
  return Math.min(spanMs, Math.max(1, Math.ceil(Math.max(until - now, paced))))
}

/** Enters a permit. */
export function take(ledger: Ledger, id: string, amount: number): void {
  ledger.open = [...ledger.open, { id, amount, end: ledger.now + ledger.rule.spanMs }]
  if (ledger.rule.pace !== undefined) ledger.level += amount
}

/** Gives a permit a whole span from now on; one that has lapsed is entered again, also above the limit. */
export function renew(ledger: Ledger, id: string, amount: number): void {
  const end = ledger.now + ledger.rule.spanMs
  const standingPermit = permitOf(ledger, id)
  ledger.open = [
    ...ledger.open.filter((permit) => permit !== standingPermit),
    { id, amount: standingPermit?.amount ?? amount, end },
  ]
}

/** Closes a permit: `amount` is what it came to, and stands in the span in which it was taken. 0 takes it out. */
export function settle(ledger: Ledger, permit: Permit, amount: number): void {
  ledger.open = ledger.open.filter((other) => other !== permit)
  const { pace, spanMs, max } = ledger.rule
  if (amount > 0) ledger.cells = compact([...ledger.cells, { end: permit.end, amount }], spanMs)
  if (pace === undefined) return
  // what has left the bucket since cannot be given back to it
  const gone = (ledger.now - (permit.end - spanMs)) * pace.perMs
  const change = Math.max(0, amount - gone) - Math.max(0, permit.amount - gone)
  ledger.level = Math.min(max, Math.max(0, ledger.level + change))
}

/** The document of a ledger; `undefined` where nothing stands in it. `until` is its own time at which that will be so. */
export function toDocument({ at, now, level, open, cells, rule }: Ledger): JsonObject | undefined {
  if (open.length === 0 && cells.length === 0 && level === 0) return undefined
  let until = rule.pace === undefined ? now : now + level / rule.pace.perMs
  for (const { end } of open) until = Math.max(until, end)
  for (const { end } of cells) until = Math.max(until, end)
  return {
    at,
    now,
    level,
    until,
    open: open.map(({ id, amount, end }) => [id, amount, end]),
    cells: cells.map(({ end, amount }) => [end, amount]),
  }
}

/** True where nothing stands in the document any more at the store's time `at`, whatever limit it was of. */
export function isOver(value: JsonValue | undefined, at: number): boolean {
  const { at: written, now, until } = (value ?? {}) as Partial<Record<string, JsonValue>>
  if (typeof written !== 'number' || typeof now !== 'number' || typeof until !== 'number') return false
  return now + Math.max(0, at - written) >= until
}

function capped<Entry extends { readonly end: number }>(entry: Entry, latest: number): Entry {
  return entry.end <= latest ? entry : { ...entry, end: latest }
}

/** Joins amounts that end in the same slice of the span; the last end stands, so that nothing ends early or after its span. */
function compact(cells: readonly Cell[], spanMs: number): readonly Cell[] {
  if (cells.length <= MOST_CELLS) return cells
  const slices = new Map<number, Cell>()
  for (const { end, amount } of cells) {
    const slice = Math.floor((end * SLICES) / spanMs)
    const other = slices.get(slice)
    slices.set(slice, { end: Math.max(end, other?.end ?? 0), amount: amount + (other?.amount ?? 0) })
  }
  return [...slices.values()]
}

function parse(value: JsonValue): Omit<Ledger, 'rule' | 'rewound'> {
  const { at, now, level, open, cells } = (value ?? {}) as Partial<Record<string, JsonValue>>
  const numbers = [at, now, level]
  if (numbers.every(Number.isFinite) && isListOfLists(open) && isListOfLists(cells)) {
    const permits = (open as unknown as [string, number, number][]).map(([id, amount, end]) => ({ id, amount, end }))
    const closed = (cells as unknown as [number, number][]).map(([end, amount]) => ({ end, amount }))
    if ([...permits, ...closed].every(({ end, amount }) => Number.isFinite(end) && Number.isFinite(amount)))
      return { at: at as number, now: now as number, level: level as number, open: permits, cells: closed }
  }
  throw new SluiceError('STORE_DAMAGED', 'A stored document of a rate limit is not one that this plugin writes.', {
    hint: 'Delete it, or give the limit another name.',
  })
}

function isListOfLists(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((entry) => Array.isArray(entry))
}
