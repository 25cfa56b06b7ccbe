import type { ExecutionRecord, Runtime } from '@sluice/core'
import { createSessionId, definePlugin, getCaller, Refusal, Veto } from '@sluice/core'
import { hang, providerError, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, failureOf, house, noteTool, PETRA, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const

async function rowsOf(
  runtime: Runtime,
  filter: Readonly<Record<string, string>> = {},
): Promise<readonly ExecutionRecord[]> {
  return (await runtime.executions.list({ ...ALL, ...filter })).items
}

const veto = (code: string, tool: string) =>
  definePlugin({
    name: 'veto',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeToolCall.tap({ name: 'veto' }, (context) => {
        if (context.toolCode === tool) throw new Veto(code, `No ${tool}.`)
      })
    },
  })()

describe('the row of a run', () => {
  // cites: S-1, S-2, S-4, S-5, S-14, S-16, A-35, R-16, R-19
  it('S-2: has every field, while it runs and when it has ended', async () => {
    let running: ExecutionRecord | undefined
    const { tool } = noteTool({
      handler: async (_args: unknown, context: { executionId: string }) => {
        running = await runtime.executions.get(context.executionId, ALL)
        return 'written'
      },
    })
    const { runtime, clock } = await house([reply.toolCall('write_note'), reply('It is due.')], {
      agents: [desk([tool])],
      plugins: [veto('NEVER', 'other')],
      serviceUser: 'batch',
    })
    const start = clock.now()
    const run = await runtime.execute({
      agent: 'ap_desk',
      input: QUESTION,
      sessionId: 's-1',
      runContext: { clerk: 'petra.k', desk: 4 },
      caller: {
        ...PETRA,
        appId: '100',
        pageId: '7',
        appSessionId: 'as-1',
        ipAddress: '10.0.0.9',
        module: 'invoices',
        action: 'ask',
        clientIdentifier: 'c-9',
        metadata: { plan: 'gold' },
      },
    })
    const environment = {
      createdBy: 'petra.k',
      tenant: 'acme',
      audience: 'authenticated',
      appUser: 'petra.k',
      appId: '100',
      appSessionId: 'as-1',
      appPageId: '7',
      ipAddress: '10.0.0.9',
      host: 'box-1',
      osUser: 'svc',
      module: 'invoices',
      action: 'ask',
      clientIdentifier: 'c-9',
    }
    const fixed = {
      ...environment,
      envContext: { ...environment, metadata: { plan: 'gold' } },
      id: run.executionId,
      rootExecutionId: run.executionId,
      parentExecutionId: null,
      depth: 0,
      agentId: expect.any(String),
      agentCode: 'ap_desk',
      agentVersion: 1,
      agentType: 'profile',
      sessionId: 's-1',
      turnIndex: 1,
      input: QUESTION,
      followUp: null,
      currentState: null,
      iterationCount: 0,
      runContext: { clerk: 'petra.k', desk: 4 },
      labels: [],
      error: null,
      failureKind: null,
      plugins: [{ name: 'veto', version: null, optionsDigest: expect.any(String) }],
      hooksOrigin: 'explicit',
      pending: [],
      decisions: [],
      inFlight: [],
      outerExecutionId: null,
      startedAt: start,
      updatedAt: expect.any(Number),
    }
    const none = {
      inputTokens: 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 0,
      reasoningTokens: 0,
      unreportedCalls: 0,
    }
    expect(running).toEqual({
      ...fixed,
      status: 'running',
      output: null,
      toolCallsCount: 0,
      inputTokens: 0,
      outputTokens: 0,
      usage: none,
      finishReason: null,
      completedAt: null,
    })
    expect(await runtime.executions.get(run.executionId, ALL)).toEqual({
      ...fixed,
      status: 'completed',
      output: {
        final_message: 'It is due.',
        finish_reason: 'stop',
        tool_calls_count: 1,
        usage: { prompt_tokens: 20, completion_tokens: 10, reasoning_tokens: 0, total_tokens: 30 },
        model: 'model-1',
        provider: 'scripted',
        execution_id: run.executionId,
        agent_code: 'ap_desk',
        agent_version: 1,
        session_id: 's-1',
        status: 'completed',
      },
      toolCallsCount: 1,
      inputTokens: 20,
      outputTokens: 10,
      usage: { ...none, inputTokens: 20, outputTokens: 10 },
      finishReason: 'stop',
      completedAt: clock.now(),
    })
    expect(run).toMatchObject({ agentCode: 'ap_desk', agentVersion: 1, sessionId: 's-1', status: 'completed' })
  })

  // cites: S-1, S-20, S-21, S-24, S-42, T-72, O-26
  it('S-1: nested runs have rows of their own; session totals are the sum of all rows, and only the turn writes messages', async () => {
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => (await runtime.execute({ agent: 'child', input: QUESTION })).text,
    })
    const { runtime } = await house(
      [reply.toolCall('ask'), reply('child says').usage({ inputTokens: 900 }), reply('done')],
      {
        agents: [desk([ask]), desk([], { code: 'child' })],
      },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1', caller: PETRA })
    const rows = await rowsOf(runtime)
    const child = rows.find((row) => row.agentCode === 'child')
    expect(child).toMatchObject({
      parentExecutionId: run.executionId,
      rootExecutionId: run.executionId,
      depth: 1,
      turnIndex: null,
      sessionId: 's-1',
      status: 'completed',
      createdBy: 'petra.k',
      tenant: 'acme',
    })
    const header = await runtime.sessions.get('s-1', ALL)
    const sum = (key: 'inputTokens' | 'outputTokens') => rows.reduce((total, row) => total + (row[key] ?? 0), 0)
    expect([header.inputTokens, header.outputTokens, header.turnCount]).toEqual([
      sum('inputTokens'),
      sum('outputTokens'),
      1,
    ])
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    expect(new Set(log.map((row) => row.executionId))).toEqual(new Set([run.executionId]))
    expect(log.map((row) => row.role)).toEqual(['system', 'user', 'tool_call', 'tool_result', 'assistant'])
  })

  // cites: S-14, S-15, S-16, S-17, H-4, H-5, H-7, T-74
  it.each([
    ['public', { audience: 'public', appId: '9' }, null],
    ['authenticated', { audience: 'authenticated', user: 'petra.k', tenant: 'acme' }, 'petra.k'],
    ['db', undefined, 'batch'],
  ] as const)(
    'T-74: of a %s caller the environment is captured once for the whole tree',
    async (audience, caller, createdBy) => {
      let captured = 0
      const { tool: ask } = noteTool({
        code: 'ask',
        handler: async () => (await runtime.execute({ agent: 'child', input: QUESTION })).text,
      })
      const { runtime } = await house([reply.toolCall('ask'), reply('x'), reply('done')], {
        agents: [desk([ask]), desk([], { code: 'child' })],
        environment: () => ({ host: `box-${++captured}`, osUser: null }),
        ...(audience === 'db' ? { serviceUser: 'batch' } : {}),
      })
      await runtime.execute({
        agent: 'ap_desk',
        input: QUESTION,
        sessionId: 's-1',
        ...(caller === undefined ? {} : { caller }),
      })
      const rows = await rowsOf(runtime)
      expect(captured).toBe(1)
      for (const row of [...rows, await runtime.sessions.get('s-1', ALL)]) {
        expect([row.audience, row.createdBy, row.host, row.osUser, row.appUser]).toEqual([
          audience,
          createdBy,
          'box-1',
          null,
          caller !== undefined && 'user' in caller ? caller.user : null,
        ])
      }
    },
  )

  it('H-4: createdBy is the user, else the service user, else nobody', async () => {
    for (const [options, caller, expected] of [
      [{ serviceUser: 'batch' }, { user: 'petra.k' }, 'petra.k'],
      [{ serviceUser: 'batch' }, {}, 'batch'],
      [{}, {}, null],
    ] as const) {
      const { runtime } = await house([reply('x')], { agents: [desk()], ...options })
      const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, caller })
      expect((await runtime.executions.get(run.executionId, ALL)).createdBy).toBe(expected)
    }
  })
})

