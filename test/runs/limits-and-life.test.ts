import type { Engine, Runtime } from '@sluice/core'
import {
  createMemoryStore,
  createRuntime,
  definePlugin,
  getCaller,
  inlineEngine,
  Pause,
  SluiceError,
} from '@sluice/core'
import {
  capturedLogger,
  fakeClock,
  fakeIds,
  hang,
  latch,
  providerError,
  recordingPlugin,
  repeat,
  reply,
} from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, failureOf, house, noteTool, PETRA, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const ASK = { agent: 'ap_desk', input: QUESTION } as const
const row = (runtime: Runtime, id: string) => runtime.executions.get(id, ALL)

const approval = () =>
  definePlugin({
    name: 'approval',
    hookApi: 1,
    apply(hooks) {
      hooks.inspectToolInput.tap({ name: 'approval' }, (context) => {
        if (context.tool.agent === null && context.decision === undefined) throw new Pause('APPROVE')
      })
    },
  })()

describe('bounds of the tree', () => {
  // cites: CASE-25, B-W2
  it.each([
    ['modelCalls', { modelCalls: 2 }, 2, 2],
    ['toolCalls', { toolCalls: 1 }, 2, 1],
    ['tokens', { tokens: 20 }, 2, 2],
  ])('%s: exactly so many, then TREE_LIMIT names it, in plain calls too', async (limit, limits, requests, tools) => {
    for (const plain of [false, true]) {
      const { tool, calls } = noteTool()
      const recorder = recordingPlugin({ points: ['onStop'] })
      const { runtime, provider } = await house([repeat(reply.toolCall('write_note'))], {
        agents: [desk([tool])],
        limits,
        plugins: [recorder.plugin],
      })
      const error = await failureOf(
        plain ? runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] }) : runtime.execute(ASK),
      )
      expect([error.code, error.details.limit, error.details.bound]).toEqual([
        'TREE_LIMIT',
        limit,
        Object.values(limits)[0],
      ])
      expect([provider.requests.length, calls.length]).toEqual([requests, tools])
      expect(recorder.at('onStop').map((entry) => (entry.context as any).answer)).toEqual(['limit'])
      if (!plain) expect((await row(runtime, error.partial.executionId)).failureKind).toBe('limit')
    }
  })

  it.each(['modelCalls', 'toolCalls', 'tokens', 'runsInFlight'] as const)('%s 0 blocks everything', async (limit) => {
    const { tool, calls } = noteTool()
    const { runtime, provider } = await house(limit === 'toolCalls' ? [reply.toolCall('write_note')] : [], {
      agents: [desk([tool])],
      limits: { [limit]: 0 },
    })
    const error = await failureOf(runtime.execute(ASK))
    expect([error.code, calls.length, provider.requests.length]).toEqual([
      limit === 'runsInFlight' ? 'BUSY' : 'TREE_LIMIT',
      0,
      limit === 'toolCalls' ? 1 : 0,
    ])
  })

  it('they are shared by the whole tree: what nested runs and plain calls inside spend counts', async () => {
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => {
        await runtime.generateText({ model: 'scripted/m', prompt: 'x' })
        return (await runtime.execute({ agent: 'child', input: QUESTION })).text
      },
    })
    const { runtime, provider } = await house([reply.toolCall('ask'), reply('a'), reply('b')], {
      agents: [desk([ask]), desk([], { code: 'child' })],
      limits: { modelCalls: 3 },
    })
    const error = await failureOf(runtime.execute(ASK))
    expect([error.code, provider.requests.length]).toEqual(['TREE_LIMIT', 3])
  })

  it('a run can lower them and never raise them; unknown ones and unfit values are refused, all at once', async () => {
    const { runtime, provider } = await house([reply.toolCall('x'), repeat(reply.toolCall('x'))], {
      agents: [desk()],
      limits: { modelCalls: 3 },
    })
    expect((await failureOf(runtime.execute({ ...ASK, limits: { modelCalls: 1 } }))).details.bound).toBe(1)
    expect((await failureOf(runtime.execute({ ...ASK, limits: { modelCalls: 50, levels: 99 } }))).details.bound).toBe(3)
    expect(provider.requests.length).toBe(4)
    const refused = await failureOf(
      runtime.execute({
        ...ASK,
        limits: { modelcalls: 1, toolCalls: -1, tokens: 0.5, durationMs: Number.POSITIVE_INFINITY } as never,
      }),
    )
    expect([refused.code, refused.reason]).toEqual(['INVALID_CONFIG', 'execute.limits'])
    expect(refused.details.faults.map((fault: string) => fault.split(':')[0])).toEqual([
      'limits.modelcalls',
      'limits.toolCalls',
      'limits.tokens',
      'limits.durationMs',
    ])
  })

  it('durationMs ends the run with status timeout, whatever a handler does, and time spent paused does not count', async () => {
    const { tool } = noteTool({ handler: () => new Promise(() => {}) })
    const { runtime, clock } = await house([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      limits: { durationMs: 10_000 },
    })
    const start = clock.monotonic()
    const error = await clock.settle(failureOf(runtime.execute(ASK)))
    expect([error.code, error.details.limit, clock.monotonic() - start]).toEqual(['TREE_LIMIT', 'durationMs', 15_000])
    expect(await row(runtime, error.partial.executionId)).toMatchObject({ status: 'timeout', failureKind: 'timeout' })

    const { tool: note } = noteTool()
    const waits = await house([reply.toolCall('write_note'), reply('done')], {
      agents: [desk([note])],
      limits: { durationMs: 10_000 },
      plugins: [approval()],
    })
    const paused = await waits.runtime.execute(ASK)
    await waits.clock.tick(3_600_000)
    await waits.runtime.decide(paused.executionId, {
      effectId: paused.pending[0]?.effectId as string,
      decision: 'approve',
      by: 'tom',
      ...ALL,
    })
    expect((await waits.clock.settle(waits.runtime.resume(paused.executionId, ALL))).status).toBe('completed')
  })

  // cites: A-43, A-W7
  it('A-43: timeoutSeconds of the agent ends the run with status timeout; the handler gets the signal', async () => {
    let aborted = false
    const { tool } = noteTool({
      handler: (_args: unknown, tool: { signal: AbortSignal }) =>
        new Promise((_, reject) => {
          tool.signal.addEventListener('abort', () => {
            aborted = true
            reject(tool.signal.reason)
          })
        }),
    })
    const { runtime, clock } = await house([reply.toolCall('write_note')], {
      agents: [desk([tool], { timeoutSeconds: 2.5 })],
    })
    const start = clock.monotonic()
    const error = await clock.settle(failureOf(runtime.execute(ASK)))
    expect([error.code, error.details, clock.monotonic() - start, aborted]).toEqual([
      'RUN_TIMEOUT',
      { agentCode: 'ap_desk', timeoutSeconds: 2.5 },
      2_500,
      true,
    ])
    expect(await row(runtime, error.partial.executionId)).toMatchObject({
      status: 'timeout',
      failureKind: 'timeout',
      inFlight: [],
    })
    expect(clock.timers).toBe(0)
  })

  it('timeoutMs of a tool: the signal fires, the call is a failure whose effect is not known, and the policy decides', async () => {
    const { tool } = noteTool({ timeoutMs: 500, handler: () => new Promise(() => {}) })
    const recorder = recordingPlugin({ points: ['afterToolCall'] })
    const { runtime, clock } = await house(
      [reply.toolCall('write_note'), reply('sorry'), reply.toolCall('write_note')],
      {
        agents: [desk([tool]), desk([tool], { code: 'strict', settings: { onToolError: 'throw' } })],
        plugins: [recorder.plugin],
        settings: { onToolError: 'return' },
      },
    )
    const run = await clock.settle(runtime.execute(ASK))
    expect([run.text, run.toolCalls[0]?.status]).toEqual(['sorry', 'error'])
    expect(recorder.at('afterToolCall')[0]?.context).toMatchObject({
      outcome: 'unknown',
      sent: 'yes',
      error: { code: 'TOOL_TIMEOUT' },
    })
    const error = await clock.settle(failureOf(runtime.execute({ ...ASK, agent: 'strict' })))
    expect([error.code, error.details]).toEqual(['TOOL_TIMEOUT', { toolCode: 'write_note', timeoutMs: 500 }])
    expect((await row(runtime, error.partial.executionId)).failureKind).toBe('tool')
  })

  it('no timer is left when a run has ended, in every way of ending', async () => {
    const { tool } = noteTool({ timeoutMs: 1_000 })
    const { runtime, clock } = await house(
      [reply.toolCall('write_note'), reply('x'), providerError(400), reply.toolCall('nothing'), reply('y')],
      {
        agents: [desk([tool], { timeoutSeconds: 9 })],
      },
    )
    await runtime.execute(ASK)
    await failureOf(runtime.execute(ASK))
    await runtime.generateText({ model: 'scripted/m', prompt: 'x' })
    expect(clock.timers).toBe(0)
  })
})

