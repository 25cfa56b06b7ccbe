import type { LoopSettings } from '@sluice/core'
import { refuse, Refusal, runInTransaction, SluiceError, Veto, withErrorReference } from '@sluice/core'
import type { EmulatedProtocol } from '@sluice/testkit'
import { PROVIDER_ROWS, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const PROTOCOLS = Object.keys(PROVIDER_ROWS) as EmulatedProtocol[]
const SECRET = 'ORA-00942: table AP.SECRET_TOTALS at line 17'
const REFERENCE = /^ERR-\d{17}(-\d+)?$/

/** Ways of failing that a handler has, and what the true error reads like. */
const FAILING: Readonly<Record<string, { handler: () => unknown; message: string }>> = {
  'throws an Error': {
    handler: () => {
      throw new Error(SECRET)
    },
    message: SECRET,
  },
  'throws a string': {
    handler: () => {
      throw SECRET
    },
    message: SECRET,
  },
  'throws undefined': {
    handler: () => {
      throw undefined
    },
    message: 'undefined',
  },
  rejects: { handler: () => Promise.reject(new Error(SECRET)), message: SECRET },
  'returns undefined': { handler: () => undefined, message: "Tool 'write_note' returned undefined." },
  'returns null': { handler: () => null, message: "Tool 'write_note' returned null." },
  'returns a Map': { handler: () => new Map(), message: "Tool 'write_note' returned an object of class Map." },
  'returns NaN': { handler: () => Number.NaN, message: "Tool 'write_note' returned NaN." },
}

async function failing(
  handler: () => unknown,
  options: { protocol?: EmulatedProtocol; settings?: Partial<LoopSettings>; ends?: boolean } = {},
) {
  const { tool, calls } = noteTool({ handler })
  const recorder = recordingPlugin({ points: ['afterToolCall', 'onEvent'] })
  const given = await house(
    [reply.toolCall('write_note', {}, { id: 'c-1' }), ...(options.ends === true ? [] : [reply('sorry')])],
    {
      agents: [desk([tool])],
      plugins: [recorder.plugin],
      ...(options.protocol === undefined ? {} : { script: { emulate: options.protocol } }),
      settings: options.settings ?? {},
    },
  )
  return {
    ...given,
    calls,
    recorder,
    go: () => given.runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }),
  }
}