describe('a run that fails', () => {
  // cites: S-22, G-42, H-W4, S-W1, S-W2, B-11, X-W1
  it.each([
    [
      'a veto in the third round',
      { plugins: [veto('NOT_NOW', 'b')] },
      reply.toolCall('b'),
      'NOT_NOW',
      'veto',
      'failed',
    ],
    ['a provider that fails', {}, providerError(500), 'PROVIDER_OVERLOADED', 'provider', 'failed'],
    [
      'the bound of tool calls',
      { settings: { maxToolCalls: 2 } },
      reply.toolCall('a'),
      'MAX_TOOL_CALLS',
      'limit',
      'failed',
    ],
    ['a bound of the tree', { limits: { modelCalls: 2 } }, undefined, 'TREE_LIMIT', 'limit', 'failed'],
  ])(
    'S-22: %s: row, log, error and observer tell everything up to the stop',
    async (_name, options, last, code, kind, status) => {
      const { tool: a } = noteTool({ code: 'a' })
      const { tool: b, calls } = noteTool({ code: 'b' })
      const recorder = recordingPlugin({ points: ['afterExecution'] })
      const { plugins = [], ...rest } = options as { plugins?: [] }
      const { runtime } = await house(
        [reply('One.').toolCall('a'), reply.toolCall('a'), ...(last === undefined ? [] : [last as never])],
        { agents: [desk([a, b])], plugins: [...plugins, recorder.plugin], ...rest },
      )
      const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }))
      const { executionId, usage } = error.partial
      const row = await runtime.executions.get(executionId, ALL)
      expect([error.code, row.status, row.failureKind, row.error?.code, row.toolCallsCount, calls.length]).toEqual([
        code,
        status,
        kind,
        code,
        2,
        0,
      ])
      expect(row.completedAt).not.toBeNull()
      expect([row.usage, row.inputTokens]).toEqual([usage, code === 'NOT_NOW' || code === 'MAX_TOOL_CALLS' ? 30 : 20])
      const log = (await runtime.sessions.messages('s-1', ALL)).items
      expect(
        log
          .filter((entry) => entry.role === 'tool_result')
          .map((entry) => entry.toolStatus)
          .slice(0, 2),
      ).toEqual(['ok', 'ok'])
      expect(log.filter((entry) => entry.role === 'assistant').map((entry) => entry.content)).toEqual(['One.'])
      expect(recorder.at('afterExecution').map((entry) => entry.context)).toEqual([
        expect.objectContaining({
          executionId,
          status: 'failed',
          inputTokens: row.inputTokens,
          failure: expect.objectContaining({ kind }),
        }),
      ])
      const header = await runtime.sessions.get('s-1', ALL)
      // S-28: a failed turn is a turn
      expect([header.status, header.turnCount, header.inputTokens, header.messageCount]).toEqual([
        status,
        1,
        row.inputTokens,
        log.length,
      ])
      expect(error.partial.receipts.effects).toBeGreaterThan(3)
    },
  )

  it('S-W2: tool_call rows of the log count what ran in a failed run', async () => {
    const { tool } = noteTool()
    const { runtime } = await house([reply.toolCall('write_note').toolCall('write_note'), providerError(400)], {
      agents: [desk([tool])],
    })
    await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }))
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    expect(log.filter((row) => row.role === 'tool_result' && row.toolStatus === 'ok')).toHaveLength(2)
  })

  // cites: S-4, S-W3, S-22
  it('S-4: a call that was vetoed, not run or beyond the bound does not count; a stored 0 means that none ran', async () => {
    const { tool: a, calls } = noteTool({ code: 'a' })
    const { tool: b } = noteTool({ code: 'b' })
    const { runtime } = await house([reply.toolCall('a').toolCall('b')], {
      agents: [desk([a, b])],
      plugins: [veto('NOT_NOW', 'b')],
    })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(error.partial.toolCalls.map((call: { status: string }) => call.status)).toEqual(['not_run', 'vetoed'])
    expect([(await runtime.executions.get(error.partial.executionId, ALL)).toolCallsCount, calls.length]).toEqual([
      0, 0,
    ])
  })

  // cites: Z-3
  it('Z-3: an error that ends a run is logged once, with where it happened, however deep it was raised', async () => {
    const { tool } = noteTool({ handler: () => Promise.reject(new Error('down')) })
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => (await runtime.execute({ agent: 'child', input: QUESTION })).text,
    })
    const { runtime, logger } = await house(
      [reply.toolCall('ask'), reply.toolCall('write_note'), reply.toolCall('write_note'), reply.toolCall('a')],
      {
        agents: [desk([ask]), desk([tool], { code: 'child' })],
        plugins: [veto('NOT_NOW', 'a')],
      },
    )
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    const told = logger.matching('a run failed')
    expect(
      told.map((line) => [
        line.level,
        line.fields.code,
        line.fields.executionId,
        line.fields.agentCode,
        line.fields.kind,
      ]),
    ).toEqual([['error', error.code, error.partial.executionId, 'ap_desk', 'tool']])
    await failureOf(runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] }))
    expect(logger.matching('a call failed').map((line) => [line.level, line.fields.code])).toEqual([
      ['error', 'TOOL_FAILED'],
    ])
    // what somebody meant to happen is no error of the system
    const { tool: a } = noteTool({ code: 'a' })
    await failureOf(runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [a] }))
    expect(logger.matching('a call failed').map((line) => line.level)).toEqual(['error', 'info'])
  })

  // cites: A-44, X-W1, X-5, Z-4
  it('A-44: the error that ended the run leaves it unchanged in code and message; the row keeps a bounded copy', async () => {
    const { tool } = noteTool({ handler: () => Promise.reject(new Veto('LONG', `${'é'.repeat(3_000)}`)) })
    const { runtime } = await house([reply.toolCall('write_note')], { agents: [desk([tool])] })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect([error.code, error.message.length]).toEqual(['LONG', 2048])
    const row = await runtime.executions.get(error.partial.executionId, ALL)
    expect(row.error).toMatchObject({ name: 'Veto', code: 'LONG', message: error.message })
    const json = JSON.stringify(error)
    expect([json.includes('stack'), json.includes('partial'), JSON.parse(json).code]).toEqual([false, false, 'LONG'])
  })

  // cites: S-22, CASE-07
  it('a reply that inspectReply refused is kept in the log, and shown to nobody: not in the run, the transcript or later turns', async () => {
    const refuses = definePlugin({
      name: 'phrase',
      hookApi: 1,
      apply(hooks) {
        hooks.inspectReply.tap({ name: 'phrase' }, (context) => {
          if (context.text?.includes('secret') === true) throw new Refusal('PHRASE', 'Leave the secret out.')
          if (context.text?.includes('forbidden') === true) throw new Veto('FORBIDDEN', 'Not this.')
        })
      },
    })
    const { tool, calls } = noteTool()
    const { runtime, provider } = await house(
      [
        reply('the secret').toolCall('write_note'),
        reply('clean'),
        reply('secret one'),
        reply('secret two'),
        reply('forbidden').toolCall('write_note'),
        reply('later'),
      ],
      { agents: [desk([tool])], plugins: [refuses()] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const twice = await failureOf(runtime.execute({ agent: 'ap_desk', followUp: 'Again?', sessionId: 's-1' }))
    const vetoed = await failureOf(runtime.execute({ agent: 'ap_desk', followUp: 'Once more?', sessionId: 's-1' }))
    expect([twice.code, vetoed.code, calls]).toEqual(['REFUSED_TWICE', 'FORBIDDEN', []])
    const later = await runtime.execute({ agent: 'ap_desk', followUp: 'And now?', sessionId: 's-1' })
    const shown = [
      run.messages,
      twice.partial.messages,
      vetoed.partial.messages,
      later.messages,
      provider.requests.at(-1)?.messages,
    ]
    const transcript = (await runtime.sessions.messages('s-1', ALL)).items
    for (const text of [JSON.stringify(shown), JSON.stringify(transcript)]) {
      expect(text).not.toContain('secret')
      expect(text).not.toContain('forbidden')
      expect(text).not.toContain('write_note')
    }
    const kept = (await runtime.sessions.messages('s-1', { ...ALL, withheld: true })).items
    expect(kept.filter((row) => row.role === 'assistant').map((row) => row.content)).toEqual([
      'the secret',
      'clean',
      'secret one',
      'secret two',
      'forbidden',
      'later',
    ])
    expect(kept.map((row) => row.seq)).toEqual(kept.map((_, index) => index + 1))
  })
})

