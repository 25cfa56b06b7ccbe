import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CompletedRun, PausedRun, PluginInstance, Run, RuntimeOptions, Store } from '@sluice/core'
import {
  createMemoryStore,
  createRuntime,
  defineAgent,
  definePlugin,
  defineTool,
  Pause,
  shadow,
  SluiceError,
  Stage,
  systemClock,
  Veto,
} from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { Script } from '@sluice/testkit'
import { failingStore, fakeClock, fakeIds, held, latch, providerError, reply } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { rateLimit } from './rate-limit.js'
import type { RateLimitOptions } from './rate-limit-options.js'
import { rateRigs, SPACE } from './testing/rate-rig.js'

const rateRig = rateRigs(fakeClock)

const MINUTE = 60_000

async function rig(
  script: Script,
  options: RateLimitOptions | readonly PluginInstance[],
  more: Partial<RuntimeOptions> = {},
) {
  const clock = fakeClock()
  const store: Store = createMemoryStore({ clock })
  const provider = scriptedProvider(script)
  const ran: string[] = []
  const note = defineTool({
    code: 'note',
    description: 'Notes.',
    effect: 'write',
    input: z.object({ text: z.string() }),
    handler: ({ text }) => {
      ran.push(text)
      return 'noted'
    },
  })
  const desk = defineAgent({
    code: 'desk',
    description: 'The desk.',
    model: 'scripted/any',
    user: 'Go.',
    tools: [note],
  })
  const runtime = await createRuntime({
    store,
    clock,
    ids: fakeIds(),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    providers: [provider],
    agents: [desk],
    plugins: 'limits' in options || 'providerQuota' in options ? [rateLimit(options)] : (options as never),
    ...more,
  })
  onTestFinished(() => runtime.close())
  const end = async (running: Promise<Run>): Promise<Run | SluiceError> =>
    clock.settle(
      running.catch((error: unknown) => {
        if (SluiceError.isInstance(error)) return error
        throw error
      }),
    )
  const run = (user = 'petra.k') => runtime.execute({ agent: 'desk', caller: { user } })
  const documents = async () => (await store.documents(SPACE).list([])).items
  return { runtime, clock, store, provider, ran, run, end, documents }
}

const codeOf = (ended: Run | SluiceError): string => (SluiceError.isInstance(ended) ? ended.code : ended.status)
const endless: Script = () => reply('Done.')

describe('64 runs behind a barrier on a limit of k: exactly k reach the provider', () => {
  it.each([
    ['model calls', 1, { count: 'modelCalls', per: 'minute' }],
    ['model calls', 17, { count: 'modelCalls', per: 'minute' }],
    ['model calls', 63, { count: 'modelCalls', per: 'minute' }],
    ['runs', 17, { count: 'runs', per: 'hour' }],
  ] as const)('%s, k = %i', async (_what, k, limit) => {
    const barrier = latch()
    const wait = definePlugin({
      name: 'barrier',
      hookApi: 1,
      apply: (hooks) =>
        hooks[limit.count === 'runs' ? 'beforeExecution' : 'beforeModelCall'].tapPromise(
          { name: 'barrier', stage: Stage.policy },
          () => barrier.wait(),
        ),
    })
    const plugins = [wait(), rateLimit({ limits: [{ ...limit, max: k }] })]
    const { provider, run, end } = await rig(endless, plugins)
    const running = Array.from({ length: 64 }, () => end(run()))
    await barrier.reached(64)
    barrier.open()
    const codes = (await Promise.all(running)).map(codeOf)
    expect(provider.calls.length).toBe(k)
    expect(codes.filter((code) => code === 'completed').length).toBe(k)
    expect(codes.filter((code) => code === 'RATE_LIMIT_EXCEEDED').length).toBe(64 - k)
  })

  it('on the folder store as on the memory store', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rate-limit-'))
    const store = await createLowdbStore({ folder })
    onTestFinished(async () => {
      await store.close()
      await rm(folder, { recursive: true, force: true })
    })
    const limits = [
      { count: 'modelCalls' as const, scope: 'user' as const, max: 17, per: 'minute' as const },
      { count: 'modelCalls' as const, max: 40, per: 'minute' as const },
    ]
    const { provider, run, runtime } = await rig(endless, { limits }, { store, clock: systemClock })
    const running = Array.from({ length: 64 }, (_, index) =>
      run(index % 2 === 0 ? 'even' : 'odd').then(codeOf, (error: unknown) => codeOf(error as SluiceError)),
    )
    const codes = await Promise.all(running)
    expect(codes.filter((code) => code === 'completed').length).toBe(34)
    expect(provider.calls.length).toBe(34)
    // what was refused by the limit per user has taken nothing of the other one
    expect((await runtime.plugin(rateLimit).status('modelCalls:all:minute'))?.used).toBe(34)
  })

  it('in flight: never more than k at once, and each that ends lets the next one in', async () => {
    const door = latch()
    let most = 0
    let open = 0
    const script: Script = async () => {
      most = Math.max(most, ++open)
      await door.wait()
      open--
      return reply('Done.')
    }
    const { provider, run, end, clock, documents } = await rig(
      script,
      { limits: [{ count: 'modelCalls', inFlight: 5, wait: true }] },
      { timeouts: { maxWaitMs: 600_000 } },
    )
    const running = Array.from({ length: 64 }, () => run().catch((error: unknown) => error as SluiceError))
    await clock.tick()
    expect(provider.calls.length).toBe(5)
    door.open()
    const codes = (await Promise.all(running.map((one) => end(one as Promise<Run>)))).map(codeOf)
    expect(codes).toEqual(Array.from({ length: 64 }, () => 'completed'))
    expect(most).toBe(5)
    expect(await documents()).toEqual([])
  })
})