describe('a tool that fails', () => {
  // cites: CASE-15, T-41, G-37, G-38, G-39, B-W4
  it.each(PROTOCOLS)(
    'G-37: by default %s decides what follows; onToolError makes all of them equal',
    async (protocol) => {
      for (const policy of ['provider', 'throw', 'return'] as const) {
        const throws = (policy === 'provider' ? PROVIDER_ROWS[protocol].defaults.onToolError : policy) === 'throw'
        const { go, provider } = await failing(FAILING.rejects?.handler as () => unknown, {
          protocol,
          settings: { onToolError: policy },
          ends: throws,
        })
        if (throws) {
          const error = await failureOf(go())
          expect([error.code, error.partial.toolCalls[0].status]).toEqual(['TOOL_FAILED', 'error'])
        } else {
          expect((await go()).text).toBe('sorry')
          const result = provider.requests[1]?.messages.at(-1)
          expect(result?.role === 'tool' && result.content[0]).toMatchObject({ toolCallId: 'c-1', status: 'error' })
        }
      }
    },
  )

  // cites: CASE-15, T-41, B-20, B-21, B-22, T-5
  it.each(Object.keys(FAILING))(
    'B-21: one that %s is told to the model by a reference, under which the true error is kept',
    async (how) => {
      const { handler, message } = FAILING[how] as { handler: () => unknown; message: string }
      const { go, runtime, provider, recorder } = await failing(handler, { settings: { onToolError: 'return' } })
      const run = await go()
      const [call] = run.toolCalls
      expect(call).toMatchObject({ status: 'error', errorReference: expect.stringMatching(REFERENCE) })
      const reference = call?.errorReference as string
      const told = provider.requests[1]?.messages.at(-1)
      const text = told?.role === 'tool' ? told.content[0]?.result : undefined
      expect(text).toBe(`The tool could not complete this request. Its error is on record under ${reference}.`)
      const kept = await runtime.executions.toolError(reference, { scope: 'all' })
      expect(kept).toMatchObject({
        reference,
        toolCode: 'write_note',
        agentCode: 'ap_desk',
        executionId: run.executionId,
      })
      expect(kept.message).toContain(message)
      // event, log and observer agree
      const rows = await runtime.sessions.messages('s-1', { scope: 'all' })
      expect(rows.items.find((row) => row.role === 'tool_result')).toMatchObject({
        toolStatus: 'error',
        errorReference: reference,
        toolOutput: text,
      })
      expect(recorder.at('onEvent').map((entry) => entry.context)).toContainEqual(
        expect.objectContaining({
          type: 'tool_result',
          data: expect.objectContaining({ status: 'error', result: text }),
        }),
      )
      expect(recorder.at('afterToolCall')[0]?.context).toMatchObject({
        outcome: 'error',
        sent: 'yes',
        errorReference: reference,
      })
    },
  )

  it('G-43: the error that leaves the run keeps the original as its cause, and names the reference', async () => {
    const original = Object.assign(new Error(SECRET), { code: 'AP_LOCKED' })
    const { go, runtime } = await failing(
      () => {
        throw original
      },
      { ends: true },
    )
    const error = await failureOf(go())
    expect([error.code, error.cause === original, error.details.applicationCode]).toEqual([
      'TOOL_FAILED',
      true,
      'AP_LOCKED',
    ])
    const kept = await runtime.executions.toolError(error.details.errorReference, { scope: 'all' })
    expect(kept.message).toBe(SECRET)
    const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
    expect([row.status, row.failureKind, row.error?.code]).toEqual(['failed', 'tool', 'TOOL_FAILED'])
  })

  it('G-43: a SluiceError of a handler keeps its code, and is a new object in every run (CASE-27)', async () => {
    const shared = new SluiceError('NOT_FOUND', 'There is no vendor V-9.', {
      reason: 'vendor',
      details: { vendor: 'V-9' },
    })
    const { runtime } = await house([reply.toolCall('write_note'), reply.toolCall('write_note')], {
      agents: [desk([noteTool({ handler: () => Promise.reject(shared) }).tool])],
    })
    const first = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    const second = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(first).toMatchObject({ code: 'NOT_FOUND', reason: 'vendor', details: { vendor: 'V-9' }, cause: shared })
    expect(first === second || first.partial.executionId === second.partial.executionId).toBe(false)
    expect(shared.partial).toBeUndefined()
  })

  it('B-20: raw texts reach the model only where they were asked for', async () => {
    const { go, provider } = await failing(FAILING.rejects?.handler as () => unknown, {
      settings: { onToolError: 'return', exposeToolErrors: true },
    })
    const run = await go()
    const told = provider.requests[1]?.messages.at(-1)
    expect(told?.role === 'tool' && told.content[0]?.result).toBe(`Error executing tool: ${SECRET}`)
    expect(run.toolCalls[0]?.errorReference).toMatch(REFERENCE)
  })

  it('B-22: withErrorReference gives the reference and lets the run go on under every policy', async () => {
    const handler = withErrorReference(() => {
      throw new Error(SECRET)
    })
    const { tool } = noteTool({ handler })
    const { runtime, provider } = await house([reply.toolCall('write_note'), reply('sorry')], {
      agents: [desk([tool])],
      settings: { onToolError: 'throw' },
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const told = provider.requests[1]?.messages.at(-1)
    expect(told?.role === 'tool' && told.content[0]?.result).not.toContain('ORA-')
    expect(
      (await runtime.executions.toolError(run.toolCalls[0]?.errorReference as string, { scope: 'all' })).message,
    ).toBe(SECRET)
  })

  it('B-21: two errors of one millisecond have two references', async () => {
    const { tool } = noteTool({ handler: () => Promise.reject(new Error(SECRET)) })
    const { runtime } = await house([reply.toolCall('write_note').toolCall('write_note'), reply('sorry')], {
      agents: [desk([tool])],
      settings: { onToolError: 'return' },
    })
    const references = (await runtime.execute({ agent: 'ap_desk', input: QUESTION })).toolCalls.map(
      (call) => call.errorReference,
    )
    expect(new Set(references).size).toBe(2)
    for (const reference of references)
      expect((await runtime.executions.toolError(reference as string, { scope: 'all' })).reference).toBe(reference)
  })

  it('a scope that does not hold the run does not see its errors', async () => {
    const { runtime, go } = await failing(() => Promise.reject(new Error(SECRET)), {
      settings: { onToolError: 'return' },
    })
    const reference = (await go()).toolCalls[0]?.errorReference as string
    const other = await failureOf(runtime.executions.toolError(reference, { scope: { tenant: 'other' } }))
    expect(other.code).toBe('NOT_FOUND')
  })

  // cites: B-13, B-14, B-15, B-16, T-75, T-4, S-6
  it('T-75: after a rollback the writes are gone; rows, log and error references are there', async () => {
    const db: string[] = []
    let sequence = 0
    const unit = {
      begin: () => ({ rows: [] as string[] }),
      commit: (tx: { rows: string[] }) => void db.push(...tx.rows),
      rollback: () => {},
    }
    const { tool } = noteTool({
      handler: (_args: unknown, tool: { resources: { tx: { rows: string[] } } }) => {
        sequence += 1
        tool.resources.tx.rows.push(`approval ${sequence}`)
        if (sequence === 2) throw new Error(SECRET)
        return `approval ${sequence}`
      },
    })
    const round = reply.toolCall('write_note')
    const { runtime } = await house([round, round, round, reply('approved')], { agents: [desk([tool])] })
    const go = (sessionId: string) =>
      runInTransaction(unit, (tx) =>
        runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId, resources: { tx } }),
      )
    const error = await failureOf(go('s-1'))
    expect(db).toEqual([])
    const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
    expect([row.status, row.toolCallsCount]).toEqual(['failed', 2])
    expect((await runtime.executions.toolError(error.details.errorReference, { scope: 'all' })).message).toBe(SECRET)
    const log = await runtime.sessions.messages('s-1', { scope: 'all' })
    expect(log.items.filter((row) => row.role === 'tool_result').map((row) => row.toolStatus)).toEqual(['ok', 'error'])
    await go('s-2')
    expect(db).toEqual(['approval 3'])
  })

  it('B-16: a rollback that fails too does not hide the error of the run', async () => {
    const failed = new Error('rollback failed')
    const unit = { begin: () => 1, commit: () => {}, rollback: () => Promise.reject(failed) }
    const error = await failureOf(runInTransaction(unit, () => Promise.reject(new Error('the run failed'))))
    expect([error.message, error.rollbackError]).toEqual(['the run failed', failed])
    const bare = await failureOf(runInTransaction(unit, () => Promise.reject('text')))
    expect(bare).toBe('text')
  })

  it('B-16: a commit that fails is told, and nothing is rolled back after it', async () => {
    const order: string[] = []
    const unit = {
      begin: () => 1,
      commit: () => {
        order.push('commit')
        throw new Error('commit failed')
      },
      rollback: () => void order.push('rollback'),
    }
    const error = await failureOf(runInTransaction(unit, () => 'done'))
    expect([error.message, order]).toEqual(['commit failed', ['commit']])
  })
})

