import { createMemoryStore } from '@sluice/core'
import { failingStore, fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { toLimitRule } from './limit-rule.js'
import { createRateLimitApi } from './rate-limit-api.js'
import { createSweeper } from './sweeper.js'
import { rateRigs, retryAfter, SPACE } from './testing/rate-rig.js'

const rateRig = rateRigs(fakeClock)

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

function apiOver(store: ReturnType<typeof createMemoryStore>, clock: ReturnType<typeof fakeClock>) {
  const host = { storage: { documents: store.documents(SPACE), log: store.log(SPACE) }, clock, logger: quiet }
  const rules = [
    toLimitRule({ count: 'modelCalls', scope: 'user', max: 2, per: 'minute' }, 30_000),
    toLimitRule({ name: 'own', count: 'modelCalls', key: ({ user }) => user, max: 2, per: 'minute' }, 30_000),
  ]
  return createRateLimitApi(host, rules, createSweeper(host))
}

describe('sweep', () => {
  it('deletes all that is over, of limits that are gone and of providers too, and nothing else', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const rig = await rateRig(
      { limits: [{ count: 'modelCalls', scope: 'user', max: 9, per: 'minute', burst: 3 }], providerQuota: true },
      { clock, store },
    )
    for (let id = 0; id < 250; id++) await rig.model(id, {}, { user: `user ${id}` })
    await rig.ended(0, { rateLimit: { 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '10s' } }, { user: 'user 0' })
    clock.advance(30_000)
    await rig.model('late', { model: 'other' }, { user: 'late' })
    await rig.bench.dispose()
    await store.documents(SPACE).put(['limit', 'gone:all:day', '=x'], { at: clock.now(), now: 0, until: 1_000 })
    await store.documents(SPACE).put(['other'], { at: 0, now: 0, until: 0 })
    const api = apiOver(store, clock)
    expect(await api.sweep()).toBe(1)
    clock.advance(30_000)
    expect(await api.sweep()).toBe(251)
    expect((await rig.documents()).map(({ key }) => key.at(-1))).toEqual(['=late', 'other'])
    clock.advance(30_000)
    expect(await api.sweep()).toBe(1)
    expect(await api.sweep()).toBe(0)
  })
})

describe('clearing away by itself', () => {
  const limits = [{ count: 'modelCalls' as const, scope: 'user' as const, max: 9, per: 'minute' as const }]
  const many = async (rig: Awaited<ReturnType<typeof rateRig>>, calls: number): Promise<void> => {
    for (let id = 0; id < calls; id++) {
      const caller = { user: `user ${id}` }
      await rig.model(id, {}, caller)
      await rig.ended(id, {}, caller)
    }
  }

  it('goes on turn by turn until it comes to the end, and keeps no timer where nothing was written since', async () => {
    const rig = await rateRig({ limits })
    await many(rig, 3)
    await rig.clock.tick(60_000)
    expect(await rig.documents()).toEqual([])
    expect(rig.clock.nextTimerMs).toBeUndefined()
  })

  it('a store that fails or hangs then is in the way of nobody, and the next turn makes up for it', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [
      { on: 'documents.list', namespace: SPACE, nth: 1, as: 'error' },
      { on: 'documents.list', namespace: SPACE, nth: 2, as: 'hang' },
    ])
    const rig = await rateRig({ limits }, { clock, store })
    for (let turn = 0; turn < 3; turn++) {
      await many(rig, 3)
      expect(rig.bench.health.errors).toBe(0)
      await clock.tick(60_000)
    }
    expect(store.struck).toBe(2)
    expect(await rig.documents()).toEqual([])
  })

  it('ends with the plugin', async () => {
    const rig = await rateRig({ limits })
    await many(rig, 1)
    expect(rig.clock.nextTimerMs).toBe(60_000)
    await rig.bench.dispose()
    expect(rig.clock.nextTimerMs).toBeUndefined()
    await rig.ended(1)
    expect(rig.clock.nextTimerMs).toBeUndefined()
  })
})

describe('status', () => {
  it('names the limits that there are, and says for whom it has to be asked', async () => {
    const clock = fakeClock()
    const api = apiOver(createMemoryStore({ clock }), clock)
    await expect(api.status('other')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(api.status('modelCalls:user:minute')).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
    expect(await api.status('own', {})).toBeUndefined()
    expect(await api.status('own', { user: 'a' })).toMatchObject({ used: 0, left: 2, retryAfterMs: 0 })
  })
})

describe('the figures of a limit that keeps its name change', () => {
  it('a limit made smaller closes until there is room, within its window', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const limit = { name: 'calls', count: 'modelCalls' as const }
    const before = await rateRig({ limits: [{ ...limit, max: 10, per: 'hour' }] }, { clock, store })
    for (let id = 0; id < 10; id++) await before.model(id)
    const after = await rateRig({ limits: [{ ...limit, max: 2, per: 'minute' }] }, { clock, store })
    expect((await after.model('x')).error?.details).toMatchObject({ used: 10, max: 2, retryAfterMs: 60_000 })
    clock.advance(3_600_000)
    expect((await after.model('x')).answer).toBe('passed')
  })

  it('a burst made smaller closes for its window at most, and says so truly', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const limit = { name: 'calls', count: 'modelCalls' as const, per: 'minute' as const }
    const before = await rateRig({ limits: [{ ...limit, max: 200, burst: 150 }] }, { clock, store })
    for (let id = 0; id < 150; id++) expect((await before.model(id)).answer).toBe('passed')
    const after = await rateRig({ limits: [{ ...limit, max: 2, burst: 1 }] }, { clock, store })
    const wait = retryAfter(await after.model('x')) ?? 0
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(60_000)
    clock.advance(wait)
    expect((await after.model('x')).answer).toBe('passed')
  })
})
