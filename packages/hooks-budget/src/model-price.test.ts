import type { Usage } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { costAtMost, costOf, fillRates, TIMES_ONE } from './model-price.js'
import type { ModelPrice } from './model-price.js'
import { priceFromJson, priceToJson } from './model-price-json.js'

const provenance = { source: 'custom', matched: 'p/m', table: 'test' } as const
const plain = (parts: Partial<ModelPrice> = {}): ModelPrice => ({
  rates: fillRates({
    input: 1_250_000_000n,
    output: 10_000_000_000n,
    cacheRead: 125_000_000n,
    cacheWrite: 1_500_000_000n,
    reasoning: 12_000_000_000n,
  }),
  tiers: [],
  multiplier: TIMES_ONE,
  provenance,
  ...parts,
})

const usage = (parts: Partial<Usage>): Usage => ({
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  unreportedCalls: 0,
  ...parts,
})

describe('what a call costs', () => {
  it('CASE-11: charges fresh input, cache read, cache write, output and reasoning each once', () => {
    const seen = usage({
      inputTokens: 1_200,
      cacheReadTokens: 500,
      cacheWriteTokens: 300,
      outputTokens: 5_200,
      reasoningTokens: 5_000,
    })
    const sum = 1_200n * 1_250n + 500n * 125n + 300n * 1_500n + 200n * 10_000n + 5_000n * 12_000n
    expect(costOf(plain(), seen)).toBe(sum)
  })

  it('CASE-11: classes that a provider does not name count as none; a call without a count of its tokens has no cost', () => {
    const bare = usage({
      inputTokens: 1_000,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      outputTokens: 10,
      reasoningTokens: null,
    })
    expect(costOf(plain(), bare)).toBe(1_350_000n)
    expect(costOf(plain(), usage({ inputTokens: null }))).toBeUndefined()
    expect(costOf(plain(), usage({ outputTokens: null }))).toBeUndefined()
    expect(costOf(plain(), usage({ unreportedCalls: 1 }))).toBeUndefined()
  })

  it('CASE-10: the one rounding is up, once per charge, over the sum of all classes', () => {
    const rates = fillRates({ input: 1n, output: 1n })
    const tiny = plain({ rates })
    expect(costOf(tiny, usage({ inputTokens: 1 }))).toBe(1n)
    expect(costOf(tiny, usage({ inputTokens: 500_000, outputTokens: 500_000 }))).toBe(1n)
    expect(costOf(tiny, usage({ inputTokens: 500_000, outputTokens: 500_001 }))).toBe(2n)
    expect(costOf(tiny, usage({}))).toBe(0n)
  })

  it('multiplies before it rounds: half a price is exactly half', () => {
    const batch = plain({ multiplier: { numerator: 5n, denominator: 10n } })
    expect(costOf(batch, usage({ inputTokens: 1_000 }))).toBe(625_000n)
    expect(costOf(batch, usage({ inputTokens: 1 }))).toBe(625n)
  })

  it('moves the whole request to the tier above its edge, not at it', () => {
    const tiers = [{ above: 200_000, rates: fillRates({ input: 2_000_000_000n, output: 20_000_000_000n }) }]
    const price = plain({ rates: fillRates({ input: 1_000_000_000n, output: 10_000_000_000n }), tiers })
    expect(costOf(price, usage({ inputTokens: 200_000, outputTokens: 1 }))).toBe(200_010_000n)
    expect(costOf(price, usage({ inputTokens: 199_000, cacheReadTokens: 1_001, outputTokens: 1 }))).toBe(400_022_000n)
    expect(costAtMost(price, 200_000n, 1n)).toBe(200_010_000n)
    expect(costAtMost(price, 200_001n, 1n)).toBe(400_022_000n)
  })

  it('takes the highest tier that is passed, in whatever order a source lists them, and no class below what it costs', () => {
    const tier = (above: number, input: bigint) => ({ above, rates: fillRates({ input, output: 0n }) })
    const price = plain({
      rates: { ...fillRates({ input: 1_000_000n, output: 0n, cacheWrite: 5_000_000n }), dearestInput: 0n },
      tiers: [tier(30, 30_000_000n), tier(10, 10_000_000n), tier(20, 20_000_000n)],
    })
    const cost = (inputTokens: number) => costOf(price, usage({ inputTokens }))
    expect([cost(10), cost(11), cost(20), cost(21), cost(31)]).toEqual([10n, 110n, 200n, 420n, 930n])
    expect(costAtMost(price, 10n, 0n)).toBe(50n)
    expect(costAtMost(price, 31n, 0n)).toBe(930n)
  })

  it('what is held is never below what a call within its bounds can cost', () => {
    const amount = fc.bigInt(0n, 10n ** 12n)
    const rates = fc
      .record({ input: amount, output: amount, cacheRead: amount, cacheWrite: amount, reasoning: amount })
      .map((given) => fillRates(given))
    const price = fc
      .record({
        rates,
        tiers: fc.uniqueArray(fc.record({ above: fc.nat(3_000), rates }), {
          selector: (tier) => tier.above,
          maxLength: 3,
        }),
        multiplier: fc.record({ numerator: fc.bigInt(0n, 1_000n), denominator: fc.bigInt(1n, 1_000n) }),
      })
      .map(
        (given): ModelPrice => ({
          ...given,
          tiers: given.tiers.sort((left, right) => left.above - right.above),
          provenance,
        }),
      )
    const tokens = fc.tuple(fc.nat(2_000), fc.nat(2_000), fc.nat(2_000), fc.nat(2_000), fc.nat(2_000))
    const spare = fc.tuple(fc.nat(5), fc.nat(5))
    fc.assert(
      fc.property(price, tokens, spare, (one, [input, read, write, output, reasoning], [moreIn, moreOut]) => {
        const seen = usage({
          inputTokens: input,
          cacheReadTokens: read,
          cacheWriteTokens: write,
          outputTokens: output,
          reasoningTokens: Math.min(reasoning, output),
        })
        const held = costAtMost(one, BigInt(input + read + write + moreIn), BigInt(output + moreOut))
        expect(held).toBeGreaterThanOrEqual(costOf(one, seen) ?? -1n)
        expect(priceFromJson(JSON.parse(JSON.stringify(priceToJson(one))))).toEqual(one)
      }),
      { numRuns: 500 },
    )
  })
})
