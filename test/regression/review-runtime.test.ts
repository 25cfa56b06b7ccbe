import type { AfterExecutionContext, OnStopContext, Store } from '@sluice/core'
import { createMemoryStore, definePlugin, defineTool, getCaller, Pause } from '@sluice/core'
import { fakeClock, failingStore, latch, providerError, reply, scriptedProvider as makeProvider } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, PETRA, QUESTION } from '../runs/support/house.js'

const ALL = { scope: 'all' } as const
const call = { agent: 'ap_desk', input: QUESTION } as const
const inSession = { ...call, sessionId: 's-1' } as const

/** Asks a human about every call of `write_note`. */
const approval = (options: { expiresAt?: number } = {}) =>
  definePlugin({
    name: 'approval',
    hookApi: 1,
    apply(hooks) {
      hooks.inspectToolInput.tap('ask', (ctx) => {
        if (ctx.toolCode === 'write_note' && ctx.decision === undefined) throw new Pause('APPROVE', options)
      })
    },
  })()

/** Keeps what the last observers are told. */
function watcher() {
  const told: string[] = []
  const ends: AfterExecutionContext[] = []
  const stops: OnStopContext[] = []
  const plugin = definePlugin({
    name: 'watcher',
    hookApi: 1,
    apply(hooks, host) {
      hooks.beforeExecution.tap('hold', (ctx) => {
        told.push(`asked ${ctx.attempt}`)
        host.run?.state.update(() => ({ hold: 7 }))
      })
      const seen = () => `${JSON.stringify(host.run?.state.get() ?? null)} ${getCaller()?.user ?? 'nobody'}`
      hooks.onStop.tap('stop', (ctx) => {
        if (ctx.answer === 'paused') return
        stops.push(ctx)
        told.push(`onStop ${ctx.code} ${seen()}`)
      })
      hooks.afterExecution.tap('end', (ctx) => {
        ends.push(ctx)
        told.push(`afterExecution ${ctx.failure?.error.code ?? ctx.status} ${seen()}`)
      })
    },
  })()
  return { told, ends, stops, plugin }
}

/** The store with one method replaced; `next` is the method itself. */
function around(store: Store, method: string, replace: (next: any, ...args: any[]) => unknown): Store {
  const [room, name] = method.split('.') as [string, string]
  const swapped = (target: any) =>
    new Proxy(target, {
      get: (of, key) =>
        key === name
          ? (...args: any[]) => replace((...given: any[]) => of[key](...given), ...args)
          : typeof of[key] === 'function'
            ? of[key].bind(of)
            : of[key],
    })
  if (name === undefined) throw new Error('name a method of a repository')
  return new Proxy(store as any, {
    get: (of, key) => (key === room ? swapped(of[key]) : typeof of[key] === 'function' ? of[key].bind(of) : of[key]),
  })
}

const approve = async (runtime: any, run: any, by = 'mara') => {
  for (const { effectId } of run.pending)
    await runtime.decide(run.executionId, { effectId, decision: 'approve', by, ...ALL })
}
const statusOf = async (store: Store, id: string) => (await store.executions.get(id))?.status
const receiptsOf = async (store: Store, id: string) =>
  ((await store.receipts.list(id)) as any[]).map(
    (receipt) => `${receipt.effectId.slice(id.length + 1)} ${receipt.attempt} ${receipt.outcome} ${receipt.sent}`,
  )

const rowsOf = async (store: Store, rootExecutionId: string) => [
  await store.executions.get(rootExecutionId),
  ...(await store.executions.list({ rootExecutionId, level: 'nested' })).items,
]

/** A run that waits for an approval of `write_note`. */
async function paused(options: Parameters<typeof house>[1] = {}, more: readonly unknown[] = []) {
  const note = noteTool()
  const home = await house([reply.toolCall('write_note', { text: 'x' }), ...(more as never[])], {
    plugins: [approval(), ...((options.plugins as never[]) ?? [])],
    agents: [desk([note.tool])],
    ...Object.fromEntries(Object.entries(options).filter(([key]) => key !== 'plugins')),
  })
  const run = await home.runtime.execute({ ...inSession, caller: PETRA })
  return { ...home, ...note, run }
}

