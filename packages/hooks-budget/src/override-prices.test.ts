import { describe, expect, it, vi } from 'vitest'
import { fillRates, TIMES_ONE } from './model-price.js'
import { withOverrides } from './override-prices.js'
import type { OverridePrice, Overrides } from './override-prices.js'
import type { PriceAnswer, PriceSource } from './price-source.js'

const found: PriceAnswer = {
  known: true,
  price: {
    rates: fillRates({ input: 1_000n, output: 2_000n }),
    tiers: [],
    multiplier: TIMES_ONE,
    provenance: { source: 'table', matched: 'openai/gpt-5', table: 'below' },
  },
}
const below = (answer: PriceAnswer = { known: false, nearest: null }) => {
  const find = vi.fn((_query: { readonly provider: string; readonly model: string }) => answer)
  return { source: { name: 'below', find } satisfies PriceSource, find }
}
const overrides = (models: Record<string, OverridePrice | 'free'>, parts: Partial<Overrides> = {}): Overrides => ({
  models: new Map(Object.entries(models)),
  multipliers: new Map(),
  providers: new Map(),
  ...parts,
})
const ask = (given: Overrides, source: PriceSource, provider: string, model: string) =>
  withOverrides(given, source).find({ provider, model, at: 0 })

describe('prices of the user', () => {
  it('stand above the table, which is not asked', async () => {
    const { source, find } = below(found)
    const given = overrides({ 'openai/gpt-5': { input: '0.9', output: '7' } })
    expect(await ask(given, source, 'openai', 'gpt-5')).toMatchObject({
      known: true,
      price: {
        rates: { input: 900_000_000n, cacheRead: 900_000_000n },
        provenance: { source: 'override', matched: 'openai/gpt-5' },
      },
    })
    expect(find).not.toHaveBeenCalled()
  })

  it('CASE-09: an id of the overrides with a date behind it is known, a near miss is not', async () => {
    const given = overrides({ 'oci/cohere.command': { input: '1', output: '2' } })
    expect(await ask(given, below().source, 'oci', 'cohere.command-2026-01-31')).toMatchObject({ known: true })
    expect(await ask(given, below().source, 'oci', 'cohere.commands')).toEqual({
      known: false,
      nearest: 'cohere.command',
    })
    expect(await ask(given, below().source, 'other', 'cohere.command')).toEqual({ known: false, nearest: null })
  })

  it('CASE-09: a local model is free where it is declared free, one by one or by provider', async () => {
    const given = overrides({ 'ollama/*': 'free', 'lab/tiny': 'free' })
    expect(await ask(given, below().source, 'ollama', 'llama3')).toMatchObject({
      known: true,
      price: { rates: { input: 0n, output: 0n }, provenance: { source: 'free', matched: 'ollama/*' } },
    })
    expect(await ask(given, below().source, 'lab', 'tiny')).toMatchObject({ known: true })
    expect(await ask(given, below().source, 'lab', 'large')).toMatchObject({ known: false })
  })

  it('multiplies what the source below finds, exactly', async () => {
    const given = overrides({}, { multipliers: new Map([['openai/*', '0.5']]) })
    expect(await ask(given, below(found).source, 'openai', 'gpt-5')).toMatchObject({
      price: { rates: { input: 1_000n }, multiplier: { numerator: 5n, denominator: 10n } },
    })
  })

  it('asks the source below under the name by which it knows a provider', async () => {
    const { source, find } = below(found)
    await ask(overrides({}, { providers: new Map([['our-openai', 'openai']]) }), source, 'our-openai', 'gpt-5')
    expect(find).toHaveBeenCalledWith({ provider: 'openai', model: 'gpt-5', at: 0 })
  })

  it('have tiers of their own, lowest first, whatever their order', async () => {
    const rates = { input: '2', output: '4' }
    const tiers = [
      { above: 500, ...rates },
      { above: 100, ...rates },
    ]
    const answer = await ask(overrides({ 'p/m': { input: '1', output: '2', tiers } }), below().source, 'p', 'm')
    expect(answer.known && answer.price.tiers.map((tier) => tier.above)).toEqual([100, 500])
  })
})