describe('cancel', () => {
  it('ends a run in flight as aborted, by the id of any of its runs, with the reason in its error', async () => {
    const gate = latch()
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => (await runtime.execute({ agent: 'child', input: QUESTION })).text,
    })
    const { runtime, clock } = await house(
      (request) => {
        if (request.messages[0]?.content !== 'child') return reply.toolCall('ask')
        void gate.wait()
        return hang()
      },
      { agents: [desk([ask]), desk([], { code: 'child', system: 'child' })] },
    )
    for (const which of ['top', 'nested'] as const) {
      const running = failureOf(runtime.execute({ ...ASK, caller: PETRA, sessionId: `s-${which}` }))
      await clock.tick()
      const rows = (await runtime.executions.list({ ...ALL, sessionId: `s-${which}` })).items
      const target = rows.find((one) => (which === 'top' ? one.depth === 0 : one.depth === 1))
      const other = await failureOf(runtime.cancel(target?.id as string, { scope: { tenant: 'other' } }))
      expect(other.code).toBe('NOT_FOUND')
      expect(await runtime.cancel(target?.id as string, { scope: { tenant: 'acme' }, reason: 'not\nneeded' })).toBe(
        true,
      )
      const error = await clock.settle(running)
      expect([error.code, error.message]).toEqual(['RUN_ABORTED', 'The run was cancelled: not\\nneeded'])
      const ended = (await runtime.executions.list({ ...ALL, sessionId: `s-${which}` })).items
      expect(ended.map((one) => [one.status, one.failureKind])).toEqual([
        ['aborted', 'aborted'],
        ['aborted', 'aborted'],
      ])
      expect(await runtime.cancel(target?.id as string, ALL)).toBe(false)
    }
  })

  it('of a paused run: it ends at once, its session is free, its nested runs end with it, and afterExecution fires', async () => {
    const recorder = recordingPlugin({ points: ['afterExecution'] })
    const { tool } = noteTool()
    const { defineTool } = await import('@sluice/core')
    const { z } = await import('zod')
    const go = defineTool({ code: 'go', description: 'Goes.', input: z.object({}), agent: 'child' })
    const { runtime, store } = await house(
      [reply.toolCall('go').usage({ inputTokens: 70 }), reply.toolCall('write_note'), reply('next')],
      {
        agents: [desk([go]), desk([tool], { code: 'child', user: 'go' }), desk([], { code: 'other' })],
        plugins: [approval(), recorder.plugin],
      },
    )
    const paused = await runtime.execute({ ...ASK, sessionId: 's-1' })
    expect(paused.status).toBe('paused')
    expect(await runtime.cancel(paused.executionId, { ...ALL, reason: 'nobody approves' })).toBe(true)
    const rows = (await runtime.executions.list(ALL)).items
    expect(
      rows.map((one) => [
        one.agentCode,
        one.status,
        one.failureKind,
        one.error?.code,
        one.completedAt !== null,
        one.pending,
      ]),
    ).toEqual([
      ['child', 'aborted', 'aborted', 'RUN_ABORTED', true, []],
      ['ap_desk', 'aborted', 'aborted', 'RUN_ABORTED', true, []],
    ])
    expect(rows.find((one) => one.depth === 0)?.inputTokens).toBe(70)
    expect(recorder.at('afterExecution').map((entry) => entry.context)).toMatchObject([
      { status: 'failed', failure: { kind: 'aborted' }, inputTokens: 70 },
    ])
    expect(await store.journals.get(paused.executionId)).toBeUndefined()
    expect((await runtime.sessions.get('s-1', ALL)).status).toBe('aborted')
    expect((await failureOf(runtime.resume(paused.executionId, ALL))).code).toBe('NOT_PAUSED')
    expect((await runtime.execute({ ...ASK, agent: 'other', sessionId: 's-1' })).text).toBe('next')
  })

  it('of an id that does not exist is NOT_FOUND; of a run that has ended it is false', async () => {
    const { runtime } = await house([reply('x')], { agents: [desk()] })
    const run = await runtime.execute(ASK)
    expect(await runtime.cancel(run.executionId, ALL)).toBe(false)
    expect((await failureOf(runtime.cancel('nowhere', ALL))).code).toBe('NOT_FOUND')
    expect((await failureOf(runtime.cancel(run.executionId, {} as never))).code).toBe('MISSING_CONFIG')
  })
})

