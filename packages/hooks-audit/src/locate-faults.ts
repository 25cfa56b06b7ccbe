import type { AuditFault, AuditFaultKind } from './audit-fault.js'
import type { HashList } from './hash-list.js'
import { longestRising } from './longest-rising.js'
import type { SoundRun } from './sound-run.js'
import { runWith, splitRuns } from './sound-run.js'

/** Something in the place of an entry that is none. */
export interface BadRow {
  /** Place in what was read, from 0. */
  readonly place: number
  /** What is wrong with it by itself. */
  readonly why: string
}

/** The part of a log in which something is wrong, in the order in which it stands. */
export interface Suspects {
  readonly runs: readonly SoundRun[]
  readonly bad: readonly BadRow[]
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
  readonly hashOf: (seq: number) => string | undefined
  /** Number behind the last entry that there is, or was. */
  readonly end: number
}

/**
 * Names what was done to a chain. Entries that are sound by themselves keep their number, so a longest rising row of them is
 * what stands in its place; whatever lies outside it was moved, repeated or put in, and a gap in it was changed or dropped.
 */
export function locateFaults({ runs, bad }: Suspects, start: ChainEnd, before: HashList, first: number): Located {
  const faults: AuditFault[] = []
  const pieces = splitRuns(runs, start.next)
  const kept = longestRising(pieces.filter((piece) => piece.seq >= start.next))
  const inPlace = new Set(kept)
  const hashOf = (seq: number): string | undefined => {
    const run = runWith(kept, seq)
    return run === undefined ? undefined : run.hashes.at(seq - run.seq)
  }
  const known = (seq: number): string | undefined => hashOf(seq) ?? before.at(seq - first)
  const moved = new Set<number>()
  for (const piece of pieces) {
    if (inPlace.has(piece)) continue
    for (const found of outside(piece, known)) {
      faults.push(found)
      if (found.kind === 'reordered') for (let seq = found.from; seq <= found.to; seq++) moved.add(seq)
    }
  }

  let last = { seq: start.next - 1, hash: start.hash, place: start.next - first - 1 }
  let named = 0
  for (const run of [...kept, undefined]) {
    const between: BadRow[] = []
    for (; named < bad.length; named++) {
      const other = bad[named] as BadRow
      if (run !== undefined && other.place > run.place) break
      between.push(other)
    }
    const missing: number[] = []
    // behind the last sound entry, every unreadable one stands for an entry that was there
    const until = run === undefined ? last.seq + 1 + between.length : run.seq
    for (let seq = last.seq + 1; seq < until; seq++) if (!moved.has(seq)) missing.push(seq)
    for (const [index, { place, why }] of between.entries()) {
      const seq = missing[index]
      if (seq === undefined) faults.push(fault('inserted', last.seq + 1, last.seq + 1, place, why))
      else faults.push(fault('changed', seq, seq, place, why))
    }
    faults.push(...dropped(missing.slice(between.length)))
    if (run === undefined) {
      let end = until
      for (const seq of moved) end = Math.max(end, seq + 1)
      return { faults, hashOf, end }
    }
    if (run.seq === last.seq + 1 && run.prev !== last.hash) faults.push(brokenLink(last, run, start))
    const more = run.hashes.length - 1
    last = { seq: run.seq + more, hash: run.hashes.at(more) as string, place: run.place + more }
  }
  throw new Error('unreachable: what stands behind the last run ends the walk')
}

/** What entries outside the chain are, in rows of one kind. */
function outside(piece: SoundRun, known: (seq: number) => string | undefined): AuditFault[] {
  const faults: AuditFault[] = []
  const kindOf = (index: number): keyof typeof WHY_OUTSIDE => {
    const hash = known(piece.seq + index)
    if (hash === undefined) return 'reordered'
    return hash === piece.hashes.at(index) ? 'duplicated' : 'inserted'
  }
  const count = piece.hashes.length
  let from = 0
  let kind = kindOf(0)
  for (let index = 1; index <= count; index++) {
    const next = index < count ? kindOf(index) : undefined
    if (next === kind) continue
    faults.push(fault(kind, piece.seq + from, piece.seq + index - 1, piece.place + from, WHY_OUTSIDE[kind]))
    if (next === undefined) break
    from = index
    kind = next
  }
  return faults
}

const WHY_OUTSIDE = {
  reordered: 'it stands at another place than its own',
  duplicated: 'it stands there once more',
  inserted: 'another entry has this number in the chain',
} as const

/** Two sound neighbours that do not fit: the earlier one is not the one that the later one holds. */
function brokenLink(last: { seq: number; place: number }, run: SoundRun, start: ChainEnd): AuditFault {
  if (last.seq < start.next && start.trusted) {
    return fault('changed', run.seq, run.seq, run.place, 'it does not follow the entry before it')
  }
  return fault('changed', last.seq, last.seq, last.place, `entry ${run.seq} was written behind another one`)
}

function dropped(missing: readonly number[]): AuditFault[] {
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
