import type {
  ConditionalPrice,
  MatchLogic,
  ModelInfo,
  ModelPrice as TableRates,
  Provider,
} from '@pydantic/genai-prices'
import { nearestId, withoutDate } from './known-model.js'
import { dearest, fillRates, TIMES_ONE } from './model-price.js'
import type { ModelPrice, PriceTier, TokenRates } from './model-price.js'
import { parseUsd } from './nano-usd.js'
import type { PriceAnswer, PriceQuery, PriceSource } from './price-source.js'

/** Name and pinned version of the table; recorded with each charge. */
export const PRICE_TABLE = 'genai-prices@0.1.8'

/** How the table finds a provider; the table is never updated over the network. */
export type FindProvider = (options: { readonly providerId: string }) => Provider | undefined

/**
 * Prices of `@pydantic/genai-prices`, which is imported (0.4 s, 60 MB) when the plugin is applied and not before.
 * Known is an id of the table for that provider, an `equals` alias of it, or one of these with a date behind it. A looser
 * match of the package (`starts_with`, `contains`, `regex`) is unknown, and so are models that the table gives away.
 */
export function tablePrices(
  load: () => Promise<{ readonly findProvider: FindProvider }> = () => import('@pydantic/genai-prices'),
): PriceSource {
  let table: Promise<{ readonly findProvider: FindProvider }> | undefined
  const loaded = () => (table ??= load())
  return {
    name: PRICE_TABLE,
    load: () => loaded().then(() => undefined),
    find: async (query) => findInTable((await loaded()).findProvider, query),
  }
}

function findInTable(findProvider: FindProvider, query: PriceQuery): PriceAnswer {
  const provider = findProvider({ providerId: query.provider })
  // the package matches providers loosely too
  if (provider === undefined || provider.id !== query.provider) return { known: false, nearest: null }
  const model = findModel(provider, query.model) ?? findModel(provider, withoutDate(query.model))
  const price = model === undefined ? undefined : toPrice(provider, model, query.at)
  if (price !== undefined) return { known: true, price }
  const priced = provider.models.filter((one) => toPrice(provider, one, query.at) !== undefined)
  return { known: false, nearest: nearestId(query.model, priced.flatMap(idsOf)) }
}

function findModel(provider: Provider, id: string | undefined): ModelInfo | undefined {
  if (id === undefined) return undefined
  return provider.models.find((model) => model.id === id) ?? provider.models.find((model) => idsOf(model).includes(id))
}

function idsOf(model: ModelInfo): readonly string[] {
  return [model.id, ...aliasesOf(model.match)]
}

/** `equals` counts alone or in an `or`: inside an `and` it is only a part of a match. */
function aliasesOf(match: MatchLogic): readonly string[] {
  if ('equals' in match) return [match.equals]
  return 'or' in match ? match.or.flatMap(aliasesOf) : []
}

function toPrice(provider: Provider, model: ModelInfo, at: number): ModelPrice | undefined {
  const lists = ratesInForce(model.prices, at)
  if (lists.length === 0 || lists.some((list) => !isTokenPriced(list))) return undefined
  const rates = ratesOf(lists, 0)
  if (rates === undefined || dearest(rates.dearestInput, rates.output) === 0n) return undefined
  const tiers: PriceTier[] = []
  for (const above of startsOf(lists)) {
    const higher = ratesOf(lists, above + 1)
    if (higher === undefined) return undefined
    tiers.push({ above, rates: higher })
  }
  const provenance = { source: 'table', matched: `${provider.id}/${model.id}`, table: PRICE_TABLE } as const
  return { rates, tiers, multiplier: TIMES_ONE, provenance }
}

/**
 * What holds at a time: the last list whose start date has come, and all lists behind it that hold for hours of the day. Of
 * these the dearer rate counts, class by class: the hour at which a provider bills is not known.
 */
function ratesInForce(prices: ModelInfo['prices'], at: number): readonly TableRates[] {
  if (!Array.isArray(prices)) return [prices]
  let base = -1
  prices.forEach(({ constraint }, index) => {
    const begun = constraint?.type === 'start_date' && Date.parse(constraint.start_date) <= at
    if (constraint === undefined || begun) base = index
  })
  const applies = (row: ConditionalPrice, index: number) =>
    index === base || (index > base && row.constraint?.type === 'time_of_date')
  return prices.filter(applies).map((row) => row.prices)
}

/** Everything else that a table prices is not in the usage of a call, but for searches: they are hosted tools. */
const COUNTED = /_mtok$|^(web|storage)_searches_kcount$|_hours$/

function isTokenPriced(list: TableRates): boolean {
  const keys = Object.keys(list).filter((key) => list[key] !== undefined)
  const isCounted = keys.every((key) => COUNTED.test(key) && pricesIn(list[key]).every(isPrice))
  return list.input_mtok !== undefined && list.output_mtok !== undefined && isCounted
}

function pricesIn(value: TableRates[string]): readonly (number | undefined)[] {
  return typeof value === 'object' ? [value.base, ...value.tiers.map((tier) => tier.price)] : [value]
}

const DEAREST = 1e12

/** Some lists say -1 for "it depends": that is no price, and not free. */
function isPrice(value: number | undefined): boolean {
  return typeof value === 'number' && value >= 0 && value <= DEAREST
}

function startsOf(lists: readonly TableRates[]): readonly number[] {
  const starts = lists.flatMap((list) =>
    Object.values(list).flatMap((value) => (typeof value === 'object' ? value.tiers.map((tier) => tier.start) : [])),
  )
  return [...new Set(starts)].sort((left, right) => left - right)
}

function ratesOf(lists: readonly TableRates[], inputTokens: number): TokenRates | undefined {
  const rate = (test: (key: string) => boolean): bigint | undefined => {
    const found = lists.flatMap((list) =>
      Object.keys(list)
        .filter(test)
        .map((key) => valueAt(list[key], inputTokens)),
    )
    const amounts = found.filter((amount) => amount !== undefined).map(toRate)
    return amounts.length === 0 ? undefined : dearest(...amounts)
  }
  const input = rate((key) => key === 'input_mtok')
  const output = rate((key) => key === 'output_mtok')
  if (input === undefined || output === undefined) return undefined
  return fillRates({
    input,
    output,
    cacheRead: rate((key) => key === 'cache_read_mtok'),
    // how long a written cache lives is not in the usage: the dearer of the two
    cacheWrite: rate((key) => key === 'cache_write_mtok' || key === 'cache_write_1h_mtok'),
    reasoning: rate((key) => key === 'output_reasoning_mtok'),
    otherInputs: [rate((key) => /^(input_|cache_).*_mtok$/.test(key)) ?? 0n],
  })
}

function valueAt(value: TableRates[string], inputTokens: number): number | undefined {
  if (typeof value !== 'object') return value
  let price = value.base
  for (const tier of [...value.tiers].sort((left, right) => left.start - right.start)) {
    if (inputTokens > tier.start) price = tier.price
  }
  return price
}

const SMALLEST_RATE = 1n

/** The table has binary numbers: their nearest decimal with 9 digits behind the point, never below the number. */
function toRate(usdPerMillion: number): bigint {
  const text = usdPerMillion.toFixed(9)
  const rate = parseUsd(text) as bigint
  return Number(text) < usdPerMillion ? rate + SMALLEST_RATE : rate
}