describe('a resume', () => {
  it('S-7: that ran an approved write and could not record its end never leaves the run paused: the write runs once', async () => {
    const one = await paused()
    await approve(one.runtime, one.run)
    const store = failingStore(one.store, [
      { on: 'executions.update', nth: 2, as: 'error' },
      { on: 'journals.delete', as: 'error' },
    ])
    const two = await house([providerError(500)], {
      store,
      plugins: [approval()],
      agents: [desk([one.tool])],
      settings: { retry: { attempts: 1 } },
    } as never)
    expect((await failureOf(two.runtime.resume(one.run.executionId, ALL))).code).toBe('PROVIDER_OVERLOADED')
    expect(one.calls).toHaveLength(1)
    const three = await house([], { store: one.store, plugins: [approval()], agents: [desk([one.tool])] })
    expect((await failureOf(three.runtime.resume(one.run.executionId, ALL))).code).toBe('NOT_PAUSED')
    expect(one.calls).toHaveLength(1)
  })

  it('H-9: asks beforeExecution as attempt 2, 3, 4: also after a journal that did not fit, which onStop is told of', async () => {
    const watch = watcher()
    const home = await paused({ plugins: [watch.plugin] }, [reply.toolCall('write_note', { text: 'y' }), reply('done')])
    const { runtime, store, run } = home
    await approve(runtime, run)
    const kept = (await store.journals.get(run.executionId)) as any
    const damaged = structuredClone(kept)
    damaged.journal.entries.find((entry: any) => entry.kind === 'step' && entry.name === 'm1').name = 'other'
    await store.journals.put(run.executionId, damaged)
    expect((await failureOf(runtime.resume(run.executionId, ALL))).code).toBe('JOURNAL_MISMATCH')
    expect(watch.told).toEqual(['asked 1', 'asked 2', 'onStop JOURNAL_MISMATCH {"hold":7} petra.k'])
    expect(await statusOf(store, run.executionId)).toBe('paused')
    expect(home.calls).toEqual([])
    const again = (await store.journals.get(run.executionId)) as any
    await store.journals.put(run.executionId, { ...again, journal: kept.journal })
    const second = await runtime.resume(run.executionId, ALL)
    await approve(runtime, second)
    expect((await runtime.resume(run.executionId, ALL)).status).toBe('completed')
    expect(watch.told.filter((text) => text.startsWith('asked'))).toEqual(['asked 1', 'asked 2', 'asked 3', 'asked 4'])
    expect(watch.ends).toHaveLength(1)
  })

  it('under another agent is refused before any gate is asked', async () => {
    const one = await paused()
    await approve(one.runtime, one.run)
    const watch = watcher()
    const other = defineTool({
      code: 'write_note',
      description: 'Writes something else.',
      effect: 'write',
      input: z.object({ text: z.string() }),
      handler: () => 'other',
    })
    const two = await house([], {
      store: one.store,
      plugins: [approval(), watch.plugin],
      agents: [desk([other])],
    })
    expect((await failureOf(two.runtime.resume(one.run.executionId, ALL))).code).toBe('JOURNAL_MISMATCH')
    expect(watch.told).toEqual([])
    expect(await statusOf(one.store, one.run.executionId)).toBe('paused')
  })

  it('without the provider of the agent leaves the run paused', async () => {
    const one = await paused()
    await approve(one.runtime, one.run)
    const two = await house([], {
      store: one.store,
      plugins: [approval()],
      agents: [desk([one.tool])],
      script: { id: 'another' },
    })
    expect((await failureOf(two.runtime.resume(one.run.executionId, ALL))).code).toBe('UNKNOWN_PROVIDER')
    expect(await statusOf(one.store, one.run.executionId)).toBe('paused')
  })

  it('whose history cannot be read leaves no timer behind', async () => {
    const clock = fakeClock()
    const { tool } = noteTool()
    const one = await house([reply('first'), reply.toolCall('write_note', {})], {
      clock,
      plugins: [approval()],
      agents: [desk([tool])],
    })
    await one.runtime.execute(inSession)
    const run = await one.runtime.execute({ agent: 'ap_desk', followUp: 'more', sessionId: 's-1' })
    const store = failingStore(one.store, [{ on: 'messages.list', as: 'error' }])
    const two = await house([], { clock, store, plugins: [approval()], agents: [desk([tool])] })
    const before = clock.timers
    expect((await failureOf(two.runtime.resume(run.executionId, ALL))).code).toBe('STORE_FAILED')
    expect(clock.timers).toBe(before)
    expect(await statusOf(one.store, run.executionId)).toBe('paused')
  })

  it('A-43: counts what a run took before its pause against timeoutSeconds, and not the pause', async () => {
    const clock = fakeClock()
    const slow = (ms: number, step: any) => async () => {
      clock.advance(ms)
      return step
    }
    const { tool } = noteTool()
    const home = await house(
      [
        slow(6000, reply.toolCall('write_note', {})),
        slow(3000, reply.toolCall('write_note', {})),
        slow(3000, reply('late')),
      ],
      { clock, plugins: [approval()], agents: [desk([tool], { timeoutSeconds: 10 })] },
    )
    let run: any = await home.runtime.execute(call)
    clock.advance(60_000)
    await approve(home.runtime, run)
    run = await home.runtime.resume(run.executionId, ALL)
    expect(run.status).toBe('paused')
    await approve(home.runtime, run)
    expect((await failureOf(home.runtime.resume(run.executionId, ALL))).code).toBe('RUN_TIMEOUT')
  })

  it('S-4: of a group of nested runs keeps the tokens and the receipts of all of them', async () => {
    const { tool } = noteTool()
    const below = (code: string) =>
      defineTool({
        code,
        description: 'd',
        effect: 'read',
        input: z.object({}),
        agent: `inner_${code}`,
      } as never) as never
    const inner = (code: string) => desk([tool], { code: `inner_${code}`, model: `${code}/m`, user: 'hi' })
    const script = () => [reply.toolCall('write_note', {}), reply('inner done')]
    const { runtime, store } = await house([reply.toolCall('d1', {}).toolCall('d2', {}), reply('done')], {
      plugins: [approval()],
      settings: { toolConcurrency: 2 },
      others: ['d1', 'd2'].map((id) => makeProvider(script(), { id })),
      agents: [desk([below('d1'), below('d2')]), inner('d1'), inner('d2')],
    } as never)
    let run: any = await runtime.execute(call)
    while (run.status === 'paused') {
      await approve(runtime, run)
      run = await runtime.resume(run.executionId, ALL)
    }
    const rows = await rowsOf(store, run.executionId)
    expect(rows.map((row) => row?.status)).toEqual(['completed', 'completed', 'completed'])
    const sum = rows.reduce((total, row) => total + (row?.outputTokens ?? 0), 0)
    expect(sum).toBe(run.treeUsage.outputTokens)
    const receipts = (await store.receipts.list(run.executionId)) as any[]
    expect(receipts).toHaveLength(run.receipts.effects)
    const closed = (code: string) =>
      receipts.filter((receipt) => receipt.agentCode === `inner_${code}` && receipt.outcome === 'ok').length
    expect([closed('d1'), closed('d2')]).toEqual([3, 3])
  })
})

