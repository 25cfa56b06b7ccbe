import { createHookBench, createMemoryStore, Land, Veto } from '@sluice/core'
import type { BenchPlace, GateInput, ObserverInput, Store, Usage } from '@sluice/core'
import { capturedLogger, failingStore, fakeClock, fakeIds } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { readBucket } from './bucket.js'
import { budget } from './budget.js'
import type { BudgetOptions, LimitOptions } from './budget-options.js'
import { fillRates, TIMES_ONE } from './model-price.js'
import type { PriceSource } from './price-source.js'

// a call with 1 000 tokens of input and 1 000 of output holds 0.003
const PRICES = {
  models: { 'scripted/test': { input: '1', output: '2' }, 'scripted/dear': { input: '10', output: '20' } },
}
const CALL = { inputTokensAtMost: 1_000, maxOutputTokens: 1_000 }
const PETRA: BenchPlace = { caller: { user: 'petra.k', tenant: 'acme', appId: 'desk' } }
const USAGE: Usage = {
  inputTokens: 100,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 50,
  reasoningTokens: 0,
  unreportedCalls: 0,
}

async function rig(
  limits: readonly LimitOptions[],
  options: Partial<BudgetOptions> = {},
  given: Partial<{ store: Store }> = {},
) {
  const clock = fakeClock()
  const store = given.store ?? createMemoryStore({ clock })
  const logger = capturedLogger()
  const plugin = budget({ limits, prices: PRICES, ...options })
  const bench = await createHookBench([plugin], { store, clock, ids: fakeIds(), logger })
  const ask = (effectId: string, facts: GateInput<'beforeModelCall'> = {}, place: BenchPlace = PETRA) =>
    bench.ask('beforeModelCall', { ...CALL, effectId, ...facts }, place)
  const close = (effectId: string, facts: ObserverInput<'afterModelCall'> = {}, place: BenchPlace = PETRA) =>
    bench.tell(
      'afterModelCall',
      {
        provider: 'scripted',
        model: 'test',
        answeredModel: 'test',
        effectId,
        attempt: 1,
        outcome: 'ok',
        sent: 'yes',
        usage: USAGE,
        finishReason: 'stop',
        agentCode: 'agent',
        sessionId: 'session',
        appId: place.caller?.appId ?? null,
        ...facts,
      },
      place,
    )
  const bucket = async (id: string, ...key: readonly string[]) => {
    const unit = id === 't' ? 'tokens' : 'usd'
    return readBucket(await store.documents('plugin:hooks-budget').get(['limit', id, unit, ...key])).windows[0]
  }
  return { ask, close, bench, clock, store, logger, bucket }
}

const RATES = fillRates({ input: 1n, output: 2n })
/** A price source whose price has something wrong with it. */
const priced = (parts: object) => () =>
  ({ known: true, price: { rates: RATES, tiers: [], multiplier: TIMES_ONE, provenance: {}, ...parts } }) as never

const ROOT = '01940000-0000-7000-8000-000000000000'

