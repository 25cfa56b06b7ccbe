import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '@sluice/core'
import type { AuditEntry } from './audit-entry.js'
import { entryTexts } from './canonical-text.js'
import { sha256 } from './seal-entry.js'
import { escapeRisky } from './to-line.js'

/** An entry as it was found at a place of a log, which may hold anything. */
export interface FoundEntry {
  /** The entry, where it has the shape of one and its hash is that of its bytes. */
  readonly entry: AuditEntry | undefined
  /** Its hashed bytes, as text. */
  readonly text: string
  /** What is wrong with it by itself; `undefined` where nothing is. */
  readonly why: string | undefined
}

const HASH = /^[0-9a-f]{64}$/

/** Reads a value that stands where an entry should stand. Never throws. */
export function readEntry(value: unknown): FoundEntry {
  return read(value, undefined)
}

/** Reads one line of an export: it must be what `toLine` makes of its entry, to the byte. Never throws. */
export function readBytes(bytes: Buffer): FoundEntry {
  if (!isUtf8(bytes)) return bad('it is no UTF-8')
  const line = bytes.toString()
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return bad('it is no JSON')
  }
  return read(value, line)
}

function read(value: unknown, line: string | undefined): FoundEntry {
  try {
    if (!hasShape(value)) return bad('it does not have the shape of an entry')
    const { whole, hashed } = entryTexts(value)
    // equal data has more than one spelling, and only one of them is ours
    if (line !== undefined && escapeRisky(whole) !== line) return bad('it is not written as the export writes it')
    if (sha256(hashed) !== value.hash) return bad('its hash is not the one of its bytes')
    return { entry: value as unknown as AuditEntry, text: hashed, why: undefined }
  } catch {
    return bad('it cannot be read')
  }
}

function bad(why: string): FoundEntry {
  return { entry: undefined, text: '', why }
}

function hasShape(value: unknown): value is JsonObject {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { v, log, seq, event, prev, hash, macs, run, effectId, attempt, at, storedAt, data } = value as Record<
    string,
    unknown
  >
  return (
    v === 1 &&
    typeof log === 'string' &&
    Number.isSafeInteger(seq) &&
    (seq as number) >= 0 &&
    typeof event === 'string' &&
    isHash(prev) &&
    isHash(hash) &&
    (run === null || typeof run === 'string') &&
    (effectId === null || typeof effectId === 'string') &&
    (attempt === null || Number.isSafeInteger(attempt)) &&
    isTime(at) &&
    isTime(storedAt) &&
    data !== null &&
    typeof data === 'object' &&
    !Array.isArray(data) &&
    (macs === undefined || (Array.isArray(macs) && (macs.length === 1 || macs.length === 2) && macs.every(isMac)))
  )
}

/** The last millisecond that a date can tell. */
const LAST_TIME = 8.64e15

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= LAST_TIME
}

/** Nothing may hide in a code: no hash covers it. */
function isMac(value: unknown): boolean {
  if (value === null || typeof value !== 'object' || Object.keys(value).length !== 2) return false
  const { key, mac } = value as Record<string, unknown>
  return typeof key === 'string' && isHash(mac)
}

/** True for 64 hexadecimal characters in lower case. */
export function isHash(value: unknown): value is string {
  return typeof value === 'string' && HASH.test(value)
}
