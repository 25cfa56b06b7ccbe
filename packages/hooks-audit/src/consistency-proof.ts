import type { KeyObject } from 'node:crypto'
import { createHash } from 'node:crypto'
import type { AuditCheckpoint } from './checkpoint.js'
import { isCheckpointGood } from './checkpoint.js'
import { areConsistent } from './merkle-consistency.js'
import { isHash } from './read-entry.js'

/** What shows that a log only grew since a checkpoint that somebody keeps. Plain JSON. */
export interface ConsistencyProof {
  readonly v: 1
  readonly log: string
  /** Size of the kept checkpoint. */
  readonly from: number
  readonly newer: AuditCheckpoint
  /** Hashes of inner nodes (RFC 9162, 2.1.4). */
  readonly path: readonly string[]
}

/** What came of a proof. */
export interface ConsistencyReport {
  readonly ok: boolean
  /** What is wrong, as a sentence; `null` where nothing is. */
  readonly fault: string | null
  readonly statement: string
}

/** What a proof is verified against: keys from a source of your own, never from the proof. */
export interface ConsistencyOptions {
  /** The signer's public key. */
  readonly publicKey: KeyObject
  /** That of the kept checkpoint, where another key signed it. Default `publicKey`. */
  readonly keptPublicKey?: KeyObject
}

/**
 * Verifies with no store that the log behind the newer checkpoint begins with all entries of the kept one, unchanged and in
 * their order. The proof may be anything: nothing throws.
 */
export function verifyConsistency(kept: unknown, proof: unknown, options: ConsistencyOptions): ConsistencyReport {
  let fault: string | null
  try {
    fault = faultOf(kept, proof as ConsistencyProof, options)
  } catch {
    fault = 'It does not have the shape of a proof.'
  }
  if (fault !== null) return { ok: false, fault, statement: `BROKEN: ${fault}` }
  const { from, newer } = proof as ConsistencyProof
  const statement = `The ${newer.size} entries of the newer checkpoint begin with the ${from} of the kept one.`
  return { ok: true, fault, statement }
}

function faultOf(kept: unknown, proof: ConsistencyProof, options: ConsistencyOptions): string | null {
  const { v, log, from, newer, path } = proof
  if (v !== 1) return 'It does not have the shape of a proof.'
  if (!isCheckpointGood(kept, options.keptPublicKey ?? options.publicKey))
    return 'The kept checkpoint is not signed by its key.'
  if (!isCheckpointGood(newer, options.publicKey)) return 'The newer checkpoint is not signed by this key.'
  if (kept.log !== log || newer.log !== log) return 'The checkpoints are of different logs.'
  if (kept.size !== from) return 'It is a proof for a checkpoint of another size.'
  if (kept.size > newer.size) return 'The newer checkpoint holds fewer entries than the kept one.'
  if (!Array.isArray(path) || !path.every(isHash)) return 'Its path is none.'
  if (kept.size === 0 && kept.root !== createHash('sha256').digest('hex'))
    return 'The kept checkpoint has no root of a tree.'
  if (kept.size === newer.size && kept.hash !== newer.hash) return 'The two checkpoints hold different last entries.'
  if (areConsistent(kept, newer, path)) return null
  return 'Its path does not lead from the kept checkpoint to the newer one: the log was written anew.'
}