describe('a model call', () => {
  it('holds the most it can cost, is settled at what it did cost, and frees the rest', async () => {
    const { ask, close, bucket } = await rig([{ id: 'l', scope: 'run', usd: '0.003' }])
    expect((await ask('one')).answer).toBe('passed')
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 3_000_000n, spent: 0n })
    expect((await ask('two')).error?.code).toBe('BUDGET_EXHAUSTED')
    await close('one')
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 200_000n, unknown: 0n })
  })

  it('B-24: the veto says limit, spent, held, asked, and the output cap that would fit', async () => {
    const { ask, close } = await rig([{ scope: 'user', per: 'day', usd: '0.004' }])
    await ask('one')
    await close('one')
    await ask('two')
    const { error } = await ask('three', { inputTokensAtMost: 100 })
    expect(Veto.isInstance(error, 'BUDGET_EXHAUSTED')).toBe(true)
    expect(error?.details).toEqual({
      limit: 'user:day:usd',
      scope: 'user',
      unit: 'usd',
      amount: '4000000',
      spent: '200000',
      held: '3000000',
      unknown: '0',
      asked: '2100000',
      left: '800000',
      maxOutputTokens: 350,
      resetsAt: Date.UTC(2026, 0, 2),
      retryAfterMs: 86_400_000,
    })
    expect(error?.message).toContain('has $0.0008 left of $0.004 (spent $0.0002, held $0.003, unknown $0.00)')
    expect((await ask('four', { inputTokensAtMost: 100, maxOutputTokens: 350 })).answer).toBe('passed')
  })

  it.each([
    ['sent: no', { sent: 'no', outcome: 'error', usage: null, finishReason: null }, { spent: 0n, unknown: 0n }],
    ['no usage', { usage: null }, { spent: 0n, unknown: 3_000_000n }],
    ['a negative count', { usage: { ...USAGE, inputTokens: -5 } }, { spent: 0n, unknown: 3_000_000n }],
    ['half a token', { usage: { ...USAGE, cacheReadTokens: 0.5 } }, { spent: 0n, unknown: 3_000_000n }],
    ['usage without output', { usage: { ...USAGE, outputTokens: null } }, { spent: 0n, unknown: 3_000_000n }],
    ['more reasoning than output', { usage: { ...USAGE, reasoningTokens: 51 } }, { spent: 0n, unknown: 3_000_000n }],
    ['NaN', { usage: { ...USAGE, outputTokens: Number.NaN } }, { spent: 0n, unknown: 3_000_000n }],
    ['an infinite count', { usage: { ...USAGE, inputTokens: 1e400 } }, { spent: 0n, unknown: 3_000_000n }],
    ['a count above 2^53', { usage: { ...USAGE, inputTokens: 2 ** 60 } }, { spent: 0n, unknown: 3_000_000n }],
    ['broken after some usage', { outcome: 'error', finishReason: null }, { spent: 0n, unknown: 3_000_000n }],
    [
      'aborted',
      { outcome: 'aborted', sent: 'unknown', usage: null, finishReason: null },
      { spent: 0n, unknown: 3_000_000n },
    ],
    ['refused after the reply', { outcome: 'refused' }, { spent: 200_000n, unknown: 0n }],
  ] as [string, ObserverInput<'afterModelCall'>, object][])(
    'CASE-12: %s is never settled at zero where it may have been billed',
    async (_what, facts, booked) => {
      const { ask, close, bucket, bench } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
      await ask('one')
      await close('one', facts)
      expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, ...booked })
      expect(bench.health.errors).toBe(0)
    },
  )

  it('CASE-12: a stream that broke is booked at what was held, and above it only where it has reported more already', async () => {
    const { ask, close, bench, bucket, store } = await rig([
      { id: 'l', scope: 'run', usd: '1' },
      { id: 't', scope: 'run', tokens: 1_000_000 },
    ])
    const broken = { outcome: 'error', finishReason: null } as const
    await ask('less')
    await close('less', { ...broken, usage: { ...USAGE, inputTokens: 999, outputTokens: 1_000 } })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 0n, unknown: 3_000_000n })
    await ask('more')
    await close('more', { ...broken, usage: { ...USAGE, inputTokens: 1_100, outputTokens: 1_000 } })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ spent: 3_100_000n, overrun: 100_000n })
    expect(await bucket('t', 'run', ROOT)).toMatchObject({ spent: 2_100n, overrun: 100n })
    // fewer tokens than were held, of which one kind is dearer than it was held at: the other unit stays at what was held
    await ask('dear')
    await close('dear', { ...broken, answeredModel: 'dear', usage: { ...USAGE, inputTokens: 0, outputTokens: 1_000 } })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ spent: 23_100_000n, unknown: 3_000_000n })
    expect(await bucket('t', 'run', ROOT)).toMatchObject({ spent: 4_100n, unknown: 2_000n })
    expect(await store.documents('plugin:hooks-budget').get(['effect', 'dear'])).toMatchObject({
      attempts: [{ state: 'settled', booked: { estimated: true, nanoUsd: '20000000' } }],
    })
    expect(bench.health.errors).toBe(0)
  })

  it('a hold that comes after its attempt has ended is ATTEMPT_CLOSED and takes nothing', async () => {
    const { ask, close, bucket } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    await close('one', { outcome: 'stopped', sent: 'no', usage: null, finishReason: null })
    expect((await ask('one')).error).toMatchObject({ code: 'ATTEMPT_CLOSED', details: { effectId: 'one', attempt: 1 } })
    expect(await bucket('l', 'run', ROOT)).toBeUndefined()
    expect((await ask('one', { attempt: 2 })).answer).toBe('passed')
  })

  it('asked again with more than it holds, or under another key, it is HOLD_DIFFERS', async () => {
    const keys = ['a', 'a', 'a', 'b']
    const { ask } = await rig([{ scope: 'key', key: () => keys.shift() ?? '', usd: '1' }])
    expect((await ask('one')).answer).toBe('passed')
    expect((await ask('one')).answer).toBe('passed')
    expect((await ask('one', { maxOutputTokens: 1_001 })).error?.code).toBe('HOLD_DIFFERS')
    expect((await ask('one')).error).toMatchObject({ code: 'HOLD_DIFFERS', details: { effectId: 'one', attempt: 1 } })
  })

  it('CASE-09: when another model answers, the dearer price counts', async () => {
    const { ask, close, bucket, store } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    await ask('one')
    await close('one', { answeredModel: 'dear' })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ spent: 2_000_000n })
    await ask('two', { model: 'dear' })
    await close('two', { model: 'dear', answeredModel: 'test' })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ spent: 4_000_000n })
    await ask('three')
    await close('three', { answeredModel: 'never-heard-of' })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ spent: 4_200_000n })
    expect(await store.documents('plugin:hooks-budget').get(['effect', 'three'])).toMatchObject({
      attempts: [
        {
          state: 'settled',
          held: { price: { provenance: { source: 'override', matched: 'scripted/test' } } },
          booked: { answeredPrice: null, answeredModel: 'never-heard-of', nanoUsd: '200000', estimated: false },
        },
      ],
    })
  })

  it.each([
    ['unknown', null],
    ['tests', 'test'],
    ['Test', 'test'],
  ])(
    'CASE-09: the unknown model %s is refused before it leaves, with the nearest id and how to price it',
    async (model, nearest) => {
      const { ask, store } = await rig([{ scope: 'run', usd: '1' }])
      const { error } = await ask('one', { model })
      expect(error).toMatchObject({ code: 'PRICE_UNKNOWN', details: { model: `scripted/${model}`, nearest } })
      expect(error?.message).toContain(`prices: { models: { 'scripted/${model}': { input:`)
      expect((await store.documents('plugin:hooks-budget').list([])).items).toEqual([])
    },
  )

  it('CASE-09: a limit in tokens alone needs no price', async () => {
    const { ask, close, bucket } = await rig([{ id: 't', scope: 'run', tokens: 2_000 }])
    expect((await ask('one', { model: 'unknown' })).answer).toBe('passed')
    expect((await ask('two', { model: 'unknown' })).error?.details).toMatchObject({ unit: 'tokens', left: '0' })
    await close('one', { model: 'unknown', answeredModel: 'other' })
    expect(await bucket('t', 'run', ROOT)).toMatchObject({ spent: 150n })
  })

  it('CASE-09: a free model is blocked by a limit of 0, and by nothing else in money', async () => {
    const prices = { models: { 'scripted/*': 'free' as const } }
    const free = await rig([{ scope: 'run', usd: '0.000000001' }], { prices })
    expect((await free.ask('one')).answer).toBe('passed')
    const blocked = await rig([{ scope: 'run', usd: '0' }], { prices })
    expect((await blocked.ask('one')).error?.code).toBe('BUDGET_EXHAUSTED')
  })

  it('is refused where its input has no upper bound', async () => {
    const { ask } = await rig([{ scope: 'run', tokens: 1_000_000 }])
    expect((await ask('one', { inputTokensAtMost: null })).error?.code).toBe('INPUT_UNBOUNDED')
  })

  it('holds the cost of its hosted tools at every use, and is refused where that is not known', async () => {
    const tool = { code: 'search', effect: 'read', untrusted: true, maxUses: 3, cost: { usd: '0.01' } } as const
    const { ask, close, bucket } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    for (const broken of [
      { ...tool, cost: null },
      { ...tool, maxUses: null },
      { ...tool, cost: { usd: 'much' } },
    ]) {
      expect((await ask('none', { hostedTools: [broken] })).error?.code).toBe('HOSTED_TOOL_UNPRICED')
    }
    await ask('one', { hostedTools: [tool] })
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 33_000_000n })
    await close('one')
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 30_200_000n })
  })

  it('lands with the cap of the limit, and not twice', async () => {
    const { ask } = await rig([{ scope: 'run', usd: '0.0045', landing: { maxOutputTokens: 100 } }])
    await ask('one')
    const { error } = await ask('two')
    expect(error).toMatchObject({ code: 'BUDGET_LANDING' })
    expect(Land.isInstance(error) && error.maxOutputTokens).toBe(100)
    expect((await ask('last', { landing: true, inputTokensAtMost: 800, maxOutputTokens: 100 })).answer).toBe('passed')
    expect((await ask('more', { landing: true })).error?.code).toBe('BUDGET_EXHAUSTED')
  })
})

