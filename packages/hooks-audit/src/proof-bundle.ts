import type { KeyObject } from 'node:crypto'
import { createPublicKey } from 'node:crypto'
import type { AuditEntry } from './audit-entry.js'
import type { AuditCheckpoint } from './checkpoint.js'
import { isCheckpointGood } from './checkpoint.js'
import { KeyChecker } from './key-checker.js'
import { rootOf } from './merkle-tree.js'
import { isHash, readEntry } from './read-entry.js'
import type { AuditKey } from './seal-entry.js'

/** One entry, and the way from it to the root of the checkpoint. */
export interface ProvenEntry {
  readonly entry: AuditEntry
  /** Hashes of the siblings, from the leaf up (RFC 9162, 2.1.3): all that is shown of other entries. */
  readonly path: readonly string[]
}

/** The entries of one run with what proves that they are in the log. Plain JSON. */
export interface ProofBundle {
  readonly v: 1
  readonly log: string
  readonly run: string
  readonly checkpoint: AuditCheckpoint
  readonly entries: readonly ProvenEntry[]
}

/** What came of a bundle. */
export interface BundleReport {
  readonly ok: boolean
  /** One sentence for each thing that is wrong. */
  readonly faults: readonly string[]
  /** Entries that are proven to be in the log at the checkpoint. */
  readonly proven: number
  readonly statement: string
}

/** What a bundle is verified against. */
export interface BundleOptions {
  /** The signer's public key (or its private one), from a source of your own: never from the bundle. */
  readonly publicKey: KeyObject
  /** Keys of the codes; without them, the codes are not looked at. */
  readonly keys?: readonly AuditKey[]
  /** The first entry that must have a code, for a log that got its first key later. Default 0. */
  readonly keyedFrom?: number
}

/**
 * Verifies a bundle with no store. It proves that each entry stood in the log, unchanged, at its place, when the checkpoint was
 * signed; not that the run has no other entries. It may be anything: nothing throws.
 */
export function verifyBundle(bundle: unknown, options: BundleOptions): BundleReport {
  const faults: string[] = []
  let proven = 0
  let run = 'unknown'
  try {
    const { v, log, checkpoint, entries, run: told } = bundle as ProofBundle
    run = String(told)
    if (v !== 1) throw new TypeError('another version')
    const { publicKey: key } = options
    const publicKey = key.type === 'private' ? createPublicKey(key) : key
    if (!isCheckpointGood(checkpoint, publicKey)) faults.push('The checkpoint is not signed by this key.')
    else if (checkpoint.log !== log) faults.push('The checkpoint is one of another log.')
    else {
      if (entries.length === 0) faults.push('It holds no entry.')
      const seen = new Set<number>()
      for (const [index, { entry, path }] of entries.entries()) {
        const why = faultOf(entry, path, { log, run: told, checkpoint }, options)
        const seq: unknown = entry?.seq
        if (why !== undefined) faults.push(`Entry ${String(seq)} (${index} of the bundle): ${why}.`)
        else if (seen.has(entry.seq)) faults.push(`Entry ${entry.seq} stands in the bundle twice.`)
        else {
          seen.add(entry.seq)
          proven += 1
        }
      }
    }
  } catch {
    faults.push('It does not have the shape of a bundle.')
  }
  const ok = faults.length === 0
  return { ok, faults, proven, statement: ok ? good(run, proven) : `BROKEN: ${faults.join(' ')}` }
}

function faultOf(
  entry: unknown,
  path: unknown,
  about: { log: string; run: string; checkpoint: AuditCheckpoint },
  { keys, keyedFrom = 0 }: BundleOptions,
): string | undefined {
  const found = readEntry(entry)
  if (found.entry === undefined) return found.why
  if (found.entry.log !== about.log) return 'it is of another log'
  if (found.entry.run !== about.run) return 'it is of another run'
  if (!Array.isArray(path) || !path.every(isHash)) return 'its path is none'
  const { size, root } = about.checkpoint
  if (rootOf(found.entry.hash, found.entry.seq, size, path) !== root) return 'its path does not lead to the checkpoint'
  return new KeyChecker(keys, keyedFrom).check(found.entry, found.text)
}

function good(run: string, proven: number): string {
  return `${proven} entries of the run ${run} stood in the log, as they stand here, when the checkpoint was signed.`
}
