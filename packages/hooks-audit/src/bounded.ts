import type { JsonObject, JsonValue } from '@sluice/core'

const MAX_TEXT = 2_000
const MAX_DATA_BYTES = 8_000

/** A text of at most 2 000 UTF-16 units; a cut is marked with how many are missing. */
export function boundText(text: string): string {
  return text.length <= MAX_TEXT ? text : `${text.slice(0, MAX_TEXT)} [cut: ${text.length - MAX_TEXT} more]`
}

/** Data of at most `maxBytes` of JSON; larger data is left out and its size stands there. */
export function boundData(data: JsonObject | null, maxBytes = MAX_DATA_BYTES): JsonObject | null {
  if (data === null) return null
  const bytes = Buffer.byteLength(JSON.stringify(data))
  return bytes <= maxBytes ? data : { omittedBytes: bytes }
}

/** At most `max` items; behind a cut stands how many are missing. */
export function boundList(items: readonly JsonValue[], max: number): readonly JsonValue[] {
  return items.length <= max ? items : [...items.slice(0, max), { omitted: items.length - max }]
}
