import { createMemoryStore } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { createRateLimitApi, createSweeper } from './rate-limit-api.js'
import { toLimitRule } from './limit-rule.js'
import { rateRigs, SPACE } from './testing/rate-rig.js'

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
})
