import type { JsonObject, JsonValue } from '@sluice/core'
import type { AuditDraft } from './audit-entry.js'
import { boundText } from './bounded.js'
import type { EntryPath } from './entry-path.js'
import { isOnPath } from './entry-path.js'
import { everywhere, REDACTED, spellingsOf, takeOut } from './take-out.js'

/** What is taken out before an entry is written. */
export interface Redaction {
  readonly paths: readonly EntryPath[]
  readonly patterns: readonly RegExp[]
  /** Secret values as they are now; asked once per entry. */
  readonly values: () => readonly string[]
}

/** What is put in the place of a personal value. */
export type Seal = (value: JsonValue, path: string) => JsonValue

/**
 * A fresh copy of a draft that may be written: without what the redaction names, with `seal` of what lies on a personal path,
 * in well-formed text. Long texts of `data` are cut when nothing is left to take out, so that no cut leaves a part of a secret.
 * What pairs entries (`run`, `effectId`, `attempt`) stays as it is.
 */
export function cleanDraft(
  draft: AuditDraft,
  redaction: Redaction,
  personal: readonly EntryPath[],
  seal: Seal,
): AuditDraft {
  const secrets = spellingsOf(redaction.values())
  const patterns = redaction.patterns.map(everywhere)
  const text = (value: string): string => {
    let next = takeOut(value, secrets)
    for (const pattern of patterns) next = next.replace(pattern, () => REDACTED)
    return wellFormed(next)
  }
  const copy = (value: JsonValue, here: readonly string[], sealed: readonly EntryPath[]): JsonValue => {
    if (isOnPath(redaction.paths, here)) return value === null ? null : REDACTED
    // what lies beside the chain is kept without what the redaction names, too
    if (value !== null && isOnPath(sealed, here)) return seal(copy(value, here, []), here.join('.'))
    if (typeof value === 'string') return isOwn(here) ? wellFormed(boundText(text(value))) : text(value)
    if (typeof value === 'number') return numberOf(value, here)
    if (value === null || typeof value !== 'object') return value
    if (isList(value)) return value.map((item, index) => copy(item ?? null, [...here, String(index)], sealed))
    return copyKeys(
      value,
      (key) => text(key),
      (item, key) => copy(item, [...here, key], sealed),
    )
  }
  const numberOf = (value: number, here: readonly string[]): JsonValue => {
    if (!Number.isFinite(value)) return null
    // a number of a caller may be a card or a code; those that the audit writes are none
    return isGiven(here) && text(String(value)) !== String(value) ? REDACTED : value
  }
  const cleaned: Record<string, JsonValue> = {}
  for (const [name, value] of Object.entries(draft) as [keyof AuditDraft, JsonValue][]) {
    cleaned[name] = FIXED.has(name) ? value : copy(value, [name], personal)
  }
  return cleaned as unknown as AuditDraft
}

/** True in the arguments of a tool and the details of a stop: they hold what others wrote, and have a bound as a whole. */
function isGiven(here: readonly string[]): boolean {
  return here[0] === 'data' && (here[1] === 'args' || here[1] === 'details')
}

/** True in the texts of `data` that the audit puts together. */
function isOwn(here: readonly string[]): boolean {
  return here[0] === 'data' && !isGiven(here)
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

/** Unpaired surrogates become U+FFFD: no store takes them. */
function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
}
