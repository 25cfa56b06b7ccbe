import type { Part } from './attempt.js'
import { amountIn, damaged, isSpan, usedIn, windowIn } from './bucket.js'
import type { Bucket, BucketWindow } from './bucket.js'
import type { ChargedToLimit, HeldOfLimit, LapsedEvent, LimitFacts, ThresholdEvent } from './budget-event.js'
import type { Bound } from './limit.js'

/** An attempt of an effect. */
export interface EffectAttempt {
  readonly effectId: string
  readonly attempt: number
}

/** One bucket inside one step of the ledger. */
export class BucketStep {
  readonly events: (ThresholdEvent | LapsedEvent)[] = []
  readonly bound: Bound
  readonly bucket: Bucket
  readonly at: number
  /** True where something in the bucket was changed, so that it is to be written. */
  touched = false

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

  /** True while the hold of an attempt stands here. */
  isOpen({ effectId, attempt }: EffectAttempt): boolean {
    return this.bucket.open.has(effectId, attempt)
  }

  /** Takes a hold in the window of this moment. */
  take({ effectId, attempt }: EffectAttempt, amount: bigint): Part {
    const { window, bucket, at } = this
    const { limit, key } = this.bound
    const { start, end } = window
    window.held += amount
    bucket.open.add({ effectId, attempt, start, end, amount, at })
    this.touched = true
    return { limit: limit.id, key, unit: limit.unit, start, end, amount: amount.toString() }
  }

  /** Books every hold that is older than its life as unknown, in the window in which it was taken. */
  lapse(lifeMs: number): void {
    for (const hold of this.#takeOld(lifeMs)) {
      this.touched = true
      const window = windowIn(this.bucket, hold)
      const { effectId, attempt, amount: held } = hold
      window.held -= smaller(window.held, held)
      window.unknown += held
      if (held > 0n) this.events.push({ ...this.#facts(window), type: 'lapsed', effectId, attempt, held, at: this.at })
      this.checkThresholds(window)
    }
  }

  /**
   * Takes back what a part holds, whether its hold stands or is booked as unknown. `undefined` where its window is over and
   * is not kept any more.
   */
  takeBack(part: Part, { effectId, attempt }: EffectAttempt): BucketWindow | undefined {
    const isOver = part.end !== null && part.end <= this.at
    const known = this.bucket.windows.find((one) => isSpan(one, part))
    if (known === undefined && isOver) return undefined
    this.touched = true
    const window = known ?? windowIn(this.bucket, part)
    const amount = BigInt(part.amount)
    // never below nothing: of a bucket that was lost, what is given back would be room that there is not
    if (this.bucket.open.remove(effectId, attempt)) window.held -= smaller(window.held, amount)
    else window.unknown -= smaller(window.unknown, amount)
    return window
  }

  /** Books a charge in full. */
  spend(window: BucketWindow | undefined, part: Part, charged: bigint): ChargedToLimit {
    const held = BigInt(part.amount)
    if (window === undefined) return { ...this.#factsOf(part), held, charged, closed: false }
    window.spent += charged
    if (charged > held) window.overrun += charged - held
    this.checkThresholds(window)
    const amount = amountIn(this.bucket, window, this.bound.limit.amount)
    const { limit, key } = this.bound
    const closed = amount > 0n && usedIn(window) >= amount
    return { limit: limit.id, key, unit: limit.unit, windowStart: window.start, held, charged, closed }
  }

  /** Books what is held as unknown. */
  estimate(window: BucketWindow | undefined, part: Part): HeldOfLimit {
    const held = BigInt(part.amount)
    if (window === undefined) return { ...this.#factsOf(part), held }
    window.unknown += held
    this.checkThresholds(window)
    return { ...this.#facts(window), held }
  }

  /** Tells each threshold of a window once. */
  checkThresholds(window: BucketWindow): void {
    if (this.bound.limit.thresholdPercents.length === 0) return
    const amount = amountIn(this.bucket, window, this.bound.limit.amount)
    const used = window.spent + window.unknown
    for (const percent of this.bound.limit.thresholdPercents) {
      if (amount === 0n || window.fired.includes(percent) || used * 100n < amount * BigInt(percent)) continue
      window.fired.push(percent)
      this.events.push({ ...this.#facts(window), type: 'threshold', percent, used, amount, at: this.at })
    }
  }

  #takeOld(lifeMs: number) {
    try {
      return this.bucket.open.takeUntil(this.at - lifeMs)
    } catch (error) {
      throw damaged(error)
    }
  }

  #facts(window: { readonly start: number }): LimitFacts {
    const { limit, key } = this.bound
    return { limit: limit.id, key, unit: limit.unit, windowStart: window.start }
  }

  #factsOf(part: Part): LimitFacts {
    return { limit: part.limit, key: part.key, unit: part.unit, windowStart: part.start }
  }
}

function smaller(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}
