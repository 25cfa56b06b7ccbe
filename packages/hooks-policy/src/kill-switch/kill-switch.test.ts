import type { Documents, JsonValue, Store } from '@sluice/core'
import { createHookBench, createMemoryStore, SluiceError } from '@sluice/core'
import { capturedLogger, deferred, failingStore, fakeClock, fakeIds } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSwitchControl, killSwitch } from '../index.js'
import { SharedRows } from './shared-rows.js'

const NAMESPACE = 'plugin:hooks-policy/kill-switch'
const OPS = { who: 'ops', reason: 'looping refunds' }
const IN_STORE = 1_000

async function rig(store?: Store, clock = fakeClock()) {
  const around = { store: store ?? createMemoryStore({ clock }), clock, ids: fakeIds(), logger: capturedLogger() }
  const bench = await createHookBench([killSwitch()], around)
  onTestFinished(async () => void (await bench.dispose()))
  const control = createSwitchControl(around.store.documents(NAMESPACE), around.store.log(NAMESPACE))
  return { bench, control, clock, store: around.store, documents: around.store.documents(NAMESPACE) }
}

describe('killSwitch', () => {
  it('a new application runs; everything switched off, nothing does, and who, why and when are said', async () => {
    const { bench, control, clock } = await rig()
    expect((await bench.ask('beforeModelCall')).answer).toBe('passed')
    await control.on('all', OPS)
    for (const point of ['beforeExecution', 'beforeModelCall', 'whileInFlight', 'beforeToolCall'] as const) {
      const { error } = await bench.ask(point)
      expect(error?.code).toBe('KILL_SWITCH_ON')
      expect(error?.details).toEqual({
        target: 'all',
        name: '',
        who: 'ops',
        reason: 'looping refunds',
        since: clock.now(),
        expiresAt: null,
      })
    }
    await control.off('all', { who: 'ops', reason: 'mended' })
    expect((await bench.ask('beforeToolCall')).answer).toBe('passed')
  })

  it.each([
    ['agent', { agent: 'desk' }, { agentCode: 'desk' }, {}],
    ['tool', { tool: 'refund' }, { toolCode: 'refund' }, {}],
    ['user', { user: 'eve' }, {}, { caller: { user: 'eve' } }],
    ['tenant', { tenant: 'acme' }, {}, { caller: { tenant: 'acme' } }],
  ] as const)('one %s switched off stops that one and no other', async (kind, target, facts, place) => {
    const { bench, control } = await rig()
    await control.on(target, OPS)
    const { error } = await bench.ask('beforeToolCall', facts, place)
    expect([error?.code, error?.details?.target]).toEqual(['KILL_SWITCH_ON', kind])
    const other = await bench.ask(
      'beforeToolCall',
      { agentCode: 'x', toolCode: 'x' },
      { caller: { user: 'x', tenant: 'x' } },
    )
    expect(other.answer).toBe('passed')
  })

  it('where the caller has no user, a row for the service user that stands in the records stops its calls', async () => {
    const { bench, control } = await rig()
    await control.on({ user: 'batch' }, OPS)
    const call = { toolCode: 'refund', createdBy: 'batch' }
    expect((await bench.ask('beforeToolCall', call)).error?.details?.target).toBe('user')
    const named = { caller: { user: 'petra.k' } }
    expect((await bench.ask('beforeToolCall', { ...call, createdBy: 'petra.k' }, named)).answer).toBe('passed')
  })

  it.each(['a\ud800', '\udc00', 'a'.repeat(1_001)])(
    'CASE-20: a tool with a name that no store takes (%#) stops its own call at once, and no other that shares its read',
    async (toolCode) => {
      const { bench, clock } = await rig()
      const asked = bench.ask('beforeToolCall', { toolCode })
      const others = ['eve', 'petra.k'].map((user) => bench.ask('beforeToolCall', {}, { caller: { user } }))
      const started = clock.now()
      expect((await clock.settle(asked)).error?.code).toBe('KILL_SWITCH_UNREADABLE')
      expect((await Promise.all(others)).map(({ answer }) => answer)).toEqual(['passed', 'passed'])
      expect(clock.now()).toBe(started)
    },
  )

  it('a hosted tool that is switched off stops the request that offers it', async () => {
    const { bench, control } = await rig()
    await control.on({ tool: 'web_search' }, OPS)
    const hostedTools = [{ code: 'web_search', effect: 'read' as const, untrusted: true, maxUses: null, cost: null }]
    expect((await bench.ask('beforeModelCall', { hostedTools })).error?.code).toBe('KILL_SWITCH_ON')
  })

  it('a hosted tool that is switched off while a request that offers it is open stops that request, and no other', async () => {
    const { bench, control } = await rig()
    const hosted = (code: string) => [{ code, effect: 'read' as const, untrusted: true, maxUses: null, cost: null }]
    const open = { rootExecutionId: 'run-1', effect: 'model_call' as const, toolCode: null }
    const offers = async (effectId: string, code: string) =>
      bench.ask('beforeModelCall', { ...open, effectId, hostedTools: hosted(code) })
    await offers('run-1/m1', 'web_search')
    await offers('run-1/m2', 'calculator')
    await control.on({ tool: 'web_search' }, OPS)
    const watched = (effectId: string) => bench.ask('whileInFlight', { ...open, effectId })
    expect((await watched('run-1/m1')).error?.details).toMatchObject({ target: 'tool', name: 'web_search' })
    expect((await watched('run-1/m2')).answer).toBe('passed')
    await bench.tell('afterModelCall', { rootExecutionId: 'run-1', effectId: 'run-1/m1', attempt: 1 } as never)
    expect((await watched('run-1/m1')).answer).toBe('passed')
  })

  it('an agent that is switched off stops what runs below a run of it', async () => {
    const { bench, control } = await rig()
    await bench.ask('beforeExecution', { agentCode: 'boss' })
    expect((await bench.ask('beforeToolCall', { agentCode: 'helper' })).answer).toBe('passed')
    await control.on({ agent: 'boss' }, OPS)
    expect((await bench.ask('beforeToolCall', { agentCode: 'helper' })).error?.code).toBe('KILL_SWITCH_ON')
  })

  it("a row expires by the store's time, not by that of the process", async () => {
    const storeClock = fakeClock()
    const { bench, control, clock } = await rig(createMemoryStore({ clock: storeClock }))
    await control.on({ tool: 'refund' }, { ...OPS, expiresInMs: IN_STORE })
    clock.advance(10 * IN_STORE)
    expect((await bench.ask('beforeToolCall', { toolCode: 'refund' })).answer).toBe('vetoed')
    storeClock.advance(IN_STORE - 1)
    expect((await bench.ask('beforeToolCall', { toolCode: 'refund' })).answer).toBe('vetoed')
    storeClock.advance(1)
    expect((await bench.ask('beforeToolCall', { toolCode: 'refund' })).answer).toBe('passed')
    expect((await control.status()).map(({ kind, state }) => [kind, state])).toEqual([
      ['all', 'off'],
      ['tool', 'expired'],
    ])
  })

  it('B-2: the row for everything gone from the store means on, and a new start does not bring it back', async () => {
    const first = await rig()
    await first.documents.delete(['row', 'all'])
    expect((await first.bench.ask('beforeToolCall')).error?.code).toBe('KILL_SWITCH_ON')
    const second = await rig(first.store, first.clock)
    expect((await second.bench.ask('beforeToolCall')).error?.details).toMatchObject({ target: 'all', missing: true })
    expect((await second.control.status())[0]).toMatchObject({ kind: 'all', state: 'missing' })
    await second.control.off('all', OPS)
    expect((await second.bench.ask('beforeToolCall')).answer).toBe('passed')
  })

  it('a switch that was set before the first start stays set', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    await createSwitchControl(store.documents(NAMESPACE), store.log(NAMESPACE)).on('all', OPS)
    const { bench } = await rig(store, clock)
    expect((await bench.ask('beforeExecution')).error?.code).toBe('KILL_SWITCH_ON')
  })

  it('processes that start at once and an operator who switches meanwhile: the switch is set, and the row is written once', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const control = createSwitchControl(store.documents(NAMESPACE), store.log(NAMESPACE))
    const [, , , first] = await Promise.all([
      rig(store, clock),
      control.on('all', OPS),
      rig(store, clock),
      rig(store, clock),
    ])
    expect((await first.bench.ask('beforeExecution')).error?.details).toMatchObject({ who: 'ops', target: 'all' })
    expect((await store.documents(NAMESPACE).list([])).items.map(({ key }) => key)).toEqual([
      ['marker'],
      ['row', 'all'],
    ])
  })

  it('B-2: what is read is never older than the question', async () => {
    const { bench, control } = await rig()
    expect((await bench.ask('beforeToolCall')).answer).toBe('passed')
    await control.on('all', OPS)
    expect((await bench.ask('beforeToolCall')).answer).toBe('vetoed')
  })

  it('something else in place of a row stops, under the code for what cannot be read', async () => {
    const { bench, documents } = await rig()
    const junks: JsonValue[] = [true, 'off', { on: false }, { on: 'no', who: '', reason: '', at: 0, expiresAt: null }]
    for (const junk of junks) {
      await documents.put(['row', 'tool', 'refund'], junk)
      expect((await bench.ask('beforeToolCall', { toolCode: 'refund' })).error?.code).toBe('KILL_SWITCH_UNREADABLE')
    }
  })
})

