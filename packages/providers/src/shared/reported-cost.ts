import type { Wire } from './wire-json.js'
import { wireCount } from './wire-json.js'

/** xAI counts money in ticks. */
const TICKS_PER_USD = 10_000_000_000n

/**
 * What a server says that the call cost, in US dollars, as a decimal text: OpenRouter in `cost`, xAI in
 * `cost_in_usd_ticks`. Empty where it says nothing.
 */
export function reportedCost(usage: Wire): { readonly reportedUsd?: string } {
  const ticks = wireCount(usage.cost_in_usd_ticks)
  if (ticks !== null && Number.isSafeInteger(ticks)) return { reportedUsd: ofTicks(BigInt(ticks)) }
  const cost = wireCount(usage.cost)
  return cost === null || cost >= 1e9 ? {} : { reportedUsd: trimmed(cost.toFixed(12)) }
}

function ofTicks(ticks: bigint): string {
  const fraction = (ticks % TICKS_PER_USD).toString().padStart(10, '0')
  return trimmed(`${ticks / TICKS_PER_USD}.${fraction}`)
}

function trimmed(decimal: string): string {
  return decimal.replace(/\.?0+$/, '')
}
