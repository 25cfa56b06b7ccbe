import type { Decision, InspectToolInputContext, PausedRun, PluginStamp, Run } from '@sluice/core'
import { createMemoryStore, defineTool, Pause, Refusal, Veto } from '@sluice/core'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RigOptions } from './support/rig.js'
import { ALL, closingLines, desk, gate, notes, plugin, rig, stopLines, watcher } from './support/rig.js'

const by = { by: 'boss', ...ALL }
const pathOf = (effectId: string) => effectId.split('/').slice(1).join('/')

/** A gate that asks a human about every note and judges the answer. */
function approval(judge?: (context: InspectToolInputContext) => unknown) {
  const asked: string[] = []
  const given: (Decision | undefined)[] = []
  const approving = gate(
    'inspectToolInput',
    (context) => {
      if (context.tool.agent !== null) return
      asked.push(`${pathOf(context.effectId)}#${context.attempt}`)
      given.push(context.decision)
      if (judge !== undefined) return judge(context)
      if (context.decision === undefined) throw new Pause('APPROVE', { details: { text: context.args.text ?? null } })
      if (context.decision.decision === 'deny') throw new Refusal('DENIED', context.decision.note ?? 'Denied.')
    },
    { name: 'approval' },
  )
  return { plugin: approving, asked, given }
}

const paused = (run: Run | undefined): PausedRun => {
  if (run?.status !== 'paused') throw new Error(`the run is ${run?.status}, not paused`)
  return run
}

async function asking(
  script: Parameters<typeof rig>[0],
  options: RigOptions & { readonly judge?: (context: InspectToolInputContext) => unknown } = {},
) {
  const { judge, plugins = [], ...rest } = options
  const { tool, calls } = notes()
  const seen = watcher()
  const human = approval(judge)
  const given = await rig(script, { agents: [desk([tool])], plugins: [human.plugin, seen.plugin, ...plugins], ...rest })
  const resume = (id: string, more: object = {}) => given.end(given.runtime.resume(id, { ...ALL, ...more }))
  return { ...given, tool, calls, seen, human, resume }
}