describe('a pause', () => {
  it('that is aborted while its journal is written ends as aborted: told once, no journal, a free session', async () => {
    const watch = watcher()
    const stop = new AbortController()
    const base = createMemoryStore()
    const store = around(base, 'journals.put', async (next, ...args) => {
      await next(...args)
      stop.abort()
    })
    const { tool, calls } = noteTool()
    const home = await house([reply.toolCall('write_note', {}), reply('next')], {
      store,
      plugins: [approval(), watch.plugin],
      agents: [desk([tool])],
    })
    const error = await failureOf(home.runtime.execute({ ...inSession, signal: stop.signal }))
    expect(error.code).toBe('RUN_ABORTED')
    const { executionId } = error.partial
    expect(await statusOf(base, executionId)).toBe('aborted')
    expect(await base.journals.get(executionId)).toBeUndefined()
    expect(watch.stops).toHaveLength(1)
    expect(watch.ends).toHaveLength(1)
    expect((await home.runtime.execute(inSession)).text).toBe('next')
    expect(calls).toEqual([])
  })

  it('that cannot be recorded ends the run and leaves no journal', async () => {
    const base = createMemoryStore()
    const store = failingStore(base, [{ on: 'receipts.append', nth: 1, as: 'error' }])
    const { tool } = noteTool()
    const home = await house([reply.toolCall('write_note', {})], {
      store,
      plugins: [approval()],
      agents: [desk([tool])],
    })
    const error = await failureOf(home.runtime.execute(call))
    expect(error.code).toBe('STORE_FAILED')
    expect(await statusOf(base, error.partial.executionId)).toBe('failed')
    expect(await base.journals.get(error.partial.executionId)).toBeUndefined()
  })

  it('that is cancelled while its row is written is cancelled all the same', async () => {
    const base = createMemoryStore()
    let cancelled: Promise<boolean> | undefined
    const store = around(base, 'executions.update', async (next, id, change) => {
      if (change.status === 'paused') cancelled ??= home.runtime.detached(() => home.runtime.cancel(id, ALL))
      return next(id, change)
    })
    const { tool } = noteTool()
    const home = await house([reply.toolCall('write_note', {})], {
      store,
      plugins: [approval()],
      agents: [desk([tool])],
    })
    const run = await home.runtime.execute(call)
    expect(await cancelled).toBe(true)
    expect(await statusOf(base, run.executionId)).toBe('aborted')
  })

  it('design 4.1: that has expired takes no approval, and the next turn of its session ends it', async () => {
    const clock = fakeClock()
    const { tool, calls } = noteTool()
    const home = await house([reply.toolCall('write_note', {}), reply('next')], {
      clock,
      plugins: [approval({ expiresAt: clock.now() + 1000 })],
      agents: [desk([tool])],
    })
    const run = await home.runtime.execute(inSession)
    expect((await failureOf(home.runtime.execute(inSession))).code).toBe('SESSION_BUSY')
    clock.advance(1000)
    expect(await failureOf(approve(home.runtime, run))).toMatchObject({ code: 'NOT_PAUSED', reason: 'decide.expired' })
    const foreign = { ...inSession, caller: { user: 'eve', tenant: 'x' } } as const
    expect((await failureOf(home.runtime.execute(foreign))).code).toBe('SESSION_FORBIDDEN')
    expect(await statusOf(home.store, run.executionId)).toBe('paused')
    expect((await home.runtime.execute(inSession)).text).toBe('next')
    expect(await statusOf(home.store, run.executionId)).toBe('aborted')
    expect(calls).toEqual([])
  })

  it('below a group whose neighbour ends the run leaves no nested row paused', async () => {
    const { tool } = noteTool()
    const door = latch()
    const below = defineTool({
      code: 'below',
      description: 'd',
      effect: 'read',
      input: z.object({}),
      agent: 'inner',
    } as never) as never
    const failing = defineTool({
      code: 'failing',
      description: 'd',
      effect: 'read',
      input: z.object({}),
      handler: async () => {
        await door.wait()
        throw new Error('no')
      },
    })
    const base = createMemoryStore()
    const store = around(base, 'executions.update', async (next, id, change) => {
      await next(id, change)
      if (change.status === 'paused') door.open()
    })
    const { runtime } = await house([reply.toolCall('below', {}).toolCall('failing', {})], {
      store,
      plugins: [approval()],
      settings: { toolConcurrency: 2, onToolError: 'throw' },
      others: [makeProvider([reply.toolCall('write_note', {})], { id: 'i' })],
      agents: [desk([below, failing]), desk([tool], { code: 'inner', model: 'i/m', user: 'hi' })],
    } as never)
    const error = await failureOf(runtime.execute(call))
    expect(error.code).toBe('TOOL_FAILED')
    const rows = await rowsOf(base, error.partial.executionId)
    expect(rows.map((row) => [row?.agentCode, row?.status]).sort()).toEqual([
      ['ap_desk', 'failed'],
      ['inner', 'aborted'],
    ])
  })
})

