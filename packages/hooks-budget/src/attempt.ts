import type { DocumentKey, JsonObject, JsonValue } from '@sluice/core'
import { damaged } from './bucket.js'
import type { Unit } from './limit.js'

/**
 * `held`: a hold stands, or has lapsed in the buckets where it was not settled in time. `settled`, `released`: it is resolved.
 * `unknown`: booked at what was held. `closed`: it ended before its hold came, which then takes nothing.
 */
export type AttemptState = 'held' | 'settled' | 'released' | 'unknown' | 'closed'

/** What an attempt holds of one limit. */
export interface Part {
  readonly limit: string
  readonly key: readonly string[]
  readonly unit: Unit
  /** Window in which it was taken. */
  readonly start: number
  readonly end: number | null
  /** Decimal string: what was held. */
  readonly amount: string
}

/** One attempt of an effect: what it held, and what became of it. */
export interface AttemptRecord {
  readonly attempt: number
  readonly state: AttemptState
  /** Store time of the last change, milliseconds. */
  readonly at: number
  readonly parts: readonly Part[]
  /** What the hold was made from: model, price and provenance, bounds. */
  readonly held: JsonObject | null
  /** What it was resolved with: cost in nano-USD, tokens, whether estimated, who said so. */
  readonly booked: JsonObject | null
}

/** Key of the document of an effect, with all its attempts: the record of its charges. */
export function effectKey(effectId: string): DocumentKey {
  return ['effect', effectId]
}

/** Key of the document that is there while an attempt of the effect has a hold or is unknown: by it these are found. */
export function pendingKey(effectId: string): DocumentKey {
  return ['pending', effectId]
}

/** True while it is not said what an attempt has cost. */
export function isPending(attempt: AttemptRecord): boolean {
  return attempt.state === 'held' || attempt.state === 'unknown'
}

const STATES: ReadonlySet<unknown> = new Set<AttemptState>(['held', 'settled', 'released', 'unknown', 'closed'])

/** Reads the document of an effect. @throws LEDGER_DAMAGED */
export function readAttempts(value: JsonValue | undefined): readonly AttemptRecord[] {
  if (value === undefined) return []
  const list = (value as JsonObject | null)?.attempts
  if (!Array.isArray(list) || !list.every(isAttempt)) {
    throw damaged(new TypeError('the record of an effect is not a list of attempts'))
  }
  return list as unknown as readonly AttemptRecord[]
}

function isAttempt(value: unknown): boolean {
  const row = value as Partial<AttemptRecord> | null
  return Number.isSafeInteger(row?.attempt) && STATES.has(row?.state) && Array.isArray(row?.parts)
}

/** The attempts with one put in, or in the place of the one before. */
export function withAttempt(attempts: readonly AttemptRecord[], next: AttemptRecord): readonly AttemptRecord[] {
  const others = attempts.filter((one) => one.attempt !== next.attempt)
  return [...others, next].sort((left, right) => left.attempt - right.attempt)
}