describe('waiting, where the owner allows it', () => {
  it('what is admitted with waiting keeps the limit too', async () => {
    const sentAt: number[] = []
    const { run, end, clock } = await rig(
      () => {
        sentAt.push(clock.now())
        return reply('Done.')
      },
      { limits: [{ count: 'modelCalls', max: 3, per: 'second', wait: true }] },
      { timeouts: { maxWaitMs: 600_000 } },
    )
    const ended = await Promise.all(Array.from({ length: 20 }, () => end(run())))
    expect(ended.map(codeOf)).toEqual(Array.from({ length: 20 }, () => 'completed'))
    for (const at of sentAt)
      expect(sentAt.filter((other) => other >= at && other < at + 1_000).length).toBeLessThanOrEqual(3)
    expect((sentAt.at(-1) as number) - (sentAt[0] as number)).toBe(6_000)
  })

  it('longer than a run may wait it is a veto, with the time in it', async () => {
    const { run, end } = await rig(
      endless,
      { limits: [{ count: 'modelCalls', max: 1, per: 'minute', wait: true }] },
      { timeouts: { maxWaitMs: 10_000 } },
    )
    await end(run())
    const ended = (await end(run())) as Veto
    expect(Veto.isInstance(ended, 'RATE_LIMIT_EXCEEDED')).toBe(true)
    expect(ended.details).toMatchObject({ retryAfterMs: MINUTE })
  })

  it('one limit that does not allow waiting makes it a veto', async () => {
    const { run, end } = await rig(
      endless,
      {
        limits: [
          { count: 'modelCalls', max: 1, per: 'minute', wait: true },
          { count: 'modelCalls', max: 1, per: 'second' },
        ],
      },
      { timeouts: { maxWaitMs: 600_000 } },
    )
    await end(run())
    expect(codeOf(await end(run()))).toBe('RATE_LIMIT_EXCEEDED')
  })
})