describe('sessions and their log', () => {
  // cites: S-25, S-26, S-27, S-28, S-37, S-38, S-43, S-44, S-46, T-72, A-47
  it('S-37: rows are numbered without a gap over turns, with their run, role and agent', async () => {
    const { tool } = noteTool()
    const { runtime } = await house(
      [
        reply.reasoning('Hm.').text('I look.').toolCall('write_note', { text: 'a' }),
        reply('Due.'),
        providerError(400),
        reply('Still due.'),
      ],
      { agents: [desk([tool])] },
    )
    const first = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const failed = await failureOf(runtime.execute({ agent: 'ap_desk', followUp: 'Sure?', sessionId: 's-1' }))
    const third = await runtime.execute({ agent: 'ap_desk', followUp: 'Really?', sessionId: 's-1' })
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    const shape = log.map((row) => [row.seq, row.role, row.agentCode, row.content ?? row.toolInput ?? row.toolOutput])
    expect(shape).toEqual([
      [1, 'system', null, 'You are the desk.'],
      [2, 'user', null, 'Is INV-7 due?'],
      [3, 'reasoning', 'ap_desk', 'Hm.'],
      [4, 'assistant', 'ap_desk', 'I look.'],
      [5, 'tool_call', 'ap_desk', '{"text":"a"}'],
      [6, 'tool_result', 'ap_desk', 'written'],
      [7, 'assistant', 'ap_desk', 'Due.'],
      [8, 'user', null, 'Sure?'],
      [9, 'user', null, 'Really?'],
      [10, 'assistant', 'ap_desk', 'Still due.'],
    ])
    expect(log.map((row) => [row.messageIndex, row.round])).toEqual([
      [0, 0],
      [1, 0],
      [2, 0],
      [2, 0],
      [2, 0],
      [3, 0],
      [4, 1],
      [0, 0],
      [0, 0],
      [1, 0],
    ])
    expect(log.map((row) => row.executionId)).toEqual([
      ...Array.from({ length: 7 }, () => first.executionId),
      failed.partial.executionId,
      third.executionId,
      third.executionId,
    ])
    expect((await rowsOf(runtime)).map((row) => [row.turnIndex, row.status])).toEqual([
      [3, 'completed'],
      [2, 'failed'],
      [1, 'completed'],
    ])
    const header = await runtime.sessions.get('s-1', ALL)
    expect([header.turnCount, header.messageCount, header.status]).toEqual([3, 10, 'completed'])
  })

  it('S-45: what a model sends as _ctx is in the log as it was sent, the bound context is not', async () => {
    const { tool } = noteTool()
    const { runtime } = await house([reply.toolCall('write_note', '{"_ctx":{"a":1}}'), reply('x')], {
      agents: [desk([tool])],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1', runContext: { clerk: 'petra.k' } })
    const log = JSON.stringify((await runtime.sessions.messages('s-1', ALL)).items)
    expect(log).not.toContain('petra.k')
  })

  it('A-33: without a session id each run opens a session of its own; a given one is kept as it is', async () => {
    const { runtime } = await house([reply('a'), reply('b'), reply('c')], { agents: [desk()] })
    const one = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const two = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(one.sessionId).not.toBe(two.sessionId)
    expect(one.sessionId).toMatch(/^[0-9a-f]{32}$/)
    const id = createSessionId()
    expect((await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: id })).sessionId).toBe(id)
  })

  it('S-29: read models filter, page and refuse what is not in their scope', async () => {
    const { runtime, clock } = await house(
      Array.from({ length: 5 }, () => reply('x')),
      { agents: [desk(), desk([], { code: 'other' })] },
    )
    for (const [agent, user, sessionId] of [
      ['ap_desk', 'petra.k', 's-1'],
      ['ap_desk', 'petra.k', 's-2'],
      ['other', 'petra.k', 's-3'],
      ['ap_desk', 'tom', 's-4'],
      ['ap_desk', 'petra.k', 's-1'],
    ] as const) {
      await runtime.execute({ agent, input: QUESTION, sessionId, caller: { user, tenant: 'acme' } })
      await clock.tick(1_000)
    }
    const petra = { scope: { tenant: 'acme', user: 'petra.k' } }
    const sessions = await runtime.sessions.list(petra)
    expect(sessions.items.map((header) => header.sessionId)).toEqual(['s-1', 's-3', 's-2'])
    const page = await runtime.sessions.list({ ...petra, limit: 2 })
    expect(
      (await runtime.sessions.list({ ...petra, limit: 2, after: page.next as string })).items.map(
        (header) => header.sessionId,
      ),
    ).toEqual(['s-2'])
    expect(
      (await runtime.executions.list({ ...petra, agentCode: 'ap_desk' })).items.map((row) => row.sessionId),
    ).toEqual(['s-1', 's-2', 's-1'])
    expect((await runtime.executions.list({ scope: { tenant: 'other' } })).items).toEqual([])
    const tom = (await runtime.executions.list({ ...ALL, sessionId: 's-4' })).items[0] as ExecutionRecord
    expect((await failureOf(runtime.executions.get(tom.id, petra))).code).toBe('NOT_FOUND')
    expect((await failureOf(runtime.executions.receipts(tom.id, petra))).code).toBe('NOT_FOUND')
    expect((await failureOf(runtime.sessions.get('s-4', petra))).code).toBe('SESSION_FORBIDDEN')
    expect((await failureOf(runtime.sessions.messages('s-4', petra))).message).toBe(
      (await failureOf(runtime.sessions.messages('s-9', petra))).message.replace('s-9', 's-4'),
    )
    expect((await failureOf(runtime.sessions.list({} as never))).code).toBe('MISSING_CONFIG')
    expect((await failureOf(runtime.executions.list({ ...ALL, status: 'done' as never }))).code).toBe('INVALID_STATUS')
  })

  it('runtime.as fills a scope in: that of the user, of the tenant for a job, and none for somebody who is not named', async () => {
    const { runtime } = await house([], { serviceUser: 'batch' })
    expect(runtime.as(PETRA).scope).toEqual({ tenant: 'acme', user: 'petra.k' })
    expect(runtime.as({ tenant: 'acme' }).scope).toEqual({ tenant: 'acme' })
    expect(() => runtime.as({ audience: 'public' })).toThrow(expect.objectContaining({ code: 'SCOPE_UNRESOLVED' }))
    expect(runtime.as({}).caller).toMatchObject({ user: null, createdBy: 'batch', audience: 'db' })
  })
})

