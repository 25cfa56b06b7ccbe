import type { JsonObject } from '@sluice/core'

/** Fields without those that were left open: an `undefined` is no value. */
export function given(fields: Readonly<Record<string, unknown>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject
}