describe('a store that fails', () => {
  it('a read that fails is tried again within the time', async () => {
    const clock = fakeClock()
    const plan = [1, 2, 3].map((nth) => ({ on: 'documents.getMany' as const, nth, as: 'error' as const }))
    const store = failingStore(createMemoryStore({ clock }), plan)
    const { bench } = await rig(store, clock)
    expect((await clock.settle(bench.ask('beforeToolCall'))).answer).toBe('passed')
    expect(store.struck).toBe(3)
  })

  it.each(['error', 'hang'] as const)(
    'a store that does "%s" all the time is KILL_SWITCH_UNREADABLE, no pass',
    async (as) => {
      const clock = fakeClock()
      const store = failingStore(createMemoryStore({ clock }), [{ on: 'documents.getMany', as }])
      const { bench } = await rig(store, clock)
      for (const point of ['beforeExecution', 'beforeModelCall', 'whileInFlight', 'beforeToolCall'] as const) {
        const { answer, error } = await clock.settle(bench.ask(point))
        expect([answer, error?.code]).toEqual(['vetoed', 'KILL_SWITCH_UNREADABLE'])
      }
      expect(clock.timers).toBe(0)
    },
  )

  it('a store that is down at the start refuses the plugin, and a row is written with its marker or not at all', async () => {
    const clock = fakeClock()
    const below = createMemoryStore({ clock })
    const failing = failingStore(below, [{ on: 'documents.transact', as: 'unknown-lost' }])
    const error = await rig(failing, clock).catch((thrown: unknown) => thrown)
    expect(SluiceError.isInstance(error, 'STORE_OUTCOME_UNKNOWN')).toBe(true)
    expect((await below.documents(NAMESPACE).list([])).items).toEqual([])
    await rig(below, clock)
    expect((await below.documents(NAMESPACE).list([])).items.map(({ key }) => key)).toEqual([
      ['marker'],
      ['row', 'all'],
    ])
  })

  it('a stop stands though its record cannot be written, and nothing is let run again without one', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [{ on: 'log.append', as: 'full' }])
    const { bench, control } = await rig(store, clock)
    await expect(control.on({ tool: 'refund' }, OPS)).rejects.toMatchObject({ code: 'STORE_FULL' })
    await expect(control.off({ tool: 'refund' }, OPS)).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect((await bench.ask('beforeToolCall', { toolCode: 'refund' })).answer).toBe('vetoed')
  })
})