describe('decide and resume', () => {
  async function pausedRun(options: object = {}) {
    const { tool, calls } = noteTool()
    const given = await house([reply.toolCall('write_note', { text: 'a' }), repeat(reply('done'))], {
      agents: [desk([tool])],
      plugins: [approval()],
      ...options,
    })
    const paused = await given.runtime.execute({
      ...ASK,
      caller: { ...PETRA, host: 'client-7', metadata: { plan: 'gold' } },
      sessionId: 's-1',
      runContext: { clerk: 'petra.k' },
    })
    return { ...given, calls, paused, effectId: paused.pending[0]?.effectId as string }
  }
  const yes = (effectId: string) => ({ effectId, decision: 'approve', by: 'tom', ...ALL }) as const

  it('decide records one answer, once, by compare: a second one, a foreign id and a run that is not paused are refused by name, with who decided and when', async () => {
    const { runtime, paused, effectId } = await pausedRun()
    const acme = { scope: { tenant: 'acme' } }
    await runtime.decide(paused.executionId, { ...yes(effectId), ...acme })
    const again = await failureOf(runtime.decide(paused.executionId, { ...yes(effectId), decision: 'deny' }))
    const { decisions } = await row(runtime, paused.executionId)
    expect(decisions).toEqual([
      { effectId, toolCode: 'write_note', decision: 'approve', by: 'tom', note: null, at: expect.any(Number) },
    ])
    const at = decisions[0]?.at as number
    expect([again.code, again.details]).toEqual(['ALREADY_DECIDED', { effectId, decision: 'approve', by: 'tom', at }])
    expect(again.message).toContain(`tom approved ${effectId} at ${new Date(at).toISOString()}`)
    expect((await failureOf(runtime.decide(paused.executionId, yes(`${effectId}x`)))).code).toBe('NOT_FOUND')
    expect((await failureOf(runtime.decide('nowhere', yes(effectId)))).code).toBe('NOT_FOUND')
    expect(
      (await failureOf(runtime.decide(paused.executionId, { ...yes(effectId), scope: { tenant: 'other' } }))).code,
    ).toBe('NOT_FOUND')
    await runtime.resume(paused.executionId, acme)
    for (const late of [
      await failureOf(runtime.decide(paused.executionId, yes(effectId))),
      await failureOf(runtime.resume(paused.executionId, ALL)),
    ]) {
      expect([late.code, late.details]).toEqual([
        'NOT_PAUSED',
        {
          executionId: paused.executionId,
          status: 'completed',
          decisions: [{ effectId, toolCode: 'write_note', decision: 'approve', by: 'tom', at }],
        },
      ])
      expect(late.message).toContain(`tom approved ${effectId}`)
    }
    // who decided is kept with the run
    expect((await row(runtime, paused.executionId)).decisions).toEqual(decisions)
    expect((await failureOf(runtime.resume('nowhere', ALL))).code).toBe('NOT_FOUND')
  })

  it('options that cannot be meant are refused, all at once', async () => {
    const { runtime, paused } = await pausedRun()
    const decide = await failureOf(
      runtime.decide(paused.executionId, { decision: 'maybe', by: ' ', note: 7, sure: true, ...ALL } as never),
    )
    expect([decide.code, decide.details.faults.map((fault: string) => fault.split(':')[0])]).toEqual([
      'INVALID_CONFIG',
      ['sure', 'effectId', 'decision', 'by', 'note'],
    ])
    const resume = await failureOf(
      runtime.resume(paused.executionId, { ...ALL, signal: 'now', acceptHooks: 'all', session: 's-1' } as never),
    )
    expect([resume.code, resume.details.faults.map((fault: string) => fault.split(':')[0])]).toEqual([
      'INVALID_CONFIG',
      ['session', 'signal', 'acceptHooks'],
    ])
    const cancel = await failureOf(runtime.cancel(paused.executionId, { ...ALL, reason: 7, now: true } as never))
    expect([cancel.code, cancel.details.faults.length]).toEqual(['INVALID_CONFIG', 2])
    for (const bad of [undefined, null, 'all'])
      for (const call of ['decide', 'resume', 'cancel'] as const)
        expect(SluiceError.isInstance(await failureOf((runtime[call] as any)(paused.executionId, bad)))).toBe(true)
    expect((await row(runtime, paused.executionId)).status).toBe('paused')
  })

  it('a resume carries on as the stored caller, with its context and session; the run, the row and the log are those of one run', async () => {
    const seen: unknown[] = []
    const reads = definePlugin({
      name: 'reads',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeModelCall.tap({ name: 'reads' }, () => void seen.push(getCaller()))
      },
    })
    const { runtime, paused, effectId, calls } = await pausedRun({ plugins: [approval(), reads()] })
    await runtime.decide(paused.executionId, yes(effectId))
    const run = await runtime.resume(paused.executionId, ALL)
    expect([run.status, run.text, run.executionId, calls]).toEqual([
      'completed',
      'done',
      paused.executionId,
      [{ text: 'a' }],
    ])
    expect(seen[1]).toEqual(seen[0])
    expect(seen[0]).toMatchObject({ user: 'petra.k', host: 'client-7', metadata: { plan: 'gold' } })
    const stored = await row(runtime, run.executionId)
    expect(stored).toMatchObject({ status: 'completed', turnIndex: 1, toolCallsCount: 1, inputTokens: 20, pending: [] })
    expect(run.usage.inputTokens).toBe(20)
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    expect(log.map((entry) => [entry.seq, entry.role])).toEqual([
      [1, 'system'],
      [2, 'user'],
      [3, 'tool_call'],
      [4, 'tool_result'],
      [5, 'assistant'],
    ])
    const header = await runtime.sessions.get('s-1', ALL)
    expect([header.turnCount, header.status, header.inputTokens, header.pausedExecutionId]).toEqual([
      1,
      'completed',
      20,
      null,
    ])
    expect((await row(runtime, run.executionId)).status).toBe('completed')
  })

  it('two resumes at once: one carries on, the other is refused by name', async () => {
    const { runtime, paused, effectId, calls } = await pausedRun()
    await runtime.decide(paused.executionId, yes(effectId))
    const both = await Promise.allSettled([
      runtime.resume(paused.executionId, ALL),
      runtime.resume(paused.executionId, ALL),
    ])
    expect(both.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code)).sort()).toEqual(
      ['completed', expect.stringMatching(/NOT_PAUSED|SESSION_BUSY/)].sort(),
    )
    expect(calls).toHaveLength(1)
  })

  it('JOURNAL_MISMATCH: another tool, another version or a lost journal stops the resume, runs nothing, and leaves it paused', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const { paused, effectId, runtime } = await pausedRun({ store, clock })
    await runtime.decide(paused.executionId, yes(effectId))
    const { tool: changed, calls } = noteTool({ description: 'Writes another note.' })
    const other = await house([], { agents: [desk([changed])], plugins: [approval()], store, clock, seed: 5 })
    const refused = await failureOf(other.runtime.resume(paused.executionId, ALL))
    expect([refused.code, calls.length, (await row(runtime, paused.executionId)).status]).toEqual([
      'JOURNAL_MISMATCH',
      0,
      'paused',
    ])
    const journal = await store.journals.get(paused.executionId)
    await store.journals.delete(paused.executionId)
    expect((await failureOf(runtime.resume(paused.executionId, ALL))).code).toBe('JOURNAL_MISMATCH')
    await store.journals.put(paused.executionId, { ...journal, journal: { version: 9, entries: [] } } as never)
    expect((await failureOf(runtime.resume(paused.executionId, ALL))).code).toBe('JOURNAL_MISMATCH')
    expect((await row(runtime, paused.executionId)).status).toBe('paused')
  })

  it('HOOKS_CHANGED: a gate that is missing or changed is refused, unless an operator accepts it by name, which is recorded', async () => {
    const { runtime, paused, effectId } = await pausedRun()
    await runtime.decide(paused.executionId, yes(effectId))
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    await runtime.setHooks([recorder.plugin])
    const refused = await failureOf(runtime.resume(paused.executionId, ALL))
    expect([refused.code, refused.details.changes]).toEqual([
      'HOOKS_CHANGED',
      [{ name: 'approval', what: 'is missing' }],
    ])
    const run = await runtime.resume(paused.executionId, { ...ALL, acceptHooks: ['approval'] })
    expect(run.status).toBe('completed')
    expect((await row(runtime, run.executionId)).plugins.map((plugin) => plugin.name)).toEqual(['recording-plugin'])
  })

  it('a resume can be aborted, and the run then ends as aborted', async () => {
    const { tool } = noteTool({ handler: () => new Promise(() => {}) })
    const { runtime, clock } = await house([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [approval()],
    })
    const paused = await runtime.execute(ASK)
    await runtime.decide(paused.executionId, yes(paused.pending[0]?.effectId as string))
    const controller = new AbortController()
    const resuming = failureOf(runtime.resume(paused.executionId, { ...ALL, signal: controller.signal }))
    await clock.tick()
    controller.abort()
    const error = await clock.settle(resuming)
    expect([error.code, (await row(runtime, paused.executionId)).status]).toEqual(['RUN_ABORTED', 'aborted'])
  })
})

