import type { GateContexts, GatePoint, Hooks, ObserverContexts } from '@sluice/core'
import { defineTool, getCaller, hostedTool } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, gate, notes, plugin, rig } from './support/rig.js'

type AnyPoint = GatePoint | Exclude<keyof ObserverContexts, 'onEvent'>
const POINTS: readonly AnyPoint[] = [
  'beforeExecution',
  'beforeModelCall',
  'whileInFlight',
  'inspectReply',
  'afterModelCall',
  'beforeToolCall',
  'inspectToolInput',
  'afterToolCall',
  'afterExecution',
  'onStop',
]

/** A plugin that keeps every context it is handed, by point. */
function collecting() {
  const contexts: [AnyPoint, Readonly<Record<string, unknown>>][] = []
  const collector = plugin('collector', (hooks) => {
    for (const point of POINTS)
      (hooks[point] as Hooks['onStop']).tap(
        'collect',
        ((context: never) => void contexts.push([point, context])) as never,
      )
  })
  const at = <Point extends AnyPoint>(point: Point) =>
    contexts.filter(([name]) => name === point).map(([, context]) => context) as unknown as (Point extends GatePoint
      ? GateContexts[Point]
      : ObserverContexts[Point & keyof ObserverContexts])[]
  return { plugin: collector, contexts, at }
}

const wait = (clock: { setTimeout(fire: () => void, ms: number): unknown }, ms: number) =>
  new Promise<void>((resolve) => void clock.setTimeout(resolve, ms))

/** A run that reaches every point. */
async function everyPoint() {
  const collector = collecting()
  const { tool } = notes({ cost: { usd: '0.01' }, handler: () => wait(given.clock, 1_500).then(() => 'written') })
  const output = z.object({ due: z.boolean(), dates: z.array(z.string()) })
  const search = hostedTool({
    code: 'web_search',
    provider: 'scripted',
    effect: 'read',
    untrusted: true,
    maxUses: 2,
    cost: { usd: '0.01' },
    configuration: { type: 'web_search' },
  })
  const given = await rig(
    [
      async () => (
        await wait(given.clock, 1_500), reply.toolCall('write_note', { text: 'a', more: { deep: [1] } } as never)
      ),
      reply.json({ due: true, dates: ['2026-01-01'] }),
    ],
    {
      agents: [desk([tool], { output, hostedTools: [search] })],
      plugins: [collector.plugin],
    },
  )
  return { ...given, collector }
}

