import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { JsonValue } from '@sluice/core'
import { canonicalize } from 'json-canonicalize'

/** SHA-256 of the canonical JSON (RFC 8785) of a value, as base64url. */
export function digestOf(value: JsonValue): string {
  return createHash('sha256').update(canonicalize(value)).digest('base64url')
}

/** HMAC-SHA-256 of the canonical JSON of a value under a key, as base64url. */
export function sealOf(key: string, value: JsonValue): string {
  return createHmac('sha256', key).update(canonicalize(value)).digest('base64url')
}

/** Whether two seals are equal, in a time that does not tell where they differ. */
export function sameSeal(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)]
  return one.length === other.length && timingSafeEqual(one, other)
}