describe('a cancel', () => {
  it('CASE-13, S-22: of a paused run logs its messages, stores its receipt and tells the observers in its own frame', async () => {
    const watch = watcher()
    const { runtime, store, run } = await paused({ plugins: [watch.plugin] })
    expect(await runtime.cancel(run.executionId, { ...ALL, reason: 'not needed' })).toBe(true)
    expect(watch.told).toEqual([
      'asked 1',
      'onStop RUN_ABORTED {"hold":7} petra.k',
      'afterExecution RUN_ABORTED {"hold":7} petra.k',
    ])
    expect(watch.ends[0]?.receipt).toMatchObject({ effect: 'execution', outcome: 'aborted', sent: 'yes' })
    expect(await receiptsOf(store, run.executionId)).toContain('execution 1 aborted yes')
    const rows = (await store.messages.list('s-1')) as readonly { role: string; toolStatus: string | null }[]
    expect(rows.map((row) => row.role)).toEqual(['system', 'user', 'tool_call', 'tool_result'])
    expect(rows.at(-1)?.toolStatus).toBe('not_run')
    expect((await store.sessions.get('s-1'))?.messageCount).toBe(rows.length)
    expect(await store.journals.get(run.executionId)).toBeUndefined()
  })

  it('that loses to a resume tells nobody of a stop, and leaves no timer', async () => {
    const watch = watcher()
    const clock = fakeClock()
    const base = createMemoryStore({ clock })
    const one = await paused({ clock, store: base, plugins: [watch.plugin] }, [reply('done')])
    await approve(one.runtime, one.run)
    let first = true
    const store = around(base, 'executions.transition', async (next, ...args) => {
      if (first) {
        first = false
        expect((await one.runtime.resume(one.run.executionId, ALL)).status).toBe('completed')
      }
      return next(...args)
    })
    const two = await house([], { clock, store, plugins: [approval(), watch.plugin], agents: [desk([one.tool])] })
    const before = clock.timers
    expect(await two.runtime.cancel(one.run.executionId, ALL)).toBe(false)
    expect(clock.timers).toBe(before)
    expect(watch.stops).toEqual([])
    expect(watch.ends.map((end) => end.status)).toEqual(['completed'])
  })

  it('of a run whose resume is still being asked about cancels it', async () => {
    const door = latch()
    let asked = 0
    const slow = definePlugin({
      name: 'slow',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeExecution.tap('wait', async () => {
          if (++asked > 1) await door.wait()
        })
      },
    })()
    const { runtime, store, run } = await paused({ plugins: [slow] })
    await approve(runtime, run)
    const resumed = failureOf(runtime.resume(run.executionId, ALL))
    await door.reached()
    expect(await runtime.cancel(run.executionId, ALL)).toBe(true)
    door.open()
    expect((await resumed).code).toBe('RUN_ABORTED')
    expect(await statusOf(store, run.executionId)).toBe('aborted')
  })
})