describe('scopes', () => {
  const nobody: BenchPlace = {}
  it.each([
    ['user', nobody],
    ['app', nobody],
    ['tenant', nobody],
  ] as const)('a call without a %s is SCOPE_UNRESOLVED, never in a shared bucket', async (scope, place) => {
    const { ask, store } = await rig([{ scope, usd: '1' }])
    expect((await ask('one', { createdBy: 'service' }, place)).error?.code).toBe('SCOPE_UNRESOLVED')
    expect((await store.documents('plugin:hooks-budget').list([])).items).toEqual([])
  })

  it('a plain call without session or agent is stopped by limits of these', async () => {
    for (const scope of ['session', 'agent'] as const) {
      const { ask } = await rig([{ scope, usd: '1' }])
      const facts = { sessionId: null, agentCode: null }
      expect((await ask('one', facts)).error?.code).toBe('SCOPE_UNRESOLVED')
    }
  })

  it('users of two tenants and two users share nothing', async () => {
    const { ask } = await rig([{ scope: 'user', usd: '0.003' }])
    for (const caller of [{ user: 'a', tenant: 'b' }, { user: 'b', tenant: 'a' }, { user: 'a' }, { user: 'ab' }]) {
      expect((await ask(`${caller.user}-${caller.tenant}`, {}, { caller })).answer).toBe('passed')
      expect((await ask(`${caller.user}-${caller.tenant}-2`, {}, { caller })).error?.code).toBe('BUDGET_EXHAUSTED')
    }
  })

  it('a key function finds the bucket, leaves the call alone with false, and stops it with anything else', async () => {
    const answers: unknown[] = [
      'team-a',
      false,
      '',
      null,
      undefined,
      7,
      Promise.resolve('team-a'),
      '\ud800',
      'x'.repeat(1_001),
    ]
    const said: string[] = []
    for (const answer of answers) {
      const { ask } = await rig([{ scope: 'key', key: () => answer as string, usd: '1' }])
      const result = await ask('one')
      said.push(result.error?.code ?? result.answer)
    }
    expect(said).toEqual(['passed', 'passed', ...Array.from({ length: 7 }, () => 'SCOPE_UNRESOLVED')])
    const broken = await rig([
      {
        scope: 'key',
        key: () => {
          throw new Error('bug')
        },
        usd: '1',
      },
    ])
    expect((await broken.ask('one')).error?.code).toBe('SCOPE_UNRESOLVED')
  })

  it('names that reach prototypes are names like others', async () => {
    const { ask } = await rig([{ scope: 'user', usd: '0.003' }])
    for (const user of ['__proto__', 'constructor', 'toString', '..']) {
      expect((await ask(user, {}, { caller: { user } })).answer).toBe('passed')
    }
  })
})