describe('what another process left behind', () => {
  // cites: S-W8
  it('S-W8: a run whose owner is gone is found when the runtime starts, marked crashed, and gets its afterExecution once', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => (await first.runtime.execute({ agent: 'child', input: QUESTION })).text,
    })
    const first = await house([reply('earlier'), reply.toolCall('ask'), hang()], {
      agents: [desk([ask]), desk([], { code: 'child' })],
      store,
      clock,
    })
    await first.runtime.execute({ ...ASK, sessionId: 's-1', caller: PETRA })
    void failureOf(first.runtime.execute({ agent: 'ap_desk', followUp: 'Go on.', sessionId: 's-1', caller: PETRA }))
    await clock.tick()
    const running = (await first.runtime.executions.list({ ...ALL, status: 'running' })).items
    expect(running.map((one) => one.agentCode)).toEqual(['child', 'ap_desk'])
    // the store as the next process opens it: the rows are there, their owner is not
    const left = createMemoryStore({ clock })
    const copied = { ...left, ...store, orphans: async () => running, close: left.close }
    const recorder = recordingPlugin({ points: ['afterExecution', 'beforeExecution'] })
    const next = await house([], {
      agents: [desk([ask]), desk([], { code: 'child' })],
      store: copied,
      clock,
      seed: 6,
      plugins: [recorder.plugin],
    })
    const rows = (await next.runtime.executions.list({ ...ALL, sessionId: 's-1' })).items.slice(0, 2)
    expect(rows.map((one) => [one.agentCode, one.status, one.failureKind, one.error?.code])).toEqual([
      ['child', 'failed', 'crashed', 'RUN_CRASHED'],
      ['ap_desk', 'failed', 'crashed', 'RUN_CRASHED'],
    ])
    // what it had spent is not known, which is not zero
    expect(rows.map((one) => [one.inputTokens, one.usage.unreportedCalls])).toEqual([
      [null, 1],
      [null, 1],
    ])
    expect(recorder.entries.map((entry) => entry.context)).toMatchObject([
      {
        executionId: rows[1]?.id,
        status: 'failed',
        recovered: true,
        createdBy: 'petra.k',
        failure: { kind: 'crashed' },
      },
    ])
    expect((await next.runtime.sessions.get('s-1', ALL)).status).toBe('failed')
  })

  it('a crashed row that cannot be marked is logged, and the runtime starts', async () => {
    const store = createMemoryStore()
    const broken = { ...store, orphans: async () => [{ id: 'gone', rootExecutionId: 'gone', audience: 'db' } as never] }
    const { logger, runtime } = await house([reply('x')], { store: broken, agents: [desk()] })
    expect(logger.matching('could not be marked')[0]?.fields).toMatchObject({ executionId: 'gone' })
    expect((await runtime.execute(ASK)).text).toBe('x')
  })
})