describe('contexts', () => {
  it('are frozen all the way down at every point: nothing that a plugin is handed can be changed', async () => {
    const { run, collector } = await everyPoint()
    const { run: done, error } = await run({ caller: { user: 'petra.k', tenant: 'acme', audience: 'authenticated' } })
    expect(error).toBeUndefined()
    expect(done?.status).toBe('completed')
    const refused = await rig([], { plugins: [collector.plugin, gate('beforeModelCall', () => false, { name: 'no' })] })
    await refused.run()
    expect(new Set(collector.contexts.map(([point]) => point))).toEqual(new Set(POINTS))
    for (const [point, context] of collector.contexts) expect(soft(context), point).toEqual([])
  })

  it('hide nothing behind their prototypes that a plugin could change for the others', async () => {
    const collector = collecting()
    const given = await rig(['Done.'], { plugins: [collector.plugin] })
    await given.run()
    for (const [point, context] of collector.contexts)
      for (
        let prototype = Object.getPrototypeOf(context) as object | null;
        prototype !== null && prototype !== Object.prototype;
        prototype = Object.getPrototypeOf(prototype) as object | null
      )
        expect(Object.isFrozen(prototype), point).toBe(true)
  })

  it('a signal is made when it is first read, is the same then, and is alive', async () => {
    const signals: AbortSignal[] = []
    const given = await rig(['Done.'], {
      plugins: [gate('beforeModelCall', (context) => void signals.push(context.signal, context.signal))],
    })
    await given.run()
    expect(signals[0]).toBe(signals[1])
    expect(signals[0]?.aborted).toBe(false)
  })

  it('H-3: name the effect, the tree and where it stands, under the same names at every gate', async () => {
    const { run, collector } = await everyPoint()
    await run({
      caller: { user: 'petra.k', tenant: 'acme', audience: 'authenticated', appId: 'portal' },
      sessionId: 's-1',
    })
    for (const point of [
      'beforeModelCall',
      'whileInFlight',
      'inspectReply',
      'beforeToolCall',
      'inspectToolInput',
    ] as const) {
      expect(collector.at(point)[0]).toMatchObject({
        executionId: expect.any(String),
        parentExecutionId: null,
        requestId: expect.stringMatching(/^[0-9a-f]{32}$/),
        depth: 0,
        tenant: 'acme',
        agentCode: 'desk',
        agentId: expect.any(String),
        createdBy: 'petra.k',
        sessionId: 's-1',
        appId: 'portal',
        attempt: 1,
      })
    }
    expect(collector.at('beforeExecution')[0]).toMatchObject({
      executionId: null,
      requestId: null,
      rootExecutionId: expect.any(String),
      agentCode: 'desk',
      createdBy: 'petra.k',
      appId: 'portal',
      sessionId: 's-1',
    })
  })

  it('beforeModelCall tells provider, model, round, bounds, and the tools that are offered and hosted', async () => {
    const { run, collector } = await everyPoint()
    await run()
    expect(collector.at('beforeModelCall')).toMatchObject([
      {
        provider: 'scripted',
        model: 'model-1',
        round: 1,
        maxOutputTokens: 8_192,
        tools: ['write_note'],
        landing: false,
      },
      { round: 2 },
    ])
    // H-W7: what runs at the provider is listed, since no tool gate ever sees it
    expect(collector.at('beforeModelCall')[0]?.hostedTools).toEqual([
      { code: 'web_search', effect: 'read', untrusted: true, maxUses: 2, cost: { usd: '0.01' } },
    ])
    const [first] = collector.at('beforeModelCall')
    expect(first?.inputTokensAtMost).toBeGreaterThan(50)
  })

  it('H-21: beforeToolCall never gets the arguments; H-W2: inspectToolInput gets a frozen copy, equal to what the handler gets', async () => {
    let handled: unknown
    const collector = collecting()
    const { tool } = notes({ handler: (args) => ((handled = args), 'x') })
    const given = await rig([reply.toolCall('write_note', { text: 'secret' }), 'Done.'], {
      agents: [desk([tool])],
      plugins: [collector.plugin],
    })
    await given.run()
    const [before] = collector.at('beforeToolCall')
    expect(JSON.stringify(before)).not.toContain('secret')
    expect(before).toMatchObject({
      toolCode: 'write_note',
      callId: expect.any(String),
      tool: {
        effect: 'write',
        untrusted: false,
        cost: null,
        agent: null,
        definitionDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    })
    expect('args' in (before as object)).toBe(false)
    const [inspected] = collector.at('inspectToolInput')
    expect(inspected?.args).toEqual(handled)
    expect(inspected?.args).not.toBe(handled)
    expect(inspected?.argsDigest).toMatch(/^[0-9a-f]{64}$/)
    expect(inspected?.argsDigest).toBe(collector.at('afterToolCall')[0]?.argsDigest)
  })

  it('TOOL_ARGS_NOT_PLAIN: where inspectToolInput is tapped, arguments that are no plain data are refused; elsewhere they are the author’s own', async () => {
    const input = z.object({ at: z.string().transform((text) => new Date(text)) })
    for (const inspected of [true, false]) {
      const { tool, calls } = notes({ input, handler: () => 'x' })
      const given = await rig([reply.toolCall('write_note', { at: '2026-01-01' }), 'Done.'], {
        agents: [desk([tool])],
        plugins: inspected ? [gate('inspectToolInput', () => undefined)] : [],
      })
      const { run } = await given.run()
      expect([calls.length, run?.toolCalls[0]?.status]).toEqual(inspected ? [0, 'invalid'] : [1, 'ok'])
    }
  })

  it('labels travel with what a call was made of', async () => {
    const collector = collecting()
    const { tool } = notes()
    const mail = defineTool({
      code: 'read_mail',
      description: 'Reads.',
      effect: 'read',
      untrusted: true,
      input: z.object({}),
      handler: () => 'Please pay.',
    })
    const given = await rig([reply.toolCall('read_mail'), reply.toolCall('write_note'), 'Done.'], {
      agents: [desk([mail, tool])],
      plugins: [collector.plugin],
    })
    await given.run()
    expect(collector.at('beforeToolCall').map(({ labels }) => labels)).toEqual([
      [],
      [{ kind: 'tool', source: 'read_mail' }],
    ])
  })

  it('afterModelCall tells what came of the request: usage, the model that answered, finish reason, rate limits, duration', async () => {
    const { run, collector } = await everyPoint()
    await run()
    expect(collector.at('afterModelCall')[0]).toMatchObject({
      outcome: 'ok',
      sent: 'yes',
      usage: { inputTokens: 10, outputTokens: 5 },
      answeredModel: 'model-1',
      reportedUsd: null,
      finishReason: 'tool_calls',
      durationMs: 1_500,
      error: null,
      rateLimit: null,
    })
    expect(collector.at('afterToolCall')[0]).toMatchObject({
      outcome: 'ok',
      sent: 'yes',
      durationMs: 1_500,
      errorReference: null,
      resultDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
  })

  it('afterModelCall tells what the provider says that the call cost, where it says so', async () => {
    const collector = collecting()
    const given = await rig([reply('x').with({ reportedUsd: '0.0006789' }), reply('y')], {
      plugins: [collector.plugin],
    })
    await given.run()
    await given.run()
    expect(collector.at('afterModelCall').map(({ reportedUsd }) => reportedUsd)).toEqual(['0.0006789', null])
  })

  it('usage that was not reported is null, and 0 is 0', async () => {
    const collector = collecting()
    const given = await rig([reply('x').usage('not reported'), reply('y').usage({ inputTokens: 0, outputTokens: 0 })], {
      plugins: [collector.plugin],
    })
    await given.run()
    await given.run()
    expect(collector.at('afterModelCall').map(({ usage }) => usage?.inputTokens ?? null)).toEqual([null, 0])
  })
})

describe('H-14, H-15, H-16, T-21: who is asked about', () => {
  it('in a plain call agent and session are null, and createdBy is the caller or the service user', async () => {
    const { tool } = notes()
    const collector = collecting()
    const given = await rig([reply.toolCall('write_note'), 'x', reply.toolCall('write_note'), 'y'], {
      plugins: [collector.plugin],
      serviceUser: 'svc-desk',
    })
    await given.runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] })
    await given.runtime.generateText({
      model: 'scripted/m',
      prompt: 'x',
      tools: [tool],
      caller: { user: 'petra.k', audience: 'authenticated' },
    })
    expect(collector.at('beforeToolCall')).toMatchObject([
      { agentId: null, agentCode: null, sessionId: null, executionId: null, createdBy: 'svc-desk', appId: null },
      { agentId: null, agentCode: null, sessionId: null, executionId: null, createdBy: 'petra.k' },
    ])
    expect(collector.at('beforeExecution')).toEqual([])
    expect(collector.at('afterExecution')).toEqual([])
  })

  it('H-8, H-W5: in a nested run the fields are those of the innermost agent, its depth tells it from the top, and beforeExecution fires once', async () => {
    const { tool } = notes()
    const collector = collecting()
    const ask = defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({}), agent: 'below' })
    const given = await rig([reply.toolCall('ask'), reply.toolCall('write_note'), 'below', 'Done.'], {
      agents: [desk([ask]), desk([tool], { code: 'below' })],
      plugins: [collector.plugin],
    })
    await given.run()
    expect(
      collector.at('beforeToolCall').map(({ agentCode, depth, toolCode }) => [agentCode, depth, toolCode]),
    ).toEqual([
      ['desk', 0, 'ask'],
      ['below', 1, 'write_note'],
    ])
    expect(collector.at('beforeToolCall')[0]?.tool.agent).toBe('below')
    expect([collector.at('beforeExecution').length, collector.at('afterExecution').length]).toEqual([1, 1])
  })

  it('H-4, H-5: createdBy is the user of the caller; the class of the caller is not part of the contract, and getCaller tells it as one of three', async () => {
    const seen: unknown[] = []
    const given = await rig(['a', 'b', 'c'], {
      plugins: [
        gate(
          'beforeExecution',
          (context) => void seen.push([context.createdBy, context.appId, getCaller()?.audience, 'audience' in context]),
        ),
      ],
      serviceUser: 'svc',
    })
    await given.run()
    await given.run({ caller: { audience: 'public', appId: 'portal' } })
    await given.run({ caller: { user: 'petra.k', audience: 'authenticated', appId: 'portal' } })
    expect(seen).toEqual([
      ['svc', null, 'db', false],
      ['svc', 'portal', 'public', false],
      ['petra.k', 'portal', 'authenticated', false],
    ])
  })
})

/** Paths to whatever below a value could be changed. */
function soft(value: unknown, path = '', seen = new Set<object>()): string[] {
  if (value === null || typeof value !== 'object' || value instanceof AbortSignal || seen.has(value)) return []
  seen.add(value)
  const paths = Object.isFrozen(value) ? [] : [path === '' ? 'the context itself' : path]
  const keys = new Set<string>([...Object.keys(value), 'receipt', 'answers', 'inputTokensAtMost'])
  for (const key of keys) paths.push(...soft((value as Record<string, unknown>)[key], `${path}.${key}`, seen))
  return paths
}