describe('an owner of a session', () => {
  // cites: H-5, CASE-19
  it('SESSION_FORBIDDEN: a turn of another user, tenant or audience, and one of an unknown session, get one answer', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const { runtime, provider } = await house([reply('x'), reply('y')], {
      agents: [desk()],
      plugins: [recorder.plugin],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1', caller: PETRA })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-2', caller: { audience: 'public' } })
    recorder.clear()
    const refused = async (sessionId: string, caller: object, more: object = { input: QUESTION }) =>
      failureOf(runtime.execute({ agent: 'ap_desk', sessionId, caller, ...more } as never))
    const answers = [
      await refused('s-1', { ...PETRA, user: 'tom' }),
      await refused('s-1', { ...PETRA, tenant: 'other' }),
      await refused('s-1', { tenant: 'acme' }),
      await refused('s-1', {}, { followUp: 'And?' }),
      await refused('s-2', { audience: 'db' }),
      await refused('s-9', PETRA, { followUp: 'And?' }),
    ]
    expect(answers.map((error) => error.code)).toEqual(answers.map(() => 'SESSION_FORBIDDEN'))
    expect(answers[5].message.replace('s-9', 's-1')).toBe(answers[0].message)
    expect([recorder.entries, provider.requests.length, (await rowsOf(runtime)).length]).toEqual([[], 2, 2])
    for (const change of [
      () => runtime.sessions.setTitle('s-1', 'Mine', { scope: { tenant: 'acme', user: 'tom' } }),
      () => runtime.sessions.setFeedback('s-1', { rating: 'up' }, { scope: { tenant: 'other' } }),
    ])
      expect((await failureOf(change())).code).toBe('SESSION_FORBIDDEN')
  })

  it('a hook reads the class of the caller, frozen, from beforeExecution on', async () => {
    const seen: unknown[] = []
    const reads = definePlugin({
      name: 'reads',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeExecution.tap(
          { name: 'reads' },
          () => void seen.push([getCaller()?.audience, Object.isFrozen(getCaller())]),
        )
        hooks.afterExecution.tap({ name: 'reads' }, () => void seen.push(getCaller()?.user))
      },
    })
    const { runtime } = await house([reply('x')], { agents: [desk()], plugins: [reads()] })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, caller: PETRA })
    expect([seen, getCaller()]).toEqual([[['authenticated', true], 'petra.k'], null])
  })
})

