import type { DocumentKey } from '@sluice/core'
import { addOverrun, amountIn, isSpan, usedIn, windowIn } from './bucket.js'
import type { Bucket, BucketWindow } from './bucket.js'
import type { Part } from './attempt.js'
import type { Bound, Unit } from './limit.js'

interface EventFacts {
  /** Id of the limit. */
  readonly limit: string
  /** Key of its bucket: `['limit', id, unit, scope, value]`, and the tenant. */
  readonly key: DocumentKey
  /** Amounts are nano-USD or tokens. */
  readonly unit: Unit
  /** Start of the window, milliseconds; 0 for ever. */
  readonly windowStart: number
  /** Store time, milliseconds. */
  readonly at: number
}

/**
 * `threshold`: what is booked has reached that percentage of the window, told once for each. `overrun`: a charge was larger
 * than its hold, and is booked in full. `lapsed`: a hold was not resolved within its life and is booked as unknown.
 */
export type BudgetEvent =
  | (EventFacts & {
      readonly type: 'threshold'
      readonly percent: number
      readonly used: bigint
      readonly amount: bigint
    })
  | (EventFacts & {
      readonly type: 'overrun'
      readonly effectId: string
      readonly attempt: number
      readonly held: bigint
      readonly charged: bigint
    })
  | (EventFacts & {
      readonly type: 'lapsed'
      readonly effectId: string
      readonly attempt: number
      readonly held: bigint
    })

/** One bucket inside one step of the ledger. */
export class BucketStep {
  readonly events: BudgetEvent[] = []
  readonly bound: Bound
  readonly bucket: Bucket
  readonly at: number

  constructor(bound: Bound, bucket: Bucket, at: number) {
    this.bound = bound
    this.bucket = bucket
    this.at = at
  }

  /** The window of this moment. */
  get window(): BucketWindow {
    return windowIn(this.bucket, this.bound.limit.windowOf(this.at))
  }

  /** What may be spent in the window of this moment. */
  get amount(): bigint {
    return amountIn(this.bucket, this.window, this.bound.limit.amount)
  }

  get left(): bigint {
    return this.amount - usedIn(this.window)
  }

  /** Books every hold that is older than its life as unknown, in the window in which it was taken. */
  lapse(lifeMs: number): void {
    const old = this.bucket.open.filter((hold) => hold.at + lifeMs <= this.at)
    if (old.length === 0) return
    this.bucket.open = this.bucket.open.filter((hold) => !old.includes(hold))
    for (const hold of old) {
      const window = this.bucket.windows.find((one) => isSpan(one, hold))
      if (window === undefined) continue
      window.held -= hold.amount
      window.unknown += hold.amount
      const { effectId, attempt, amount: held } = hold
      this.events.push({ ...this.#facts(window), type: 'lapsed', effectId, attempt, held })
      this.checkThresholds(window)
    }
  }

  /** Takes back what a part holds, whether its hold stands or is booked as unknown. */
  takeBack(part: Part, effectId: string, attempt: number): BucketWindow {
    const window = windowIn(this.bucket, part)
    const open = this.bucket.open.find((hold) => hold.effectId === effectId && hold.attempt === attempt)
    const amount = BigInt(part.amount)
    if (open === undefined) window.unknown -= amount
    else {
      window.held -= amount
      this.bucket.open = this.bucket.open.filter((hold) => hold !== open)
    }
    return window
  }

  /** Books a charge; what is above its hold is an overrun. */
  spend(window: BucketWindow, part: Part, charge: { effectId: string; attempt: number; charged: bigint }): void {
    const { effectId, attempt, charged } = charge
    const held = BigInt(part.amount)
    window.spent += charged
    if (charged > held) {
      addOverrun(window, { effectId, attempt, amount: charged - held })
      this.events.push({ ...this.#facts(window), type: 'overrun', effectId, attempt, held, charged })
    }
    this.checkThresholds(window)
  }

  /** Tells each threshold of a window once. */
  checkThresholds(window: BucketWindow): void {
    if (this.bound.limit.thresholdPercents.length === 0) return
    const amount = amountIn(this.bucket, window, this.bound.limit.amount)
    const used = window.spent + window.unknown
    for (const percent of this.bound.limit.thresholdPercents) {
      if (amount === 0n || window.fired.includes(percent) || used * 100n < amount * BigInt(percent)) continue
      window.fired.push(percent)
      this.events.push({ ...this.#facts(window), type: 'threshold', percent, used, amount })
    }
  }

  #facts(window: BucketWindow): EventFacts {
    const { limit, key } = this.bound
    return { limit: limit.id, key, unit: limit.unit, windowStart: window.start, at: this.at }
  }
}
