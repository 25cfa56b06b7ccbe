import type { KeyObject } from 'node:crypto'
import { createHash, createHmac } from 'node:crypto'
import type { JsonValue } from '@sluice/core'
import { canonicalize } from 'json-canonicalize'
import type { AuditDraft, AuditEntry } from './audit-entry.js'

/** A key for the message authentication codes of a log. */
export interface AuditKey {
  /** Stands beside each code; 1 to 100 characters. */
  readonly id: string
  /** A secret key object of at least 32 bytes: `createSecretKey(bytes)` of node:crypto. */
  readonly secret: KeyObject
}

/** Canonical JSON text (RFC 8785). The value must be a tree of plain JSON data without a key `toJSON`. */
export function canonicalText(value: JsonValue): string {
  return canonicalize(value)
}

/** SHA-256 of a text's UTF-8 bytes, hexadecimal. */
export function sha256(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex')
}

/** HMAC-SHA256 of a text's UTF-8 bytes, hexadecimal. */
export function hmac(secret: KeyObject, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex')
}

/** The bytes of an entry that are hashed, as text: the entry without `hash` and `macs`, canonical. */
export function hashedText(entry: Readonly<Record<string, JsonValue>>): string {
  const { hash: _hash, macs: _macs, ...body } = entry
  return canonicalText(body)
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
