import type { AuditFault, AuditFaultKind } from './audit-fault.js'
import type { HashList } from './hash-list.js'
import { longestRising } from './longest-rising.js'

/** One row of the part of a log in which something is wrong. */
export interface SuspectRow {
  /** Place in what was read, from 0. */
  readonly place: number
  /** What is wrong with the entry by itself; then it has no number. */
  readonly why: string | undefined
  readonly seq: number
  readonly prev: string
  readonly hash: string
}

/** What stands before the suspect part. */
export interface ChainEnd {
  /** Number of the next entry. */
  readonly next: number
  /** Hash of the one before it. */
  readonly hash: string
  /** True where that one is known to be right: the place where reading began. */
  readonly trusted: boolean
}

/** The faults of a suspect part, and the hashes of the entries in it that stand in their place, by number. */
export interface Located {
  readonly faults: readonly AuditFault[]
  readonly hashes: ReadonlyMap<number, string>
  /** Number behind the last entry that there is, or was. */
  readonly end: number
}

/**
 * Names what was done to a chain. Entries that are sound by themselves keep their number, so a longest rising row of them is
 * what stands in its place; whatever lies outside it was moved, repeated or put in, and a gap in it was changed or dropped.
 */
export function locateFaults(rows: readonly SuspectRow[], start: ChainEnd, before: HashList, first: number): Located {
  const faults: AuditFault[] = []
  const sound = rows.filter((row) => row.why === undefined && row.seq >= start.next)
  const kept = longestRising(sound.map((row) => row.seq)).map((index) => sound[index] as SuspectRow)
  const inPlace = new Set(kept)
  const hashes = new Map(kept.map((row) => [row.seq, row.hash]))
  const hashOf = (seq: number): string | undefined => hashes.get(seq) ?? before.at(seq - first)
  const moved = new Set<number>()

  for (const row of rows) {
    if (row.why !== undefined || inPlace.has(row)) continue
    const known = hashOf(row.seq)
    if (known === undefined) moved.add(row.seq)
    const kind = known === undefined ? 'reordered' : known === row.hash ? 'duplicated' : 'inserted'
    faults.push(fault(kind, row.seq, row.seq, row.place, WHY_OUTSIDE[kind]))
  }

  let last = { seq: start.next - 1, hash: start.hash, place: start.next - first - 1 }
  const bad = rows.filter((row) => row.why !== undefined)
  let named = 0
  for (const row of [...kept, undefined]) {
    const between: SuspectRow[] = []
    for (; named < bad.length; named++) {
      const other = bad[named] as SuspectRow
      if (row !== undefined && other.place > row.place) break
      between.push(other)
    }
    const missing: number[] = []
    // behind the last sound entry, every unreadable one stands for an entry that was there
    const until = row === undefined ? last.seq + 1 + between.length : row.seq
    for (let seq = last.seq + 1; seq < until; seq++) if (!moved.has(seq)) missing.push(seq)
    for (const [index, other] of between.entries()) {
      const seq = missing[index]
      if (seq === undefined)
        faults.push(fault('inserted', last.seq + 1, last.seq + 1, other.place, other.why as string))
      else faults.push(fault('changed', seq, seq, other.place, other.why as string))
    }
    faults.push(...runs(missing.slice(between.length)))
    if (row === undefined) {
      let end = until
      for (const seq of moved) end = Math.max(end, seq + 1)
      return { faults, hashes, end }
    }
    if (row.seq === last.seq + 1 && row.prev !== last.hash) faults.push(brokenLink(last, row, start))
    last = row
  }
  throw new Error('unreachable: the row behind the last one ends the walk')
}

const WHY_OUTSIDE = {
  reordered: 'it stands at another place than its own',
  duplicated: 'it stands there once more',
  inserted: 'another entry has this number in the chain',
} as const

/** Two sound neighbours that do not fit: the earlier one is not the one that the later one holds. */
function brokenLink(last: { seq: number; place: number }, row: SuspectRow, start: ChainEnd): AuditFault {
  if (last.seq < start.next && start.trusted) {
    return fault('changed', row.seq, row.seq, row.place, 'it does not follow the entry before it')
  }
  return fault('changed', last.seq, last.seq, last.place, `entry ${row.seq} was written behind another one`)
}

function runs(missing: readonly number[]): AuditFault[] {
  const faults: AuditFault[] = []
  let from = 0
  for (let index = 1; index <= missing.length; index++) {
    if (index < missing.length && missing[index] === (missing[index - 1] as number) + 1) continue
    faults.push(fault('dropped', missing[from] as number, missing[index - 1] as number, null, 'not in the log'))
    from = index
  }
  return faults
}

/** A fault with its sentence. */
export function fault(kind: AuditFaultKind, from: number, to: number, place: number | null, why: string): AuditFault {
  const which = from === to ? `Entry ${from}` : `Entries ${from} to ${to}`
  const where = place === null ? '' : ` (place ${place})`
  return { kind, from, to, place, message: `${which}${where}: ${kind}; ${why}.` }
}