describe('what counts', () => {
  it('tool calls: the one beyond the limit does not run, and the run ends', async () => {
    const step = reply('Two notes.').toolCall('note', { text: 'a' }).toolCall('note', { text: 'b' })
    const { run, end, ran } = await rig([step], {
      limits: [{ count: 'toolCalls', scope: 'tool', max: 1, per: 'hour' }],
    })
    const ended = (await end(run())) as Veto
    expect([ended.code, ended.by?.point]).toEqual(['RATE_LIMIT_EXCEEDED', 'beforeToolCall'])
    expect(ran).toEqual([])
  })

  it('a retry is an attempt of its own, and counts', async () => {
    const { run, end, provider } = await rig(
      [providerError(500), providerError(500)],
      { limits: [{ count: 'modelCalls', max: 2, per: 'minute' }] },
      { settings: { retry: { attempts: 3, backoffMs: 10, maxBackoffMs: 10 } } },
    )
    expect(codeOf(await end(run()))).toBe('RATE_LIMIT_EXCEEDED')
    expect(provider.calls.length).toBe(2)
  })

  it('a permit is not given back when a later gate stops the call, a slot is', async () => {
    let stop = true
    const later = definePlugin({
      name: 'later',
      hookApi: 1,
      apply(hooks) {
        for (const point of ['beforeExecution', 'beforeModelCall'] as const)
          hooks[point].tap({ name: 'later', stage: Stage.reserve }, () => {
            if (stop && point === 'beforeExecution') throw new Veto('LATER', 'No.')
          })
      },
    })
    const limits = [
      { count: 'runs' as const, max: 2, per: 'hour' as const },
      { count: 'runs' as const, inFlight: 1 },
    ]
    const { run, end, runtime } = await rig(endless, [rateLimit({ limits }), later()])
    expect(codeOf(await end(run()))).toBe('LATER')
    expect(await runtime.plugin(rateLimit).status('runs:all:hour')).toEqual({
      limit: 'runs:all:hour',
      max: 2,
      used: 1,
      left: 1,
      retryAfterMs: 0,
    })
    expect(await runtime.plugin(rateLimit).status('runs:all:in-flight')).toMatchObject({ used: 0 })
    stop = false
    expect(codeOf(await end(run()))).toBe('completed')
    expect(codeOf(await end(run()))).toBe('RATE_LIMIT_EXCEEDED')
  })

  it('tokens: the estimate stands while the call is open, the true number after it', async () => {
    const door = latch()
    const { run, end, clock, runtime } = await rig(
      [held(door, reply('Done.').usage({ inputTokens: 70, outputTokens: 30 }))],
      {
        limits: [{ count: 'tokens', scope: 'user', max: 100_000, per: 'minute' }],
      },
    )
    const status = () => runtime.plugin(rateLimit).status('tokens:user:minute', { user: 'petra.k' })
    const running = run().catch((error: unknown) => error as SluiceError)
    await clock.tick()
    expect((await status())?.used).toBeGreaterThan(8_192)
    door.open()
    expect(codeOf(await end(running as Promise<Run>))).toBe('completed')
    expect(await status()).toMatchObject({ used: 100, left: 99_900 })
  })

  it('tokens in flight: what open calls can come to, together', async () => {
    const door = latch()
    const { run, end, clock, provider } = await rig([held(door, reply('Done.')), reply('Done.')], {
      limits: [{ count: 'tokens', inFlight: 12_000 }],
    })
    const first = run().catch((error: unknown) => error as SluiceError)
    await clock.tick()
    expect(codeOf(await run().catch((error: unknown) => error as SluiceError))).toBe('RATE_LIMIT_EXCEEDED')
    door.open()
    expect(codeOf(await end(first as Promise<Run>))).toBe('completed')
    expect(codeOf(await end(run()))).toBe('completed')
    expect(provider.calls.length).toBe(2)
  })

  it('a run that pauses and is resumed counts once, and holds no slot while it is paused', async () => {
    const ask = definePlugin({
      name: 'ask',
      hookApi: 1,
      apply: (hooks) =>
        hooks.inspectToolInput.tap({ name: 'ask', stage: Stage.approve }, (call) => {
          if (call.decision === undefined) throw new Pause('ASK')
        }),
    })
    const limits = [
      { count: 'runs' as const, max: 2, per: 'day' as const },
      { count: 'runs' as const, inFlight: 1 },
    ]
    const { run, end, runtime, clock, ran } = await rig(
      [reply.toolCall('note', { text: 'a' }), reply('Done.'), reply('Done.')],
      [rateLimit({ limits, leaseMs: 5_000 }), ask()],
    )
    const paused = (await end(run())) as PausedRun
    expect(paused.status).toBe('paused')
    const used = async (name: string) => (await runtime.plugin(rateLimit).status(name))?.used
    clock.advance(5_000)
    expect(await used('runs:all:in-flight')).toBe(0)
    const scope = { tenant: null }
    for (const { effectId } of paused.pending)
      await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', scope })
    expect(codeOf(await end(runtime.resume(paused.executionId, { scope })))).toBe('completed')
    expect(ran).toEqual(['a'])
    expect([await used('runs:all:day'), await used('runs:all:in-flight')]).toEqual([1, 0])
    expect(codeOf(await end(run()))).toBe('completed')
  })

  it('a run counts once over any number of resumes: one that another gate refused, and one after its span', async () => {
    let shut = false
    const later = definePlugin({
      name: 'later',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeExecution.tap({ name: 'later', stage: Stage.reserve }, () => {
          if (shut) throw new Veto('SHUT', 'Shut.')
        })
        hooks.inspectToolInput.tap({ name: 'ask', stage: Stage.approve }, (call) => {
          if (call.decision === undefined) throw new Pause('ASK')
        })
      },
    })
    const limits = [{ count: 'runs' as const, max: 1, per: 'day' as const }]
    const { run, end, runtime, clock, ran } = await rig(
      [reply.toolCall('note', { text: 'a' }), reply.toolCall('note', { text: 'b' }), reply('Done.')],
      [rateLimit({ limits }), later()],
    )
    const paused = (await end(run())) as PausedRun
    const scope = { tenant: null }
    for (const { effectId } of paused.pending)
      await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', scope })
    const resume = async () => codeOf(await end(runtime.resume(paused.executionId, { scope })))
    shut = true
    expect([await resume(), await resume()]).toEqual(['SHUT', 'SHUT'])
    const used = async () => (await runtime.plugin(rateLimit).status('runs:all:day'))?.used
    expect(await used()).toBe(1)
    // a day later somebody else has taken what there is; the run that was admitted goes on all the same
    shut = false
    clock.advance(24 * 3_600_000)
    expect(((await end(run('eve'))) as PausedRun).status).toBe('paused')
    expect([await used(), await resume(), ran]).toEqual([1, 'completed', ['a']])
    expect(await used()).toBe(1)
  })

  it('a shadowed limit stops nothing and says what it would have done', async () => {
    const { run, end, provider } = await rig(endless, [
      shadow(rateLimit({ limits: [{ count: 'modelCalls', max: 1, per: 'hour' }] })),
    ])
    await end(run())
    const ended = (await end(run())) as CompletedRun
    expect([ended.status, provider.calls.length]).toEqual(['completed', 2])
  })
})

