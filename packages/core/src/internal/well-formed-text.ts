import type { JsonValue } from './json.js'

/** The text with every unpaired surrogate, which no store takes, as U+FFFD; the same text where there is none. */
export function wellFormedText(text: string): string {
  // in every Node that is supported, and not yet in the types of ES2023
  return (text as string & { toWellFormed(): string }).toWellFormed()
}

/** A copy of JSON data in which every text and key is well-formed. */
export function wellFormedJson<Value>(value: Value): Value {
  return copy(value as JsonValue) as Value
}

/** True for JSON data in which every text and key is well-formed. */
export function isWellFormedJson(value: unknown): boolean {
  if (typeof value === 'string') return (value as string & { isWellFormed(): boolean }).isWellFormed()
  if (value === null || typeof value !== 'object') return true
  if (Array.isArray(value)) return value.every(isWellFormedJson)
  return Object.entries(value).every(([key, inner]) => isWellFormedJson(key) && isWellFormedJson(inner))
}

function copy(value: JsonValue): JsonValue {
  if (typeof value === 'string') return wellFormedText(value)
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(copy)
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [wellFormedText(key), copy(inner as JsonValue)]),
  )
}
