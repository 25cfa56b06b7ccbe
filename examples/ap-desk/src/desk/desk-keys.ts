import type { KeyObject } from 'node:crypto'
import { createSecretKey, generateKeyPairSync, randomBytes } from 'node:crypto'

/** The keys of the guards. They never lie in the store that they protect. */
export interface DeskKeys {
  /** Beside each hash of the audit log stands a code under this key. */
  readonly auditLog: { readonly id: string; readonly secret: KeyObject }
  /** Signs the checkpoints of the audit log. */
  readonly auditSigner: { readonly id: string; readonly privateKey: KeyObject }
  /** Seals the records of approvals. */
  readonly approvals: string
}

const BYTES = 32

/** Fresh keys for one desk. An application takes them from where it keeps its secrets, and the same ones at each start. */
export function createDeskKeys(): DeskKeys {
  return {
    auditLog: { id: 'desk-log', secret: createSecretKey(randomBytes(BYTES)) },
    auditSigner: { id: 'desk-signer', privateKey: generateKeyPairSync('ed25519').privateKey },
    approvals: randomBytes(BYTES).toString('hex'),
  }
}
