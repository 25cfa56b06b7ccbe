import { usedIn } from './bucket.js'
import type { Change } from './bucket.js'
import type { BucketStep } from './bucket-step.js'
import type { Unit } from './limit.js'
import type { ScopeKind } from './scope.js'

/** How a limit stands in one bucket and the window of now. Amounts are nano-USD or tokens; spent, held and unknown are disjoint. */
export interface LimitStatus {
  /** Id of the limit. */
  readonly limit: string
  readonly scope: ScopeKind
  readonly unit: Unit
  /** What may be spent in this window, top-ups included. */
  readonly amount: bigint
  /** Where the amount comes from: the options, or an operator. */
  readonly origin: { readonly from: 'code' } | ({ readonly from: 'set' } & Change)
  /** What was added to this window. */
  readonly toppedUp: bigint
  readonly spent: bigint
  readonly held: bigint
  /** Booked at what was held, as nobody has said what it was. */
  readonly unknown: bigint
  /** Negative after an overrun. */
  readonly left: bigint
  /** Milliseconds since the epoch; `null` for ever. */
  readonly resetsAt: number | null
  /** Sum of what was charged above its hold in this window; `overruns` of the api lists them. */
  readonly overrun: bigint
  /** Effects of which a hold stands, in all windows. */
  readonly open: readonly {
    readonly effectId: string
    readonly attempt: number
    readonly amount: bigint
    readonly at: number
  }[]
}

/** Reads the status off a bucket. */
export function statusOf(step: BucketStep): LimitStatus {
  const { bucket, window, amount, bound } = step
  const { override } = bucket
  return {
    limit: bound.limit.id,
    scope: bound.limit.scope,
    unit: bound.limit.unit,
    amount,
    origin:
      override === null ? { from: 'code' } : { from: 'set', who: override.who, why: override.why, at: override.at },
    toppedUp: window.toppedUp,
    spent: window.spent,
    held: window.held,
    unknown: window.unknown,
    left: amount - usedIn(window),
    resetsAt: window.end,
    overrun: window.overrun,
    open: bucket.open
      .list()
      .map(({ effectId, attempt, amount: size, at }) => ({ effectId, attempt, amount: size, at })),
  }
}
