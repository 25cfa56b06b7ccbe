import type { AuditEntry } from './audit-entry.js'
import { NO_ENTRY } from './audit-entry.js'
import type { AuditFault } from './audit-fault.js'
import { EffectPairs } from './effect-pairs.js'
import { HashList } from './hash-list.js'
import { KeyChecker } from './key-checker.js'
import type { SuspectRow } from './locate-faults.js'
import { fault, locateFaults } from './locate-faults.js'
import type { FoundEntry } from './read-entry.js'
import type { AuditKey } from './seal-entry.js'
import type { Verification } from './verification.js'
import { statementOf } from './verification.js'

/** A place of a chain that is known from elsewhere: how many entries there were, and the hash of the last of them. */
export interface ChainAnchor {
  readonly size: number
  /** Hash of entry `size - 1`, 64 hexadecimal characters. */
  readonly hash: string
}

/** What a log is verified against. */
export interface VerifyOptions {
  /** Name of the log. Default: the one that its first sound entry tells. */
  readonly log?: string
  /** Places of the chain that were kept elsewhere. Without one, nobody can tell whether the end of a log was cut off. */
  readonly anchors?: readonly ChainAnchor[]
  /** All keys that the log was written under. Without them, the codes are not looked at. */
  readonly keys?: readonly AuditKey[]
  /** The first entry that must have a code, for a log that got its first key later. Default 0. */
  readonly keyedFrom?: number
  /** A place that has been verified before: what is read starts behind it. */
  readonly after?: ChainAnchor
}

/** Verifies the entries of one log, one after another, in the order in which they stand. */
export class ChainVerifier {
  readonly #options: VerifyOptions
  readonly #first: number
  readonly #hashes = new HashList()
  readonly #pairs = new EffectPairs()
  readonly #keys: KeyChecker
  readonly #keyFaults: AuditFault[] = []
  #suspects: SuspectRow[] | undefined
  #log: string | undefined
  #last: string
  #read = 0

  constructor(options: VerifyOptions = {}) {
    this.#options = options
    this.#log = options.log
    this.#first = options.after?.size ?? 0
    this.#last = options.after?.hash ?? NO_ENTRY
    this.#keys = new KeyChecker(options.keys, options.keyedFrom ?? 0)
  }

  /** Hashes of the entries up to the first fault. */
  get hashes(): HashList {
    return this.#hashes
  }

  add(found: FoundEntry): void {
    const place = this.#read++
    let { entry, why } = found
    if (entry !== undefined) {
      this.#log ??= entry.log
      if (entry.log !== this.#log) {
        entry = undefined
        why = `it belongs to another log`
      }
    }
    if (entry !== undefined) this.#look(entry, found.text, place)
    const next = this.#first + this.#hashes.length
    if (this.#suspects === undefined && entry !== undefined && entry.seq === next && entry.prev === this.#last) {
      this.#hashes.push(entry.hash)
      this.#last = entry.hash
      return
    }
    this.#suspects ??= []
    const { seq, prev, hash } = entry ?? { seq: -1, prev: '', hash: '' }
    this.#suspects.push({ place, why: entry === undefined ? (why ?? 'it cannot be read') : undefined, seq, prev, hash })
  }

  #look(entry: AuditEntry, text: string, place: number): void {
    this.#pairs.add(entry)
    const wrong = this.#keys.check(entry, text)
    if (wrong !== undefined) this.#keyFaults.push(fault('mac', entry.seq, entry.seq, place, wrong))
  }

  /** What the whole of it comes to. */
  end(): Verification {
    const intact = this.#first + this.#hashes.length
    const start = { next: intact, hash: this.#last, trusted: this.#hashes.length === 0 }
    const located =
      this.#suspects === undefined ? undefined : locateFaults(this.#suspects, start, this.#hashes, this.#first)
    const size = located?.end ?? intact
    const hashOf = (seq: number): string | undefined => located?.hashes.get(seq) ?? this.#hashes.at(seq - this.#first)
    const found = [...(located?.faults ?? []), ...this.#keyFaults]
    const sound = leastOf(located?.faults ?? [], size)
    const { faults: away, anchored, beyond } = this.#compare(size, sound, hashOf)
    const faults = [...found, ...away].sort((left, right) => left.from - right.from)
    const chained = leastOf(
      faults.filter(({ kind }) => kind !== 'mac'),
      size,
    )
    const report = {
      ok: faults.length === 0,
      log: this.#log ?? null,
      from: this.#first,
      size,
      head: faults.length === 0 ? { size, hash: this.#last } : null,
      faults,
      chained,
      keyed: this.#options.keys === undefined ? null : leastOf(faults, size),
      anchored,
      beyond,
      pairs: this.#pairs.end(),
    }
    return { ...report, statement: statementOf(report) }
  }

  /** Compares the chain with the anchors: how far they prove it, and what they show to be wrong. */
  #compare(size: number, sound: number, hashOf: (seq: number) => string | undefined) {
    const faults: AuditFault[] = []
    let anchored = this.#first
    let beyond = 0
    const anchors = [...(this.#options.anchors ?? [])].sort((left, right) => left.size - right.size)
    for (const anchor of anchors) {
      if (anchor.size < this.#first || anchor.size === 0) continue
      beyond = Math.max(beyond, anchor.size)
      if (anchor.size > size) {
        if (faults.at(-1)?.kind === 'truncated') faults.pop()
        faults.push(fault('truncated', size, anchor.size - 1, null, `an anchor holds ${anchor.size} entries`))
        continue
      }
      const hash = anchor.size === this.#first ? this.#options.after?.hash : hashOf(anchor.size - 1)
      if (hash === anchor.hash) {
        // the anchor fixes its entry, and each entry fixes the one before it
        if (anchor.size <= sound) anchored = anchor.size
      } else if (hash !== undefined || sound >= anchor.size) {
        const from = Math.min(anchored, anchor.size - 1)
        faults.push(
          fault('rewritten', from, anchor.size - 1, null, `the anchor of ${anchor.size} entries holds another hash`),
        )
      }
    }
    return { faults, anchored, beyond }
  }
}

function leastOf(faults: readonly AuditFault[], size: number): number {
  return faults.reduce((least, { from }) => Math.min(least, from), size)
}
