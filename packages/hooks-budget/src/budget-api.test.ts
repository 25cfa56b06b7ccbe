import { createMemoryStore } from '@sluice/core'
import { fakeClock, fakeIds } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { createBudgetApi } from './budget-api.js'
import type { BudgetEvent } from './budget-event.js'
import { Ledger } from './ledger.js'
import type { Limit } from './limit.js'
import type { Resolution } from './resolve-attempt.js'
import { windowsOf } from './window.js'

const LIFE_MS = 60_000
const HOUR_MS = 3_600_000
const make = (parts: Partial<Limit> & Pick<Limit, 'id'>): Limit => ({
  scope: 'user',
  key: undefined,
  unit: 'usd',
  amount: 100n,
  windowOf: windowsOf('hour', 'UTC'),
  thresholdPercents: [],
  landing: undefined,
  ...parts,
})
const PETRA = { user: 'petra.k', tenant: 'acme' }
const BY = { who: 'boss', why: 'month end' }

function rig(limits: readonly Limit[] = [make({ id: 'usd' }), make({ id: 'tokens', unit: 'tokens', amount: 1_000n })]) {
  const clock = fakeClock()
  const documents = createMemoryStore({ clock }).documents('plugin:hooks-budget')
  const ledger = new Ledger(documents, LIFE_MS)
  const events: BudgetEvent[] = []
  const tell = (told: readonly BudgetEvent[]) => void events.push(...told)
  const api = createBudgetApi({ documents, limits, ids: fakeIds(), holdLifeMs: LIFE_MS, tell })
  const bounds = limits.map((limit) => ({ limit, key: ['limit', limit.id, limit.unit, 'user', 'petra.k', 'acme'] }))
  const hold = async (effectId: string, amount: bigint, attempt = 1) => {
    const asks = bounds.map((bound) => ({ ...bound, amountFor: () => amount }))
    return (await ledger.hold({ effectId, attempt, asks, outputTokens: 0n, kind: 'landing', held: {} })).answer.kind
  }
  const close = (effectId: string, resolution: Resolution) =>
    ledger.close({ effectId, attempt: 1 }, bounds, limits, () => resolution)
  return { api, clock, documents, hold, close, events }
}

const unknown: Resolution = { kind: 'unknown', booked: {} }

describe('status', () => {
  it('tells limit and origin, spent, held, unknown, left and when it begins anew; and writes nothing', async () => {
    const { api, hold, close, clock, documents } = rig()
    await hold('one', 10n)
    await hold('two', 20n)
    await hold('three', 30n)
    await close('one', { kind: 'settled', amounts: { usd: 4n, tokens: 5n }, booked: {} })
    await close('two', unknown)
    const before = (await documents.list([])).items
    const at = clock.now()
    expect(await api.status(PETRA)).toMatchObject([
      {
        limit: 'usd',
        scope: 'user',
        unit: 'usd',
        amount: 100n,
        origin: { from: 'code' },
        toppedUp: 0n,
        spent: 4n,
        held: 30n,
        unknown: 20n,
        left: 46n,
        resetsAt: at + HOUR_MS,
        overrun: 0n,
        open: [{ effectId: 'three', attempt: 1, amount: 30n, at }],
      },
      { limit: 'tokens', spent: 5n, left: 945n },
    ])
    clock.advance(LIFE_MS)
    expect((await api.status(PETRA))[0]).toMatchObject({ held: 0n, unknown: 50n, open: [] })
    expect((await documents.list([])).items).toEqual(before)
  })

  it('shows an untouched bucket as it is, and no bucket that the scope does not tell', async () => {
    const { api } = rig()
    expect((await api.status({ user: 'new' }))[0]).toMatchObject({ amount: 100n, left: 100n, spent: 0n })
    expect(await api.status({ tenant: 'acme' })).toEqual([])
  })
})