describe('a run that was stopped from outside', () => {
  // cites: CASE-05, S-22
  it('CASE-05: an aborted run names the call that was in flight, and the session can be carried on', async () => {
    const { tool } = noteTool({ handler: () => new Promise(() => {}) })
    const { runtime, clock } = await house([reply('first'), reply.toolCall('write_note'), reply('again')], {
      agents: [desk([tool])],
    })
    const controller = new AbortController()
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const running = failureOf(
      runtime.execute({ agent: 'ap_desk', followUp: 'Write.', sessionId: 's-1', signal: controller.signal }),
    )
    await clock.tick()
    controller.abort()
    const error = await clock.settle(running)
    const row = await runtime.executions.get(error.partial.executionId, ALL)
    expect([error.code, row.status, row.failureKind, row.inFlight]).toEqual([
      'RUN_ABORTED',
      'aborted',
      'aborted',
      [`${row.id}/m1.t1`],
    ])
    expect(error.partial.toolCalls).toEqual([{ callId: 'call_1', toolCode: 'write_note', status: 'unknown' }])
    const run = await runtime.execute({ agent: 'ap_desk', followUp: 'And?', sessionId: 's-1' })
    expect(run.text).toBe('again')
  })

  it('CASE-05: one that was aborted before it began wrote, asked and sent nothing', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution', 'onStop'] })
    const { runtime } = await house([], { agents: [desk()], plugins: [recorder.plugin] })
    const error = await failureOf(
      runtime.execute({ agent: 'ap_desk', input: QUESTION, signal: AbortSignal.abort(new Error('gone')) }),
    )
    expect([error.code, error.cause?.message, recorder.entries, (await rowsOf(runtime)).length]).toEqual([
      'RUN_ABORTED',
      'gone',
      [],
      0,
    ])
  })

  it('listeners on a long-lived signal are what they were after every ending', async () => {
    const { runtime, clock } = await house([reply('x'), providerError(400), hang()], {
      agents: [desk()],
      limits: { durationMs: 5_000 },
    })
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = ((...args: Parameters<typeof add>) => {
      listeners += 1
      add(...args)
    }) as never
    signal.removeEventListener = ((...args: Parameters<typeof remove>) => {
      listeners -= 1
      remove(...args)
    }) as never
    const go = () => runtime.execute({ agent: 'ap_desk', input: QUESTION, signal })
    await go()
    await failureOf(go())
    await clock.settle(failureOf(go()))
    expect(listeners).toBe(0)
  })
})
