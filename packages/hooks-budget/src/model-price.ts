import type { Usage } from '@sluice/core'
import { divideUp } from './nano-usd.js'

/** Nano-USD per million tokens of each class. */
export interface TokenRates {
  /** Fresh input. */
  readonly input: bigint
  readonly cacheRead: bigint
  readonly cacheWrite: bigint
  /** Output that is not reasoning. */
  readonly output: bigint
  readonly reasoning: bigint
  /** The dearest that one input token of any kind can be: what is held. */
  readonly dearestInput: bigint
}

/** Rates of a whole request whose input is longer than `above` tokens. */
export interface PriceTier {
  readonly above: number
  readonly rates: TokenRates
}

/** Where a price came from; recorded with each charge. */
export interface PriceProvenance {
  readonly source: 'override' | 'table' | 'free' | 'custom'
  /** The id that was matched. */
  readonly matched: string
  /** Name and version of the table, or name of the source. */
  readonly table: string
}

/** The price of one model. */
export interface ModelPrice {
  readonly rates: TokenRates
  /** Lowest first. */
  readonly tiers: readonly PriceTier[]
  /** All of it times `numerator / denominator`: batch, flex, priority, a discount by contract. */
  readonly multiplier: { readonly numerator: bigint; readonly denominator: bigint }
  readonly provenance: PriceProvenance
}

const TOKENS_PER_RATE = 1_000_000n
export const TIMES_ONE = Object.freeze({ numerator: 1n, denominator: 1n })

/** Rates from what a price list gives; a class without a rate of its own costs what plain input or output does. */
export function fillRates(given: {
  readonly input: bigint
  readonly output: bigint
  readonly cacheRead?: bigint | undefined
  readonly cacheWrite?: bigint | undefined
  readonly reasoning?: bigint | undefined
  readonly otherInputs?: readonly bigint[]
}): TokenRates {
  const cacheRead = given.cacheRead ?? given.input
  const cacheWrite = given.cacheWrite ?? given.input
  return Object.freeze({
    input: given.input,
    cacheRead,
    cacheWrite,
    output: given.output,
    reasoning: given.reasoning ?? given.output,
    dearestInput: dearest(given.input, cacheRead, cacheWrite, ...(given.otherInputs ?? [])),
  })
}

/** The largest of some amounts. */
export function dearest(...amounts: readonly bigint[]): bigint {
  return amounts.reduce((left, right) => (right > left ? right : left), 0n)
}

/**
 * What a call has cost, in nano-USD. The exact sum over all classes is rounded **once, up** to the next nano-USD: the only
 * rounding there is. `undefined` where the usage does not say how much input or output there was. Cache classes and
 * reasoning that are not reported count as none: they are parts that a provider without them does not name.
 */
export function costOf(price: ModelPrice, usage: Usage): bigint | undefined {
  if (usage.inputTokens === null || usage.outputTokens === null || usage.unreportedCalls > 0) return undefined
  const input = BigInt(usage.inputTokens)
  const cacheRead = BigInt(usage.cacheReadTokens ?? 0)
  const cacheWrite = BigInt(usage.cacheWriteTokens ?? 0)
  const output = BigInt(usage.outputTokens)
  const reported = BigInt(usage.reasoningTokens ?? 0)
  const reasoning = reported > output ? output : reported
  const rates = ratesAt(price, input + cacheRead + cacheWrite)
  const sum =
    input * rates.input +
    cacheRead * rates.cacheRead +
    cacheWrite * rates.cacheWrite +
    (output - reasoning) * rates.output +
    reasoning * rates.reasoning
  return charge(price, sum)
}

/** The most that a call of at most so many tokens can cost, in nano-USD: the dearest class, and the dearest tier in reach. */
export function costAtMost(price: ModelPrice, inputTokens: bigint, outputTokens: bigint): bigint {
  const reach = reachableRates(price, inputTokens)
  const sums = reach.map(
    (rates) => inputTokens * dearestInputOf(rates) + outputTokens * dearest(rates.output, rates.reasoning),
  )
  return charge(price, dearest(...sums))
}

/** A source of somebody's own may say less in `dearestInput` than a class costs. */
function dearestInputOf({ dearestInput, input, cacheRead, cacheWrite }: TokenRates): bigint {
  return dearest(dearestInput, input, cacheRead, cacheWrite)
}

/** The tier with the highest edge that is passed, whatever the order of the list. */
function ratesAt(price: ModelPrice, inputTokens: bigint): TokenRates {
  let passed = -1
  let rates = price.rates
  for (const tier of price.tiers) {
    if (inputTokens <= BigInt(tier.above) || tier.above <= passed) continue
    passed = tier.above
    rates = tier.rates
  }
  return rates
}

function reachableRates(price: ModelPrice, inputTokens: bigint): readonly TokenRates[] {
  return [price.rates, ...price.tiers.filter((tier) => inputTokens > BigInt(tier.above)).map((tier) => tier.rates)]
}

function charge(price: ModelPrice, sum: bigint): bigint {
  return divideUp(sum * price.multiplier.numerator, TOKENS_PER_RATE * price.multiplier.denominator)
}
