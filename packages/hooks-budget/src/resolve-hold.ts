import type { JsonObject } from '@sluice/core'
import { checkText, fault, readAmount } from './amounts.js'
import { effectKey, readAttempts, withAttempt } from './attempt.js'
import type { AttemptRecord } from './attempt.js'
import { readBucket, writeBucket } from './bucket.js'
import { BucketStep } from './bucket-step.js'
import type { BudgetApiParts } from './budget-api.js'
import { boundsOf, resolveAttempt } from './ledger.js'
import type { Resolution } from './ledger.js'

/** What an operator says about an attempt of which nobody knows what it has cost. */
export interface ResolveRequest {
  readonly effectId: string
  /** @default the last attempt that is unknown or has lapsed */
  readonly attempt?: number
  /** `'released'`, or what it was; a unit that is left out stays at what was held, and is no longer unknown. */
  readonly amount: 'released' | { readonly usd?: string; readonly tokens?: number }
  readonly who: string
  readonly why: string
}

/** Resolves an attempt by hand, once, and writes down who did it in the same step. */
export async function resolveHold(parts: BudgetApiParts, request: ResolveRequest): Promise<void> {
  checkText(request.who, 'who')
  checkText(request.why, 'why')
  const amounts = amountsOf(request.amount)
  const record = effectKey(request.effectId)
  const before = pick(readAttempts(await parts.documents.get(record)), request)
  const bounds = boundsOf(before.parts, parts.limits)
  const id = parts.ids.id()
  const events = await parts.documents.transact(
    [record, ['change', id], ...bounds.map((bound) => bound.key)],
    (current, at) => {
      const attempts = readAttempts(current[0])
      const known = pick(attempts, { effectId: request.effectId, attempt: before.attempt })
      const steps = bounds.map((bound, index) => new BucketStep(bound, readBucket(current[index + 2]), at))
      for (const step of steps) step.lapse(parts.holdLifeMs)
      const { effectId, who, why } = request
      const { attempt } = known
      const isOpen = (step: BucketStep) =>
        step.bucket.open.some((hold) => hold.effectId === effectId && hold.attempt === attempt)
      if (steps.some(isOpen)) throw fault('HOLD_OPEN', `The hold of "${effectId}" stands; its call may be in flight.`)
      const said: JsonObject = {
        usd: amounts?.usd?.toString() ?? null,
        tokens: amounts?.tokens?.toString() ?? null,
        released: amounts === undefined,
      }
      const booked: JsonObject = { ...known.booked, resolved: { ...said, who, why, at } }
      const resolution: Resolution =
        amounts === undefined ? { kind: 'released', booked } : { kind: 'settled', amounts, booked }
      const next = resolveAttempt({ effectId, known, resolution, at }, steps)
      const entry: JsonObject = { id, at, who, why, change: 'resolve', effectId, attempt, ...said }
      return {
        next: [withAttempt(attempts, next), entry, ...steps.map((step) => writeBucket(step.bucket))],
        result: steps.flatMap((step) => step.events),
      }
    },
  )
  parts.tell(events)
}

function amountsOf(given: ResolveRequest['amount']) {
  if (given === 'released') return undefined
  return {
    usd: given.usd === undefined ? null : readAmount({ unit: 'usd', id: 'resolve' }, given.usd),
    tokens: given.tokens === undefined ? null : readAmount({ unit: 'tokens', id: 'resolve' }, given.tokens),
  }
}

function pick(
  attempts: readonly AttemptRecord[],
  { effectId, attempt }: { readonly effectId: string; readonly attempt?: number },
): AttemptRecord {
  const waits = (one: AttemptRecord) => one.state === 'unknown' || one.state === 'held'
  const found = [...attempts].reverse().find((one) => waits(one) && (attempt === undefined || one.attempt === attempt))
  if (found !== undefined) return found
  throw fault('EFFECT_NOT_HELD', `Nothing of "${effectId}" waits for an answer: there is no hold, or it is resolved.`)
}
