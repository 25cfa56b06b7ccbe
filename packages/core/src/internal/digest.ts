import { hash } from 'node:crypto'
import { canonicalJson } from './canonical-json.js'
import type { JsonValue } from './json.js'

/**
 * SHA-256 in lower-case hexadecimal. A string is hashed as its UTF-8 bytes; any other JSON value as its canonical text, so
 * that the order of keys makes no difference. Throws a `TypeError` for what is not JSON data.
 */
export function digest(value: JsonValue): string {
  const text = typeof value === 'string' ? value : canonicalJson(value)
  return hash('sha256', text, 'hex')
}
