import type { JsonObject } from '@sluice/core'
import { checkText, fault, readAmount } from './amounts.js'
import { effectKey, isPending, readAttempts } from './attempt.js'
import type { AttemptRecord } from './attempt.js'
import type { BudgetApiParts } from './budget-api.js'
import type { BucketStep } from './bucket-step.js'
import { effectStep } from './effect-step.js'
import { boundsOf } from './ledger.js'
import { resolveAttempt } from './resolve-attempt.js'
import type { Resolution } from './resolve-attempt.js'

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
  const { effectId, who, why } = request
  const amounts = amountsOf(request.amount)
  // what an attempt holds does not change any more: only which of them waits is asked again in the step
  const before = waiting(readAttempts(await parts.documents.get(effectKey(effectId))), request)
  const held = before.flatMap((one) => one.parts)
  const keys = held.map((part) => JSON.stringify(part.key))
  const bounds = boundsOf(
    held.filter((_, index) => keys.indexOf(keys[index] as string) === index),
    parts.limits,
  )
  const id = parts.ids.id()
  const { events } = await effectStep<undefined>(
    parts.documents,
    { effectId, bounds, closing: true, change: ['change', id] },
    (attempts, steps, at) => {
      for (const step of steps) step.lapse(parts.holdLifeMs)
      // an attempt that came meanwhile is not in these buckets
      const same = waiting(attempts, request).filter((one) => before.some(({ attempt }) => attempt === one.attempt))
      const known = pick(same, steps, effectId)
      const said: JsonObject = {
        usd: amounts?.usd?.toString() ?? null,
        tokens: amounts?.tokens?.toString() ?? null,
        released: amounts === undefined,
      }
      const booked: JsonObject = { ...known.booked, resolved: { ...said, who, why, at } }
      const resolution: Resolution =
        amounts === undefined ? { kind: 'released', booked } : { kind: 'settled', amounts, booked }
      const change: JsonObject = { id, at, who, why, change: 'resolve', effectId, attempt: known.attempt, ...said }
      return { answer: undefined, change, ...resolveAttempt({ effectId, known, resolution, at }, steps) }
    },
  )
  parts.tell(events)
}

function amountsOf(given: ResolveRequest['amount']) {
  if (given === 'released') return undefined
  if (typeof given !== 'object' || given === null) {
    throw fault('AMOUNT_INVALID', `The amount of an attempt is 'released' or { usd, tokens }.`)
  }
  return {
    usd: given.usd === undefined ? null : readAmount({ unit: 'usd', id: 'resolve' }, given.usd),
    tokens: given.tokens === undefined ? null : readAmount({ unit: 'tokens', id: 'resolve' }, given.tokens),
  }
}

function waiting(
  attempts: readonly AttemptRecord[],
  { effectId, attempt }: Pick<ResolveRequest, 'effectId' | 'attempt'>,
): readonly AttemptRecord[] {
  const found = attempts.filter((one) => isPending(one) && (attempt === undefined || one.attempt === attempt))
  if (found.length > 0) return found
  throw fault('EFFECT_NOT_HELD', `Nothing of "${effectId}" waits for an answer: there is no hold, or it is resolved.`)
}

/** The last one whose hold stands nowhere any more. */
function pick(attempts: readonly AttemptRecord[], steps: readonly BucketStep[], effectId: string): AttemptRecord {
  const found = attempts.findLast(({ attempt }) => !steps.some((step) => step.isOpen({ effectId, attempt })))
  if (found !== undefined) return found
  throw fault('HOLD_OPEN', `The hold of "${effectId}" stands; its call may be in flight.`)
}
