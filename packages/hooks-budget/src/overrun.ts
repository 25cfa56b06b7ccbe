import type { DocumentKey, JsonObject, JsonValue } from '@sluice/core'
import type { AttemptRecord } from './attempt.js'
import type { OverrunEvent } from './budget-event.js'

/** Key of the document with the overruns of an effect: one for each attempt that was charged above its hold. */
export function overrunKey(effectId: string): DocumentKey {
  return ['overrun', effectId]
}

/** A charge above its hold, as it is kept: amounts are decimal strings, nano-USD or tokens. */
export interface OverrunRecord {
  readonly effectId: string
  readonly attempt: number
  /** Store time, milliseconds. */
  readonly at: number
  readonly limits: readonly {
    readonly limit: string
    readonly key: DocumentKey
    readonly unit: 'usd' | 'tokens'
    readonly windowStart: number
    readonly held: string
    readonly charged: string
    /** True where the charge left nothing in the window. */
    readonly closed: boolean
  }[]
  /** What the hold was made from: model or tool, price, run, agent. */
  readonly call: JsonObject | null
}

/** The document with one overrun more. */
export function withOverrun(current: JsonValue | undefined, event: OverrunEvent, record: AttemptRecord): JsonObject {
  const { effectId, attempt, at } = event
  const limits = event.limits.map((one) => ({ ...one, held: one.held.toString(), charged: one.charged.toString() }))
  const row: OverrunRecord = { effectId, attempt, at, limits, call: record.held }
  return { charges: [...readOverruns(current), row] as unknown as JsonValue }
}

/** Reads what {@link withOverrun} has written. */
export function readOverruns(value: JsonValue | undefined): readonly OverrunRecord[] {
  return ((value as JsonObject | undefined)?.charges ?? []) as unknown as readonly OverrunRecord[]
}