describe('topUp', () => {
  it('adds to the window of now, once for each key, and is written down', async () => {
    const { api, hold, clock } = rig()
    await hold('one', 100n)
    expect(await hold('two', 1n)).toBe('refused')
    const change = { limit: 'usd', scope: PETRA, amount: '0.00000005', key: 'ticket-7', ...BY }
    expect(await api.topUp(change)).toMatchObject({ amount: 150n, toppedUp: 50n, left: 50n })
    expect(await api.topUp(change)).toMatchObject({ amount: 150n, toppedUp: 50n })
    expect(await hold('two', 50n)).toBe('held')
    expect((await api.changes()).items).toMatchObject([
      { change: 'topUp', limit: 'usd', amount: '50', key: 'ticket-7', ...BY, at: clock.now() },
    ])
    clock.advance(HOUR_MS)
    expect((await api.status(PETRA))[0]).toMatchObject({ amount: 100n, toppedUp: 0n })
    expect(await api.topUp(change)).toMatchObject({ amount: 100n, toppedUp: 0n })
  })

  it('a thousand of them leave the document of the bucket as small as one, each with its record', async () => {
    const { api, documents } = rig()
    const topUp = (key: string) => api.topUp({ limit: 'usd', scope: PETRA, amount: '0.000000001', key, ...BY })
    const size = async () =>
      JSON.stringify(await documents.get(['limit', 'usd', 'usd', 'user', 'petra.k', 'acme'])).length
    await topUp('first')
    const before = await size()
    for (let index = 0; index < 1_000; index++) await topUp(`key-${index}`)
    expect((await api.status(PETRA))[0]).toMatchObject({ toppedUp: 1_001n, amount: 1_101n })
    expect((await size()) - before).toBeLessThan(10)
  })

  it('refuses a key that was used with another amount', async () => {
    const { api } = rig()
    const change = { limit: 'usd', scope: PETRA, key: 'ticket-7', ...BY }
    await api.topUp({ ...change, amount: '1' })
    await expect(api.topUp({ ...change, amount: '2' })).rejects.toMatchObject({ code: 'TOP_UP_REPEATED' })
    expect((await api.changes()).items).toHaveLength(1)
  })

  it.each([
    ['usd', 5],
    ['usd', '-1'],
    ['usd', 'much'],
    ['tokens', '5'],
    ['tokens', -1],
    ['tokens', 1.5],
    ['tokens', Number.NaN],
  ])('refuses the amount of limit %s that is %s', async (limit, amount) => {
    const { api } = rig()
    const change = { limit, scope: PETRA, amount, key: 'k', ...BY }
    await expect(api.topUp(change)).rejects.toMatchObject({ code: 'AMOUNT_INVALID' })
  })

  it('refuses a limit that there is not, a scope that tells no bucket, and nobody', async () => {
    const { api } = rig()
    const change = { limit: 'usd', scope: PETRA, amount: '1', key: 'k', ...BY }
    await expect(api.topUp({ ...change, limit: 'other' })).rejects.toMatchObject({ code: 'LIMIT_UNKNOWN' })
    await expect(api.topUp({ ...change, scope: {} })).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
    await expect(api.topUp({ ...change, who: ' ' })).rejects.toMatchObject({ code: 'AMOUNT_INVALID' })
  })
})

describe('set', () => {
  it('stands above the code in every window until it is cleared', async () => {
    const { api, hold, clock } = rig()
    const change = { limit: 'usd', scope: PETRA, ...BY }
    expect(await api.set({ ...change, amount: '0.00000001' })).toMatchObject({
      amount: 10n,
      origin: { from: 'set', ...BY, at: clock.now() },
    })
    expect(await hold('one', 11n)).toBe('refused')
    clock.advance(HOUR_MS)
    expect(await hold('one', 11n)).toBe('refused')
    expect(await api.set({ ...change, amount: '0' })).toMatchObject({ amount: 0n })
    expect(await hold('two', 0n)).toBe('refused')
    expect(await api.set({ ...change, amount: null })).toMatchObject({ amount: 100n, origin: { from: 'code' } })
    expect(await hold('one', 11n)).toBe('held')
    expect((await api.changes()).items.map((entry) => entry.amount)).toEqual(['10', '0', null])
  })
})

