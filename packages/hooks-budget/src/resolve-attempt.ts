import type { JsonObject } from '@sluice/core'
import type { AttemptRecord, Part } from './attempt.js'
import type { BudgetEvent, ChargedToLimit, HeldOfLimit } from './budget-event.js'
import type { BucketStep } from './bucket-step.js'
import type { Unit } from './limit.js'

/** What became of an attempt. A unit whose amount is `null` is booked at what was held. */
export type Resolution =
  | { readonly kind: 'released'; readonly booked: JsonObject | null }
  | { readonly kind: 'unknown'; readonly booked: JsonObject }
  | { readonly kind: 'settled'; readonly amounts: Readonly<Record<Unit, bigint | null>>; readonly booked: JsonObject }

interface Resolving {
  readonly effectId: string
  readonly known: AttemptRecord
  readonly resolution: Resolution
  /** Store time, milliseconds. */
  readonly at: number
}

/**
 * Books the resolution of an attempt in all its buckets; returns the record of the attempt as it then is, and what is to be
 * told of it: an overrun or an unknown charge, once for the attempt.
 */
export function resolveAttempt(
  { effectId, known, resolution, at }: Resolving,
  steps: readonly BucketStep[],
): { readonly attempt: AttemptRecord; readonly events: readonly BudgetEvent[] } {
  const { attempt, parts } = known
  // the most that it can have cost is nothing
  const isNothing = resolution.kind === 'unknown' && parts.every((part) => part.amount === '0')
  const kind = isNothing ? 'settled' : resolution.kind
  const estimated: HeldOfLimit[] = []
  const charged: ChargedToLimit[] = []
  for (const part of parts) {
    const step = steps.find((one) => isBucketOf(one, part)) as BucketStep
    const window = step.takeBack(part, { effectId, attempt })
    if (kind === 'unknown') estimated.push(step.estimate(window, part))
    else if (kind === 'settled') charged.push(step.spend(window, part, amountOf(resolution, part)))
  }
  const events: BudgetEvent[] = []
  if (kind === 'unknown') events.push({ type: 'unknown', effectId, attempt, at, limits: estimated })
  if (charged.some((one) => one.charged > one.held)) {
    events.push({ type: 'overrun', effectId, attempt, at, limits: charged })
  }
  return { attempt: { ...known, state: kind, at, booked: resolution.booked }, events }
}

function amountOf(resolution: Resolution, part: Part): bigint {
  const said = resolution.kind === 'settled' ? resolution.amounts[part.unit] : null
  return said ?? BigInt(part.amount)
}

/** True where a step is about the bucket in which a part is held. */
export function isBucketOf(step: BucketStep, part: Part): boolean {
  return isSameKey(step.bound.key, part.key)
}

/** True for the same key of a document. */
export function isSameKey(left: readonly string[], right: readonly string[]): boolean {
  return left.length === right.length && left.every((text, index) => text === right[index])
}
