// Faults that a review of the loop and the hooks found: one test for the kind of each.
import {
  createMemoryStore,
  createRuntime,
  defineAgent,
  definePlugin,
  defineTool,
  Pause,
  ProviderError,
  Refusal,
  Stage,
  Veto,
} from '@sluice/core'
import type { Hooks, PluginHost, RuntimeOptions, ToolDefinition } from '@sluice/core'
import { capturedLogger, fakeClock, fakeIds, providerError, reply, scriptedProvider, throwing } from '@sluice/testkit'
import type { ScriptStep } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

const plugin = (name: string, apply: (hooks: Hooks, host: PluginHost<undefined>) => void) =>
  definePlugin({ name, hookApi: 1, apply })()

async function desk(
  script: readonly ScriptStep[],
  tools: readonly ToolDefinition<never>[],
  options: Partial<RuntimeOptions> = {},
) {
  const clock = fakeClock({ now: 1_700_000_000_000 })
  const store = options.store ?? createMemoryStore({ clock })
  const provider = scriptedProvider(script)
  const logger = capturedLogger()
  const agent = defineAgent({ code: 'desk', description: 'A desk.', model: 'scripted/m', user: '{q}', tools })
  const runtime = await createRuntime({
    store,
    clock,
    ids: fakeIds(7),
    logger,
    providers: [provider],
    agents: [agent],
    plugins: [],
    ...options,
  })
  return { runtime, store, provider, clock, logger }
}

const noted = (code: string, entered: string[], more: object = {}) =>
  defineTool({
    code,
    description: code,
    effect: 'read',
    input: z.object({}),
    handler: () => {
      entered.push(code)
      return `${code} done`
    },
    ...more,
  }) as ToolDefinition<never>

describe('tools that run together', () => {
  it('CASE-05: a pause on one call waits for the gates of its neighbours, and every call is closed once', async () => {
    const entered: string[] = []
    const closed: string[] = []
    let round = 0
    let open: (() => void) | undefined
    const gate = plugin('slow', (hooks) => {
      hooks.inspectToolInput.tapPromise({ name: 'slow' }, async (ctx) => {
        round += 1
        if (round <= 3) return
        if (ctx.toolCode === 'a') throw new Pause('ASK')
        await new Promise<void>((resolve) => (open = resolve))
      })
      hooks.afterToolCall.tap('closed', (ctx) => void closed.push(`${ctx.toolCode} ${ctx.outcome}`))
    })
    const write = noted('w', entered, { effect: 'write' })
    const script = [reply.toolCall('w', {}).toolCall('a', {}).toolCall('b', {})]
    const { runtime } = await desk(script, [write, noted('a', entered), noted('b', entered)], {
      plugins: [gate],
      settings: { toolConcurrency: 2 },
    })
    const running = runtime.execute({ agent: 'desk', input: { q: 'go' } })
    await expect.poll(() => open !== undefined).toBe(true)
    open?.()
    const run = await running
    expect(run.status).toBe('paused')
    expect(closed.sort()).toEqual(['a not_run', 'b ok', 'w ok'])
  })

  it('R: a group that finished in another order than it was asked is replayed all the same', async () => {
    const entered: string[] = []
    let asked = 0
    const gate = plugin('slow', (hooks) => {
      hooks.inspectToolInput.tapPromise({ name: 'slow', stage: Stage.approve }, async (ctx) => {
        asked += 1
        if (ctx.tool.effect === 'send' && ctx.decision === undefined) throw new Pause('ASK')
        // the second asking of `a` settles after that of `b`
        if (asked > 3 && ctx.toolCode === 'a') for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      })
    })
    const write = noted('w', entered, { effect: 'write' })
    const send = noted('s', entered, { effect: 'send' })
    const script = [reply.toolCall('w', {}).toolCall('a', {}).toolCall('b', {}), reply.toolCall('s', {}), reply('done')]
    const { runtime } = await desk(script, [write, noted('a', entered), noted('b', entered), send], {
      plugins: [gate],
      settings: { toolConcurrency: 2 },
    })
    const run = await runtime.execute({ agent: 'desk', input: { q: 'go' } })
    await runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      by: 'boss',
      scope: 'all',
    })
    const again = await runtime.resume(run.executionId, { scope: 'all' })
    expect(again).toMatchObject({ status: 'completed', text: 'done' })
    expect(entered.sort()).toEqual(['a', 'b', 's', 'w'])
  })
})