describe('a crash', () => {
  it('S-W8: while the crashed run is told of loses nothing: the next start tells it again, in its frame', async () => {
    const base = createMemoryStore()
    const one = await paused({ store: base })
    const row = { ...(await base.executions.get(one.run.executionId)), status: 'running' } as never
    await base.executions.update(one.run.executionId, { status: 'running' })
    const orphans = { ...base, orphans: async () => [row] } as Store
    const dying = around(orphans, 'executions.update', async () => {
      throw new Error('the process died here')
    })
    const watch = watcher()
    const options = { plugins: [approval(), watch.plugin], agents: [desk([one.tool])] }
    await house([], { store: dying, ...options })
    expect(await statusOf(base, one.run.executionId)).toBe('running')
    await house([], { store: orphans, ...options })
    expect(await statusOf(base, one.run.executionId)).toBe('failed')
    expect(watch.told).toHaveLength(2)
    for (const text of watch.told) expect(text).toMatch(/^afterExecution RUN_CRASHED .* petra\.k$/)
  })
})

describe('a crash while a paused run is cancelled', () => {
  /** A store whose process dies at the first call of a method: what was asked for then comes back when the test is over. */
  const dies = (store: Store, on: string, over: Promise<unknown>) => {
    let calls = 0
    return around(store, on, (next, ...args) =>
      ++calls === 1 ? over.then(() => Promise.reject(new Error('died'))) : next(...args),
    )
  }
  /** The store as the next process opens it. */
  const reopened = async (store: Store) => {
    const rows = (await store.executions.list({ limit: 10 })).items
    return { ...store, orphans: async () => rows.filter(({ status }) => status === 'running') } as Store
  }

  it.each([
    ['before anything was written', 'receipts.append'],
    ['before its messages were logged', 'messages.append'],
    ['before its session was free', 'sessions.update'],
    ['when all had been told', 'executions.update'],
  ] as const)(
    'H-12: %s: the next start ends it as aborted, tells of it with recovered: true, and writes nothing twice',
    async (_when, on) => {
      const over = latch()
      const base = createMemoryStore()
      const first = watcher()
      const one = await paused({ store: base, plugins: [first.plugin] })
      const { executionId } = one.run
      const dying = await house([], {
        store: dies(base, on, over.wait()),
        plugins: [approval(), first.plugin],
        agents: [desk([one.tool])],
      })
      onTestFinished(() => over.open())
      void dying.runtime.cancel(executionId, { ...ALL, reason: 'not needed' })
      for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => void setImmediate(resolve))
      expect(first.ends).toHaveLength(on === 'executions.update' ? 1 : 0)
      expect((await failureOf(one.runtime.resume(executionId, ALL))).code).toBe('NOT_PAUSED')
      const watch = watcher()
      await house([], {
        store: await reopened(base),
        plugins: [approval(), watch.plugin],
        agents: [desk([one.tool])],
        seed: 3,
      })
      expect(watch.told).toEqual([
        'onStop RUN_ABORTED {"hold":7} petra.k',
        'afterExecution RUN_ABORTED {"hold":7} petra.k',
      ])
      expect(watch.ends).toMatchObject([
        {
          executionId,
          recovered: true,
          status: 'failed',
          failure: { kind: 'aborted', error: { message: expect.stringContaining('not needed') } },
        },
      ])
      expect(await base.executions.get(executionId)).toMatchObject({
        status: 'aborted',
        failureKind: 'aborted',
        error: { code: 'RUN_ABORTED', message: expect.stringContaining('not needed') },
        completedAt: expect.any(Number),
      })
      const rows = await base.messages.list('s-1')
      expect(rows.map(({ role }) => role)).toEqual(['system', 'user', 'tool_call', 'tool_result'])
      expect(await base.sessions.get('s-1')).toMatchObject({
        status: 'aborted',
        pausedExecutionId: null,
        inputTokens: 10,
        messageCount: 4,
      })
      const closed = (await receiptsOf(base, executionId)).filter((line) => line.startsWith('execution'))
      expect(closed).toEqual(['execution 1 aborted yes'])
      expect(await base.journals.get(executionId)).toBeUndefined()
    },
  )
})

