import { SluiceError, Veto } from '@sluice/core'
import type { BeforeModelCallContext, HostedToolInfo, JsonObject } from '@sluice/core'
import { costAtMost } from './model-price.js'
import type { ModelPrice, PriceTier, TokenRates } from './model-price.js'
import { parseUsd } from './nano-usd.js'
import type { PriceAnswer, PriceSource } from './price-source.js'

/** What a model call can cost at most. */
export interface Quote {
  /** Upper bound of the input tokens. */
  readonly inputTokens: bigint
  /** `undefined` where no limit in money concerns the call. */
  readonly price: ModelPrice | undefined
  /** Nano-USD: what its hosted tools can cost at most. */
  readonly hosted: bigint
  /** Nano-USD for a call with so much output. */
  usdFor(outputTokens: bigint): bigint
}

/**
 * The true upper bound of a call.
 *
 * @throws PRICE_UNKNOWN, INPUT_UNBOUNDED, HOSTED_TOOL_UNPRICED, each a `Veto`; PRICE_SOURCE_FAILED
 */
export async function quoteCall(
  context: BeforeModelCallContext,
  prices: PriceSource,
  parts: { readonly money: boolean; readonly at: number },
): Promise<Quote> {
  const bound = context.inputTokensAtMost
  if (bound === null || !Number.isSafeInteger(bound) || bound < 0) throw unbounded(context)
  const inputTokens = BigInt(bound)
  if (!parts.money) return { inputTokens, price: undefined, hosted: 0n, usdFor: () => 0n }
  const answer = await findPrice(prices, { provider: context.provider, model: context.model, at: parts.at })
  if (!answer.known) throw unknownPrice(context, answer.nearest)
  const { price } = answer
  const hosted = context.hostedTools.reduce((sum, tool) => sum + hostedCost(tool), 0n)
  return { inputTokens, price, hosted, usdFor: (output) => costAtMost(price, inputTokens, output) + hosted }
}

/** Asks a source and checks that it answered. @throws PRICE_SOURCE_FAILED */
export async function findPrice(
  prices: PriceSource,
  query: { readonly provider: string; readonly model: string; readonly at: number },
): Promise<PriceAnswer> {
  let answer: unknown
  try {
    answer = await prices.find(query)
  } catch (error) {
    throw sourceFailed(prices.name, 'threw', error)
  }
  const { known, price, nearest } = (answer ?? {}) as { known?: unknown; price?: unknown; nearest?: unknown }
  if (known === false) return { known: false, nearest: typeof nearest === 'string' ? nearest : null }
  if (known === true && isPrice(price)) return { known: true, price }
  throw sourceFailed(prices.name, 'gave something that is neither a price nor { known: false }', undefined)
}

function isPrice(value: unknown): value is ModelPrice {
  const price = value as Partial<ModelPrice> | null | undefined
  const tiers: unknown = price?.tiers
  if (!Array.isArray(tiers) || !tiers.every(isTier) || !isRates(price?.rates)) return false
  const { numerator, denominator } = (price?.multiplier ?? {}) as Partial<ModelPrice['multiplier']>
  return isAmount(numerator) && isAmount(denominator) && denominator > 0n
}

function isTier(value: unknown): boolean {
  const tier = value as Partial<PriceTier> | null
  return Number.isSafeInteger(tier?.above) && (tier?.above ?? -1) >= 0 && isRates(tier?.rates)
}

function isRates(value: unknown): boolean {
  const rates = value as Partial<TokenRates> | null | undefined
  return RATES.every((name) => isAmount(rates?.[name]))
}

function isAmount(value: unknown): value is bigint {
  return typeof value === 'bigint' && value >= 0n
}
const RATES = ['input', 'cacheRead', 'cacheWrite', 'output', 'reasoning', 'dearestInput'] as const

function hostedCost(tool: HostedToolInfo): bigint {
  const cost = tool.cost === null ? undefined : parseUsd(tool.cost.usd)
  if (cost !== undefined && tool.maxUses !== null) return cost * BigInt(tool.maxUses)
  throw new Veto(
    'HOSTED_TOOL_UNPRICED',
    `The hosted tool "${tool.code}" has no ${cost === undefined ? 'cost' : 'maxUses'}, so what it may cost is not known. ` +
      "Declare it: hostedTool({ cost: { usd: '0.01' }, maxUses: 5 }).",
    { tool: tool.code },
  )
}

function unknownPrice(context: BeforeModelCallContext, nearest: string | null): Veto {
  const id = `${context.provider}/${context.model}`
  const near = nearest === null ? '' : ` The nearest id with a price is "${nearest}".`
  return new Veto(
    'PRICE_UNKNOWN',
    `There is no price for "${id}", and a limit in money is in force; the call was not sent.${near} ` +
      `Price it: prices: { models: { '${id}': { input: '1.25', output: '10' } } } (US dollars per million tokens), or 'free'.`,
    { model: id, nearest },
  )
}

function unbounded(context: BeforeModelCallContext): Veto {
  const model = `${context.provider}/${context.model}`
  return new Veto(
    'INPUT_UNBOUNDED',
    `The input of the call to "${model}" has no upper bound (a file of which the provider states none), so it cannot be held.`,
    { model },
  )
}

function sourceFailed(name: string, what: string, cause: unknown): SluiceError {
  const details: JsonObject = { source: name }
  return new SluiceError('PRICE_SOURCE_FAILED', `The price source "${name}" ${what}; the call was not sent.`, {
    ...(cause === undefined ? {} : { cause }),
    details,
  })
}