describe('resolve', () => {
  it('books what an unknown attempt has cost, once, and is written down', async () => {
    const { api, hold, close } = rig()
    await hold('one', 60n)
    await close('one', unknown)
    await api.resolve({ effectId: 'one', amount: { usd: '0.000000007' }, ...BY })
    expect(await api.status(PETRA)).toMatchObject([
      { spent: 7n, unknown: 0n, held: 0n },
      { spent: 60n, unknown: 0n, held: 0n },
    ])
    expect(await api.charges('one')).toMatchObject([
      { attempt: 1, state: 'settled', booked: { resolved: { usd: '7', tokens: null, released: false, ...BY } } },
    ])
    expect((await api.changes()).items).toMatchObject([{ change: 'resolve', effectId: 'one', attempt: 1, ...BY }])
    const again = api.resolve({ effectId: 'one', amount: 'released', ...BY })
    await expect(again).rejects.toMatchObject({ code: 'EFFECT_NOT_HELD' })
    expect((await close('one', { kind: 'released', booked: null })).answer).toBe('repeated')
  })

  it('releases what was not spent, also of a hold that has lapsed, in the window in which it was taken', async () => {
    const { api, hold, clock, events, documents } = rig()
    await hold('one', 60n)
    const early = api.resolve({ effectId: 'one', amount: 'released', ...BY })
    await expect(early).rejects.toMatchObject({ code: 'HOLD_OPEN' })
    clock.advance(HOUR_MS)
    await api.resolve({ effectId: 'one', amount: 'released', ...BY })
    expect(events.map((event) => event.type)).toEqual(['lapsed', 'lapsed'])
    const key = ['limit', 'usd', 'usd', 'user', 'petra.k', 'acme']
    expect(await documents.get(key)).toMatchObject({
      open: '',
      openSince: null,
      windows: [{ spent: '0', held: '0', unknown: '0' }],
    })
  })

  it('takes the attempt that waits, and not the next one, which is in flight', async () => {
    const { api, hold, close } = rig()
    await hold('one', 10n)
    await close('one', unknown)
    await hold('one', 20n, 2)
    await api.resolve({ effectId: 'one', amount: 'released', ...BY })
    expect((await api.charges('one')).map((one) => one.state)).toEqual(['released', 'held'])
    const second = api.resolve({ effectId: 'one', attempt: 2, amount: 'released', ...BY })
    await expect(second).rejects.toMatchObject({ code: 'HOLD_OPEN' })
  })

  it('says an amount above the hold: an overrun, told and listed', async () => {
    const { api, hold, close, events } = rig()
    await hold('one', 10n)
    await close('one', unknown)
    await api.resolve({ effectId: 'one', amount: { usd: '0.00000003' }, ...BY })
    expect(events).toMatchObject([{ type: 'overrun', limits: [{ charged: 30n }, { limit: 'tokens', charged: 10n }] }])
    expect((await api.overruns()).items).toMatchObject([
      { effectId: 'one', attempt: 1, limits: [{ limit: 'usd', held: '10', charged: '30', closed: false }, {}] },
    ])
    expect((await api.status(PETRA))[0]).toMatchObject({ spent: 30n, overrun: 20n })
  })

  it.each([[undefined], [null], [5], ['free']])('refuses %s as an amount', async (amount) => {
    const { api, hold, close } = rig()
    await hold('one', 10n)
    await close('one', unknown)
    const request = { effectId: 'one', amount: amount as never, ...BY }
    await expect(api.resolve(request)).rejects.toMatchObject({ code: 'AMOUNT_INVALID' })
  })

  it('refuses an effect of which nothing is held', async () => {
    const { api } = rig()
    const request = { effectId: 'none', amount: 'released', ...BY } as const
    await expect(api.resolve(request)).rejects.toMatchObject({ code: 'EFFECT_NOT_HELD' })
    expect(await api.charges('none')).toEqual([])
  })
})

describe('unknowns', () => {
  it('lists what ended as unknown and what has lapsed, until it is resolved, and nothing that is in flight', async () => {
    const { api, hold, close, clock, documents } = rig()
    for (const name of ['done', 'lapsed', 'lost']) await hold(name, 10n)
    await close('done', { kind: 'released', booked: null })
    await close('lost', unknown)
    expect((await api.unknowns()).items).toMatchObject([
      { effectId: 'lost', attempt: 1, state: 'unknown', parts: [{ limit: 'usd', amount: '10' }, { limit: 'tokens' }] },
    ])
    clock.advance(LIFE_MS)
    await hold('new', 10n)
    const { items, next } = await api.unknowns()
    expect(items.map((one) => [one.effectId, one.state])).toEqual([
      ['lapsed', 'held'],
      ['lost', 'unknown'],
    ])
    expect(next).toBeNull()
    for (const { effectId, attempt } of items) await api.resolve({ effectId, attempt, amount: 'released', ...BY })
    expect((await api.unknowns()).items).toEqual([])
    expect((await documents.list(['pending'])).items.map((item) => item.key)).toEqual([['pending', 'new']])
  })

  it('is paged, and can be asked for one scope', async () => {
    const { api, hold, close } = rig()
    for (const name of ['a', 'b', 'c']) {
      await hold(name, 10n)
      await close(name, unknown)
    }
    const first = await api.unknowns({ limit: 2 })
    const second = await api.unknowns({ limit: 2, after: first.next ?? '' })
    expect([...first.items, ...second.items].map((one) => one.effectId)).toEqual(['a', 'b', 'c'])
    expect(second.next).toBeNull()
    expect((await api.unknowns({ scope: PETRA })).items).toHaveLength(3)
    expect((await api.unknowns({ scope: { user: 'other', tenant: 'acme' } })).items).toEqual([])
  })
})

describe('a scope', () => {
  it('with a part that is undefined is a scope without it', async () => {
    const { api } = rig()
    expect(await api.status({ user: undefined, tenant: 'acme' } as never)).toEqual([])
    expect((await api.status({ user: 'petra.k', tenant: undefined } as never))[0]).toMatchObject({ spent: 0n })
    const change = { limit: 'usd', scope: { user: undefined } as never, amount: '1', key: 'k', ...BY }
    await expect(api.topUp(change)).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
  })
})