describe('approvals', () => {
  it('CASE-06: a decision counts for the arguments that the human was asked about, and for no others', async () => {
    const paid: number[] = []
    let drift = 0
    const pay = defineTool({
      code: 'pay',
      description: 'Pays.',
      effect: 'write',
      input: z.object({ amount: z.number().default(() => (drift += 1000)) }),
      handler: ({ amount }) => {
        paid.push(amount)
        return 'paid'
      },
    }) as ToolDefinition<never>
    const gate = plugin('approval', (hooks) => {
      hooks.inspectToolInput.tap('ask', (ctx) => {
        if (ctx.decision?.decision !== 'approve') throw new Pause('ASK', { details: ctx.args })
      })
    })
    const { runtime } = await desk([reply.toolCall('pay', {})], [pay], { plugins: [gate] })
    const run = await runtime.execute({ agent: 'desk', input: { q: 'pay' } })
    await runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      by: 'boss',
      scope: 'all',
    })
    expect((await runtime.resume(run.executionId, { scope: 'all' })).status).toBe('paused')
    expect(paid).toEqual([])
  })

  it('H-21, R-13: what authorize is given cannot change what is inspected and run', async () => {
    const seen: unknown[] = []
    const pay = defineTool({
      code: 'pay',
      description: 'Pays.',
      effect: 'write',
      input: z.object({ amount: z.number() }),
      authorize: (args) => {
        try {
          ;(args as { amount: number }).amount = 1_000_000
        } catch {
          // frozen
        }
      },
      handler: ({ amount }) => {
        seen.push(amount)
        return 'paid'
      },
    }) as ToolDefinition<never>
    const gate = plugin('look', (hooks) => hooks.inspectToolInput.tap('look', (ctx) => void seen.push(ctx.args.amount)))
    const { runtime } = await desk([reply.toolCall('pay', { amount: 1 }), reply('ok')], [pay], { plugins: [gate] })
    await runtime.execute({ agent: 'desk', input: { q: 'pay' } })
    expect(seen).toEqual([1, 1])
  })
})

describe('stops', () => {
  it('CASE-05, E-20: a fatal callback that never settles holds up no run for ever', async () => {
    const { runtime, clock } = await desk([reply('hello')], [])
    runtime.events.set(() => new Promise(() => undefined))
    runtime.events.fatal = true
    const running = runtime.execute({ agent: 'desk', input: { q: 'go' } })
    let done = false
    void running.finally(() => (done = true)).catch(() => undefined)
    for (let turn = 0; turn < 20 && !done; turn++) await clock.tick(1_000)
    await expect(running).resolves.toMatchObject({ text: 'hello' })
  })

  it('H-19: a veto with details that are no data is told to onStop like any other, and leaves without them', async () => {
    const told: unknown[] = []
    const watch = plugin('watch', (hooks) =>
      hooks.onStop.tap('watch', (ctx) => void told.push([ctx.code, ctx.details])),
    )
    const bad = noted('bad', [], {
      handler: () => {
        throw new Veto('NO', 'no', { fn: () => undefined } as never)
      },
    })
    const { runtime } = await desk([reply.toolCall('bad', {})], [bad], { plugins: [watch] })
    await expect(runtime.execute({ agent: 'desk', input: { q: 'go' } })).rejects.toMatchObject({
      code: 'NO',
      details: undefined,
    })
    expect(told).toEqual([['NO', null]])
  })

  it('CASE-04: a plugin that a fork adds hears of its own veto in a call inside a run', async () => {
    const told: string[] = []
    const deny = plugin('deny', (hooks) => {
      hooks.beforeModelCall.tap('deny', (ctx) => {
        if (ctx.model === 'inner') throw new Veto('DENIED', 'no')
      })
      hooks.onStop.tap('told', (ctx) => void told.push(`${ctx.plugin} ${ctx.code}`))
    })
    const inner = noted('inner', [], {
      handler: async () => (await forked.generateText({ model: 'scripted/inner', prompt: 'x' })).text,
    })
    const { runtime } = await desk([reply.toolCall('inner', {})], [inner])
    const forked = await runtime.fork({ plugins: [deny] })
    await expect(runtime.execute({ agent: 'desk', input: { q: 'go' } })).rejects.toMatchObject({ code: 'DENIED' })
    expect(told).toEqual(['deny DENIED'])
  })

  it('H-25: the chain of prompts ends when the run is aborted', async () => {
    const hang = plugin('hang', (hooks) =>
      hooks.augmentSystemPrompt.tapPromise('hang', () => new Promise(() => undefined)),
    )
    const { runtime } = await desk([], [], { plugins: [hang] })
    const controller = new AbortController()
    const running = runtime.execute({ agent: 'desk', input: { q: 'go' }, signal: controller.signal })
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    await expect(running).rejects.toMatchObject({ code: 'RUN_ABORTED' })
  })
})

