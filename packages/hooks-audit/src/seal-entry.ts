import type { KeyObject } from 'node:crypto'
import { createHmac, hash as digest } from 'node:crypto'
import type { JsonValue } from '@sluice/core'
import type { AuditDraft, AuditEntry } from './audit-entry.js'
import { canonicalText, entryTexts } from './canonical-text.js'

/** A key for the message authentication codes of a log. */
export interface AuditKey {
  /** Stands beside each code; 1 to 100 characters. */
  readonly id: string
  /** A secret key object of at least 32 bytes: `createSecretKey(bytes)` of node:crypto. */
  readonly secret: KeyObject
}

/** SHA-256 of a text's UTF-8 bytes, hexadecimal. */
export function sha256(text: string): string {
  return digest('sha256', text)
}

/** HMAC-SHA256 of a text's UTF-8 bytes, hexadecimal. */
export function hmac(secret: KeyObject, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex')
}

/** The bytes of an entry that are hashed, as text: the entry without `hash` and `macs`, canonical. */
export function hashedText(entry: Readonly<Record<string, JsonValue>>): string {
  return entryTexts(entry).hashed
}

/** Where an entry stands. */
export interface EntryPlace {
  readonly log: string
  readonly seq: number
  readonly storedAt: number
  readonly prev: string
}

/** Gives a draft its place in the chain, its hash, and a code under each of the keys. */
export function sealEntry(draft: AuditDraft, place: EntryPlace, keys: readonly AuditKey[]): AuditEntry {
  const body = { v: 1 as const, ...draft, ...place }
  const text = canonicalText(body as unknown as JsonValue)
  const hash = sha256(text)
  if (keys.length === 0) return { ...body, hash }
  return { ...body, hash, macs: keys.map((key) => ({ key: key.id, mac: hmac(key.secret, text) })) }
}
