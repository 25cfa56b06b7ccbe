import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'
import type { DocumentKey } from '../store.js'
import { isWellFormed } from './well-formed.js'

/** Longest id, key part, namespace or stream name, in UTF-16 units. */
export const MAX_ID_UNITS = 1000
const MAX_KEY_PARTS = 16

/**
 * Returns the id, or refuses it with `STORE_KEY_INVALID`: every store takes 1 to 1 000 UTF-16 units without unpaired
 * surrogates, whatever else is in them, and keeps ids apart that differ in any unit (CASE-21).
 */
export function checkId(id: unknown, what: string): string {
  if (typeof id === 'string' && id.length > 0 && id.length <= MAX_ID_UNITS && isWellFormed(id)) return id
  throw new SluiceError('STORE_KEY_INVALID', `${what} ${fault(id)}.`, {
    hint: `Use a text of 1 to ${MAX_ID_UNITS} UTF-16 units without unpaired surrogates.`,
  })
}

/**
 * One text for a list of strings. Two different lists never have the same text, and texts sort as the lists do, part by
 * part. Parts are joined by two NULs; a NUL inside a part is followed by U+0001.
 */
export function encodeKey(parts: readonly string[]): string {
  let text = ''
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] as string
    text += index === 0 ? escapePart(part) : `\0\0${escapePart(part)}`
  }
  return text
}

/** The list that {@link encodeKey} was given. */
export function decodeKey(text: string): string[] {
  if (!text.includes('\0')) return [text]
  return text.split('\0\0').map((part) => part.replaceAll('\0\u0001', '\0'))
}

/** The text under which a store keeps the document `key` of `space`. */
export function cellOf(space: string, key: DocumentKey): string {
  if (!Array.isArray(key) || key.length === 0) throw refusedKey('is not a list of at least one string')
  return prefixOf(space, key)
}

/** As {@link cellOf}, for the beginning of keys: an empty list stands for all of `space`. */
export function prefixOf(space: string, prefix: DocumentKey): string {
  if (!Array.isArray(prefix) || prefix.length > MAX_KEY_PARTS) {
    throw refusedKey(`is not a list of at most ${MAX_KEY_PARTS} strings`)
  }
  let text = escapePart(space)
  for (let index = 0; index < prefix.length; index++) {
    text += `\0\0${escapePart(checkId(prefix[index], `Part ${index} of a document key`))}`
  }
  return text
}

/** The key of a cell, without its space. */
export function keyOf(cell: string): DocumentKey {
  return Object.freeze(decodeKey(cell).slice(1))
}

function escapePart(part: string): string {
  return part.includes('\0') ? part.replaceAll('\0', '\0\u0001') : part
}

function refusedKey(why: string): SluiceError {
  return new SluiceError('STORE_KEY_INVALID', `A document key ${why}.`, {
    hint: `Use a list of 1 to ${MAX_KEY_PARTS} strings.`,
  })
}

function fault(id: unknown): string {
  if (typeof id !== 'string') return `is not a string (${id === null ? 'null' : typeof id})`
  if (id.length === 0) return 'is empty'
  if (id.length > MAX_ID_UNITS) return `is ${id.length} UTF-16 units long; at most ${MAX_ID_UNITS} are allowed`
  return `holds an unpaired surrogate ('${escapeControl(id, 80)}')`
}