describe('Pause', () => {
  it('stores the run and says what waits for a human; no tool of the round runs', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }, { id: 'call-7' })])
    const run = paused((await given.run()).run)
    expect(run.pending).toMatchObject([
      {
        effectId: `${run.executionId}/m1.t1`,
        executionId: run.executionId,
        agentCode: 'desk',
        toolCode: 'write_note',
        callId: 'call-7',
        plugin: 'approval',
        code: 'APPROVE',
        details: { text: 'a' },
        expiresAt: null,
      },
    ])
    expect([given.calls, run.finishReason, run.text]).toEqual([[], 'paused', null])
    expect(stopLines(given.seen.onStop)).toEqual(['inspectToolInput approval paused APPROVE'])
    expect(closingLines(given.seen.afterToolCall)).toEqual(['m1.t1#1 not_run no'])
    expect(given.seen.afterExecution).toEqual([])
  })

  it('after a yes the gate is asked again as the next attempt of the same effect, judges the answer and passes', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'Done.'])
    const run = paused((await given.run()).run)
    const [{ effectId = '' } = {}] = run.pending
    given.clock.advance(3_600_000)
    await given.runtime.decide(run.executionId, { effectId, decision: 'approve', note: 'fine', ...by })
    const done = (await given.resume(run.executionId)).run
    expect([done?.text, given.calls, given.human.asked]).toEqual(['Done.', ['a'], ['m1.t1#1', 'm1.t1#2']])
    expect(given.human.given).toMatchObject([
      undefined,
      { decision: 'approve', by: 'boss', note: 'fine', at: given.clock.now() },
    ])
    expect(closingLines(given.seen.afterToolCall)).toEqual(['m1.t1#1 not_run no', 'm1.t1#2 ok yes'])
    expect(given.provider.calls).toHaveLength(2)
  })

  it('a no is for the gate to turn into a refusal: the model reads the note and the run goes on', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'As you wish.'])
    const run = paused((await given.run()).run)
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'deny',
      note: 'Not before Monday.',
      ...by,
    })
    const done = (await given.resume(run.executionId)).run
    expect([done?.text, given.calls]).toEqual(['As you wish.', []])
    expect(given.provider.requests[1]?.messages.at(-1)).toMatchObject({
      content: [{ result: 'Not before Monday.', status: 'refused' }],
    })
  })

  it('an answer that did not come in time is told to the gate as a denial', async () => {
    const clock = fakeClock()
    const until = clock.now() + 60_000
    const given = await asking([reply.toolCall('write_note'), 'Too late, then.'], {
      clock,
      judge: ({ decision }) => {
        if (decision === undefined) throw new Pause('APPROVE', { expiresAt: until })
        if (decision.decision === 'deny') throw new Refusal('DENIED', `Denied by ${decision.by}.`)
      },
    })
    const run = paused((await given.run()).run)
    expect(run.pending).toMatchObject([{ expiresAt: until }])
    clock.advance(60_001)
    const done = (await given.resume(run.executionId)).run
    expect([done?.text, given.calls]).toEqual(['Too late, then.', []])
    expect(given.human.given[1]).toMatchObject({ decision: 'deny', by: 'expiry', at: until })
  })

  it('an answer that came before expiry counts, however late the resume is', async () => {
    const clock = fakeClock()
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'Done.'], {
      clock,
      judge: ({ decision }) => {
        if (decision === undefined) throw new Pause('APPROVE', { expiresAt: clock.now() + 60_000 })
        if (decision.decision === 'deny') throw new Refusal('DENIED', 'No.')
      },
    })
    const run = paused((await given.run()).run)
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    clock.advance(999_999)
    expect((await given.resume(run.executionId)).run?.text).toBe('Done.')
  })

  it('who decided may not: the gate pauses again, and asks another human', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'Done.'], {
      judge: ({ decision }) => {
        if (decision?.by !== 'chief') throw new Pause('APPROVE')
      },
    })
    const run = paused((await given.run()).run)
    const effectId = run.pending[0]?.effectId ?? ''
    await given.runtime.decide(run.executionId, { effectId, decision: 'approve', ...by })
    const again = paused((await given.resume(run.executionId)).run)
    expect(again.pending).toMatchObject([{ effectId }])
    await given.runtime.decide(run.executionId, { effectId, decision: 'approve', by: 'chief', ...ALL })
    expect((await given.resume(run.executionId)).run?.text).toBe('Done.')
    expect(given.human.asked).toEqual(['m1.t1#1', 'm1.t1#2', 'm1.t1#3'])
  })

  it('all calls of the round that need a human are pending at once, and the others are asked too', async () => {
    const { tool: look, calls: looked } = notes({ code: 'look', effect: 'read' })
    const { tool, calls } = notes()
    const given = await asking(
      [reply.toolCall('write_note', { text: 'a' }).toolCall('look').toolCall('write_note', { text: 'b' }), 'Done.'],
      {
        agents: [desk([tool, look])],
        judge: ({ toolCode, decision }) => {
          if (toolCode === 'write_note' && decision === undefined) throw new Pause('APPROVE')
        },
      },
    )
    const run = paused((await given.run()).run)
    expect(run.pending.map(({ effectId }) => pathOf(effectId))).toEqual(['m1.t1', 'm1.t3'])
    expect([calls, looked, given.human.asked]).toEqual([[], [], ['m1.t1#1', 'm1.t2#1', 'm1.t3#1']])
    expect(closingLines(given.seen.afterToolCall)).toEqual([
      'm1.t1#1 not_run no',
      'm1.t2#1 not_run no',
      'm1.t3#1 not_run no',
    ])
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    // one answer is missing: paused again, and nothing has run
    const again = paused((await given.resume(run.executionId)).run)
    expect([again.pending.map(({ effectId }) => pathOf(effectId)), calls]).toEqual([['m1.t3'], []])
    await given.runtime.decide(run.executionId, {
      effectId: again.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    expect((await given.resume(run.executionId)).run?.text).toBe('Done.')
    expect([calls, looked]).toEqual([['a', 'b'], ['']])
  })

  it('a stop on another call of the round beats it: the run ends and nothing waits', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })], {
      judge: ({ args }) => {
        throw args.text === 'a' ? new Pause('APPROVE') : new Veto('NO', 'No.')
      },
    })
    const { code, error } = await given.run()
    expect([code, given.calls]).toEqual(['NO', []])
    expect(await given.store.executions.get(error?.partial?.executionId ?? '')).toMatchObject({
      status: 'failed',
      pending: [],
    })
  })

  it('in the second phase keeps the results so far: a call that ran is never run again', async () => {
    let asks = 0
    const given = await asking(
      [reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' }), 'Done.'],
      {
        judge: ({ args, decision }) => {
          // the second call passes at first, and is asked again because the first one has written since
          if (args.text === 'b' && ++asks === 2 && decision === undefined) throw new Pause('APPROVE')
        },
      },
    )
    const run = paused((await given.run()).run)
    expect([given.calls, run.pending.map(({ effectId }) => pathOf(effectId))]).toEqual([['a'], ['m1.t2']])
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    const done = (await given.resume(run.executionId)).run
    expect([done?.text, given.calls]).toEqual(['Done.', ['a', 'b']])
    expect(done?.toolCalls.map(({ status }) => status)).toEqual(['ok', 'ok'])
  })

  it('beforeExecution is asked first on a resume, under the same effect id; a stop there leaves the run paused', async () => {
    let open = true
    const asked: string[] = []
    const hours = gate(
      'beforeExecution',
      ({ effectId, attempt }) => {
        asked.push(`${pathOf(effectId)}#${attempt}`)
        if (!open) throw new Veto('OUTSIDE_HOURS', 'Come back tomorrow.')
      },
      { name: 'hours' },
    )
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'Done.'], { plugins: [hours] })
    const run = paused((await given.run()).run)
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    open = false
    expect((await given.resume(run.executionId)).code).toBe('OUTSIDE_HOURS')
    expect(await given.store.executions.get(run.executionId)).toMatchObject({ status: 'paused' })
    expect(given.calls).toEqual([])
    open = true
    expect((await given.resume(run.executionId)).run?.text).toBe('Done.')
    expect(asked).toEqual(['execution#1', 'execution#2', 'execution#3'])
    expect(given.seen.afterExecution).toHaveLength(1)
  })

  it('time spent paused counts for no limit of the run', async () => {
    const given = await asking([reply.toolCall('write_note', { text: 'a' }), 'Done.'], {
      limits: { durationMs: 1_000 },
    })
    const run = paused((await given.run()).run)
    given.clock.advance(86_400_000)
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    expect((await given.resume(run.executionId)).run?.status).toBe('completed')
  })

  it('CASE-06: an approval is for the effect that it names: the next call of the same tool asks again', async () => {
    const given = await asking([
      reply.toolCall('write_note', { text: 'a' }),
      reply.toolCall('write_note', { text: 'a' }),
    ])
    const run = paused((await given.run()).run)
    await given.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    const again = paused((await given.resume(run.executionId)).run)
    expect([given.calls, again.pending.map(({ effectId }) => pathOf(effectId))]).toEqual([['a'], ['m2.t1']])
  })
})