it('S-W8: a run below that waited ends with the crashed run above it', async () => {
  const base = createMemoryStore()
  const { tool } = noteTool()
  const ask = (agent: string) =>
    defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({ question: z.string() }), agent })
  const options = {
    plugins: [approval()],
    agents: [desk([ask('below') as never]), desk([tool], { code: 'below' })],
  }
  const one = await house([reply.toolCall('ask', QUESTION), reply.toolCall('write_note', {})], {
    store: base,
    ...options,
  })
  const run = await one.runtime.execute(call)
  await base.executions.update(run.executionId, { status: 'running' })
  const row = await base.executions.get(run.executionId)
  await house([], { store: { ...base, orphans: async () => [row as never] }, ...options, seed: 3 })
  expect((await rowsOf(base, run.executionId)).map((one) => [one?.agentCode, one?.status, one?.failureKind])).toEqual([
    ['ap_desk', 'failed', 'crashed'],
    ['below', 'aborted', 'aborted'],
  ])
})

describe('a start', () => {
  it('S-7: that the store refuses closes the gates that passed: a receipt `error`, not sent', async () => {
    const watch = watcher()
    const base = createMemoryStore()
    const store = failingStore(base, [{ on: 'sessions.update', nth: 1, as: 'error' }])
    const home = await house([], { store, plugins: [watch.plugin], agents: [desk()] })
    const error = await failureOf(home.runtime.execute(call))
    expect(error.code).toBe('STORE_FAILED')
    const id = watch.stops[0]?.rootExecutionId as string
    expect(await receiptsOf(base, id)).toEqual(['execution 1 error no'])
    expect(watch.ends).toEqual([])
  })

  it('whose factory of resources throws leaves no timer and no run in flight', async () => {
    const clock = fakeClock()
    const resources = () => {
      throw new Error('no database')
    }
    const home = await house([], { clock, resources })
    const before = clock.timers
    expect((await failureOf(home.runtime.generateText({ model: 'scripted/m', prompt: 'x' }))).message).toBe(
      'no database',
    )
    expect([clock.timers, home.runtime.health().runsInFlight]).toEqual([before, 0])
  })

  it('whose turn cannot be given back keeps its result, and the plugins are disposed', async () => {
    let disposed = false
    const plugin = definePlugin({
      name: 'held',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeModelCall.tap('g', () => undefined)
        return { dispose: () => void (disposed = true) }
      },
    })()
    const store = around(createMemoryStore(), 'sessions.acquire', async () => () => Promise.reject(new Error('lost')))
    const home = await house([reply('fine')], { store, plugins: [plugin], agents: [desk()] })
    expect((await home.runtime.execute(inSession)).text).toBe('fine')
    expect(home.logger.matching('could not be given back')).toHaveLength(1)
    await home.runtime.close()
    expect(disposed).toBe(true)
  })
})

