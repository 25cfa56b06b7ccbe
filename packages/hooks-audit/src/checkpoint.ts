import type { KeyObject } from 'node:crypto'
import { sign, verify } from 'node:crypto'
import type { JsonValue } from '@sluice/core'
import type { ChainAnchor } from './chain-verifier.js'
import { isHash } from './read-entry.js'
import { canonicalText } from './canonical-text.js'

/** The key that signs the checkpoints of a log. */
export interface AuditSigner {
  /** Stands in each checkpoint. */
  readonly id: string
  /** An Ed25519 private key object. */
  readonly privateKey: KeyObject
}

/**
 * A signed tree head: so many entries, the hash of the last of them (which makes it an anchor for `verify`), and the root of
 * the Merkle tree over their hashes (RFC 9162). Keep it where nobody who can write the log can write.
 */
export interface AuditCheckpoint extends ChainAnchor {
  readonly v: 1
  readonly log: string
  /** 64 hexadecimal characters. */
  readonly root: string
  /** Milliseconds since the epoch, by the signer's clock. */
  readonly at: number
  /** Id of the signing key. */
  readonly key: string
  /** Ed25519 over the text `sluice-audit-checkpoint`, a line break, and the canonical JSON of the rest; base64. */
  readonly signature: string
}

/** Signs a tree head. */
export function signCheckpoint(
  head: Omit<AuditCheckpoint, 'v' | 'key' | 'signature'>,
  signer: AuditSigner,
): AuditCheckpoint {
  const body = { v: 1 as const, ...head, key: signer.id }
  return { ...body, signature: sign(null, signedBytes(body), signer.privateKey).toString('base64') }
}

/** True for a checkpoint of the right shape whose signature is that of `publicKey`. Never throws. */
export function isCheckpointGood(checkpoint: unknown, publicKey: KeyObject): checkpoint is AuditCheckpoint {
  try {
    if (checkpoint === null || typeof checkpoint !== 'object') return false
    const { signature, ...body } = checkpoint as AuditCheckpoint
    const { v, log, size, hash, root, at, key } = body
    if (v !== 1 || typeof log !== 'string' || typeof key !== 'string' || !Number.isFinite(at)) return false
    if (!Number.isSafeInteger(size) || size < 0 || !isHash(hash) || !isHash(root)) return false
    const bytes = Buffer.from(signature, 'base64')
    // base64 has several spellings of one value, and only one of them is ours
    return bytes.toString('base64') === signature && verify(null, signedBytes(body), publicKey, bytes)
  } catch {
    return false
  }
}

function signedBytes(body: Omit<AuditCheckpoint, 'signature'>): Buffer {
  return Buffer.from(`sluice-audit-checkpoint\n${canonicalText(body as unknown as JsonValue)}`)
}