describe('a pause three runs deep', () => {
  const ask = (code: string, agent: string) =>
    defineTool({ code, description: 'Asks.', effect: 'read', input: z.object({}), agent })

  it('is carried on by another runtime over the same store: nothing that ran runs again, nothing is sent twice', async () => {
    const store = createMemoryStore()
    const clock = fakeClock()
    const { tool, calls } = notes()
    const { tool: look, calls: looked } = notes({ code: 'look', effect: 'read' })
    const human = approval(({ toolCode, decision }) => {
      if (toolCode === 'write_note' && decision === undefined) throw new Pause('APPROVE')
    })
    const seen = watcher()
    const agents = [
      desk([ask('ask_one', 'one'), look]),
      desk([ask('ask_two', 'two')], { code: 'one' }),
      desk([ask('ask_three', 'three')], { code: 'two' }),
      desk([tool], { code: 'three' }),
    ]
    const shared = { agents, plugins: [human.plugin, seen.plugin], store, clock }
    const here = await rig(
      [
        reply.toolCall('look').toolCall('ask_one'),
        reply.toolCall('ask_two'),
        reply.toolCall('ask_three'),
        reply.toolCall('write_note', { text: 'deep' }),
      ],
      shared,
    )
    const run = paused((await here.run({ caller: { user: 'petra.k', audience: 'authenticated' } })).run)
    expect(run.pending).toMatchObject([
      {
        agentCode: 'three',
        toolCode: 'write_note',
        effectId: `${run.executionId}/m1.t2/run/m1.t1/run/m1.t1/run/m1.t1`,
      },
    ])
    expect([calls, looked]).toEqual([[], ['']])
    await here.runtime.close()

    const there = await rig(['three', 'two', 'one', 'Done.'], { ...shared, seed: 1 })
    await there.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'approve',
      ...by,
    })
    const done = (await there.end(there.runtime.resume(run.executionId, ALL))).run
    expect([done?.text, calls, looked]).toEqual(['Done.', ['deep'], ['']])
    expect(done).toMatchObject({ executionId: run.executionId, treeUsage: { inputTokens: 80, outputTokens: 40 } })
    const rows = (await there.runtime.executions.list({ ...ALL, rootExecutionId: run.executionId })).items
    expect(rows.map(({ agentCode, status }) => `${agentCode} ${status}`).sort()).toEqual([
      'desk completed',
      'one completed',
      'three completed',
      'two completed',
    ])
    // each attempt of each effect has been closed once, over both processes
    const closed = closingLines([...seen.afterModelCall, ...seen.afterToolCall])
    expect(new Set(closed).size).toBe(closed.length)
    const names = (await there.receipts(run.executionId)).map(({ effectId, attempt }) => `${effectId}#${attempt}`)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('where a run cannot be paused through', () => {
  it('PAUSE_IN_HANDLER: below a handler of the user a pause is a veto that ends the top run', async () => {
    const { tool, calls } = notes()
    const handler = async () => (await given.runtime.execute({ agent: 'below' })).text
    const ask = defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({}), handler })
    const human = approval(({ toolCode }) => {
      if (toolCode === 'write_note') throw new Pause('APPROVE')
    })
    const seen = watcher()
    const given = await rig([reply.toolCall('ask'), reply.toolCall('write_note')], {
      agents: [desk([ask]), desk([tool], { code: 'below' })],
      plugins: [human.plugin, seen.plugin],
    })
    const { error } = await given.run()
    expect(error).toMatchObject({ code: 'PAUSE_IN_HANDLER', details: { code: 'APPROVE' }, by: { plugin: 'approval' } })
    expect([calls, stopLines(seen.onStop)]).toEqual([[], ['inspectToolInput approval vetoed PAUSE_IN_HANDLER']])
  })

  it('PAUSE_IN_HANDLER: a tool with an agent behind it, below a handler, cannot be paused through either', async () => {
    const { tool, calls } = notes()
    const delegate = defineTool({
      code: 'delegate',
      description: 'Asks.',
      effect: 'read',
      input: z.object({}),
      agent: 'bottom',
    })
    const handler = async () => (await given.runtime.execute({ agent: 'middle' })).text
    const ask = defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({}), handler })
    const human = approval(({ toolCode }) => {
      if (toolCode === 'write_note') throw new Pause('APPROVE')
    })
    const given = await rig([reply.toolCall('ask'), reply.toolCall('delegate'), reply.toolCall('write_note')], {
      agents: [desk([ask]), desk([delegate], { code: 'middle' }), desk([tool], { code: 'bottom' })],
      plugins: [human.plugin],
    })
    expect((await given.run()).code).toBe('PAUSE_IN_HANDLER')
    expect(calls).toEqual([])
  })

  it.each([
    ['as it is', (call: Promise<unknown>) => call.then(() => 'written')],
    [
      'with its failures caught',
      (call: Promise<unknown>) =>
        call.then(
          () => 'written',
          () => 'caught',
        ),
    ],
  ])('PAUSE_IN_HANDLER: in a plain call of a handler, %s', async (_how, use) => {
    const { tool, calls } = notes()
    const call = () => given.runtime.generateText({ model: 'scripted/judge', prompt: 'Write.', tools: [tool] })
    const ask = defineTool({
      code: 'ask',
      description: 'Asks.',
      effect: 'read',
      input: z.object({}),
      handler: () => use(call()),
    })
    const human = approval(({ toolCode }) => {
      if (toolCode === 'write_note') throw new Pause('APPROVE')
    })
    const given = await rig([reply.toolCall('ask'), reply.toolCall('write_note')], {
      agents: [desk([ask])],
      plugins: [human.plugin],
    })
    expect((await given.run()).code).toBe('PAUSE_IN_HANDLER')
    expect(calls).toEqual([])
  })

  it('PAUSE_IN_HANDLER: in a run behind a tool of such a call, and in a call that a gate makes', async () => {
    const { tool, calls } = notes()
    const delegate = defineTool({
      code: 'delegate',
      description: 'Asks.',
      effect: 'read',
      input: z.object({}),
      agent: 'below',
    })
    const human = approval(({ toolCode }) => {
      if (toolCode === 'write_note') throw new Pause('APPROVE')
    })
    const judge = gate(
      'beforeExecution',
      () => given.runtime.generateText({ model: 'scripted/judge', prompt: 'x', tools: [tool] }).then(() => undefined),
      { name: 'judge' },
    )
    let given = await rig([reply.toolCall('write_note')], { plugins: [human.plugin, judge] })
    expect((await given.run()).code).toBe('PAUSE_IN_HANDLER')
    const call = () => given.runtime.generateText({ model: 'scripted/judge', prompt: 'Ask.', tools: [delegate] })
    const ask = defineTool({
      code: 'ask',
      description: 'Asks.',
      effect: 'read',
      input: z.object({}),
      handler: () => call().then(() => 'x'),
    })
    given = await rig([reply.toolCall('ask'), reply.toolCall('delegate'), reply.toolCall('write_note')], {
      agents: [desk([ask]), desk([tool], { code: 'below' })],
      plugins: [human.plugin],
    })
    expect((await given.run()).code).toBe('PAUSE_IN_HANDLER')
    expect(calls).toEqual([])
  })

  it.each(['behind a tool', 'in a handler'])(
    'PAUSE_IN_HANDLER: in an agent run %s of a plain call outside any run, which leaves no pause behind',
    async (where) => {
      const { tool, calls } = notes()
      const input = z.object({})
      const go = defineTool({
        code: 'go',
        description: 'Asks.',
        effect: 'read',
        input,
        ...(where === 'behind a tool'
          ? { agent: 'below' }
          : { handler: async () => (await given.runtime.execute({ agent: 'below' })).text }),
      } as never)
      const human = approval(({ toolCode }) => {
        if (toolCode === 'write_note') throw new Pause('APPROVE')
      })
      const given = await rig([reply.toolCall('go'), reply.toolCall('write_note')], {
        agents: [desk([tool], { code: 'below' })],
        plugins: [human.plugin],
      })
      const call = given.runtime.generateText({ model: 'scripted/m', prompt: 'Go.', tools: [go] })
      await expect(call).rejects.toMatchObject({ code: 'PAUSE_IN_HANDLER', by: { plugin: 'approval' } })
      expect(calls).toEqual([])
      const rows = (await given.runtime.executions.list(ALL)).items
      expect(rows).toMatchObject([{ agentCode: 'below', status: 'failed', failureKind: 'veto', pending: [] }])
    },
  )

  it('PAUSE_STANDALONE: in a plain call outside any run', async () => {
    const { tool, calls } = notes()
    const human = approval()
    const given = await rig([reply.toolCall('write_note')], { plugins: [human.plugin] })
    const call = given.runtime.generateText({ model: 'scripted/m', prompt: 'Write.', tools: [tool] })
    await expect(call).rejects.toMatchObject({ code: 'PAUSE_STANDALONE', by: { plugin: 'approval' } })
    expect(calls).toEqual([])
  })
})

