import type { Provider } from '@pydantic/genai-prices'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { costOf } from './model-price.js'
import type { PriceAnswer } from './price-source.js'
import { PRICE_TABLE, tablePrices } from './table-prices.js'

const AT = Date.UTC(2026, 10, 1)
const table = tablePrices()
beforeAll(() => table.load?.())

const find = async (provider: string, model: string, at = AT): Promise<PriceAnswer> =>
  table.find({ provider, model, at })

describe('the table of prices', () => {
  it.each([
    ['openai', 'gpt-5', 'openai/gpt-5'],
    ['openai', 'gpt-5-codex', 'openai/gpt-5'],
    ['openai', 'gpt-5-2025-08-07', 'openai/gpt-5'],
    ['openai', 'gpt-5-nano-2025-08-07', 'openai/gpt-5-nano'],
    ['anthropic', 'claude-sonnet-4-5', 'anthropic/claude-sonnet-4-5'],
    ['anthropic', 'claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5'],
    ['anthropic', 'claude-sonnet-4-5@20250929', 'anthropic/claude-sonnet-4-5'],
  ])('CASE-09: %s/%s is known as %s', async (provider, model, matched) => {
    expect(await find(provider, model)).toMatchObject({
      known: true,
      price: { provenance: { source: 'table', matched, table: PRICE_TABLE } },
    })
  })

  it.each([
    ['openai', 'gpt-5-minis', 'gpt-5-mini'],
    ['openai', 'gpt5', 'gpt-5'],
    ['openai', 'gpt-5-2025-13-45', null],
    ['openai', 'GPT-5', null],
    ['anthropic', 'claude-sonnet-4-5-turbo', 'claude-sonnet-4-5'],
    ['anthropic', 'claude-sonnet-4-5-20250929-20250929', null],
    ['xai', 'grok-4', null],
    ['oci', 'meta.llama', null],
    ['ollama', 'llama3', null],
    ['__proto__', 'constructor', null],
  ])('CASE-09: %s/%s, which the package may match loosely, is unknown', async (provider, model, nearest) => {
    const answer = await find(provider, model)
    expect(answer.known).toBe(false)
    if (nearest !== null) expect(answer).toEqual({ known: false, nearest })
  })

  it('CASE-09: a model that the table gives away is unknown: free is only what is declared free', async () => {
    const provider = {
      id: 'router',
      name: 'Router',
      api_pattern: '',
      models: [
        { id: 'm:free', match: { equals: 'm:free' }, prices: { input_mtok: 0, output_mtok: 0 } },
        { id: 'by-call', match: { equals: 'by-call' }, prices: { input_mtok: 1, output_mtok: 1, requests_kcount: 5 } },
        { id: 'depends', match: { equals: 'depends' }, prices: { input_mtok: -1, output_mtok: 1 } },
        { id: 'none', match: { equals: 'none' }, prices: { input_mtok: Number.NaN, output_mtok: 1 } },
        {
          id: 'tier',
          match: { equals: 'tier' },
          prices: { input_mtok: { base: 1, tiers: [{ start: 5, price: Number.POSITIVE_INFINITY }] }, output_mtok: 1 },
        },
        { id: 'in-only', match: { equals: 'in-only' }, prices: { input_mtok: 1 } },
        {
          id: 'part',
          match: { and: [{ equals: 'other' }, { contains: 'x' }] },
          prices: { input_mtok: 1, output_mtok: 1 },
        },
      ],
    }
    const source = tablePrices(async () => ({ findProvider: () => provider as Provider }))
    for (const model of ['m:free', 'by-call', 'depends', 'none', 'tier', 'in-only', 'other']) {
      expect(await source.find({ provider: 'router', model, at: AT })).toMatchObject({ known: false })
    }
  })

  it('has cache rates, and the dearer of two lives of a written cache', async () => {
    const answer = await find('anthropic', 'claude-sonnet-4-5')
    if (!answer.known) throw new Error('unknown')
    const { rates, tiers } = answer.price
    expect(rates).toMatchObject({
      input: 3_000_000_000n,
      output: 15_000_000_000n,
      cacheRead: 300_000_000n,
      cacheWrite: 6_000_000_000n,
      dearestInput: 6_000_000_000n,
    })
    expect(tiers).toMatchObject([{ above: 200_000, rates: { input: 6_000_000_000n, output: 22_500_000_000n } }])
  })

  it('prices a call with what was in force at its time', async () => {
    const usage = {
      inputTokens: 1_000_000,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
    }
    const cost = async (at: number) => {
      const answer = await find('openai', 'o3', at)
      return answer.known ? costOf(answer.price, { ...usage, unreportedCalls: 0 }) : undefined
    }
    expect(await cost(Date.UTC(2025, 5, 9))).toBe(10_000_000_000n)
    expect(await cost(Date.UTC(2025, 5, 10))).toBe(2_000_000_000n)
  })

  it('takes the dearer rate where the price depends on the hour of the day', async () => {
    const answer = await find('deepseek', 'deepseek-chat')
    expect(answer).toMatchObject({ known: true, price: { rates: { input: 270_000_000n, output: 1_100_000_000n } } })
  })

  it('is not loaded before it is asked, and once', async () => {
    const load = vi.fn(async () => ({ findProvider: () => undefined }))
    const source = tablePrices(load)
    expect(load).not.toHaveBeenCalled()
    await source.load?.()
    await source.find({ provider: 'openai', model: 'gpt-5', at: AT })
    expect(load).toHaveBeenCalledTimes(1)
  })
})
