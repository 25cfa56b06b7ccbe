import type { JsonObject } from '@sluice/core'
import type { ModelPrice, PriceProvenance, TokenRates } from './model-price.js'

/** A price as it is kept with a hold: amounts as decimal strings. */
export function priceToJson(price: ModelPrice): JsonObject {
  return {
    rates: ratesToJson(price.rates),
    tiers: price.tiers.map((tier) => ({ above: tier.above, rates: ratesToJson(tier.rates) })),
    multiplier: [price.multiplier.numerator.toString(), price.multiplier.denominator.toString()],
    provenance: { ...price.provenance },
  }
}

/** What {@link priceToJson} has written. */
export function priceFromJson(json: JsonObject): ModelPrice {
  const [numerator, denominator] = json.multiplier as unknown as readonly [string, string]
  const tiers = json.tiers as unknown as readonly { readonly above: number; readonly rates: StoredRates }[]
  return {
    rates: ratesFromJson(json.rates as unknown as StoredRates),
    tiers: tiers.map((tier) => ({ above: tier.above, rates: ratesFromJson(tier.rates) })),
    multiplier: { numerator: BigInt(numerator), denominator: BigInt(denominator) },
    provenance: json.provenance as unknown as PriceProvenance,
  }
}

type StoredRates = { readonly [Name in keyof TokenRates]: string }

function ratesToJson(rates: TokenRates): JsonObject {
  return Object.fromEntries(Object.entries(rates).map(([name, amount]) => [name, (amount as bigint).toString()]))
}

function ratesFromJson(stored: StoredRates): TokenRates {
  return {
    input: BigInt(stored.input),
    cacheRead: BigInt(stored.cacheRead),
    cacheWrite: BigInt(stored.cacheWrite),
    output: BigInt(stored.output),
    reasoning: BigInt(stored.reasoning),
    dearestInput: BigInt(stored.dearestInput),
  }
}