describe('what it costs', () => {
  it('a model call and a tool call are one step of the store before them and one after, and nothing is read', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [])
    const limits = (['modelCalls', 'tokens', 'toolCalls'] as const).flatMap((count) => [
      { count, scope: 'user' as const, max: 1_000_000, per: 'hour' as const },
      { count, inFlight: 1_000_000 },
    ])
    const { run, end } = await rig(
      [reply.toolCall('note', { text: 'a' }), reply('Done.')],
      { limits, providerQuota: true },
      { store, clock },
    )
    expect(codeOf(await end(run()))).toBe('completed')
    // two model calls and a tool call
    expect(store.calls.filter((call) => call.startsWith('documents.'))).toEqual(Array(6).fill('documents.transact'))
  })
})

describe('slots are leases', () => {
  it('a long call holds its slot and that of its run by being renewed', async () => {
    const door = latch()
    const { run, end, clock, documents } = await rig([held(door, reply('Done.')), reply('Done.')], {
      limits: [
        { count: 'modelCalls', inFlight: 1 },
        { count: 'runs', inFlight: 2 },
      ],
      leaseMs: 10_000,
    })
    const long = run().catch((error: unknown) => error as SluiceError)
    await clock.tick()
    for (let second = 0; second < 100; second++) {
      await clock.tick(1_000)
      if (second % 20 === 0) expect(codeOf(await end(run()))).toBe('RATE_LIMIT_EXCEEDED')
    }
    expect((await documents()).length).toBe(2)
    door.open()
    expect(codeOf(await end(long as Promise<Run>))).toBe('completed')
    expect(await documents()).toEqual([])
    expect(codeOf(await end(run()))).toBe('completed')
  })

  it('a run of many short calls holds its slot too', async () => {
    let rounds = 0
    const made = await rig(
      async () => {
        await new Promise<void>((resolve) => void made.clock.setTimeout(resolve, 900))
        return ++rounds < 40 ? reply.toolCall('note', { text: 'x' }) : reply('Done.')
      },
      { limits: [{ count: 'runs', inFlight: 1 }], leaseMs: 5_000 },
      { settings: { maxToolCalls: 100 } },
    )
    const long = made.run().catch((error: unknown) => error as SluiceError)
    for (let second = 0; second < 30; second++) {
      await made.clock.tick(1_000)
      const other = await made.run('other').catch((error: unknown) => error as SluiceError)
      expect(codeOf(other)).toBe('RATE_LIMIT_EXCEEDED')
    }
    expect(codeOf(await made.end(long as Promise<Run>))).toBe('completed')
    expect(await made.documents()).toEqual([])
  })

  it('a slot that lapsed while its call went on is taken again, and nobody else gets in', async () => {
    const door = latch()
    const { run, end, clock, runtime } = await rig([held(door, reply('Done.')), held(door, reply('Done.'))], {
      limits: [{ count: 'modelCalls', inFlight: 1 }],
      leaseMs: 10_000,
    })
    const first = run().catch((error: unknown) => error as SluiceError)
    await clock.tick()
    clock.setNow(clock.now() + 3_600_000)
    const second = run().catch((error: unknown) => error as SluiceError)
    await clock.tick(5_000)
    expect(await runtime.plugin(rateLimit).status('modelCalls:all:in-flight')).toMatchObject({ used: 2, left: 0 })
    expect(codeOf(await end(run()))).toBe('RATE_LIMIT_EXCEEDED')
    door.open()
    for (const one of [first, second]) expect(codeOf(await end(one as Promise<Run>))).toBe('completed')
    expect(await runtime.plugin(rateLimit).status('modelCalls:all:in-flight')).toMatchObject({ used: 0 })
  })
})

