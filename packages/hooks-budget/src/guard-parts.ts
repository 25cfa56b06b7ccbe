import { getCaller } from '@sluice/core'
import type { Clock } from '@sluice/core'
import type { BudgetEvent } from './budget-event.js'
import type { Ledger } from './ledger.js'
import type { Bound, Limit } from './limit.js'
import type { PriceSource } from './price-source.js'
import { bucketKey } from './scope.js'
import type { ScopeFacts } from './scope.js'

/** What the two guards share. */
export interface GuardParts {
  readonly ledger: Ledger
  readonly limits: readonly Limit[]
  readonly prices: PriceSource
  readonly clock: Clock
  readonly tell: (events: readonly BudgetEvent[]) => void
}

interface Identity {
  readonly rootExecutionId: string
  readonly sessionId: string | null
  readonly agentCode: string | null
  readonly appId: string | null
  readonly tenant: string | null
}

/** The facts of a call. The user is the caller's: the service user of the runtime stands in for nobody. */
export function factsOf(context: Identity): ScopeFacts {
  const { rootExecutionId, sessionId, agentCode, appId, tenant } = context
  return Object.freeze({ rootExecutionId, sessionId, agentCode, appId, tenant, user: getCaller()?.user ?? null })
}

/** The buckets that a call falls into. @throws SCOPE_UNRESOLVED, a `Veto` */
export function boundsFor(limits: readonly Limit[], facts: ScopeFacts): readonly Bound[] {
  return limits.flatMap((limit) => {
    const key = bucketKey(limit, facts)
    return key === undefined ? [] : [{ limit, key }]
  })
}

/**
 * {@link boundsFor} after the call. A limit of which it cannot be said is left to the record of the hold; `undefined` where
 * no limit concerns the call, so that nothing was held.
 */
export function boundsAfter(limits: readonly Limit[], facts: ScopeFacts): readonly Bound[] | undefined {
  let certain = true
  const bounds = limits.flatMap((limit) => {
    try {
      return boundsFor([limit], facts)
    } catch {
      certain = false
      return []
    }
  })
  return certain && bounds.length === 0 ? undefined : bounds
}
