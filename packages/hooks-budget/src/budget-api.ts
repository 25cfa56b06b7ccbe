import type { DocumentKey, Documents, Ids, JsonObject, Page, PageRequest } from '@sluice/core'
import { checkText, fault, readAmount } from './amounts.js'
import type { LimitAmount } from './amounts.js'
import { effectKey, readAttempts } from './attempt.js'
import type { AttemptRecord } from './attempt.js'
import { readBucket, writeBucket } from './bucket.js'
import { BucketStep } from './bucket-step.js'
import type { BudgetEvent } from './budget-event.js'
import { readOverruns } from './overrun.js'
import type { OverrunRecord } from './overrun.js'
import { resolveHold } from './resolve-hold.js'
import type { ResolveRequest } from './resolve-hold.js'
import type { Bound, Limit } from './limit.js'
import { statusOf } from './limit-status.js'
import type { LimitStatus } from './limit-status.js'
import { bucketKey } from './scope.js'
import type { ScopeFacts } from './scope.js'
import { listUnknowns } from './unknowns.js'
import type { UnknownCharge, UnknownsRequest } from './unknowns.js'

/** Whose buckets are meant; what is left out is not known. */
export type BudgetScope = Partial<ScopeFacts>

/** Which bucket is changed, by whom and why. */
export interface BudgetChange {
  /** Id of the limit. */
  readonly limit: string
  readonly scope: BudgetScope
  readonly who: string
  readonly why: string
}

/** What operators do with a budget. All of it goes to the store; no call is in flight meanwhile that does not see it. */
export interface BudgetApi {
  /**
   * How the limits stand of which the bucket can be told from `scope`, in the order of the options; in the window of now by
   * the store's time. Writes nothing. Empty where no limit can be told.
   */
  status(scope: BudgetScope): Promise<readonly LimitStatus[]>
  /**
   * Adds to the amount of the window of now, once for each `key`. Returns how the limit then stands.
   *
   * @throws LIMIT_UNKNOWN, SCOPE_UNRESOLVED, AMOUNT_INVALID, TOP_UP_REPEATED
   */
  topUp(change: BudgetChange & { readonly amount: LimitAmount; readonly key: string }): Promise<LimitStatus>
  /**
   * Puts an amount above the one in the code, for one bucket and all its windows, until it is cleared with `null`.
   *
   * @throws LIMIT_UNKNOWN, SCOPE_UNRESOLVED, AMOUNT_INVALID
   */
  set(change: BudgetChange & { readonly amount: LimitAmount | null }): Promise<LimitStatus>
  /**
   * Says what an attempt has cost that is booked as unknown (or of which the hold has lapsed).
   *
   * @throws EFFECT_NOT_HELD, HOLD_OPEN, AMOUNT_INVALID
   */
  resolve(request: ResolveRequest): Promise<void>
  /**
   * The attempts of which nobody has said what they have cost: booked as unknown, or their hold has lapsed. In the order of
   * their effects, paged: a page may hold fewer than `limit`, and even none, while `next` says that there are more.
   */
  unknowns(request?: UnknownsRequest): Promise<Page<UnknownCharge>>
  /** What was held and booked for an effect, attempt by attempt; empty where nothing was. */
  charges(effectId: string): Promise<readonly AttemptRecord[]>
  /** Charges above their hold, one for each charge, in the order of their effects; paged by effects. */
  overruns(page?: PageRequest): Promise<Page<OverrunRecord>>
  /** What operators have changed, oldest first; paged. */
  changes(page?: PageRequest): Promise<Page<JsonObject>>
}

export interface BudgetApiParts {
  readonly documents: Documents
  readonly limits: readonly Limit[]
  readonly ids: Ids
  readonly holdLifeMs: number
  readonly tell: (events: readonly BudgetEvent[]) => void
}

const NOBODY: ScopeFacts = Object.freeze({
  rootExecutionId: null,
  sessionId: null,
  agentCode: null,
  user: null,
  appId: null,
  tenant: null,
})

