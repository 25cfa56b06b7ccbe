import type { Page, PageRequest } from '@sluice/core'
import { effectKey, isPending, readAttempts } from './attempt.js'
import type { AttemptRecord } from './attempt.js'
import type { BudgetApiParts, BudgetScope } from './budget-api.js'
import type { Bound } from './limit.js'
import { isSameKey } from './resolve-attempt.js'

/** An attempt of which nobody has said what it has cost. */
export interface UnknownCharge extends AttemptRecord {
  readonly effectId: string
  /** `unknown`: it ended so. `held`: it was never told to have ended, and its hold has outlived `holdLifeMs`. */
  readonly state: 'unknown' | 'held'
}

export interface UnknownsRequest extends PageRequest {
  /** Only what is booked in a bucket that this scope tells. @default all */
  readonly scope?: BudgetScope
}

/** Lists what is pending and not in flight any more. */
export async function listUnknowns(
  { documents, holdLifeMs }: BudgetApiParts,
  boundsTold: (scope: BudgetScope) => readonly Bound[],
  { scope, ...page }: UnknownsRequest = {},
): Promise<Page<UnknownCharge>> {
  const { items, next } = await documents.list(['pending'], page)
  const effectIds = items.map((item) => item.key[1] as string)
  // the time of the store, by which holds lapse
  const at = await documents.transact([['pending']], (current, time) => ({ next: current, result: time }))
  const stored = effectIds.length === 0 ? [] : await documents.getMany(effectIds.map(effectKey))
  const bounds = scope === undefined ? undefined : boundsTold(scope)
  const isMeant = ({ parts }: AttemptRecord) =>
    bounds === undefined || parts.some((part) => bounds.some((bound) => isSameKey(bound.key, part.key)))
  const isUnknown = (one: AttemptRecord) => isPending(one) && (one.state === 'unknown' || one.at + holdLifeMs <= at)
  const found = stored.flatMap((value, index) => {
    const rows = readAttempts(value).filter((one) => isUnknown(one) && isMeant(one))
    return rows.map((row) => ({ effectId: effectIds[index] as string, ...row }) as UnknownCharge)
  })
  return { items: found, next }
}
