import type { DocumentKey } from '@sluice/core'
import type { Unit } from './limit.js'

/** Which bucket and window something is about. */
export interface LimitFacts {
  /** Id of the limit. */
  readonly limit: string
  /** Key of its bucket: `['limit', id, unit, scope, value]`, and the tenant. */
  readonly key: DocumentKey
  /** Amounts are nano-USD or tokens. */
  readonly unit: Unit
  /** Start of the window, milliseconds; 0 for ever. */
  readonly windowStart: number
}

/** What an attempt holds of one limit and is booked with there. */
export interface HeldOfLimit extends LimitFacts {
  readonly held: bigint
}

export interface ChargedToLimit extends HeldOfLimit {
  readonly charged: bigint
  /** True where nothing is left in this window: the limit is closed until there is room again. */
  readonly closed: boolean
}

interface EffectFacts {
  readonly effectId: string
  readonly attempt: number
  /** Store time, milliseconds. */
  readonly at: number
}

/** A hold that was not resolved within its life and is booked as unknown: told for each limit, when its bucket is next used. */
export type LapsedEvent = HeldOfLimit & EffectFacts & { readonly type: 'lapsed' }

/** An attempt that ended and may have been billed, and nobody can say how much: it is booked at what was held. */
export interface UnknownEvent extends EffectFacts {
  readonly type: 'unknown'
  readonly limits: readonly HeldOfLimit[]
}

/** A charge that was larger than its hold: once for each charge, with all limits in which it is booked. */
export interface OverrunEvent extends EffectFacts {
  readonly type: 'overrun'
  readonly limits: readonly ChargedToLimit[]
}

/** What is booked has reached that percentage of a window; told once for each. */
export interface ThresholdEvent extends LimitFacts {
  readonly type: 'threshold'
  readonly percent: number
  readonly used: bigint
  readonly amount: bigint
  /** Store time, milliseconds. */
  readonly at: number
}

/** What `onEvent` is told. */
export type BudgetEvent = ThresholdEvent | OverrunEvent | UnknownEvent | LapsedEvent