export function createBudgetApi(parts: BudgetApiParts): BudgetApi {
  const { documents, limits } = parts

  function boundOf(change: BudgetChange): Bound {
    checkText(change.who, 'who')
    checkText(change.why, 'why')
    const limit = limits.find((one) => one.id === change.limit)
    const key = limit === undefined ? undefined : bucketKey(limit, factsFrom(change.scope))
    if (limit !== undefined && key !== undefined) return { limit, key }
    const known = limits.map((one) => `"${one.id}"`).join(', ')
    throw fault('LIMIT_UNKNOWN', `There is no limit "${change.limit}" for this scope; there are ${known}.`)
  }

  /** Changes one bucket and writes down who did it, in one step; nothing where the `once` of a change is there already. */
  async function changeBucket(
    change: BudgetChange,
    record: JsonObject & { readonly amount: string | null },
    edit: (step: BucketStep) => void,
    once?: DocumentKey,
  ): Promise<LimitStatus> {
    const bound = boundOf(change)
    const id = parts.ids.id()
    const keys = [bound.key, ['change', id], ...(once === undefined ? [] : [once])]
    return documents.transact(keys, (current, at) => {
      const step = new BucketStep(bound, readBucket(current[0]), at)
      const earlier = current[2]
      if (earlier !== undefined && earlier !== record.amount) {
        throw fault('TOP_UP_REPEATED', 'The key of this top-up was used before, with another amount.')
      }
      if (earlier !== undefined) return { next: current, result: statusOf(step) }
      edit(step)
      const { who, why, limit } = change
      const entry = { id, at, who, why, limit, bucket: bound.key, ...record }
      const next = [writeBucket(step.bucket, at), entry, ...(once === undefined ? [] : [record.amount])]
      return { next, result: statusOf(step) }
    })
  }

  const boundsTold = (scope: BudgetScope) => limits.flatMap((limit) => boundIfTold(limit, factsFrom(scope)))

  return {
    async status(scope) {
      const bounds = boundsTold(scope)
      if (bounds.length === 0) return []
      return documents.transact(
        bounds.map((bound) => bound.key),
        (current, at) => {
          const steps = bounds.map((bound, index) => new BucketStep(bound, readBucket(current[index]), at))
          for (const step of steps) step.lapse(parts.holdLifeMs)
          return { next: current, result: steps.map(statusOf) }
        },
      )
    },

    async topUp(change) {
      checkText(change.key, 'key')
      const { limit, key } = boundOf(change)
      const amount = readAmount(limit, change.amount)
      return changeBucket(
        change,
        { change: 'topUp', unit: limit.unit, amount: amount.toString(), key: change.key },
        ({ window }) => {
          window.toppedUp += amount
        },
        ['top-up', change.key, ...key.slice(1)],
      )
    },

    async set(change) {
      const { limit } = boundOf(change)
      const amount = change.amount === null ? null : readAmount(limit, change.amount)
      const record = { change: 'set', unit: limit.unit, amount: amount?.toString() ?? null }
      return changeBucket(change, record, ({ bucket, at }) => {
        bucket.override = amount === null ? null : { amount, who: change.who, why: change.why, at }
      })
    },

    resolve: (request) => resolveHold(parts, request),
    charges: async (effectId) => readAttempts(await documents.get(effectKey(effectId))),
    unknowns: (request) => listUnknowns(parts, boundsTold, request),
    async overruns(page) {
      const { items, next } = await documents.list(['overrun'], page)
      return { items: items.flatMap((item) => readOverruns(item.value)), next }
    },
    async changes(page) {
      const { items, next } = await documents.list(['change'], page)
      return { items: items.map((item) => item.value as JsonObject), next }
    },
  }
}

/** What is left out, or `undefined`, is not known. */
function factsFrom(scope: BudgetScope): ScopeFacts {
  const told = Object.entries(scope).filter(([, value]) => value !== undefined)
  return { ...NOBODY, ...Object.fromEntries(told) }
}

/** A bucket that this scope does not tell is not shown. */
function boundIfTold(limit: Limit, facts: ScopeFacts): readonly Bound[] {
  try {
    const key = bucketKey(limit, facts)
    return key === undefined ? [] : [{ limit, key }]
  } catch {
    return []
  }
}
