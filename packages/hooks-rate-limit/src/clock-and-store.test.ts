import { createMemoryStore } from '@sluice/core'
import { failingStore, fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { rateRigs, retryAfter, SPACE } from './testing/rate-rig.js'

const rateRig = rateRigs(fakeClock)

const HOUR = 3_600_000
const MINUTE = 60_000

// The rows of the table in the README, in its order.
describe('what a limit does when', () => {
  it('the clock is set back an hour: what stands goes on to stand for its span, no longer, and nothing is admitted twice', async () => {
    const { model, clock } = await rateRig({ limits: [{ count: 'modelCalls', max: 2, per: 'minute' }] })
    expect((await model(1)).answer).toBe('passed')
    clock.advance(20_000)
    expect((await model(2)).answer).toBe('passed')
    clock.setNow(clock.now() - HOUR)
    expect(retryAfter(await model(3))).toBe(40_000)
    clock.advance(39_999)
    expect(retryAfter(await model(3))).toBe(1)
    clock.advance(1)
    expect((await model(3)).answer).toBe('passed')
    expect(retryAfter(await model(4))).toBe(20_000)
  })

  it('the clock is set forward an hour: spans of up to an hour begin anew, and longer ones are an hour further', async () => {
    const { model, clock } = await rateRig({
      limits: [
        { count: 'modelCalls', max: 2, per: 'minute', scope: 'user' },
        { count: 'modelCalls', max: 3, per: 'day' },
      ],
    })
    const anna = { user: 'anna' }
    for (const id of [1, 2]) expect((await model(id, {}, anna)).answer).toBe('passed')
    expect((await model(3, {}, anna)).answer).toBe('vetoed')
    clock.setNow(clock.now() + HOUR)
    expect((await model(3, {}, anna)).answer).toBe('passed')
    expect((await model(4, {}, anna)).error?.details).toMatchObject({
      limit: 'modelCalls:all:day',
      retryAfterMs: 23 * HOUR,
    })
    // and put right again, nobody waits for the hour
    clock.setNow(clock.now() - HOUR)
    expect(retryAfter(await model(4, {}, anna))).toBe(23 * HOUR)
  })

  it('it is the last day of the month: midnight is no border, a span is elapsed time', async () => {
    for (const lastSecond of [
      Date.UTC(2026, 1, 29) - 1_000,
      Date.UTC(2028, 2, 1) - 1_000,
      Date.UTC(2027, 0, 1) - 1_000,
    ]) {
      const clock = fakeClock({ now: lastSecond })
      const { model } = await rateRig({ limits: [{ count: 'modelCalls', max: 1, per: 'day' }] }, { clock })
      expect((await model(1)).answer).toBe('passed')
      clock.advance(2_000)
      expect(retryAfter(await model(2))).toBe(24 * HOUR - 2_000)
      clock.advance(24 * HOUR - 2_000)
      expect((await model(2)).answer).toBe('passed')
    }
  })

  it('summer time begins or ends: a day has 24 hours, whatever the clock on the wall does', async () => {
    // Europe/Berlin 2026: 29 March 01:00 UTC, 25 October 01:00 UTC
    for (const change of [Date.UTC(2026, 2, 29, 1), Date.UTC(2026, 9, 25, 1)]) {
      const clock = fakeClock({ now: change - 12 * HOUR })
      const { model } = await rateRig({ limits: [{ count: 'modelCalls', max: 1, per: 'day' }] }, { clock })
      expect((await model(1)).answer).toBe('passed')
      clock.advance(24 * HOUR - 1)
      expect(retryAfter(await model(2))).toBe(1)
      clock.advance(1)
      expect((await model(2)).answer).toBe('passed')
    }
  })

  it('a process is killed with a slot: it lapses into free when its lease is over, and not before', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const limits = [{ count: 'modelCalls' as const, inFlight: 1 }]
    const killed = await rateRig({ limits, leaseMs: 10_000 }, { clock, store })
    expect((await killed.model(1)).answer).toBe('passed')
    const other = await rateRig({ limits, leaseMs: 10_000 }, { clock, store })
    clock.advance(9_999)
    const refused = await other.model(2)
    expect([refused.error?.code, retryAfter(refused)]).toEqual(['RATE_LIMIT_EXCEEDED', 1])
    clock.advance(1)
    expect((await other.model(2)).answer).toBe('passed')
    // and the dead one, should it be told of its end after all, takes nobody's slot away
    await killed.ended(1)
    expect((await other.model(3)).answer).toBe('vetoed')
    await other.ended(2)
    expect((await other.model(3)).answer).toBe('passed')
  })

  it.each(['error', 'full', 'read-only', 'unknown', 'unknown-lost'] as const)(
    'the store is unreachable (%s): a veto, and nothing passes on a guess',
    async (as) => {
      const clock = fakeClock()
      const store = failingStore(createMemoryStore({ clock }), [
        { on: 'documents.transact', namespace: SPACE, nth: 2, as },
      ])
      const { model, clock: time } = await rateRig(
        { limits: [{ count: 'modelCalls', max: 2, per: 'minute' }] },
        { clock, store },
      )
      expect((await model(1)).answer).toBe('passed')
      const refused = await model(2)
      expect([refused.answer, refused.error?.code]).toEqual(['vetoed', 'RATE_LIMIT_UNAVAILABLE'])
      expect(store.struck).toBe(1)
      // the same attempt, asked again: whether the lost answer had taken its permit or not, it has one now
      expect((await model(2)).answer).toBe('passed')
      expect((await model(3)).answer).toBe('vetoed')
      time.advance(MINUTE)
      expect((await model(3)).answer).toBe('passed')
    },
  )

  it('the store does not answer: the deadline of the gate stops the run', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [
      { on: 'documents.transact', namespace: SPACE, nth: 1, as: 'hang' },
    ])
    const { model } = await rateRig({ limits: [{ count: 'modelCalls', max: 2, per: 'minute' }] }, { clock, store })
    const refused = await clock.settle(model(1))
    expect([refused.answer, refused.error?.code]).toEqual(['timed_out', 'HOOK_FAILED'])
  })

  it.each(['error', 'unknown-lost'] as const)(
    'a call cannot be closed (%s): it is counted in health, its estimate stands for the span, its slot lapses',
    async (as) => {
      const clock = fakeClock()
      const store = failingStore(createMemoryStore({ clock }), [
        { on: 'documents.transact', namespace: SPACE, nth: 2, as },
      ])
      const limits = [
        { count: 'tokens' as const, max: 2_000, per: 'minute' as const },
        { count: 'modelCalls' as const, inFlight: 1 },
      ]
      const { model, ended, bench } = await rateRig({ limits, leaseMs: 10_000 }, { clock, store })
      const estimate = { inputTokensAtMost: 1_000, maxOutputTokens: 500 }
      expect((await model(1, estimate)).answer).toBe('passed')
      await ended(1, { ...estimate, sent: 'no', outcome: 'not_run' })
      expect([store.struck, bench.health.errors]).toEqual([1, 1])
      expect(bench.health.lastError).toMatchObject({
        source: 'hooks-rate-limit',
        point: 'afterModelCall',
        message: expect.stringContaining('The rate limits could not be read or written') as string,
      })
      const small = { inputTokensAtMost: 500, maxOutputTokens: 0 }
      expect((await model(2, small)).error?.details).toMatchObject({ limit: 'modelCalls:all:in-flight' })
      clock.advance(10_000)
      expect((await model(2, small)).answer).toBe('passed')
      await ended(2, small)
      expect((await model(3, estimate)).error?.details).toMatchObject({ used: 2_000, retryAfterMs: 50_000 })
      clock.advance(50_000)
      expect((await model(3, estimate)).answer).toBe('passed')
    },
  )

  it('a stored document is none of its own: a veto, not a fresh start', async () => {
    for (const damaged of [
      7,
      'x',
      null,
      [],
      {},
      { at: 'x' },
      ...[[1], null, 'x', [1, 2, 'x']].map((open) => ({ at: 0, now: 0, level: 0, until: 0, open: [open], cells: [] })),
    ]) {
      const { model, store } = await rateRig({ limits: [{ count: 'modelCalls', max: 2, per: 'minute' }] })
      await store.documents(SPACE).put(['limit', 'modelCalls:all:minute'], damaged as never)
      expect((await model(1)).error?.details).toMatchObject({ storeCode: 'STORE_DAMAGED' })
    }
  })
})