describe('reads that are shared', () => {
  it('gates that wait share one read, which began after the last of them was asked', async () => {
    const clock = fakeClock()
    const reads: { keys: readonly (readonly string[])[]; end: (value: unknown) => void }[] = []
    const documents = {
      getMany: async (keys: readonly (readonly string[])[]) => {
        const open = deferred<unknown>()
        reads.push({ keys, end: open.resolve })
        await open.promise
        return keys.map(() => undefined)
      },
    } as unknown as Documents
    const shared = new SharedRows(documents, clock, 1_000)
    const first = shared.read([['row', 'all']])
    await clock.tick(0)
    expect(reads.length).toBe(1)
    const others = Array.from({ length: 64 }, (_, index) =>
      shared.read([
        ['row', 'all'],
        ['row', 'user', `u${index}`],
      ]),
    )
    await clock.tick(0)
    expect(reads.length).toBe(1)
    reads[0]?.end(undefined)
    await first
    await clock.tick(0)
    expect([reads.length, reads[1]?.keys.length]).toEqual([2, 65])
    reads[1]?.end(undefined)
    await Promise.all(others)
    expect([reads.length, clock.timers]).toEqual([2, 0])
  })

  it('a read that hangs holds up nobody who comes after its time', async () => {
    const clock = fakeClock()
    let reads = 0
    const documents = {
      getMany: (keys: readonly unknown[]) => {
        reads += 1
        return reads === 1 ? new Promise(() => {}) : Promise.resolve(keys.map(() => undefined))
      },
    } as unknown as Documents
    const shared = new SharedRows(documents, clock, 1_000)
    const first = shared.read([['row', 'all']])
    await clock.tick(0)
    const second = shared.read([['row', 'all']])
    const settled = Promise.allSettled([first, second])
    await clock.tick(1_000)
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  })
})