describe('a store that fails', () => {
  const failing = (
    room: string,
    method: string,
    how: () => unknown = () => Promise.reject(new SluiceError('STORE_FAILED', 'The disk is gone.')),
  ) => {
    const store = createMemoryStore()
    let broken = false
    const wrapped = {
      ...store,
      [room]: {
        ...(store as any)[room],
        [method]: (...args: unknown[]) => (broken ? how() : (store as any)[room][method](...args)),
      },
    }
    return { store: wrapped as typeof store, inner: store, breakIt: (on = true) => void (broken = on) }
  }

  // cites: S-7
  it.each([
    ['executions', 'insert'],
    ['sessions', 'update'],
  ])('S-7: where %s.%s fails at the start, nothing is sent, and no half record is left', async (room, method) => {
    const { store, inner, breakIt } = failing(room, method)
    const recorder = recordingPlugin({ points: ['beforeExecution', 'onStop', 'afterExecution'] })
    const { runtime, provider } = await house([], { store, agents: [desk()], plugins: [recorder.plugin] })
    breakIt()
    const error = await failureOf(runtime.execute({ ...ASK, sessionId: 's-1' }))
    expect([error.code, provider.requests.length]).toEqual(['STORE_FAILED', 0])
    expect(recorder.lines).toEqual(['beforeExecution', 'onStop STORE_FAILED'])
    breakIt(false)
    const rows = (await inner.executions.list()).items
    const header = await inner.sessions.get('s-1')
    expect(
      rows.every((one) => one.status === 'failed' && one.failureKind === 'store' && one.error?.code === 'STORE_FAILED'),
    ).toBe(true)
    expect(header === undefined || header.status === 'failed').toBe(true)
  })

  it('S-7: where the row cannot be finalised, the run has its result all the same, and it is logged', async () => {
    const { store, breakIt } = failing('executions', 'update')
    const { runtime, logger } = await house([() => (breakIt(), reply('Due.'))], { store, agents: [desk()] })
    expect((await runtime.execute(ASK)).text).toBe('Due.')
    expect(logger.matching('could not be written').length).toBeGreaterThan(0)
  })

  it('S-7: where the log cannot be written, the run fails by name, and its messages are written as soon as it can be', async () => {
    let left = 1
    const { store, breakIt, inner } = failing('messages', 'append', () => {
      if (--left === 0) breakIt(false)
      return Promise.reject(new SluiceError('STORE_FAILED', 'The disk is gone.'))
    })
    const { tool } = noteTool()
    const { runtime } = await house([() => (breakIt(), reply.toolCall('write_note'))], {
      store,
      agents: [desk([tool])],
    })
    const error = await failureOf(runtime.execute({ ...ASK, sessionId: 's-1' }))
    expect(error.code).toBe('STORE_FAILED')
    expect((await row(runtime, error.partial.executionId)).failureKind).toBe('store')
    expect((await inner.messages.list('s-1')).map((one) => one.role)).toEqual([
      'system',
      'user',
      'tool_call',
      'tool_result',
    ])
    expect((await inner.receipts.list(error.partial.executionId)).length).toBe(3)
  })

  it('a tool error that cannot be stored is in the log, and the run goes on under its reference', async () => {
    const { store, breakIt } = failing('toolErrors', 'insert')
    breakIt()
    const { tool } = noteTool({ handler: () => Promise.reject(new Error('ORA-1')) })
    const { runtime, logger } = await house([reply.toolCall('write_note'), reply('sorry')], {
      store,
      agents: [desk([tool])],
      settings: { onToolError: 'return' },
    })
    const run = await runtime.execute(ASK)
    expect(logger.matching('could not be written to the error log')[0]?.fields).toMatchObject({
      reference: run.toolCalls[0]?.errorReference,
      error: 'ORA-1',
    })
  })

  it('a pause that cannot be stored fails the run: nobody waits for what nobody can resume', async () => {
    const { store, breakIt } = failing('journals', 'put')
    breakIt()
    const { tool, calls } = noteTool()
    const { runtime } = await house([reply.toolCall('write_note')], {
      store,
      agents: [desk([tool])],
      plugins: [approval()],
    })
    const error = await failureOf(runtime.execute({ ...ASK, sessionId: 's-1' }))
    expect([error.code, calls.length]).toEqual(['STORE_FAILED', 0])
    expect(await row(runtime, error.partial.executionId)).toMatchObject({
      status: 'failed',
      failureKind: 'store',
      pending: [],
    })
    expect((await runtime.sessions.get('s-1', ALL)).pausedExecutionId).toBeNull()
  })
})