describe('a fault of the store is told from one of a key function', () => {
  it('what a key function throws stops the run as a failure', async () => {
    const key = (): string => {
      throw new TypeError('broken')
    }
    const { model } = await rateRig({ limits: [{ name: 'own', count: 'modelCalls', max: 2, per: 'minute', key }] })
    expect(await model(1)).toMatchObject({ answer: 'failed', error: { code: 'HOOK_FAILED' } })
  })
})

describe('documents of keys that never come back go', () => {
  it('a thousand users who called once leave nothing behind, cleared away while others call', async () => {
    const { model, ended, clock, documents } = await rateRig({
      limits: [
        { count: 'modelCalls', scope: 'user', max: 5, per: 'minute', burst: 2 },
        { count: 'modelCalls', scope: 'user', inFlight: 2 },
      ],
    })
    for (let id = 0; id < 1_000; id++) {
      const caller = { user: `user ${id}` }
      await model(id, {}, caller)
      // every tenth dies with its slot
      if (id % 10 !== 0) await ended(id, {}, caller)
    }
    expect((await documents()).length).toBe(1_000)
    const stays = { user: 'stays' }
    for (let id = 0; id < 5; id++) {
      await clock.tick(MINUTE)
      await model(`s${id}`, {}, stays)
      await ended(`s${id}`, {}, stays)
    }
    expect((await documents()).map(({ key }) => key)).toEqual([['limit', 'modelCalls:user:minute', '-', '=stays']])
  })

  it('what still counts stays, also where the clock of this process is ahead of the store', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock: fakeClock() })
    const { model, bench, documents } = await rateRig(
      { limits: [{ count: 'modelCalls', scope: 'user', max: 1, per: 'minute' }] },
      { clock, store },
    )
    await model(1, {}, { user: 'a' })
    await bench.tell('afterModelCall', { usage: null, error: null } as never, { caller: { user: 'b' } })
    await clock.tick(HOUR)
    expect((await documents()).length).toBe(1)
    expect((await model(2, {}, { user: 'a' })).answer).toBe('vetoed')
  })
})