it('a gate at inspectToolInput is told which gate plugins its run is asked by, as its record names them; after a resume, those of now', async () => {
  const store = createMemoryStore()
  const { tool } = notes()
  const seen: (readonly PluginStamp[])[] = []
  const human = approval((context) => {
    seen.push(context.gatePlugins)
    expect(Object.isFrozen(context.gatePlugins) && context.gatePlugins.every(Object.isFrozen)).toBe(true)
    if (context.decision === undefined) throw new Pause('APPROVE')
  })
  const passing = (name: string) => gate('beforeToolCall', () => undefined, { name })
  const shared = { agents: [desk([tool])], store }
  const plugins = [human.plugin, passing('counts')]
  const here = await rig([reply.toolCall('write_note', { text: 'a' })], { ...shared, plugins })
  const run = paused((await here.run()).run)
  expect(seen).toEqual([(await here.runtime.executions.get(run.executionId, ALL)).plugins])
  await here.runtime.decide(run.executionId, { effectId: run.pending[0]?.effectId ?? '', decision: 'approve', ...by })
  const there = await rig([reply('Done.')], { ...shared, plugins: [...plugins, passing('newcomer')], seed: 1 })
  expect((await there.end(there.runtime.resume(run.executionId, ALL))).run?.text).toBe('Done.')
  expect(seen.map((stamps) => stamps.map(({ name }) => name))).toEqual([
    ['approval', 'counts'],
    ['approval', 'counts', 'newcomer'],
  ])
})

it('HOOKS_CHANGED: more gates than before are welcome on a resume, and are asked', async () => {
  const store = createMemoryStore()
  const { tool, calls } = notes()
  const human = approval()
  const shared = { agents: [desk([tool])], store }
  const here = await rig([reply.toolCall('write_note', { text: 'a' })], { ...shared, plugins: [human.plugin] })
  const run = paused((await here.run()).run)
  await here.runtime.decide(run.executionId, { effectId: run.pending[0]?.effectId ?? '', decision: 'approve', ...by })
  const stricter = plugin('stricter', (hooks) =>
    hooks.beforeToolCall.tap('deny', () => {
      throw new Veto('NEW_RULE', 'Since today.')
    }),
  )
  const there = await rig([], { ...shared, plugins: [human.plugin, stricter], seed: 1 })
  expect((await there.end(there.runtime.resume(run.executionId, ALL))).code).toBe('NEW_RULE')
  expect(calls).toEqual([])
})