describe('what belongs to whom', () => {
  it('CASE-27: an error object that an adapter throws twice tells each run of itself alone', async () => {
    const shared = new ProviderError('PROVIDER_OVERLOADED', 'down', { provider: 'scripted', retryable: false })
    const { runtime } = await desk([throwing(shared), throwing(shared)], [])
    const failed = async (q: string) =>
      runtime.execute({ agent: 'desk', input: { q } }).catch((error: unknown) => error as ProviderError)
    const [alice, bob] = [(await failed('alice')) as ProviderError, (await failed('bob')) as ProviderError]
    expect(JSON.stringify(alice.partial?.messages)).toContain('alice')
    expect(JSON.stringify(bob.partial?.messages)).toContain('bob')
  })

  it('Z-5, G-42: two calls of one handler list their own tool calls, and a failed one its own conversation', async () => {
    const lists: unknown[] = []
    const t = noted('t', [])
    const both = noted('both', [], {
      handler: async () => {
        for (const prompt of ['one', 'two'])
          lists.push((await runtime.generateText({ model: 'scripted/m', prompt, tools: [t] })).toolCalls.length)
        const error = await runtime
          .generateText({ model: 'scripted/m', prompt: 'three' })
          .catch((thrown: unknown) => thrown as ProviderError)
        lists.push(JSON.stringify((error as ProviderError).partial?.messages))
        return 'ok'
      },
    })
    const script = [
      reply.toolCall('both', {}),
      reply.toolCall('t', {}),
      reply('1'),
      reply.toolCall('t', {}),
      reply('2'),
      providerError('PROVIDER_AUTH'),
      reply('done'),
    ]
    const { runtime } = await desk(script, [both])
    const run = await runtime.execute({ agent: 'desk', input: { q: 'outer' } })
    expect(lists.slice(0, 2)).toEqual([1, 1])
    expect(lists[2]).toContain('three')
    expect(lists[2]).not.toContain('outer')
    expect(run.toolCalls).toHaveLength(3)
  })

  it('S-22: observers cannot change the figures that the record and the others get', async () => {
    const seen: unknown[] = []
    const meddle = plugin('meddle', (hooks) => {
      hooks.afterModelCall.tap('meddle', (ctx) => {
        try {
          ;(ctx.usage as { inputTokens: number }).inputTokens = 0
        } catch {
          // frozen
        }
      })
      hooks.afterModelCall.tap('see', (ctx) => void seen.push(ctx.usage?.inputTokens))
    })
    const { runtime, store } = await desk([reply('x').usage({ inputTokens: 7 })], [], { plugins: [meddle] })
    const run = await runtime.execute({ agent: 'desk', input: { q: 'go' } })
    expect(seen).toEqual([7])
    expect((await store.executions.get(run.executionId))?.inputTokens).toBe(7)
  })
})

describe('smaller ones', () => {
  it('G-39: at a fallback the row of the provider that answered decides what a failing tool does', async () => {
    const first = scriptedProvider([providerError('PROVIDER_OVERLOADED'), providerError('PROVIDER_OVERLOADED')], {
      id: 'first',
      emulate: 'openai-responses',
    })
    const second = scriptedProvider([reply.toolCall('bad', {}), reply('went on')], {
      id: 'second',
      emulate: 'google-generate-content',
    })
    const bad = noted('bad', [], {
      handler: () => {
        throw new Error('broken')
      },
    })
    const runtime = await createRuntime({
      store: createMemoryStore(),
      clock: fakeClock({ now: 0 }),
      providers: [first, second],
      plugins: [],
      settings: { fallback: ['second/m'], retry: { attempts: 1, backoffMs: 0, maxBackoffMs: 0 } },
      agents: [defineAgent({ code: 'desk', description: 'A desk.', model: 'first/m', user: '{q}', tools: [bad] })],
    })
    await expect(runtime.execute({ agent: 'desk', input: { q: 'go' } })).resolves.toMatchObject({ text: 'went on' })
  })

  it('H-26: the text of a refusal is cut like any other tool result', async () => {
    const refuse = plugin('refuse', (hooks) =>
      hooks.beforeToolCall.tap('refuse', () => {
        throw new Refusal('NO', 'x'.repeat(500_000))
      }),
    )
    const { runtime, provider } = await desk([reply.toolCall('a', {}), reply('ok')], [noted('a', [])], {
      plugins: [refuse],
    })
    await runtime.execute({ agent: 'desk', input: { q: 'go' } })
    expect(JSON.stringify(provider.requests[1]?.messages).length).toBeLessThan(300_000)
  })

  it('H-32: taps that stand before each other in a circle are a fault, and a chain of them is put in order', async () => {
    const order: string[] = []
    const chain = plugin('chain', (hooks) => {
      const tap = (name: string, before?: string) =>
        hooks.beforeExecution.tap({ name, ...(before === undefined ? {} : { before }) }, () => void order.push(name))
      tap('x')
      tap('a', 'b')
      tap('b', 'x')
    })
    const { runtime } = await desk([reply('ok')], [], { plugins: [chain] })
    await runtime.execute({ agent: 'desk', input: { q: 'go' } })
    expect(order).toEqual(['a', 'b', 'x'])
    const circle = plugin('circle', (hooks) => {
      hooks.beforeExecution.tap({ name: 'a', before: 'b' }, () => undefined)
      hooks.beforeExecution.tap({ name: 'b', before: 'a' }, () => undefined)
    })
    await expect(desk([], [], { plugins: [circle] })).rejects.toMatchObject({ code: 'HOOK_REGISTRATION' })
  })
})