describe('a tool call', () => {
  const tool = { effect: 'write', untrusted: false, cost: { usd: '0.4' }, definitionDigest: 'd', agent: null } as const
  const facts = { toolCode: 'pay', callId: 'call_1', tool, effectId: 'tool-1' }

  it('holds its declared cost and is booked when its handler has started', async () => {
    const { bench, bucket } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    expect((await bench.ask('inspectToolInput', facts, PETRA)).answer).toBe('passed')
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 400_000_000n })
    await bench.tell('afterToolCall', { ...facts, attempt: 1, outcome: 'error', sent: 'yes' }, PETRA)
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 400_000_000n })
  })

  it('is released when it did not run, and unknown where nobody knows', async () => {
    const { bench, bucket } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    await bench.ask('inspectToolInput', facts, PETRA)
    await bench.tell('afterToolCall', { ...facts, attempt: 1, outcome: 'not_run', sent: 'no' }, PETRA)
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 0n, unknown: 0n })
    await bench.ask('inspectToolInput', { ...facts, attempt: 2 }, PETRA)
    await bench.tell('afterToolCall', { ...facts, attempt: 2, outcome: 'unknown', sent: 'unknown' }, PETRA)
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 0n, unknown: 400_000_000n })
  })

  it('holds nothing where the tool is an agent: the calls of that agent do', async () => {
    const { bench, store } = await rig([{ scope: 'run', usd: '0.3' }])
    const wrapper = { ...facts, tool: { ...tool, agent: 'clerk' } }
    expect((await bench.ask('inspectToolInput', wrapper, PETRA)).answer).toBe('passed')
    await bench.tell('afterToolCall', { ...wrapper, attempt: 1, outcome: 'ok', sent: 'yes' }, PETRA)
    expect((await store.documents('plugin:hooks-budget').list([])).items).toEqual([])
  })

  it('that comes after its attempt has ended, or asks again for more, is stopped', async () => {
    const { bench } = await rig([{ scope: 'run', usd: '1' }])
    await bench.tell('afterToolCall', { ...facts, attempt: 1, outcome: 'not_run', sent: 'no' }, PETRA)
    expect((await bench.ask('inspectToolInput', facts, PETRA)).error?.code).toBe('ATTEMPT_CLOSED')
    expect((await bench.ask('inspectToolInput', { ...facts, attempt: 2 }, PETRA)).answer).toBe('passed')
    const dearer = { ...facts, attempt: 2, tool: { ...tool, cost: { usd: '0.41' } } }
    expect((await bench.ask('inspectToolInput', dearer, PETRA)).error?.code).toBe('HOLD_DIFFERS')
  })

  it('is stopped when its cost is no amount', async () => {
    const { bench } = await rig([{ scope: 'run', usd: '1' }])
    for (const usd of ['-1', '1e3', '', 'much']) {
      const odd = { ...facts, tool: { ...tool, cost: { usd } } }
      expect((await bench.ask('inspectToolInput', odd, PETRA)).error?.code).toBe('TOOL_COST_INVALID')
    }
  })

  it('is stopped when its cost does not fit; one without a cost holds nothing', async () => {
    const { bench, store } = await rig([{ scope: 'run', usd: '0.3' }])
    expect((await bench.ask('inspectToolInput', facts, PETRA)).error).toMatchObject({
      code: 'BUDGET_EXHAUSTED',
      details: { asked: '400000000', left: '300000000', maxOutputTokens: null },
    })
    const bare = { ...facts, tool: { ...tool, cost: null } }
    expect((await bench.ask('inspectToolInput', bare, PETRA)).answer).toBe('passed')
    await bench.tell('afterToolCall', { ...bare, attempt: 1, outcome: 'ok', sent: 'yes' }, PETRA)
    expect((await store.documents('plugin:hooks-budget').list([])).items).toEqual([])
  })
})