describe('a tool that says no', () => {
  it('G-40: refuse is no failure: the model reads the text, the call is on record as refused', async () => {
    const { tool } = noteTool({ handler: () => refuse('INV-7 is locked.') })
    const recorder = recordingPlugin({ points: ['afterToolCall', 'onEvent', 'onStop'] })
    const { runtime, provider } = await house([reply.toolCall('write_note'), reply('locked')], {
      agents: [desk([tool])],
      plugins: [recorder.plugin],
      settings: { onToolError: 'throw' },
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    expect(run.toolCalls).toEqual([{ callId: 'call_1', toolCode: 'write_note', status: 'refused' }])
    const told = provider.requests[1]?.messages.at(-1)
    expect(told?.role === 'tool' && told.content[0]).toMatchObject({ result: 'INV-7 is locked.', status: 'refused' })
    const rows = await runtime.sessions.messages('s-1', { scope: 'all' })
    expect(rows.items.find((row) => row.role === 'tool_result')?.toolStatus).toBe('refused')
    expect(recorder.at('afterToolCall')[0]?.context).toMatchObject({ outcome: 'refused', sent: 'yes' })
    expect(recorder.at('onEvent').map((entry) => entry.context)).toContainEqual(
      expect.objectContaining({ type: 'tool_result', data: expect.objectContaining({ status: 'refused' }) }),
    )
    expect(recorder.at('onStop')).toEqual([])
  })

  it('G-44: a handler that throws a Veto ends the run, under every policy', async () => {
    for (const onToolError of ['throw', 'return', 'provider'] as const) {
      const { tool } = noteTool({
        handler: () => {
          throw new Veto('LEDGER_CLOSED', 'The ledger is closed.', { period: '2026-01' })
        },
      })
      const { tool: other, calls } = noteTool({ code: 'other' })
      const { runtime } = await house([reply.toolCall('write_note').toolCall('other')], {
        agents: [desk([tool, other])],
        settings: { onToolError },
        script: { emulate: 'google-generate-content' },
      })
      const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
      expect([Veto.isInstance(error, 'LEDGER_CLOSED'), error.by, error.details]).toEqual([
        true,
        { plugin: 'tool:write_note', point: 'handler' },
        { period: '2026-01' },
      ])
      expect(calls).toEqual([])
      const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
      expect([row.status, row.failureKind, row.error?.code]).toEqual(['failed', 'veto', 'LEDGER_CLOSED'])
    }
  })

  it('G-29: data is given as JSON, text as it is, and a Refusal that a handler throws counts as a refusal', async () => {
    const answers: (() => unknown)[] = [
      () => ({ invoice: 'INV-7', open: true }),
      () => 'plain "text"',
      () => 0,
      () => false,
      () => '',
      () => [1, 'two'],
      () => {
        throw new Refusal('NO', 'Not this one.')
      },
    ]
    let next = 0
    const { tool } = noteTool({ handler: () => (answers[next++] as () => unknown)() })
    const round = answers.reduce((made: ReturnType<typeof reply>) => made.toolCall('write_note'), reply.empty())
    const { runtime } = await house([round, reply('done')], { agents: [desk([tool])] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const results = run.messages.find((message) => message.role === 'tool')?.content ?? []
    expect(results.map((part: any) => [part.result, part.status])).toEqual([
      ['{"invoice":"INV-7","open":true}', 'ok'],
      ['plain "text"', 'ok'],
      ['0', 'ok'],
      ['false', 'ok'],
      ['', 'ok'],
      ['[1,"two"]', 'ok'],
      ['Not this one.', 'refused'],
    ])
  })

  it('CASE-15: a very large result is cut, and the cut is marked', async () => {
    const { tool } = noteTool({ handler: () => 'é'.repeat(200_000) })
    const { runtime } = await house([reply.toolCall('write_note'), reply('done')], { agents: [desk([tool])] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const result = (run.messages.find((message) => message.role === 'tool')?.content[0] as { result: string }).result
    expect(Buffer.byteLength(result)).toBeLessThanOrEqual(262_144)
    expect(Buffer.byteLength(result)).toBeGreaterThan(262_000)
    expect(result.endsWith('\n[cut: the result is longer than 262144 bytes]')).toBe(true)
    expect(result).not.toContain('\ufffd')
  })

  it('limits.toolResultBytes sets where it is cut', async () => {
    const { tool } = noteTool({ handler: () => 'x'.repeat(500) })
    const { runtime } = await house([reply.toolCall('write_note'), reply('done')], {
      agents: [desk([tool])],
      limits: { toolResultBytes: 100 },
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(Buffer.byteLength((run.messages.find((message) => message.role === 'tool')?.content[0] as any).result)).toBe(
      100,
    )
  })
})

describe('authorize of a tool', () => {
  const guarded = (authorize: (args: any, tool: any) => unknown) => noteTool({ authorize })

  it('G-W8: one that settles with undefined lets the call through, with the validated arguments and the context', async () => {
    const seen: unknown[] = []
    const { tool, calls } = guarded(
      (args, context) => void seen.push([args, context.runContext.clerk, context.toolCode]),
    )
    const { runtime } = await house([reply.toolCall('write_note', { text: 'a', extra: 1 }), reply('done')], {
      agents: [desk([tool])],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, runContext: { clerk: 'petra.k' } })
    expect(seen).toEqual([[{ text: 'a' }, 'petra.k', 'write_note']])
    expect(calls).toEqual([{ text: 'a' }])
  })

  it('G-W8: one that throws a Refusal tells the model why, and the other calls of the round run', async () => {
    const { tool, calls } = guarded(() => {
      throw new Refusal('NOT_YOURS', 'This invoice is not yours.')
    })
    const { tool: other, calls: ran } = noteTool({ code: 'other' })
    const recorder = recordingPlugin({ points: ['beforeToolCall', 'onStop'] })
    const { runtime } = await house([reply.toolCall('write_note').toolCall('other'), reply('done')], {
      agents: [desk([tool, other])],
      plugins: [recorder.plugin],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([calls.length, ran.length]).toEqual([0, 1])
    expect(run.toolCalls.map((call) => call.status)).toEqual(['refused', 'ok'])
    // the gate stands behind authorize
    expect(recorder.lines).toEqual(['onStop NOT_YOURS', 'beforeToolCall other'])
    const receipts = await runtime.executions.receipts(run.executionId, { scope: 'all' })
    expect(receipts.find((receipt) => receipt.subject === 'write_note')).toMatchObject({
      outcome: 'refused',
      sent: 'no',
      askings: [
        {
          gates: [
            { plugin: 'tool:write_note', point: 'authorize', answer: 'refused', code: 'NOT_YOURS' },
            { plugin: 'recording-plugin', point: 'beforeToolCall', answer: 'not_asked' },
          ],
        },
      ],
    })
  })

  it('G-W8: one that throws a Veto ends the run', async () => {
    const { tool, calls } = guarded(() => {
      throw new Veto('LOCKED', 'Locked.')
    })
    const { runtime } = await house([reply.toolCall('write_note')], { agents: [desk([tool])] })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect([error.code, error.by, calls.length]).toEqual([
      'LOCKED',
      { plugin: 'tool:write_note', point: 'authorize' },
      0,
    ])
  })

  it.each([
    ['returns true', () => true],
    ['returns false', () => false],
    ['resolves with a value', async () => 'yes'],
    ['throws an Error', () => Promise.reject(new Error('down'))],
    ['throws a string', () => Promise.reject('down')],
    ['throws a Pause-like object', () => Promise.reject({ code: 'PAUSE' })],
    ['never settles', () => new Promise(() => {})],
  ])('G-W8: one that %s fails like a gate', async (_how, authorize) => {
    const { tool, calls } = guarded(authorize as never)
    const { runtime, clock } = await house([reply.toolCall('write_note')], { agents: [desk([tool])] })
    const error = await clock.settle(failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION })))
    expect([error.code, error.details.plugin, error.details.point, calls.length]).toEqual([
      'HOOK_FAILED',
      'tool:write_note',
      'authorize',
      0,
    ])
  })
})
