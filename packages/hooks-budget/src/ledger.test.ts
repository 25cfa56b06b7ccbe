import { createMemoryStore } from '@sluice/core'
import type { JsonValue } from '@sluice/core'
import { failingStore, fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { readBucket } from './bucket.js'
import { Ledger } from './ledger.js'
import type { HoldRequest } from './ledger.js'
import type { Bound, Limit } from './limit.js'
import { readOverruns } from './overrun.js'
import type { Resolution } from './resolve-attempt.js'
import { windowsOf } from './window.js'

const LIFE_MS = 60_000
const make = (id: string, amount: bigint, parts: Partial<Limit> = {}): Bound => {
  const limit: Limit = {
    id,
    scope: 'user',
    key: undefined,
    unit: 'usd',
    amount,
    windowOf: windowsOf(undefined, 'UTC'),
    thresholdPercents: [],
    landing: undefined,
    ...parts,
  }
  return { limit, key: ['limit', id, 'user', 'petra.k'] }
}

function rig(...bounds: readonly Bound[]) {
  const clock = fakeClock()
  const documents = createMemoryStore({ clock }).documents('plugin:hooks-budget')
  const ledger = new Ledger(documents, LIFE_MS)
  const limits = bounds.map((bound) => bound.limit)
  const request = (effectId: string, amount: bigint, parts: Partial<HoldRequest> = {}): HoldRequest => ({
    effectId,
    attempt: 1,
    asks: bounds.map((bound) => ({ ...bound, amountFor: () => amount })),
    outputTokens: 100n,
    kind: 'landing',
    held: {},
    ...parts,
  })
  return {
    clock,
    documents,
    ledger,
    hold: (effectId: string, amount: bigint, parts?: Partial<HoldRequest>) =>
      ledger.hold(request(effectId, amount, parts)),
    close: (effectId: string, resolution: Resolution, attempt = 1, found = bounds) =>
      ledger.close({ effectId, attempt }, found, limits, () => resolution),
    bucket: async (index = 0) => readBucket(await documents.get((bounds[index] as Bound).key)),
  }
}

const settled = (usd: bigint): Resolution => ({ kind: 'settled', amounts: { usd, tokens: null }, booked: {} })
const released: Resolution = { kind: 'released', booked: null }

describe('holds', () => {
  it.each([
    [0n, 0n, 'refused'],
    [0n, 1n, 'refused'],
    [1n, 1n, 'held'],
    [10n, 9n, 'held'],
    [10n, 10n, 'held'],
    [10n, 11n, 'refused'],
  ])('CASE-09: a limit of %d and a call of %d: %s', async (amount, asked, answer) => {
    expect((await rig(make('a', amount)).hold('one', asked)).answer.kind).toBe(answer)
  })

  it('CASE-08: a refusal on the second limit leaves nothing held on the first', async () => {
    const { hold, bucket, documents } = rig(make('wide', 100n), make('tight', 10n))
    const { answer } = await hold('one', 11n)
    expect(answer).toMatchObject({
      kind: 'refused',
      shortage: { limit: { id: 'tight' }, spent: 0n, held: 0n, asked: 11n, left: 10n, amount: 10n },
    })
    expect((await bucket(0)).windows).toEqual([])
    expect((await documents.list([])).items).toEqual([])
  })

  it('CASE-12: the same attempt asked again holds once, the next attempt holds anew', async () => {
    const { hold, bucket } = rig(make('a', 100n))
    await hold('one', 10n)
    await hold('one', 10n)
    expect((await bucket()).windows[0]?.held).toBe(10n)
    await hold('one', 10n, { attempt: 2 })
    expect((await bucket()).windows[0]?.held).toBe(20n)
  })

  it('a hold that comes after its attempt has ended takes nothing; the next attempt does', async () => {
    const { hold, close, bucket } = rig(make('a', 100n))
    expect((await close('one', released)).answer).toBe('marked')
    expect((await hold('one', 10n)).answer.kind).toBe('closed')
    expect((await bucket()).open.list()).toEqual([])
    expect((await hold('one', 10n, { attempt: 2 })).answer.kind).toBe('held')
  })

  it('a charge above its hold is booked in full, told as an overrun, and closes the limit', async () => {
    const { hold, close, bucket, clock, documents } = rig(make('a', 100n))
    await hold('one', 60n)
    const { events } = await close('one', settled(130n))
    const booked = { limit: 'a', unit: 'usd', windowStart: 0, closed: true }
    expect(events).toEqual([
      {
        type: 'overrun',
        effectId: 'one',
        attempt: 1,
        at: clock.now(),
        limits: [{ ...booked, key: ['limit', 'a', 'user', 'petra.k'], held: 60n, charged: 130n }],
      },
    ])
    expect((await bucket()).windows[0]).toMatchObject({ spent: 130n, held: 0n, overrun: 70n })
    expect(readOverruns(await documents.get(['overrun', 'one']))).toMatchObject([
      { effectId: 'one', attempt: 1, at: clock.now(), limits: [{ ...booked, held: '60', charged: '130' }] },
    ])
    expect((await hold('two', 1n)).answer.kind).toBe('refused')
  })

  it('a hold that nobody resolves lapses into a booked estimate; a late settle corrects it, once', async () => {
    const { hold, close, bucket, clock } = rig(make('a', 100n))
    await hold('one', 60n)
    clock.advance(LIFE_MS)
    const { answer, events } = await hold('two', 41n)
    expect(answer.kind).toBe('refused')
    // told also when nothing fits any more
    expect(events).toMatchObject([{ type: 'lapsed', effectId: 'one', held: 60n }])
    expect((await hold('two', 40n)).events).toEqual([])
    expect((await bucket()).windows[0]).toMatchObject({ spent: 0n, held: 40n, unknown: 60n })
    await close('one', settled(5n))
    expect((await bucket()).windows[0]).toMatchObject({ spent: 5n, held: 40n, unknown: 0n })
    expect((await close('one', settled(5n))).answer).toBe('repeated')
    expect((await close('one', released)).answer).toBe('repeated')
    expect((await bucket()).windows[0]).toMatchObject({ spent: 5n, held: 40n, unknown: 0n })
  })

  it('a hold stands one millisecond before its life ends', async () => {
    const { hold, bucket, clock } = rig(make('a', 100n))
    await hold('one', 60n)
    clock.advance(LIFE_MS - 1)
    await hold('two', 1n)
    expect((await bucket()).windows[0]).toMatchObject({ held: 61n, unknown: 0n })
  })

  it('belongs to the window in which it was taken, also when it is settled in the next one', async () => {
    const { hold, close, bucket, clock } = rig(make('a', 100n, { windowOf: windowsOf('hour', 'UTC') }))
    const start = clock.now()
    await hold('one', 100n)
    clock.advance(3_600_000 - 1)
    expect((await hold('two', 1n)).answer.kind).toBe('refused')
    clock.advance(1)
    expect((await hold('two', 100n)).answer.kind).toBe('held')
    await close('one', settled(90n))
    const { windows } = await bucket()
    expect(windows.map((window) => [window.start - start, window.spent, window.held])).toEqual([
      [0, 90n, 0n],
      [3_600_000, 0n, 100n],
    ])
  })

  it('a thousand windows leave a small document, and none in which something stands is dropped', async () => {
    const { hold, close, bucket, clock } = rig(make('a', 100n, { windowOf: windowsOf('hour', 'UTC') }))
    await hold('first', 7n)
    const start = clock.now()
    for (let hour = 0; hour < 1_000; hour++) {
      clock.advance(3_600_000)
      await hold(`effect-${hour}`, 1n)
      await close(`effect-${hour}`, settled(1n))
    }
    const { windows } = await bucket()
    expect(windows.length).toBe(4)
    expect(windows[0]).toMatchObject({ start, unknown: 7n })
  })

  it('a limit whose length was changed in the code begins anew, and its old holds are resolved where they were taken', async () => {
    const hour = make('a', 100n, { windowOf: windowsOf('hour', 'UTC') })
    const day = make('a', 100n, { windowOf: windowsOf('day', 'UTC') })
    const { ledger, close, bucket, clock } = rig(hour)
    const ask = (effectId: string, bound: Bound) =>
      ledger.hold({
        effectId,
        attempt: 1,
        asks: [{ ...bound, amountFor: () => 90n }],
        outputTokens: 0n,
        kind: 'landing',
        held: {},
      })
    await ask('one', hour)
    expect((await ask('two', day)).answer.kind).toBe('held')
    await close('one', settled(80n))
    const start = clock.now()
    expect((await bucket()).windows).toMatchObject([
      { start, end: start + 3_600_000, spent: 80n, held: 0n },
      { start, end: start + 86_400_000, spent: 0n, held: 90n },
    ])
  })

  it.each([['day' as const], [undefined]])(
    'a window that is not over is kept with what was spent, also where windows of an hour begin later (now: %s)',
    async (per) => {
      const hour = make('a', 100n, { windowOf: windowsOf('hour', 'UTC') })
      const now = make('a', 100n, { windowOf: windowsOf(per, 'UTC') })
      const { ledger, close, clock } = rig(hour)
      const ask = async (effectId: string, bound: Bound, amount = 90n) => {
        const asks = [{ ...bound, amountFor: () => amount }]
        const request = { effectId, attempt: 1, asks, outputTokens: 0n, kind: 'landing', held: {} } as const
        return (await ledger.hold(request)).answer.kind
      }
      for (const name of ['one', 'two', 'three', 'four', 'five']) {
        clock.advance(3_600_000)
        expect(await ask(name, hour)).toBe('held')
        await close(name, settled(90n))
      }
      expect(await ask('six', now)).toBe('held')
      await close('six', settled(90n))
      expect(await ask('seven', now, 11n)).toBe('refused')
      expect(await ask('seven', now, 10n)).toBe('held')
    },
  )

  it('a thousand windows with something unknown in each leave a bounded document; the oldest is resolved in its record', async () => {
    const { hold, close, bucket, clock, documents } = rig(make('a', 100n, { windowOf: windowsOf('hour', 'UTC') }))
    for (let hour = 0; hour < 1_000; hour++) {
      await hold(`effect-${hour}`, 7n)
      await close(`effect-${hour}`, { kind: 'unknown', booked: {} })
      clock.advance(3_600_000)
    }
    expect((await bucket()).windows.length).toBeLessThanOrEqual(103)
    expect((await close('effect-0', settled(5n))).answer).toBe('resolved')
    expect((await close('effect-999', settled(5n))).answer).toBe('resolved')
    expect(await documents.get(['effect', 'effect-0'])).toMatchObject({ attempts: [{ state: 'settled' }] })
    const { windows } = await bucket()
    expect(windows.every((window) => window.unknown >= 0n)).toBe(true)
    expect(windows.filter((window) => window.spent > 0n)).toMatchObject([{ spent: 5n, unknown: 0n }])
  })

  it('a thousand charges above their hold, each with its record, leave the document of the bucket as small as one', async () => {
    const { hold, close, bucket, documents } = rig(make('a', 1_000_000n))
    const size = async () => JSON.stringify(await documents.get(['limit', 'a', 'user', 'petra.k'])).length
    await hold('first', 1n)
    await close('first', settled(2n))
    const before = await size()
    for (let index = 0; index < 1_000; index++) {
      await hold(`effect-${index}`, 1n)
      await close(`effect-${index}`, settled(2n))
    }
    expect((await bucket()).windows[0]).toMatchObject({ spent: 2_002n, overrun: 1_001n })
    expect((await size()) - before).toBeLessThan(10)
    expect((await documents.list(['overrun'], { limit: 1_000 })).next).not.toBeNull()
  })

  it('a bucket that was lost gives no room for what is given back to it', async () => {
    const { hold, close, bucket, documents } = rig(make('a', 100n))
    await hold('one', 60n)
    await hold('two', 30n)
    await documents.delete(['limit', 'a', 'user', 'petra.k'])
    await close('one', settled(50n))
    await close('two', released)
    expect((await bucket()).windows).toMatchObject([{ spent: 50n, held: 0n, unknown: 0n }])
    expect((await hold('three', 51n)).answer.kind).toBe('refused')
  })

  it('is resolved where it was taken, although other buckets are found now', async () => {
    const { hold, close, bucket } = rig(make('a', 100n), make('b', 100n))
    await hold('one', 60n)
    expect((await close('one', settled(5n), 1, [])).answer).toBe('resolved')
    expect((await bucket(0)).windows[0]).toMatchObject({ spent: 5n, held: 0n })
    expect((await bucket(1)).windows[0]).toMatchObject({ spent: 5n, held: 0n })
  })

  it('one charge above its hold in several limits is one event and one record, which name the limits that it closes', async () => {
    const { hold, close, documents } = rig(make('a', 1_000n), make('b', 100n))
    await hold('one', 60n)
    const { events } = await close('one', settled(130n))
    const limits = [
      { limit: 'a', held: 60n, charged: 130n, closed: false },
      { limit: 'b', held: 60n, charged: 130n, closed: true },
    ]
    expect(events).toMatchObject([{ type: 'overrun', effectId: 'one', attempt: 1, limits }])
    expect(events).toHaveLength(1)
    expect(readOverruns(await documents.get(['overrun', 'one']))).toHaveLength(1)
    await hold('two', 1n)
    expect((await close('one', settled(130n))).events).toEqual([])
  })

  it('each attempt of an effect has an overrun of its own', async () => {
    const { hold, close, documents } = rig(make('a', 1_000n))
    for (const attempt of [1, 2]) {
      await hold('one', 6n, { attempt })
      await close('one', settled(9n), attempt)
    }
    expect(readOverruns(await documents.get(['overrun', 'one'])).map((one) => one.attempt)).toEqual([1, 2])
  })

  it('booking as unknown is told, once for the attempt; where nothing was held there is nothing unknown', async () => {
    const { hold, close, bucket, clock } = rig(make('a', 1_000n), make('b', 100n))
    await hold('one', 60n)
    const unknown: Resolution = { kind: 'unknown', booked: {} }
    const { events } = await close('one', unknown)
    const at = clock.now()
    expect(events).toMatchObject([
      {
        type: 'unknown',
        effectId: 'one',
        attempt: 1,
        at,
        limits: [
          { limit: 'a', unit: 'usd', held: 60n },
          { limit: 'b', unit: 'usd', held: 60n },
        ],
      },
    ])
    expect((await close('one', unknown)).answer).toBe('repeated')
    await hold('free', 0n)
    expect(await close('free', unknown)).toEqual({ answer: 'resolved', events: [] })
    expect((await bucket()).windows[0]).toMatchObject({ unknown: 60n, held: 0n })
  })

  it.each(['unknown', 'unknown-lost'] as const)(
    'a settle of which it is not known whether it was written (%s) books once, and tells what is to be told once',
    async (as) => {
      const bound = make('a', 100n, { thresholdPercents: [50] })
      const store = failingStore(createMemoryStore({ clock: fakeClock() }), [{ on: 'documents.transact', nth: 2, as }])
      const documents = store.documents('plugin:hooks-budget')
      const ledger = new Ledger(documents, LIFE_MS)
      const asks = [{ ...bound, amountFor: () => 60n }]
      await ledger.hold({ effectId: 'one', attempt: 1, asks, outputTokens: 0n, kind: 'landing', held: {} })
      const told = await ledger.close({ effectId: 'one', attempt: 1 }, [bound], [bound.limit], () => settled(70n))
      expect(told.events.map((event) => event.type)).toEqual(['threshold', 'overrun'])
      expect(readBucket(await documents.get(bound.key)).windows[0]).toMatchObject({ spent: 70n, overrun: 10n })
    },
  )

  it('asked again, an attempt passes on its hold only where that covers what is asked now', async () => {
    const [a, b] = [make('a', 100n), make('b', 100n)] as const
    const other = { ...a, key: ['limit', 'a', 'user', 'other'] }
    const { ledger, bucket } = rig(a, b)
    const ask = async (bounds: readonly Bound[], amount: bigint) => {
      const asks = bounds.map((bound) => ({ ...bound, amountFor: () => amount }))
      const request = { effectId: 'one', attempt: 1, asks, outputTokens: 0n, kind: 'call', held: {} } as const
      return (await ledger.hold(request)).answer.kind
    }
    expect(await ask([a], 10n)).toBe('held')
    expect(await ask([a], 9n)).toBe('held')
    expect(await ask([a], 11n)).toBe('differs')
    expect(await ask([other], 10n)).toBe('differs')
    expect(await ask([a, b], 10n)).toBe('differs')
    expect((await bucket()).windows[0]?.held).toBe(10n)
  })

  it('a tool may not take what the last call has left for a last request', async () => {
    const bound = make('a', 100n, { landing: { maxOutputTokens: 10 } })
    const { ledger, close } = rig(bound)
    const ask = async (effectId: string, kind: HoldRequest['kind'], amount: bigint) => {
      const asks = [{ ...bound, amountFor: (out: bigint) => amount + out }]
      const outputTokens = kind === 'tool' ? 0n : 10n
      return (await ledger.hold({ effectId, attempt: 1, asks, outputTokens, kind, held: {} })).answer.kind
    }
    expect(await ask('call', 'call', 30n)).toBe('held')
    await close('call', settled(20n))
    // 40 of 80 are kept for a last request
    expect(await ask('dear', 'tool', 41n)).toBe('refused')
    expect(await ask('tool', 'tool', 40n)).toBe('held')
    expect(await ask('last', 'landing', 30n)).toBe('held')
  })

  it('a mark writes nothing into a bucket', async () => {
    const { close, documents } = rig(make('a', 100n))
    await close('one', released)
    expect((await documents.list([])).items.map((item) => item.key)).toEqual([['effect', 'one']])
  })

  it('tells each threshold once in a window, of what is booked and not of what is held', async () => {
    const { hold, close } = rig(make('a', 100n, { thresholdPercents: [50, 80] }))
    const told: (number | string)[] = []
    for (const [index, amount] of [49n, 1n, 20n, 15n].entries()) {
      told.push(...(await hold(`${index}`, amount)).events.map((event) => event.type))
      const { events } = await close(`${index}`, settled(amount))
      told.push(...events.map((event) => (event.type === 'threshold' ? event.percent : event.type)))
    }
    expect(told).toEqual([50, 80])
  })

  it('names the largest output cap that fits into all limits', async () => {
    const bounds = [make('a', 1_000n), make('b', 500n)]
    const { ledger } = rig(...bounds)
    const asks = bounds.map((bound, index) => ({
      ...bound,
      amountFor: (out: bigint) => 100n + out * BigInt(index + 1),
    }))
    const request = { effectId: 'one', attempt: 1, asks, kind: 'landing', held: {} } as const
    const { answer } = await ledger.hold({ ...request, outputTokens: 2_000n })
    expect(answer).toMatchObject({ kind: 'refused', fits: 200n })
    expect((await ledger.hold({ ...request, outputTokens: 200n })).answer.kind).toBe('held')
    expect((await ledger.hold({ ...request, effectId: 'two', outputTokens: 200n })).answer).toMatchObject({
      fits: null,
    })
  })

  it('lands while the slice for a last request is there, and refuses when it is gone', async () => {
    const bound = make('a', 100n, { landing: { maxOutputTokens: 10 } })
    const { ledger, close } = rig(bound)
    const ask = (effectId: string, output: bigint, kind: HoldRequest['kind']) =>
      ledger.hold({
        effectId,
        attempt: 1,
        asks: [{ ...bound, amountFor: (out: bigint) => 10n + out }],
        outputTokens: output,
        kind,
        held: {},
      })
    // 20 are kept for landing: 80 is the most that another call may take
    expect((await ask('one', 71n, 'call')).answer).toMatchObject({ kind: 'land', maxOutputTokens: 10 })
    expect((await ask('two', 70n, 'call')).answer.kind).toBe('held')
    expect((await ask('three', 1n, 'call')).answer).toMatchObject({ kind: 'land', maxOutputTokens: 1 })
    expect((await ask('four', 10n, 'landing')).answer.kind).toBe('held')
    expect((await ask('five', 10n, 'call')).answer.kind).toBe('refused')
    await close('four', released)
    expect((await ask('six', 11n, 'landing')).answer.kind).toBe('refused')
  })

  it('a document that cannot be read stops everything and is not overwritten', async () => {
    const { hold: take, documents } = rig(make('a', 100n))
    const key = ['limit', 'a', 'user', 'petra.k']
    const whole = { version: 1, override: null, windows: [], open: '', openSince: null }
    const window = { start: 0, end: null, spent: '0', held: '0', unknown: '0', overrun: '0', toppedUp: '0', slice: '0' }
    const hold = (text: string) => ({ ...whole, open: text, openSince: -LIFE_MS })
    const documentsThatAreNone: readonly JsonValue[] = [
      null,
      7,
      { ...whole, version: 2 },
      { ...whole, windows: [{}] },
      { ...whole, open: [] },
      hold('["one",1,0,null,"1",0]'),
      hold('no hold\n'),
      hold('["one",1,0,null,"",0]\n'),
      hold('["one",1,0,null,"1",null]\n'),
      { ...whole, open: '["one",1,0,null,"1",0]\n', openSince: null },
      { ...whole, override: { amount: true, who: 'a', why: 'b', at: 0 } },
      ...['', '-1', '0x10', 5, true, null].map((spent) => ({ ...whole, windows: [{ ...window, spent, fired: [] }] })),
      { ...whole, windows: [{ ...window, start: null, fired: [] }] },
      { ...whole, windows: [{ ...window, fired: ['50'] }] },
      { ...whole, windows: [window] },
    ]
    for (const broken of documentsThatAreNone) {
      await documents.put(key, broken)
      await expect(take('one', 1n), JSON.stringify(broken)).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' })
      expect(await documents.get(key)).toEqual(broken)
    }
  })

  it.each([
    7,
    {},
    { attempts: {} },
    { attempts: [null] },
    { attempts: [{ attempt: 1, state: 'held' }] },
    { attempts: [{ attempt: 1, state: 'paid', parts: [] }] },
  ] as JsonValue[])('a record of an effect that cannot be read stops it: %j', async (broken) => {
    const { hold, close, documents } = rig(make('a', 100n))
    await documents.put(['effect', 'one'], broken)
    await expect(hold('one', 1n)).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' })
    await expect(close('one', released)).rejects.toMatchObject({ code: 'LEDGER_DAMAGED' })
    expect(await documents.get(['effect', 'one'])).toEqual(broken)
  })

  it('CASE-10: sums above 2^53 of the unit are exact, through JSON', async () => {
    const huge = 2n ** 80n
    const { hold, close, bucket } = rig(make('a', huge))
    await hold('one', huge - 1n)
    await close('one', settled(huge - 1n))
    expect((await hold('two', 1n)).answer.kind).toBe('held')
    expect((await hold('three', 1n)).answer.kind).toBe('refused')
    expect((await bucket()).windows[0]?.spent).toBe(huge - 1n)
  })

  it.each(['unknown', 'unknown-lost'] as const)(
    'a write of which it cannot be known whether it happened (%s) is repeated without a second hold',
    async (as) => {
      const bound = make('a', 100n)
      const store = failingStore(createMemoryStore({ clock: fakeClock() }), [{ on: 'documents.transact', nth: 1, as }])
      const documents = store.documents('plugin:hooks-budget')
      const ledger = new Ledger(documents, LIFE_MS)
      const request: HoldRequest = {
        effectId: 'one',
        attempt: 1,
        asks: [{ ...bound, amountFor: () => 60n }],
        outputTokens: 0n,
        kind: 'landing',
        held: {},
      }
      await expect(ledger.hold(request)).rejects.toMatchObject({ code: 'STORE_OUTCOME_UNKNOWN' })
      expect((await ledger.hold(request)).answer.kind).toBe('held')
      expect(readBucket(await documents.get(bound.key)).windows[0]?.held).toBe(60n)
    },
  )
})