describe('limits that the provider tells of', () => {
  const headers = (left: number, reset: string) => ({
    'x-ratelimit-limit-requests': '100',
    'x-ratelimit-remaining-requests': String(left),
    'x-ratelimit-reset-requests': reset,
  })

  it('nothing left: the next request is not sent before the reset', async () => {
    const { run, end, clock, provider } = await rig(
      [reply('Done.').with({ rateLimit: headers(1, '6m0s') }), reply('Done.'), reply('Done.')],
      { providerQuota: true },
    )
    expect(codeOf(await end(run()))).toBe('completed')
    expect(codeOf(await end(run()))).toBe('completed')
    const refused = (await end(run())) as Veto
    expect([refused.code, refused.details?.retryAfterMs]).toEqual(['RATE_LIMIT_EXCEEDED', 360_000])
    expect(provider.calls.length).toBe(2)
    clock.advance(360_000)
    expect(codeOf(await end(run()))).toBe('completed')
  })

  it('a refusal with a pause holds all others back, and waits where that is allowed', async () => {
    const { run, end, clock, provider } = await rig(
      [providerError(429, { retryAfterMs: 20_000 }), reply('Done.')],
      { providerQuota: { wait: true } },
      { timeouts: { maxWaitMs: 60_000 } },
    )
    expect(codeOf(await end(run()))).toBe('PROVIDER_RATE_LIMITED')
    const before = clock.now()
    expect(codeOf(await end(run()))).toBe('completed')
    expect([clock.now() - before, provider.calls.length]).toEqual([20_000, 2])
  })

  it('a retry of the runtime waits as long as the provider asked, and passes', async () => {
    const { run, end, provider } = await rig(
      [providerError(429, { retryAfterMs: 20_000 }), reply('Done.')],
      { providerQuota: true },
      { settings: { retry: { attempts: 2, backoffMs: 10, maxBackoffMs: 30_000 } } },
    )
    expect(codeOf(await end(run()))).toBe('completed')
    expect(provider.calls.length).toBe(2)
  })

  it('no token left: not sent before the reset', async () => {
    const tokens = (left: number) => ({
      'anthropic-ratelimit-tokens-limit': '50000',
      'anthropic-ratelimit-tokens-remaining': String(left),
      'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:30Z',
    })
    const { run, end, clock } = await rig(
      [reply('Done.').with({ rateLimit: tokens(1) }), reply('Done.').with({ rateLimit: tokens(0) }), reply('Done.')],
      { providerQuota: true },
    )
    for (const code of ['completed', 'completed', 'RATE_LIMIT_EXCEEDED']) expect(codeOf(await end(run()))).toBe(code)
    clock.advance(30_000)
    expect(codeOf(await end(run()))).toBe('completed')
  })

  it('an attempt that is asked again is taken off once', async () => {
    const { model, ended } = await rateRig({ providerQuota: true })
    await ended(0, { rateLimit: headers(2, '1h') })
    for (let time = 0; time < 4; time++) expect((await model(1)).answer).toBe('passed')
    expect((await model(2)).answer).toBe('passed')
    expect((await model(3)).answer).toBe('vetoed')
    expect((await model(2)).answer).toBe('passed')
  })

  it('a report that claims a year is believed for an hour', async () => {
    const { run, end } = await rig([reply('Done.').with({ rateLimit: headers(0, '8760h') })], { providerQuota: true })
    await end(run())
    expect(((await end(run())) as Veto).details).toMatchObject({ retryAfterMs: 3_600_000 })
  })
})