describe('options of the runtime', () => {
  it('RESOURCES_NOT_DURABLE: a durable engine refuses live resources; a factory makes them for each run', async () => {
    const engine: Engine = { ...inlineEngine(), id: 'durable', durable: true }
    const made: number[] = []
    const { tool } = noteTool({
      handler: (_args: unknown, tool: { resources: { n: number } }) => `n=${tool.resources.n}`,
    })
    const { runtime } = await house(
      [repeat((request) => (request.messages.at(-1)?.role === 'tool' ? reply('done') : reply.toolCall('write_note')))],
      {
        agents: [desk([tool])],
        engine,
        resources: () => ({ n: made.push(1) }),
      },
    )
    expect((await failureOf(runtime.execute({ ...ASK, resources: { n: 9 } }))).code).toBe('RESOURCES_NOT_DURABLE')
    for (const n of [1, 2]) {
      const run = await runtime.execute(ASK)
      expect(run.messages.find((message) => message.role === 'tool')?.content[0]).toMatchObject({ result: `n=${n}` })
    }
  })

  // cites: Z-1, Z-8
  it('createRuntime tells all faults of its options at once', async () => {
    const { tool } = noteTool()
    const refused = await failureOf(
      createRuntime({
        plugin: [],
        plugins: [],
        store: createMemoryStore(),
        providers: ['openai', {}],
        tools: [tool, tool, 'x'],
        limits: { modelCalls: '5', cost: 3 },
        timeouts: { hookTimeoutMs: 0 },
        settings: { onToolError: 'ignore', fallback: ['gone/model'], retry: { tries: 3 } },
        serviceUser: '',
        root: 7,
        resources: {},
      } as never),
    )
    expect([refused.code, refused.reason]).toEqual(['INVALID_CONFIG', 'runtime.options'])
    expect(refused.details.faults.map((fault: string) => fault.split(':')[0])).toEqual([
      'plugin',
      'limits.modelCalls',
      'limits.cost',
      'timeouts.hookTimeoutMs',
      'settings.onToolError',
      'settings.retry',
      'providers.0',
      'providers.1',
      'tools.1',
      'tools.2',
      'serviceUser',
      'root',
      'resources',
      'settings.fallback',
    ])
  })

  it.each([undefined, null, 7, 'x', []])('createRuntime(%o) is refused by name', async (given) => {
    expect((await failureOf(createRuntime(given as never))).code).toBe('INVALID_CONFIG')
  })

  it('parts that are not what they say are refused: store, engine, clock, ids, logger, environment, agent types', async () => {
    const base = {
      plugins: [],
      store: createMemoryStore(),
      clock: fakeClock(),
      ids: fakeIds(),
      logger: capturedLogger(),
    }
    const refused = await failureOf(
      createRuntime({
        ...base,
        store: {},
        engine: 'inline',
        clock: {},
        ids: 7,
        logger: null,
        environment: {},
        agentTypes: [{}],
        agents: 'x',
        prompts: {},
      } as never),
    )
    expect(refused.code).toBe('INVALID_CONFIG')
    expect(refused.details.faults.map((fault: string) => fault.split(':')[0]).sort()).toEqual(
      ['agentTypes.0', 'agents', 'clock', 'engine', 'environment', 'ids', 'logger', 'prompts', 'store'].sort(),
    )
  })
})
