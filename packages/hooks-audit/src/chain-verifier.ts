import type { AuditEntry } from './audit-entry.js'
import { NO_ENTRY } from './audit-entry.js'
import type { AuditFault } from './audit-fault.js'
import { EffectPairs } from './effect-pairs.js'
import { HashList } from './hash-list.js'
import { KeyChecker } from './key-checker.js'
import type { BadRow } from './locate-faults.js'
import { fault, locateFaults } from './locate-faults.js'
import type { FoundEntry } from './read-entry.js'
import type { AuditKey } from './seal-entry.js'
import type { SoundRun } from './sound-run.js'
import { endOf } from './sound-run.js'
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
  /** All keys that the log was written under. Without them, only the ids of the codes are looked at. */
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
  /** What stands behind the first thing that is wrong. */
  #suspects: { readonly runs: SoundRun[]; readonly bad: BadRow[] } | undefined
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
    if (entry === undefined) {
      this.#suspects ??= { runs: [], bad: [] }
      this.#suspects.bad.push({ place, why: why ?? 'it cannot be read' })
      return
    }
    this.#look(entry, found.text, place)
    if (this.#follows(entry)) {
      this.#hashes.push(entry.hash)
      this.#last = entry.hash
      return
    }
    const { runs } = (this.#suspects ??= { runs: [], bad: [] })
    const run = runs.at(-1)
    if (run !== undefined && continues(run, entry, place)) run.hashes.push(entry.hash)
    else {
      const hashes = new HashList()
      hashes.push(entry.hash)
      runs.push({ place, seq: entry.seq, prev: entry.prev, hashes })
    }
  }

  /** Takes entries that were read and fitted together before: only where they stand is looked at. */
  addRun({ seq, prev, hashes }: Omit<SoundRun, 'place'>): void {
    const place = this.#read
    this.#read += hashes.length
    if (this.#follows({ seq, prev })) {
      this.#hashes.append(hashes)
      this.#last = hashes.at(hashes.length - 1) as string
      return
    }
    this.#suspects ??= { runs: [], bad: [] }
    this.#suspects.runs.push({ place, seq, prev, hashes })
  }

  #follows({ seq, prev }: { readonly seq: number; readonly prev: string }): boolean {
    return this.#suspects === undefined && seq === this.#first + this.#hashes.length && prev === this.#last
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
    const hashOf = (seq: number): string | undefined => located?.hashOf(seq) ?? this.#hashes.at(seq - this.#first)
    const found = [...(located?.faults ?? []), ...this.#keyFaults]
    const sound = leastOf(located?.faults ?? [], size)
    const { faults: away, anchored, beyond } = this.#compare(size, sound, hashOf)
    const faults = [...found, ...away].sort((left, right) => left.from - right.from)
    const chained = leastOf(
      faults.filter(({ kind }) => kind !== 'mac'),
      size,
    )
    const report = {
      ok: faults.length === 0 && this.#suspects === undefined,
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

function continues(run: SoundRun, { seq, prev }: AuditEntry, place: number): boolean {
  const { length } = run.hashes
  return place === run.place + length && seq === endOf(run) && prev === run.hashes.at(length - 1)
}

function leastOf(faults: readonly AuditFault[], size: number): number {
  return faults.reduce((least, { from }) => Math.min(least, from), size)
}
