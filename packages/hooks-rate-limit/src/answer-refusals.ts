import type { JsonObject } from '@sluice/core'
import { Veto, Wait } from '@sluice/core'
import type { RoomRefusal } from './room.js'

/**
 * The answer to refusals: `Wait` where every limit that refused allows waiting, else `Veto`. With several, the one that takes
 * longest speaks.
 *
 * @throws Veto RATE_LIMIT_EXCEEDED with `retryAfterMs`; RATE_LIMIT_NEVER_FITS where no waiting helps; Wait RATE_LIMIT_EXCEEDED
 */
export function answerRefusals(refusals: readonly RoomRefusal[]): void {
  const [first] = refusals
  if (first === undefined) return
  let longest = first
  for (const refusal of refusals) {
    if ((refusal.retryAfterMs ?? Infinity) > (longest.retryAfterMs ?? Infinity)) longest = refusal
  }
  const { limit, retryAfterMs, bound, max, used, asked } = longest
  const figures: JsonObject = { limit, bound, max, used, asked }
  if (retryAfterMs === undefined) {
    throw new Veto(
      'RATE_LIMIT_NEVER_FITS',
      max === 0
        ? `Limit "${limit}" is 0 (${bound}) and admits nothing. Raise it.`
        : `Limit "${limit}" admits ${bound}; ${asked} in one go never fit. Ask for less, or raise it.`,
      figures,
    )
  }
  if (refusals.every(({ wait }) => wait)) throw new Wait('RATE_LIMIT_EXCEEDED', retryAfterMs)
  throw new Veto(
    'RATE_LIMIT_EXCEEDED',
    `Limit "${limit}" admits ${bound}${used === null ? '' : `; ${used} are used, ${asked} more asked for`}. Try again in ${retryAfterMs} ms.`,
    { ...figures, retryAfterMs },
  )
}