describe('when something fails', () => {
  it.each(['error', 'full', 'read-only', 'unknown', 'unknown-lost'] as const)(
    'CASE-01: a store that answers "%s" stops the call',
    async (as) => {
      const store = failingStore(createMemoryStore(), [{ on: 'documents.transact', as }])
      const { ask } = await rig([{ scope: 'run', usd: '1' }], {}, { store })
      expect((await ask('one')).error?.code).toBe('HOOK_FAILED')
    },
  )

  it.each<[string, PriceSource['find']]>([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['answers undefined', () => undefined as never],
    ['answers 0', () => 0 as never],
    ['answers a price without rates', () => ({ known: true, price: {} }) as never],
    ['answers a price whose tiers are no list', priced({ tiers: 'none' })],
    ['answers a price with half a token as the edge of a tier', priced({ tiers: [{ above: 0.5, rates: RATES }] })],
    ['answers a price with a tier without rates', priced({ tiers: [{ above: 5 }] })],
    ['answers a price below nothing', priced({ rates: { ...RATES, output: -1n } })],
    ['answers a multiplier in numbers', priced({ multiplier: { numerator: 1n, denominator: 1 } })],
    ['answers a multiplier of nothing', priced({ multiplier: { numerator: 1n, denominator: 0n } })],
    [
      'answers a price in floats',
      () => ({ known: true, price: { rates: { input: 0.1 }, tiers: [], multiplier: {} } }) as never,
    ],
  ])('CASE-09: a price source that %s stops the call', async (_what, find) => {
    const { ask } = await rig([{ scope: 'run', usd: '1' }], { prices: { source: { name: 'mine', find } } })
    const { error } = await ask('one')
    expect(error?.code).toBe('HOOK_FAILED')
    expect((error as Error | undefined)?.cause).toMatchObject({ code: 'PRICE_SOURCE_FAILED' })
  })

  it('CASE-09: a price source that knows no nearest id leaves the model unknown', async () => {
    const find = () => ({ known: false }) as never
    const { ask } = await rig([{ scope: 'run', usd: '1' }], { prices: { source: { name: 'mine', find } } })
    expect((await ask('one')).error).toMatchObject({ code: 'PRICE_UNKNOWN', details: { nearest: null } })
  })

  it('a settle that was written without an answer is repeated and books once', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [{ on: 'documents.transact', nth: 2, as: 'unknown' }])
    const { ask, close, bucket, bench } = await rig([{ id: 'l', scope: 'run', usd: '1' }], {}, { store })
    await ask('one')
    await close('one')
    expect(await bucket('l', 'run', ROOT)).toMatchObject({ held: 0n, spent: 200_000n })
    expect(bench.health.errors).toBe(0)
  })

  it('a settle that fails leaves the hold, which lapses into an estimate and never back to zero', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [{ on: 'documents.transact', nth: 2, as: 'error' }])
    const { ask, close, bench } = await rig([{ id: 'l', scope: 'run', usd: '0.003' }], {}, { store })
    await ask('one')
    await close('one')
    expect(bench.health.errors).toBe(1)
    expect((await ask('two')).error?.details).toMatchObject({ held: '3000000', left: '0' })
  })

  it('what onEvent throws is logged and stops nothing', async () => {
    const onEvent = vi.fn(() => {
      throw new Error('bug')
    })
    const { ask, close, logger, bench } = await rig([{ scope: 'run', usd: '0.003', thresholdPercents: [5] }], {
      onEvent,
    })
    await ask('one')
    await close('one')
    expect(onEvent).toHaveBeenCalledWith(expect.objectContaining({ type: 'threshold', percent: 5 }))
    expect(bench.health.errors).toBe(0)
    expect(logger.lines.map((line) => line.text)).toContain('onEvent failed.')
  })

  it('what an async onEvent rejects with is logged, and is no unhandled rejection', async () => {
    const onEvent = vi.fn().mockRejectedValue(new TypeError('bug'))
    const { ask, close, logger } = await rig([{ scope: 'run', usd: '1', thresholdPercents: [1] }], { onEvent })
    await ask('one')
    await close('one', { usage: { ...USAGE, inputTokens: 20_000 } })
    const failed = logger.lines.filter((line) => line.text === 'onEvent failed.')
    expect(failed.map((line) => line.fields)).toEqual([
      { event: 'threshold', error: 'TypeError' },
      { event: 'overrun', error: 'TypeError' },
    ])
  })

  it('what is unknown, above its hold or lapsed is told and logged, once for a call in two limits', async () => {
    const onEvent = vi.fn()
    const limits = [
      { id: 'l', scope: 'run', usd: '1' },
      { id: 'u', scope: 'user', usd: '0.02' },
    ] as const
    const { ask, close, logger } = await rig(limits, { onEvent, holdLifeMs: 1_000 })
    await ask('lost')
    await close('lost', { usage: null })
    await ask('dear')
    await close('dear', { usage: { ...USAGE, inputTokens: 17_000 } })
    const held = '3000000'
    expect(logger.lines.filter((line) => line.level === 'warn').map((line) => line.fields)).toEqual([
      {
        event: 'unknown',
        effectId: 'lost',
        attempt: 1,
        limits: [
          { limit: 'l', held },
          { limit: 'u', held },
        ],
      },
      {
        event: 'overrun',
        effectId: 'dear',
        attempt: 1,
        limits: [
          { limit: 'l', held, charged: '17100000', closed: false },
          { limit: 'u', held, charged: '17100000', closed: true },
        ],
      },
    ])
    expect(onEvent.mock.calls.map(([event]) => event.type)).toEqual(['unknown', 'overrun'])
    const other = await rig([{ id: 'l', scope: 'run', usd: '1' }], { onEvent, holdLifeMs: 1_000 })
    await other.ask('late')
    other.clock.advance(1_000)
    await other.ask('next')
    expect(onEvent.mock.lastCall?.[0]).toMatchObject({ type: 'lapsed', effectId: 'late', limit: 'l', held: 3_000_000n })
    expect(other.logger.lines.filter((line) => line.level === 'warn').map((line) => line.fields)).toEqual([
      { event: 'lapsed', limit: 'l', effectId: 'late', attempt: 1, held },
    ])
  })

  it('a document of the ledger that cannot be read stops the call, and says so', async () => {
    const { ask, store } = await rig([{ id: 'l', scope: 'run', usd: '1' }])
    await store.documents('plugin:hooks-budget').put(['limit', 'l', 'usd', 'run', ROOT], { version: 9 })
    const { error } = await ask('one')
    expect([error?.code, (error as Error | undefined)?.cause]).toMatchObject([
      'HOOK_FAILED',
      { code: 'LEDGER_DAMAGED' },
    ])
  })

  it('a second process with the same limitsVersion and other limits is refused at start', async () => {
    const first = await rig([{ scope: 'run', usd: '1' }], { limitsVersion: '7' })
    await rig([{ scope: 'run', usd: '1.00' }], { limitsVersion: '7' }, first)
    await expect(rig([{ scope: 'run', usd: '2' }], { limitsVersion: '7' }, first)).rejects.toMatchObject({
      code: 'LIMITS_DIFFER',
    })
    await rig([{ scope: 'run', usd: '2' }], { limitsVersion: '8' }, first)
  })
})