describe('setting the switch', () => {
  it('every change is recorded with who, why and when', async () => {
    const { control, store, clock } = await rig()
    await control.on({ agent: 'desk' }, { ...OPS, expiresInMs: 5_000 })
    await control.off({ agent: 'desk' }, { who: 'boss', reason: 'mended' })
    const entries = await store.log(NAMESPACE).read('switch')
    const at = clock.now()
    expect(entries.map(({ value }) => value)).toEqual([
      { action: 'on', kind: 'agent', name: 'desk', ...OPS, at, expiresAt: at + 5_000 },
      { action: 'off', kind: 'agent', name: 'desk', who: 'boss', reason: 'mended', at, expiresAt: null },
    ])
  })

  it.each([
    ['no target', undefined],
    ['two targets', { agent: 'a', tool: 'b' }],
    ['an empty name', { user: '' }],
    ['a name that no store takes', { user: 'a\ud800' }],
    ['a name of a thousand and one characters', { tenant: 'a'.repeat(1_001) }],
    ['an unknown kind', { app: 'x' }],
  ])('%s is refused', async (_what, target) => {
    const { control } = await rig()
    await expect(control.on(target as never, OPS)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(control.off(target as never, OPS)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  it('nobody switches without a name and a reason, or for no time', async () => {
    const { control } = await rig()
    await expect(control.on('all', { who: ' ', reason: 'x' })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(control.on('all', { who: 'x', reason: '' })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    for (const expiresInMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
      await expect(control.on('all', { ...OPS, expiresInMs })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })

  it('CASE-22: names that reach a prototype are names like others', async () => {
    const { bench, control } = await rig()
    await control.on({ tool: '__proto__' }, OPS)
    expect((await bench.ask('beforeToolCall', { toolCode: '__proto__' })).answer).toBe('vetoed')
    expect((await bench.ask('beforeToolCall', { toolCode: 'constructor' })).answer).toBe('passed')
  })
})
