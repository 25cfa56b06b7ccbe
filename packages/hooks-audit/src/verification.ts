import type { AuditFault } from './audit-fault.js'
import type { ChainAnchor } from './chain-verifier.js'
import type { PairReport } from './effect-pairs.js'

/** What a verification found, and how far it proves what. */
export interface Verification {
  /** True where nothing is wrong. */
  readonly ok: boolean
  /** Name of the log; `null` where it holds no sound entry. */
  readonly log: string | null
  /** Number of the first entry that was read. */
  readonly from: number
  /** Number behind the last entry. */
  readonly size: number
  /** The end of a whole chain: kept elsewhere, it is an anchor for later. `null` where something is wrong. */
  readonly head: ChainAnchor | null
  /** Everything that is wrong, by number. */
  readonly faults: readonly AuditFault[]
  /** Entries below this number are what their chain says. */
  readonly chained: number
  /** Entries below this number were written by who has the keys; `null` where none were given. */
  readonly keyed: number | null
  /** Entries below this number are those that an anchor holds; `from` where none fits. */
  readonly anchored: number
  /** Entries that the farthest anchor holds; 0 without one. What was cut off behind it, nobody can tell. */
  readonly beyond: number
  /** Intents and outcomes. An intent without an outcome is no fault of the chain. */
  readonly pairs: PairReport
  /** The same in words. */
  readonly statement: string
}

/** Says what is proven and up to where. */
export function statementOf(report: Omit<Verification, 'statement'>): string {
  const { size, faults, chained, keyed, anchored, from } = report
  const lines: string[] = []
  const first = faults[0]
  lines.push(
    first === undefined
      ? `${size - from} entries, nothing wrong.`
      : `BROKEN at entry ${first.from}: ${first.message}${faults.length > 1 ? ` ${faults.length - 1} more.` : ''}`,
  )
  lines.push(
    chained > from
      ? `Entries ${from} to ${chained - 1} fit together${keyed === null ? '' : ' and are vouched for by who has the keys'}.`
      : 'No entry is proven.',
  )
  if (keyed === null) {
    lines.push('No keys were given: who can write the log can have written all of it anew, up to the last anchor.')
  }
  lines.push(
    anchored > from
      ? `Entries ${from} to ${anchored - 1} are those that an anchor holds; what was cut off behind it is not known.`
      : 'No anchor fits: whether entries were cut off the end is not known.',
  )
  const { openCount, unannouncedCount } = report.pairs
  if (openCount > 0) lines.push(`${openCount} intents have no outcome.`)
  if (unannouncedCount > 0) lines.push(`${unannouncedCount} outcomes have no intent.`)
  return lines.join('\n')
}
