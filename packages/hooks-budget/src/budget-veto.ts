import { Veto } from '@sluice/core'
import type { JsonObject } from '@sluice/core'
import type { Shortage } from './ledger.js'
import type { Unit } from './limit.js'
import { formatUsd } from './nano-usd.js'

/**
 * The stop of a call that does not fit. Amounts in the details are nano-USD or tokens as decimal strings; `maxOutputTokens`
 * is the output cap that would fit, `null` where none would; `retryAfterMs` where the window ends.
 */
export function exhausted(what: string, shortage: Shortage, maxOutputTokens: bigint | null): Veto {
  const { limit, amount, spent, held, unknown, asked, left, resetsAt, at } = shortage
  const show = (value: bigint) => showAmount(limit.unit, value)
  const text = [
    `${what} was not sent: limit "${limit.id}" has ${show(left < 0n ? 0n : left)} left of ${show(amount)}`,
    ` (spent ${show(spent)}, held ${show(held)}, unknown ${show(unknown)}), and it could take ${show(asked)}.`,
    maxOutputTokens === null ? '' : ` It would fit with maxOutputTokens: ${maxOutputTokens}.`,
    resetsAt === null ? '' : ` The limit begins anew at ${new Date(resetsAt).toISOString()}.`,
  ]
  const details: JsonObject = {
    limit: limit.id,
    scope: limit.scope,
    unit: limit.unit,
    amount: amount.toString(),
    spent: spent.toString(),
    held: held.toString(),
    unknown: unknown.toString(),
    asked: asked.toString(),
    left: left.toString(),
    maxOutputTokens: maxOutputTokens === null ? null : Number(maxOutputTokens),
    resetsAt,
    ...(resetsAt === null ? {} : { retryAfterMs: Math.max(0, resetsAt - at) }),
  }
  return new Veto('BUDGET_EXHAUSTED', text.join(''), details)
}

/** The stop of a hold that comes after its attempt has ended. */
export function attemptClosed(effectId: string, attempt: number): Veto {
  return new Veto('ATTEMPT_CLOSED', 'This attempt has ended already; its hold takes nothing and it does not go.', {
    effectId,
    attempt,
  })
}

/** The stop of an attempt that is asked again and asks for more than it holds. */
export function holdDiffers(effectId: string, attempt: number): Veto {
  const text =
    'This attempt is asked again and its hold does not cover it: other limits, another key or a higher price are in force ' +
    'than when it was taken. It does not go; start the run anew.'
  return new Veto('HOLD_DIFFERS', text, { effectId, attempt })
}

/** An amount for people: `$0.50`, `1200 tokens`. */
export function showAmount(unit: Unit, amount: bigint): string {
  return unit === 'usd' ? `$${formatUsd(amount)}` : `${amount} tokens`
}
