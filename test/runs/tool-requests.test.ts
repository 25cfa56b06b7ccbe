import type { ToolContext, ToolDefinition } from '@sluice/core'
import { defineTool, refuse, SluiceError } from '@sluice/core'
import { latch, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const DEEP = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`

/** Argument texts that cannot be used, and what the model is told. */
const UNUSABLE: readonly (readonly [name: string, args: string, told: RegExp])[] = [
  ['half an object', '{', /ends before the JSON does/],
  ['a list', '[]', /not a JSON object/],
  ['a string', '"x"', /not a JSON object/],
  ['null', 'null', /not a JSON object/],
  ['two objects', '{"text":"a"}{"text":"b"}', /follows the JSON value/],
  ['a raw line break in a string', '{"text":"a\nb"}', /raw line break/],
  ['a repeated key', '{"text":"a","text":"b"}', /"text" appears twice/],
  ['2 MB of digits', `{"text":${'1'.repeat(2_000_000)}}`, /larger than the 1048576 bytes/],
  ['900 KB of digits', `{"text":${'1'.repeat(900_000)}}`, /a number is too large/],
  ['10 000 levels', DEEP, /nested deeper than 64 levels/],
  ['text around it', 'Sure: {"text":"a"}', /not a JSON object/],
  ['a value that does not fit', '{"text":7}', /text/],
]

describe('tool requests that cannot be carried out', () => {
  // cites: CASE-14, T-43, G-31, G-W9, G-28
  it.each(UNUSABLE)('CASE-14: %s is told to the model, and the other calls go on', async (_name, args, told) => {
    const { tool, calls } = noteTool()
    const recorder = recordingPlugin({ points: ['beforeToolCall', 'afterToolCall', 'onEvent', 'onStop'] })
    const { runtime, provider } = await house(
      [
        reply.toolCall('write_note', args, { id: 'bad' }).toolCall('write_note', { text: 'good' }, { id: 'good' }),
        reply('done'),
      ],
      { agents: [desk([tool])], plugins: [recorder.plugin] },
    )
    const before = process.memoryUsage().heapUsed
    const started = process.cpuUsage()
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const cpu = process.cpuUsage(started)
    expect((cpu.user + cpu.system) / 1000).toBeLessThan(250)
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * 1_048_576 + 4 * args.length)
    expect(calls).toEqual([{ text: 'good' }])
    expect(run.toolCalls.map((call) => [call.callId, call.status])).toEqual([
      ['bad', 'invalid'],
      ['good', 'ok'],
    ])
    const results = provider.requests[1]?.messages.at(-1)
    const [bad, good] = results?.role === 'tool' ? results.content : []
    expect(bad?.result).toMatch(told)
    expect((bad?.result ?? '').length).toBeLessThan(600)
    expect(good?.result).toBe('written')
    // no gate is asked about what cannot run; the attempt is in the log
    expect(recorder.at('beforeToolCall')).toHaveLength(1)
    expect(recorder.at('onStop')).toEqual([])
    const rows = (await runtime.sessions.messages('s-1', { scope: 'all' })).items
    expect(rows.filter((row) => row.role === 'tool_result').map((row) => row.toolStatus)).toEqual(['invalid', 'ok'])
    expect(rows.find((row) => row.toolCallId === 'bad' && row.role === 'tool_call')?.toolInput).toBe(args)
  })

  it('CASE-14: no argument text is no arguments, and the schema says whether that will do', async () => {
    const { tool, calls } = noteTool()
    const { tool: strict, calls: strictCalls } = noteTool({ code: 'strict', input: z.object({ text: z.string() }) })
    const { runtime } = await house(
      [reply.toolCall('write_note', '').toolCall('write_note', ' \n').toolCall('strict', ''), reply('done')],
      { agents: [desk([tool, strict])] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([calls, strictCalls]).toEqual([[{}, {}], []])
    expect(run.toolCalls.map((call) => call.status)).toEqual(['ok', 'ok', 'invalid'])
  })

  // cites: CASE-14, G-30, G-W8, T-43
  it.each([
    ['an unknown name', 'approve_all', 'There is no tool "approve_all". Offered are: write_note.'],
    ['another case', 'Write_Note', 'There is no tool "Write_Note". Offered are: write_note.'],
    ['a registered tool that is not offered', 'registered', 'There is no tool "registered". Offered are: write_note.'],
    ['a name with control characters', 'a\u001b[2J\nb', 'There is no tool "a\\u001b[2J\\nb". Offered are: write_note.'],
    ['an inherited name', 'toString', 'There is no tool "toString". Offered are: write_note.'],
    ['__proto__', '__proto__', 'There is no tool "__proto__". Offered are: write_note.'],
    ['an empty name', '', 'There is no tool "". Offered are: write_note.'],
  ])('CASE-14: %s is no tool: no gate is asked, and the model is told what is offered', async (_name, name, told) => {
    const { tool } = noteTool()
    const { tool: registered, calls } = noteTool({ code: 'registered' })
    const recorder = recordingPlugin({ points: ['beforeToolCall', 'afterToolCall'] })
    const { runtime, provider } = await house([reply.toolCall(name, {}), reply('done')], {
      agents: [desk([tool])],
      tools: [registered],
      plugins: [recorder.plugin],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const results = provider.requests[1]?.messages.at(-1)
    expect(results?.role === 'tool' && results.content[0]?.result).toBe(told)
    expect([calls, recorder.entries, run.toolCalls[0]?.status]).toEqual([[], [], 'invalid'])
  })

  it.each([
    ['TOOL_NOT_FOUND', 'approve_all', '{}'],
    ['TOOL_ARGS_INVALID', 'write_note', '{'],
  ])(
    "CASE-14: with onInvalidCall 'throw' the call ends with %s, and no tool of the round runs",
    async (code, name, args) => {
      const { tool, calls } = noteTool()
      const { runtime } = await house([reply.toolCall('write_note').toolCall(name, args, { id: 'bad' })], {
        agents: [desk([tool])],
        settings: { onInvalidCall: 'throw' },
      })
      const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }))
      expect([error.code, error.details, calls]).toEqual([code, { toolName: name, callId: 'bad' }, []])
      const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
      expect([row.status, row.failureKind, row.toolCallsCount]).toEqual(['failed', 'tool', 0])
      const log = (await runtime.sessions.messages('s-1', { scope: 'all' })).items
      expect(log.filter((entry) => entry.role === 'tool_result').map((entry) => entry.toolStatus)).toEqual([
        'not_run',
        'not_run',
      ])
    },
  )

  it('CASE-14: invented calls count against the bound, so a model that goes on inventing ends', async () => {
    const { tool } = noteTool()
    const { runtime, provider } = await house([reply.toolCall('a').toolCall('b'), reply.toolCall('c').toolCall('d')], {
      agents: [desk([tool])],
      settings: { maxToolCalls: 3 },
    })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect([error.code, provider.requests.length]).toEqual(['MAX_TOOL_CALLS', 2])
    expect(error.partial.toolCalls.map((call: { status: string }) => call.status)).toEqual([
      'invalid',
      'invalid',
      'invalid',
      'skipped_limit',
    ])
  })

  // cites: CASE-22, T-43, R-11, R-13, S-45
  it('R-11: a _ctx that the model sends is dropped and on record; keys that reach a prototype too', async () => {
    let seen: ToolContext | undefined
    const tool = defineTool({
      code: 'write_note',
      description: 'Writes.',
      input: { type: 'object', properties: { text: { type: 'string' } }, additionalProperties: true },
      handler: (args, context) => {
        seen = context
        return JSON.stringify(args)
      },
    }) as unknown as ToolDefinition
    const args =
      '{"text":"a","_ctx":{"clerk":"mallory"},"__proto__":{"admin":true},"deep":{"constructor":{"prototype":{"x":1}},"_ctx":1}}'
    const { runtime, logger } = await house([reply.toolCall('write_note', args), reply('done')], {
      agents: [desk([tool])],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, runContext: { clerk: 'petra.k' } })
    const result = (run.messages.find((message) => message.role === 'tool')?.content[0] as { result: string }).result
    expect(result).toBe('{"text":"a","deep":{"_ctx":1}}')
    expect([{ ...seen?.runContext }, Object.isFrozen(seen?.runContext)]).toEqual([{ clerk: 'petra.k' }, true])
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
    expect(logger.matching('were dropped')[0]?.fields).toMatchObject({
      toolCode: 'write_note',
      dropped: expect.arrayContaining(['_ctx', '__proto__', 'deep.constructor']),
    })
  })

  it('R-17: a tool that requires a key which is not bound answers with a text; the handler and the gates are not asked', async () => {
    const { tool, calls } = noteTool({ requiresContext: ['clerk'] })
    const recorder = recordingPlugin({ points: ['beforeToolCall'] })
    const { runtime, provider } = await house(
      [reply.toolCall('write_note'), reply('no'), reply.toolCall('write_note'), reply('yes')],
      { agents: [desk([tool])], plugins: [recorder.plugin] },
    )
    const without = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(without.toolCalls[0]?.status).toBe('refused')
    const told = provider.requests[1]?.messages.at(-1)
    expect(told?.role === 'tool' && told.content[0]?.result).toContain('has not bound "clerk"')
    expect([calls, recorder.entries]).toEqual([[], []])
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, runContext: { clerk: 'petra.k' } })
    expect([calls.length, recorder.entries.length]).toEqual([1, 1])
  })

  it('a schema that fails to validate by throwing is an unusable call, not an end of the run', async () => {
    const { tool, calls } = noteTool({
      input: z.object({
        text: z.string().refine(() => {
          throw new Error('the rule broke')
        }),
      }),
    })
    const { runtime } = await house([reply.toolCall('write_note', { text: 'a' }), reply('done')], {
      agents: [desk([tool])],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([calls, run.toolCalls[0]?.status]).toEqual([[], 'invalid'])
  })

  // cites: CASE-14, CASE-17, H-W2
  it('TOOL_ARGS_NOT_PLAIN: arguments that are no plain data are refused where a gate inspects them, and go through where none does', async () => {
    const input = z.object({ at: z.string().transform((text) => new Date(text)) })
    const args = { at: '2026-01-01T00:00:00Z' }
    const { tool, calls } = noteTool({ input })
    const recorder = recordingPlugin({ points: ['inspectToolInput'] })
    const inspected = await house(
      [reply.toolCall('write_note', args), reply('done'), reply.toolCall('write_note', args)],
      {
        agents: [desk([tool]), desk([tool], { code: 'strict', settings: { onInvalidCall: 'throw' } })],
        plugins: [recorder.plugin],
      },
    )
    const run = await inspected.runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([run.toolCalls[0]?.status, calls, recorder.entries]).toEqual(['invalid', [], []])
    const error = await failureOf(inspected.runtime.execute({ agent: 'strict', input: QUESTION }))
    expect(error.code).toBe('TOOL_ARGS_NOT_PLAIN')
    const open = await house([reply.toolCall('write_note', args), reply('done')], { agents: [desk([tool])] })
    await open.runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(calls).toEqual([{ at: new Date(args.at) }])
  })

  // cites: G-12, G-41
  it('G-12: the run lists every call that was asked for, over all rounds, with what became of each', async () => {
    const tools = [
      noteTool().tool,
      noteTool({ code: 'no', handler: () => refuse('No.') }).tool,
      noteTool({ code: 'bad', handler: () => Promise.reject(new Error('down')) }).tool,
    ]
    const { runtime } = await house(
      [reply.toolCall('write_note').toolCall('no'), reply.toolCall('bad').toolCall('nothing').toolCall('write_note')],
      { agents: [desk(tools)], settings: { onToolError: 'return', maxToolCalls: 4, onToolLimit: 'finish' } },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const statuses = ['ok', 'refused', 'error', 'invalid', 'skipped_limit']
    expect(run.toolCalls.map((call) => call.status)).toEqual(statuses)
    const log = (await runtime.sessions.messages('s-1', { scope: 'all' })).items
    expect(log.filter((row) => row.role === 'tool_result').map((row) => row.toolStatus)).toEqual(statuses)
    expect((await runtime.executions.get(run.executionId, { scope: 'all' })).toolCallsCount).toBe(4)
  })

  it('CASE-17: the handler gets what the schema gives: defaults, transforms, absent for null', async () => {
    const { tool, calls } = noteTool({
      input: z.object({
        text: z.string().trim(),
        kind: z.enum(['memo', 'letter']).default('memo'),
        copies: z.number().optional(),
      }),
    })
    const { runtime } = await house([reply.toolCall('write_note', { text: ' a ', copies: null }), reply('done')], {
      agents: [desk([tool])],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(calls).toEqual([{ text: 'a', kind: 'memo' }])
  })
})

describe('ids of tool calls', () => {
  const results = (messages: readonly { role: string; content: unknown }[]) =>
    messages.flatMap((message) =>
      message.role === 'tool' ? (message.content as any[]).map((part) => [part.toolCallId, part.result]) : [],
    )
  const ids = (messages: readonly { role: string; content: unknown }[]) =>
    messages.flatMap((message) =>
      message.role === 'assistant'
        ? (message.content as any[]).filter((part) => part.type === 'tool_call').map((part) => part.toolCallId)
        : [],
    )

  const echo = () => noteTool({ handler: (args: { text?: string }) => `did ${args.text}` }).tool

  // cites: CASE-16, G-23
  it('CASE-16: calls without ids get unique ones, counted over the whole call, and each result goes to its call', async () => {
    const none = { id: null }
    const three = reply
      .toolCall('write_note', { text: '1' }, none)
      .toolCall('write_note', { text: '2' }, none)
      .toolCall('write_note', { text: '3' }, none)
    const one = reply.toolCall('write_note', { text: '4' }, none)
    const { runtime } = await house([three, one, reply('done')], { agents: [desk([echo()])] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(results(run.messages)).toEqual([
      ['tool_call_1', 'did 1'],
      ['tool_call_2', 'did 2'],
      ['tool_call_3', 'did 3'],
      ['tool_call_4', 'did 4'],
    ])
    expect(ids(run.messages)).toEqual(['tool_call_1', 'tool_call_2', 'tool_call_3', 'tool_call_4'])
    expect(run.toolCalls.map((call) => call.callId)).toEqual(ids(run.messages))
  })

  it('CASE-16: a repeated id is never merged into one call, within a round, over rounds and over turns', async () => {
    const same = { id: 'c' }
    const { runtime, provider } = await house(
      [
        reply.toolCall('write_note', { text: '1' }, same).toolCall('write_note', { text: '2' }, same),
        reply.toolCall('write_note', { text: '3' }, same),
        reply('done'),
        reply.toolCall('write_note', { text: '4' }, same).toolCall('write_note', { text: '5' }, { id: 'tool_call_1' }),
        reply('again'),
      ],
      { agents: [desk([echo()])] },
    )
    const first = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const second = await runtime.execute({ agent: 'ap_desk', followUp: 'And now?', sessionId: 's-1' })
    const all = ids(second.messages)
    expect(all).toHaveLength(5)
    expect(new Set(all).size).toBe(5)
    expect(ids(first.messages)).toEqual(all.slice(0, 3))
    expect(results(second.messages).map(([, text]) => text)).toEqual(['did 1', 'did 2', 'did 3', 'did 4', 'did 5'])
    expect(results(second.messages).map(([id]) => id)).toEqual(all)
    expect(results(provider.requests[3]?.messages ?? [])).toEqual(results(first.messages))
  })

  it('CASE-16: ids stay unique when the session is carried on by another runtime over the same store', async () => {
    const given = await house([reply.toolCall('write_note', { text: '1' }, { id: null }), reply('done')], {
      agents: [desk([echo()])],
    })
    await given.runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const again = await house([reply.toolCall('write_note', { text: '2' }, { id: null }), reply('done')], {
      agents: [desk([echo()])],
      store: given.store,
      seed: 7,
    })
    const run = await again.runtime.execute({ agent: 'ap_desk', followUp: 'And?', sessionId: 's-1' })
    expect(results(run.messages)).toEqual([
      ['tool_call_1', 'did 1'],
      ['tool_call_2', 'did 2'],
    ])
  })
})

describe('several tools of one round', () => {
  const reader = (code: string, order: string[], gate?: ReturnType<typeof latch>) =>
    noteTool({
      code,
      effect: 'read',
      handler: async () => {
        order.push(`${code} starts`)
        await gate?.wait()
        order.push(`${code} ends`)
        return code
      },
    }).tool

  it('G-25: run one at a time in call order, unless toolConcurrency lets readers run together', async () => {
    const order: string[] = []
    const round = reply.toolCall('a').toolCall('b').toolCall('c')
    const { runtime } = await house([round, reply('done')], {
      agents: [desk(['a', 'b', 'c'].map((code) => reader(code, order)))],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(order).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends'])
  })

  it('CASE-16: readers run together up to toolConcurrency; results stand in call order, whoever ends first', async () => {
    const order: string[] = []
    const first = latch()
    const second = latch()
    const agents = [desk([reader('a', order, first), reader('b', order, second), reader('c', order)])]
    const { runtime } = await house([reply.toolCall('a').toolCall('b').toolCall('c'), reply('done')], {
      agents,
      settings: { toolConcurrency: 2 },
    })
    const running = runtime.execute({ agent: 'ap_desk', input: QUESTION })
    await Promise.all([first.reached(), second.reached()])
    expect(order).toEqual(['a starts', 'b starts'])
    second.open()
    first.open()
    const run = await running
    expect(order.slice(-2)).toEqual(['c starts', 'c ends'])
    const results = run.messages.find((message) => message.role === 'tool')?.content as readonly { result: string }[]
    expect(results.map((part) => part.result)).toEqual(['a', 'b', 'c'])
  })

  it('a tool that writes never runs beside another one', async () => {
    let running = 0
    let most = 0
    const count = (code: string, effect: string) =>
      noteTool({
        code,
        effect,
        handler: async () => {
          most = Math.max(most, ++running)
          await new Promise((resolve) => setImmediate(resolve))
          running -= 1
          return code
        },
      }).tool
    const { runtime } = await house([reply.toolCall('w').toolCall('r').toolCall('w').toolCall('s'), reply('done')], {
      agents: [desk([count('w', 'write'), count('r', 'read'), count('s', 'send')])],
      settings: { toolConcurrency: 8 },
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(most).toBe(1)
  })

  it('one reader that fails ends the run when its neighbours have ended, and each has its result on record', async () => {
    const gate = latch()
    const bad = noteTool({ code: 'bad', effect: 'read', handler: () => Promise.reject(new Error('down')) }).tool
    const { runtime } = await house([reply.toolCall('bad').toolCall('good')], {
      agents: [desk([bad, reader('good', [], gate)])],
      settings: { toolConcurrency: 2 },
    })
    const running = failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }))
    await gate.reached()
    gate.open()
    const error = await running
    expect(SluiceError.isInstance(error, 'TOOL_FAILED')).toBe(true)
    expect(error.partial.toolCalls.map((call: { status: string }) => call.status)).toEqual(['error', 'ok'])
  })
})
