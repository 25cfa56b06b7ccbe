import type { JsonObject, JsonValue } from '@sluice/core'
import type { AuditDraft } from './audit-entry.js'
import type { EntryPath } from './entry-path.js'
import { isOnPath } from './entry-path.js'

/** Stands where something was taken out. */
export const REDACTED = '[redacted]'

/** What is taken out before an entry is written. */
export interface Redaction {
  readonly paths: readonly EntryPath[]
  readonly patterns: readonly RegExp[]
  /** Secret values as they are now; asked once per entry. */
  readonly values: () => readonly string[]
}

/** What is put in the place of a personal value. */
export type Seal = (value: JsonValue, path: string) => JsonValue

/** Shorter secrets would take out half of every text. */
const SHORTEST_SECRET = 4

/**
 * A fresh copy of a draft that may be written: without what the redaction names, with `seal` of what lies on a personal path,
 * in well-formed text. What pairs entries (`run`, `effectId`, `attempt`) stays as it is.
 */
export function cleanDraft(
  draft: AuditDraft,
  redaction: Redaction,
  personal: readonly EntryPath[],
  seal: Seal,
): AuditDraft {
  const secrets = [...new Set(redaction.values())]
    .filter((value) => typeof value === 'string' && value.length >= SHORTEST_SECRET)
    // a secret that holds another one goes first
    .sort((left, right) => right.length - left.length)
  const { patterns } = redaction
  const text = (value: string): string => {
    let next = value
    for (const secret of secrets) if (next.includes(secret)) next = next.split(secret).join(REDACTED)
    for (const pattern of patterns) next = next.replace(global(pattern), () => REDACTED)
    return wellFormed(next)
  }
  const copy = (value: JsonValue, here: readonly string[]): JsonValue => {
    if (isOnPath(redaction.paths, here)) return value === null ? null : REDACTED
    if (value !== null && isOnPath(personal, here)) return seal(plain(value), here.join('.'))
    if (typeof value === 'string') return text(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : null
    if (value === null || typeof value !== 'object') return value
    if (isList(value)) return value.map((item, index) => copy(item ?? null, [...here, String(index)]))
    return copyKeys(
      value,
      (key) => text(key),
      (item, key) => copy(item, [...here, key]),
    )
  }
  const cleaned: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(draft) as [keyof AuditDraft, JsonValue][]) {
    cleaned[name] = FIXED.has(name) ? value : copy(value, [name])
  }
  return cleaned as unknown as AuditDraft
}

/** A fresh copy of JSON data in well-formed text. */
export function plain(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormed(value)
  if (value === null || typeof value !== 'object') return value
  if (isList(value)) return value.map((item) => plain(item))
  return copyKeys(value, wellFormed, plain)
}

const FIXED: ReadonlySet<keyof AuditDraft> = new Set(['event', 'at', 'run', 'execution', 'effectId', 'attempt'])

/** A key `toJSON` would be taken for a method by whoever prints the entry: it gets a tilde. */
function copyKeys(
  value: JsonObject,
  keyOf: (key: string) => string,
  valueOf: (item: JsonValue, key: string) => JsonValue,
): JsonObject {
  const taken = new Set<string>()
  const entries: [string, JsonValue][] = []
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined) continue
    let name = keyOf(key)
    if (name === 'toJSON') name = '~toJSON'
    while (taken.has(name)) name = `${name}~`
    taken.add(name)
    entries.push([name, valueOf(item, key)])
  }
  return Object.fromEntries(entries)
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

function global(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, pattern.flags.includes('g') ? pattern.flags : `${pattern.flags}g`)
}

/** Unpaired surrogates become U+FFFD: no store takes them. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
}