describe('sets of plugins', () => {
  const named = (name: string, log: string[], more: { setUp?: () => Promise<void>; dispose?: () => void } = {}) =>
    definePlugin({
      name,
      hookApi: 1,
      async apply(hooks) {
        hooks.beforeModelCall.tap('g', () => void log.push(name))
        await more.setUp?.()
        return more.dispose === undefined ? undefined : { dispose: more.dispose }
      },
    })()
  const tool = (handler: () => unknown) =>
    defineTool({ code: 't', description: 'd', effect: 'read', input: z.object({}), handler } as never) as never

  it('a fork that is closed disposes its plugins after the last of its runs', async () => {
    const log: string[] = []
    const door = latch()
    const home = await house([reply.toolCall('t', {}), reply('done')], {
      agents: [desk([tool(async () => (await door.wait(), 'ok'))])],
    })
    const fork = await home.runtime.fork({ plugins: [named('own', log, { dispose: () => void log.push('disposed') })] })
    const run = fork.execute(call)
    await door.reached()
    const closed = fork.close()
    expect((await failureOf(fork.execute(call))).code).toBe('RUNTIME_CLOSED')
    door.open()
    expect((await run).text).toBe('done')
    await closed
    expect(log).toEqual(['own', 'own', 'disposed'])
  })

  it('a run keeps the set that it started with, also for the calls inside it and while another is being built', async () => {
    const log: string[] = []
    const door = latch()
    let changing: Promise<void> | undefined
    const home = await house([reply.toolCall('t', {}), reply('in'), reply('done'), reply('after')], {
      plugins: [named('old', log)],
      settings: { onToolError: 'throw' },
      agents: [
        desk([
          tool(async () => {
            changing = home.runtime.setHooks([named('new', log, { setUp: () => door.wait() })])
            await door.reached()
            const inner = await home.runtime.generateText({ model: 'scripted/m', prompt: 'x' })
            door.open()
            await changing
            return inner.text
          }),
        ]),
      ],
    } as never)
    expect((await home.runtime.execute(call)).text).toBe('done')
    expect(log).toEqual(['old', 'old', 'old'])
    await home.runtime.generateText({ model: 'scripted/m', prompt: 'y' })
    expect(log.slice(3)).toEqual(['new'])
  })

  it('a fork inside a run adds its own gates to those of the run', async () => {
    const log: string[] = []
    const home = await house([reply.toolCall('t', {}), reply('in'), reply('done')], {
      plugins: [named('old', log)],
      settings: { onToolError: 'throw' },
      agents: [desk([tool(async () => (await fork.generateText({ model: 'scripted/m', prompt: 'x' })).text)])],
    } as never)
    const fork = await home.runtime.fork({ plugins: [named('added', log)] })
    expect((await home.runtime.execute(call)).text).toBe('done')
    expect(log).toEqual(['old', 'old', 'added', 'old'])
  })

  it('a logger that throws fails neither a run nor the end of a plugin', async () => {
    const loud = () => {
      throw new Error('disk full')
    }
    const log: string[] = []
    const home = await house([reply('fine')], {
      logger: { debug: loud, info: loud, warn: loud, error: loud } as never,
      plugins: [named('bad', log, { dispose: loud })],
      agents: [desk()],
    })
    expect((await home.runtime.execute(call)).text).toBe('fine')
    await home.runtime.setHooks([])
    await home.runtime.close()
  })

  it('design 4.3: fork takes a list of plugins, and unknown options are refused', async () => {
    const { runtime } = await house([])
    const reason = async (promise: Promise<unknown>) => (await failureOf(promise)).reason
    expect(await reason(runtime.fork({} as never))).toBe('fork.options')
    expect(await reason(runtime.fork({ plugins: [], extra: 1 } as never))).toBe('fork.options')
    expect(await reason(runtime.resume('x', { ...ALL, extra: 1 } as never))).toBe('resume.options')
    expect(await reason(runtime.cancel('x', { ...ALL, extra: 1 } as never))).toBe('cancel.options')
    expect(await reason(runtime.decide('x', { ...ALL, extra: 1 } as never))).toBe('decide.options')
  })
})

describe('executeProfile', () => {
  it('a setting that is undefined changes nothing: the bound of the profile holds', async () => {
    const { tool } = noteTool()
    const twice = [reply.toolCall('write_note', {}), reply.toolCall('write_note', {})]
    const home = await house(twice, { tools: [tool] })
    await home.runtime.prompts.create(
      {
        code: 'p',
        provider: 'scripted',
        model: 'm',
        user_prompt_template: 'go',
        model_config: { g_enable_tools: true, g_max_tool_calls: 1 },
      } as never,
      { status: 'active' } as never,
    )
    const settings = { maxToolCalls: undefined, onToolLimit: undefined } as never
    const error = await failureOf(home.runtime.executeProfile({ profile: 'p', settings }))
    expect(error.code).toBe('MAX_TOOL_CALLS')
  })
})
