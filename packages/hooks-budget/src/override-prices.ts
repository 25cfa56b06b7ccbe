import { fillRates, TIMES_ONE } from './model-price.js'
import type { ModelPrice, PriceTier, TokenRates } from './model-price.js'
import { nearestId, withoutDate } from './known-model.js'
import { parseDecimal, parseUsd } from './nano-usd.js'
import type { PriceAnswer, PriceQuery, PriceSource } from './price-source.js'

/** US dollars per million tokens, as decimal strings. A class that is left out costs what plain input or output does. */
export interface OverrideRates {
  readonly input: string
  readonly output: string
  readonly cacheRead?: string | undefined
  readonly cacheWrite?: string | undefined
  readonly reasoning?: string | undefined
}

/** A price of the user's own. */
export interface OverridePrice extends OverrideRates {
  /** Rates for a whole request whose input is longer than `above` tokens. */
  readonly tiers?: readonly (OverrideRates & { readonly above: number })[] | undefined
  /** A decimal string; the price times this. @default '1' */
  readonly multiplier?: string | undefined
}

/** Prices of the user's own; they stand above every other source. */
export interface Overrides {
  /** By `provider/model`; `'free'` declares a model free, `'provider/*': 'free'` all models of a provider. */
  readonly models: ReadonlyMap<string, OverridePrice | 'free'>
  /** By `provider/model` or `provider/*`: what the source below finds, times this. */
  readonly multipliers: ReadonlyMap<string, string>
  /** Ids under which the source below knows a provider. */
  readonly providers: ReadonlyMap<string, string>
}

const FREE = fillRates({ input: 0n, output: 0n })

/** Puts overrides before a source: exact ids, then ids with a date behind them, then free providers, then the source. */
export function withOverrides(overrides: Overrides, below: PriceSource): PriceSource {
  return {
    name: below.name,
    load: () => below.load?.() ?? Promise.resolve(),
    async find(query) {
      const own = findOverride(overrides, query)
      if (own !== undefined) return own
      const provider = overrides.providers.get(query.provider) ?? query.provider
      const found = await below.find({ ...query, provider })
      if (found?.known === false) return { known: false, nearest: nearestOf(overrides, query, found) }
      // what is no answer is judged where it is used
      if (found?.known !== true) return found
      const times = multiplierFor(overrides, query)
      if (times === undefined) return found
      const { numerator, denominator } = found.price.multiplier
      const multiplier = { numerator: numerator * times.numerator, denominator: denominator * times.denominator }
      return { known: true, price: { ...found.price, multiplier } }
    },
  }
}

function findOverride({ models }: Overrides, query: PriceQuery): PriceAnswer | undefined {
  const dated = withoutDate(query.model)
  const ids = [`${query.provider}/${query.model}`, ...(dated === undefined ? [] : [`${query.provider}/${dated}`])]
  for (const id of [...ids, `${query.provider}/*`]) {
    const given = models.get(id)
    if (given === undefined) continue
    return { known: true, price: given === 'free' ? freePrice(id) : toPrice(given, id) }
  }
  return undefined
}

function multiplierFor({ multipliers }: Overrides, query: PriceQuery): ModelPrice['multiplier'] | undefined {
  const dated = withoutDate(query.model)
  const text =
    multipliers.get(`${query.provider}/${query.model}`) ??
    (dated === undefined ? undefined : multipliers.get(`${query.provider}/${dated}`)) ??
    multipliers.get(`${query.provider}/*`)
  return text === undefined ? undefined : toMultiplier(text)
}

function nearestOf(overrides: Overrides, query: PriceQuery, below: { readonly nearest: string | null }): string | null {
  const prefix = `${query.provider}/`
  const own = [...overrides.models.keys()].filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length))
  // a source of somebody's own may name none
  const near = typeof below.nearest === 'string' ? [...own, below.nearest] : own
  return nearestId(query.model, near)
}

function freePrice(id: string): ModelPrice {
  const provenance = { source: 'free', matched: id, table: 'overrides' } as const
  return { rates: FREE, tiers: [], multiplier: TIMES_ONE, provenance }
}

function toPrice(given: OverridePrice, id: string): ModelPrice {
  const tiers: PriceTier[] = (given.tiers ?? []).map((tier) => ({ above: tier.above, rates: toRates(tier) }))
  return {
    rates: toRates(given),
    tiers: tiers.sort((left, right) => left.above - right.above),
    multiplier: given.multiplier === undefined ? TIMES_ONE : toMultiplier(given.multiplier),
    provenance: { source: 'override', matched: id, table: 'overrides' },
  }
}

function toRates(given: OverrideRates): TokenRates {
  const optional = (text: string | undefined) => (text === undefined ? undefined : rate(text))
  return fillRates({
    input: rate(given.input),
    output: rate(given.output),
    cacheRead: optional(given.cacheRead),
    cacheWrite: optional(given.cacheWrite),
    reasoning: optional(given.reasoning),
  })
}

/** The options schema has checked that these can be read. */
function rate(text: string): bigint {
  return parseUsd(text) as bigint
}

function toMultiplier(text: string): ModelPrice['multiplier'] {
  const decimal = parseDecimal(text)
  if (decimal === undefined) return TIMES_ONE
  return { numerator: decimal.digits, denominator: 10n ** BigInt(decimal.scale) }
}
