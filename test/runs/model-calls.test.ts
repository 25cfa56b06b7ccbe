import type { Message, ModelReply, Usage } from '@sluice/core'
import { hostedTool, ProviderError, SluiceError, untrusted, USAGE_NOT_REPORTED, Veto, definePlugin } from '@sluice/core'
import {
  hang,
  providerError,
  PROVIDER_ROWS,
  rawReply,
  recordingPlugin,
  reply,
  scriptedProvider,
  throwing,
} from '@sluice/testkit'
import type { EmulatedProtocol } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const usage = (input: number, output: number, more: Partial<Usage> = {}): Partial<Usage> => ({
  inputTokens: input,
  outputTokens: output,
  ...more,
})

describe('the conversation of a call', () => {
  // cites: G-1, G-7, G-9, G-17, G-18, G-22, G-24, E-11
  it('G-9: it is the input and everything produced; a round is one assistant message and one tool message', async () => {
    const { tool } = noteTool()
    const { runtime, provider } = await house(
      [
        reply.reasoning('Let me see.').text('I look.').toolCall('write_note', { text: 'a' }).toolCall('write_note'),
        reply('It is due.'),
      ],
      { agents: [desk([tool])] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const expected: Message[] = [
      { role: 'system', content: 'You are the desk.' },
      { role: 'user', content: [{ type: 'text', text: 'Is INV-7 due?' }] },
      {
        role: 'assistant',
        provider: 'scripted',
        model: 'model-1',
        content: [
          { type: 'reasoning', text: 'Let me see.' },
          { type: 'text', text: 'I look.' },
          { type: 'tool_call', toolCallId: 'call_1', toolName: 'write_note', args: '{"text":"a"}' },
          { type: 'tool_call', toolCallId: 'call_2', toolName: 'write_note', args: '{}' },
        ],
      },
      {
        role: 'tool',
        content: [
          { type: 'tool_result', toolCallId: 'call_1', toolName: 'write_note', result: 'written', status: 'ok' },
          { type: 'tool_result', toolCallId: 'call_2', toolName: 'write_note', result: 'written', status: 'ok' },
        ],
      },
      { role: 'assistant', provider: 'scripted', model: 'model-1', content: [{ type: 'text', text: 'It is due.' }] },
    ]
    expect(run.messages).toEqual(expected)
    expect(provider.requests[1]?.messages).toEqual(expected.slice(0, 4))
    expect(run).toMatchObject({
      text: 'It is due.',
      finishReason: 'stop',
      model: 'model-1',
      provider: 'scripted',
      output: undefined,
    })
  })

  // cites: G-1, G-19, T-W1
  it('G-1: the prompt shape builds system and user; without a system prompt there is no system message', async () => {
    const { runtime, provider } = await house([reply('a'), reply('b'), reply('c')])
    await runtime.generateText({ model: 'scripted/m', system: 'Be brief.', prompt: 'Hi' })
    await runtime.generateText({ model: 'scripted/m', prompt: 'Hi' })
    await runtime.generateText({
      model: 'scripted/m',
      messages: [
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello' },
        { role: 'user', content: [{ type: 'text', text: 'Again' }] },
      ],
    })
    expect(provider.requests.map((request) => request.messages)).toEqual([
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
      ],
      [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      // G-19: a string stands for one text item
      [
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
        { role: 'user', content: [{ type: 'text', text: 'Again' }] },
      ],
    ])
  })

  it('G-8: the text is that of the final reply, its blocks joined by newlines; null where it holds none', async () => {
    const { tool } = noteTool()
    const { runtime } = await house([
      reply('not the last').toolCall('write_note'),
      reply('one').text('two').reasoning('hm').text('three'),
      reply.empty(),
      reply.refusal('I will not.'),
    ])
    const call = { model: 'scripted/m', prompt: 'go', tools: [tool] } as const
    expect((await runtime.generateText(call)).text).toBe('one\ntwo\nthree')
    expect((await runtime.generateText(call)).text).toBeNull()
    expect(await runtime.generateText(call)).toMatchObject({ text: 'I will not.', finishReason: 'refusal' })
  })

  it('G-13: model is what the provider says it was, else what was asked for; provider is the id of the reference', async () => {
    const other = scriptedProvider([reply('x').with({ model: 'grok-2-0915' })], { id: 'xai' })
    const { runtime } = await house([], { others: [other] })
    expect(await runtime.generateText({ model: 'xai/grok-2', prompt: 'Hi' })).toMatchObject({
      model: 'grok-2-0915',
      provider: 'xai',
    })
  })

  it('G-3: a model is any string, slashes and colons included', async () => {
    const { runtime, provider } = await house([reply('x')])
    await runtime.generateText({ model: 'scripted/meta/llama-3:70b free', prompt: 'Hi' })
    expect(provider.requests[0]?.model).toBe('meta/llama-3:70b free')
  })

  // cites: G-10, G-14, G-15
  it.each(Object.keys(PROVIDER_ROWS) as EmulatedProtocol[])(
    'G-10: finish reasons of %s are ours, an unknown one is its own word',
    async (protocol) => {
      const { runtime } = await house(
        [reply('a').finish('length'), reply('part').finish('content_filter'), reply('b').finish('RECITATION_PARTIAL')],
        { script: { emulate: protocol } },
      )
      const call = { model: 'scripted/m', prompt: 'go' } as const
      expect((await runtime.generateText(call)).finishReason).toBe('length')
      expect(await runtime.generateText(call)).toMatchObject({ finishReason: 'content_filter', text: 'part' })
      expect((await runtime.generateText(call)).finishReason).toBe('RECITATION_PARTIAL')
    },
  )

  // cites: G-16, G-52
  it('G-52: reasoning goes back untouched, with what its provider needs to see again', async () => {
    const { tool } = noteTool()
    const options = { scripted: { signature: 'c2ln', id: 'rs_1' } }
    const { runtime, provider } = await house(
      [reply.reasoning('', options).toolCall('write_note'), reply('done'), reply('later')],
      { agents: [desk([tool])] },
    )
    await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    await runtime.execute({ agent: 'ap_desk', followUp: 'And?', sessionId: 's-1' })
    for (const request of provider.requests.slice(1)) {
      const assistant = request.messages.find((message) => message.role === 'assistant')
      expect(assistant?.content[0]).toEqual({ type: 'reasoning', text: '', providerOptions: options })
    }
  })

  it('G-20: files stand in the user message, and a label that they carry stays', async () => {
    const { runtime, provider } = await house([reply('seen')], { agents: [desk()] })
    const pdf = { type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=', filename: 'a.pdf' } as const
    const run = await runtime.execute({
      agent: 'ap_desk',
      input: QUESTION,
      files: [pdf, untrusted(pdf, 'mail')],
      sessionId: 's-1',
    })
    const user = provider.requests[0]?.messages[1]
    expect(user?.content).toEqual([
      { type: 'text', text: 'Is INV-7 due?' },
      pdf,
      { ...pdf, labels: [{ kind: 'input', source: 'mail' }] },
    ])
    expect(run.messages.at(-1)).toMatchObject({ labels: [{ kind: 'input', source: 'mail' }] })
  })

  // cites: G-21, CASE-14
  it('G-21: a conversation that cannot be meant is refused by the place of each fault', async () => {
    const { runtime } = await house([])
    const refused = await failureOf(
      runtime.generateText({
        model: 'scripted/m',
        messages: [
          { role: 'narrator', content: 'x' },
          { role: 'system', content: [] },
          { role: 'user', content: [{ type: 'tool_call' }] },
          { role: 'tool', content: 'x' },
          { role: 'assistant', content: [{ type: 'tool_call', toolCallId: 1, toolName: 'a', args: '{}' }] },
          'text',
        ] as never,
      }),
    )
    expect(refused.code).toBe('INVALID_CONFIG')
    expect(refused.details.faults.map((fault: string) => fault.split(':')[0])).toEqual([
      'messages.0.role',
      'messages.1.content',
      'messages.2.content.0.type',
      'messages.3.content',
      'messages.4.content.0.toolCallId',
      'messages.5',
    ])
  })
})

describe('what a request carries', () => {
  it('toolChoice, sampling, stop sequences, reasoning, provider options and connection reach the adapter as they are', async () => {
    const { tool } = noteTool()
    const { runtime, provider } = await house([reply('a'), reply('b')])
    const given = {
      toolChoice: { tool: 'write_note' },
      temperature: 0.2,
      topP: 0.9,
      stopSequences: ['END'],
      reasoning: { level: 'high', budgetTokens: 2048, summary: 'auto' },
      providerOptions: { service_tier: 'flex' },
      connection: { apiKey: 'k', baseUrl: 'http://127.0.0.1:1', headers: { 'x-a': 'b' } },
      maxOutputTokens: 4096,
    } as const
    await runtime.generateText({ model: 'scripted/m', prompt: 'go', tools: [tool], ...given })
    expect(provider.requests[0]).toMatchObject({
      ...given,
      model: 'm',
      tools: [{ name: 'write_note', description: 'Writes a note.' }],
    })
    await runtime.generateText({ model: 'scripted/m', prompt: 'go' })
    // every request has an explicit output cap, and nothing that nobody asked for
    expect(Object.keys(provider.requests[1] ?? {}).sort()).toEqual([
      'hostedTools',
      'maxOutputTokens',
      'messages',
      'model',
      'tools',
    ])
    expect([provider.requests[1]?.maxOutputTokens, provider.requests[1]?.tools]).toEqual([8192, []])
  })

  it('an agent carries its own, and a frozen request keeps nothing of the definition', async () => {
    const { runtime, provider } = await house([reply('a')], {
      agents: [
        desk([], {
          temperature: 0.5,
          topP: 0.3,
          stopSequences: ['X'],
          reasoning: { level: 'low' },
          providerOptions: { seed: 7 },
          settings: { maxOutputTokens: 100 },
        }),
      ],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(provider.requests[0]).toMatchObject({
      temperature: 0.5,
      topP: 0.3,
      stopSequences: ['X'],
      reasoning: { level: 'low' },
      providerOptions: { seed: 7 },
      maxOutputTokens: 100,
    })
  })

  // cites: G-W12, Z-6, CASE-27
  it('G-W12: what one call overrides reaches no other, also when that one fails or lies inside another', async () => {
    const { tool } = noteTool({
      handler: async () => {
        await failureOf(
          runtime.generateText({
            model: 'scripted/x',
            prompt: 'y',
            connection: { baseUrl: 'http://127.0.0.1:2' },
            temperature: 1,
          }),
        )
        return 'ok'
      },
    })
    const { runtime, provider } = await house(
      [reply.toolCall('write_note'), providerError(400), reply('done'), reply('plain')],
      { agents: [desk([tool])] },
    )
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    await runtime.generateText({ model: 'scripted/m', prompt: 'x' })
    expect(
      provider.requests.map((request) => [
        request.model,
        request.connection?.baseUrl ?? null,
        request.temperature ?? null,
      ]),
    ).toEqual([
      ['model-1', null, null],
      ['x', 'http://127.0.0.1:2', 1],
      ['model-1', null, null],
      ['m', null, null],
    ])
  })

  // cites: G-49, G-50, G-51
  it('G-51: a reasoning budget that is not below the output cap is refused before anything is sent', async () => {
    const { runtime } = await house([])
    for (const budgetTokens of [8192, 9000]) {
      const refused = await failureOf(
        runtime.generateText({ model: 'scripted/m', prompt: 'go', reasoning: { budgetTokens } }),
      )
      expect([refused.code, refused.details]).toEqual([
        'REASONING_BUDGET_TOO_LARGE',
        { budgetTokens, maxOutputTokens: 8192 },
      ])
    }
  })

  // cites: H-W7, G-6
  it('H-W7: a hosted tool is sent to its own provider only, told to the gate, labelled, and on record as hosted', async () => {
    const search = hostedTool({
      code: 'web',
      provider: 'scripted',
      configuration: { type: 'web_search' },
      effect: 'read',
      maxUses: 3,
      cost: { usd: '0.01' },
    })
    const foreign = hostedTool({ code: 'code', provider: 'elsewhere', configuration: { type: 'code' } })
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime, provider } = await house(
      [
        reply('Found.').part({
          type: 'hosted',
          toolName: 'web_search',
          text: 'search: INV-7',
          providerOptions: { scripted: { id: 'ws_1' } },
        }),
      ],
      { agents: [desk([], { hostedTools: [search, foreign] })], plugins: [recorder.plugin] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(provider.requests[0]?.hostedTools).toEqual([{ code: 'web', configuration: { type: 'web_search' } }])
    expect(recorder.at('beforeModelCall')[0]?.context).toMatchObject({
      hostedTools: [{ code: 'web', effect: 'read', untrusted: true, maxUses: 3, cost: { usd: '0.01' } }],
    })
    expect(run.messages.at(-1)).toMatchObject({ labels: [{ kind: 'hosted', source: 'web' }] })
    const receipts = await runtime.executions.receipts(run.executionId, { scope: 'all' })
    expect(receipts.find((receipt) => receipt.effect === 'tool_call')).toMatchObject({
      subject: 'web',
      outcome: 'ok',
      sent: 'yes',
      askings: [{ gates: [{ answer: 'hosted', point: 'hosted' }] }],
    })
    expect(run.toolCalls).toEqual([])
  })

  it('a tool that is offered twice, or a hosted one of the same name, is refused by name', async () => {
    const { runtime } = await house([])
    const { tool } = noteTool()
    const twice = await failureOf(runtime.generateText({ model: 'scripted/m', prompt: 'go', tools: [tool, tool] }))
    const hosted = hostedTool({ code: 'write_note', provider: 'scripted', configuration: { type: 'x' } })
    const both = await failureOf(
      runtime.generateText({ model: 'scripted/m', prompt: 'go', tools: [tool], hostedTools: [hosted] }),
    )
    expect([twice.code, both.code]).toEqual(['DUPLICATE_NAME', 'DUPLICATE_NAME'])
  })

  it('bounds: a request, a reply and the calls of a reply beyond theirs end the call by name', async () => {
    const { tool } = noteTool()
    const many = Array.from({ length: 5 }).reduce(
      (made: ReturnType<typeof reply>) => made.toolCall('write_note'),
      reply.empty(),
    )
    const { runtime, provider } = await house([reply('x'.repeat(2_000)), many, reply('ok')], {
      limits: { requestBytes: 2_000, replyBytes: 1_000, toolCallsPerReply: 4 },
    })
    const call = { model: 'scripted/m', prompt: 'go', tools: [tool] } as const
    const long = await failureOf(runtime.generateText(call))
    expect([long.code, long.details]).toEqual(['LIMIT_EXCEEDED', { limit: 'replyBytes', bound: 1_000, units: 2_000 }])
    const calls = await failureOf(runtime.generateText(call))
    expect([calls.code, calls.details]).toEqual(['LIMIT_EXCEEDED', { limit: 'toolCallsPerReply', bound: 4, calls: 5 }])
    const request = await failureOf(runtime.generateText({ ...call, prompt: 'y'.repeat(3_000) }))
    expect([request.code, request.details.limit, provider.requests.length]).toEqual([
      'LIMIT_EXCEEDED',
      'requestBytes',
      2,
    ])
    expect((await runtime.generateText(call)).text).toBe('ok')
    // what was sent and paid for counts
    expect(long.partial.usage).toMatchObject({ outputTokens: 5, unreportedCalls: 0 })
  })

  it('a stream is held to the bound of a reply while it arrives', async () => {
    const { runtime } = await house([reply('x'.repeat(5_000))], { agents: [desk()], limits: { replyBytes: 1_000 } })
    const stream = runtime.stream({ agent: 'ap_desk', input: QUESTION })
    expect((await failureOf(stream.run)).code).toBe('LIMIT_EXCEEDED')
  })
})

describe('structured output', () => {
  const answer = z.object({ due: z.boolean(), days: z.number().int().min(0).default(0) })

  // cites: G-45, G-46, G-47, G-W7, T-44, A-40, P-24
  it('G-47: it is parsed, validated and typed; the text stays text', async () => {
    const { runtime, provider } = await house([reply.json({ due: true })], { agents: [desk([], { output: answer })] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    expect([run.output, run.text]).toEqual([{ due: true, days: 0 }, '{"due":true}'])
    expect(provider.requests[0]?.output).toMatchObject({ name: 'structured_output', schema: { type: 'object' } })
    const row = await runtime.executions.get(run.executionId, { scope: 'all' })
    expect(row.output).toMatchObject({
      final_message: { due: true, days: 0 },
      structured_output: { due: true, days: 0 },
    })
  })

  it('A-36: a schema of the call stands in place of that of the agent', async () => {
    const { runtime, provider } = await house([reply.json({ verdict: 'late' })], {
      agents: [desk([], { output: answer })],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, output: z.object({ verdict: z.string() }) })
    expect(run.output).toEqual({ verdict: 'late' })
    expect(JSON.stringify(provider.requests[0]?.output)).toContain('verdict')
  })

  // cites: G-48, G-W11, T-44, CASE-07
  it.each([
    ['no JSON', 'It is due.', ''],
    ['no text', '', ''],
    ['a Markdown fence', '```json\n{"due":true}\n```', ''],
    ['a value of another type', '{"due":"yes"}', 'due'],
    ['a constraint that no provider checks', '{"due":true,"days":-1}', 'days'],
    ['a value behind it', '{"due":true} {"due":false}', ''],
  ])('G-48: %s is OUTPUT_INVALID, naming the path, and what was paid for is told', async (_name, text, path) => {
    const { runtime } = await house([text === '' ? reply.empty() : reply(text)], {
      agents: [desk([], { output: answer })],
    })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' }))
    expect([error.code, error.details.path, error.partial.usage.outputTokens]).toEqual([
      'OUTPUT_INVALID',
      expect.stringContaining(path),
      5,
    ])
    const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
    expect([row.status, row.failureKind, row.outputTokens]).toEqual(['failed', 'provider', 5])
    // S-22: the reply that did not fit is told too
    if (text !== '') expect(error.partial.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ text }] })
  })

  it.each(['content_filter', 'refusal'] as const)(
    'a reply that ended with %s has no output and is no error',
    async (finish) => {
      const { runtime } = await house([reply('No.').finish(finish)], { agents: [desk([], { output: answer })] })
      const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
      expect([run.output, run.finishReason, run.text]).toEqual([undefined, finish, 'No.'])
    },
  )

  it('tools come first: output is read of the final reply only', async () => {
    const { tool } = noteTool()
    const { runtime } = await house([reply('Let me write.').toolCall('write_note'), reply.json({ due: false })], {
      agents: [desk([tool], { output: answer })],
    })
    expect((await runtime.execute({ agent: 'ap_desk', input: QUESTION })).output).toEqual({ due: false, days: 0 })
  })

  it('G-45: a protocol without structured output refuses the schema by name, before anything is sent', async () => {
    const script = { structuredOutput: false } as const
    const { runtime, provider } = await house([], { agents: [desk()], script })
    const asked = runtime.execute({ agent: 'ap_desk', input: QUESTION, output: answer })
    expect([(await failureOf(asked)).code, provider.requests.length]).toEqual(['SCHEMA_UNSUPPORTED', 0])
    // an agent in code is refused when the runtime is made
    const made = await failureOf(house([], { agents: [desk([], { output: answer })], script }))
    expect([made.code, made.details.agent]).toEqual(['SCHEMA_UNSUPPORTED', 'ap_desk'])
  })

  it('G-46: the name of the format comes from the title of the schema, made fit for every provider', async () => {
    const { runtime, provider } = await house([reply.json({}), reply.json({})])
    const schema = (title: string) => ({ type: 'object', title, properties: {} }) as const
    await runtime.generateText({ model: 'scripted/m', prompt: 'go', output: schema('Fällige Rechnung (2)') })
    await runtime.generateText({ model: 'scripted/m', prompt: 'go', output: schema('***') })
    expect(provider.requests.map((request) => request.output?.name)).toEqual(['Fllige_Rechnung_2', 'structured_output'])
  })
})

describe('usage', () => {
  // cites: G-11, G-W5, CASE-11, T-42, S-20, S-24
  it('CASE-11: all rounds count, in disjoint classes; reasoning is a part of the output', async () => {
    const { tool } = noteTool()
    const cached = usage(1200, 5200, { cacheReadTokens: 500, cacheWriteTokens: 300, reasoningTokens: 5000 })
    const { runtime } = await house(
      [
        reply.toolCall('write_note').usage(cached),
        reply.toolCall('write_note').usage(usage(50, 10)),
        reply('done').usage(usage(7, 3)),
      ],
      { agents: [desk([tool])] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const sum = {
      inputTokens: 1257,
      cacheReadTokens: 500,
      cacheWriteTokens: 300,
      outputTokens: 5213,
      reasoningTokens: 5000,
      unreportedCalls: 0,
    }
    expect([run.usage, run.treeUsage]).toEqual([sum, sum])
    const row = await runtime.executions.get(run.executionId, { scope: 'all' })
    expect([row.inputTokens, row.outputTokens, row.usage]).toEqual([2057, 5213, sum])
    expect(row.output).toMatchObject({
      usage: { prompt_tokens: 2057, completion_tokens: 5213, reasoning_tokens: 5000, total_tokens: 7270 },
    })
    const header = await runtime.sessions.get('s-1', { scope: 'all' })
    expect([header.inputTokens, header.outputTokens]).toEqual([2057, 5213])
  })

  // cites: CASE-11, CASE-12
  it('CASE-12: "not reported" is a value of its own, in the result, the row, the header, the event and the observer', async () => {
    const recorder = recordingPlugin({ points: ['afterModelCall', 'afterExecution', 'onEvent'] })
    const { runtime } = await house([reply('done').usage('not reported')], {
      agents: [desk()],
      plugins: [recorder.plugin],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    expect(run.usage).toEqual(USAGE_NOT_REPORTED)
    const row = await runtime.executions.get(run.executionId, { scope: 'all' })
    expect([row.inputTokens, row.outputTokens, row.usage.unreportedCalls]).toEqual([null, null, 1])
    const complete = recorder.at('onEvent').find((entry) => entry.line.endsWith('response_complete'))?.context
    expect(complete).toMatchObject({ data: { usage: { inputTokens: null, unreportedCalls: 1 } } })
    expect(recorder.at('afterModelCall')[0]?.context).toMatchObject({ usage: null, outcome: 'ok' })
    expect(recorder.at('afterExecution')[0]?.context).toMatchObject({
      inputTokens: null,
      usage: { unreportedCalls: 1 },
    })
  })

  it('CASE-12: a class that was reported once is summed, and the calls without a report are counted beside it', async () => {
    const { tool } = noteTool()
    const { runtime } = await house(
      [reply.toolCall('write_note').usage('not reported'), reply('done').usage(usage(9, 4, { reasoningTokens: null }))],
      { agents: [desk([tool])] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(run.usage).toMatchObject({ inputTokens: 9, outputTokens: 4, reasoningTokens: null, unreportedCalls: 1 })
  })

  // cites: T-42, G-W6, Z-5, S-20, S-21, S-24
  it('T-42: a nested run counts in its own row and once in the total of the tree; a plain call inside counts in the run', async () => {
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => {
        await runtime.generateText({ model: 'scripted/judge', prompt: 'on the side' })
        return (await runtime.execute({ agent: 'child', input: QUESTION })).text
      },
    })
    const { runtime } = await house(
      [
        reply.toolCall('ask').usage(usage(100, 10)),
        reply('side').usage(usage(20, 2)),
        reply('child').usage(usage(3000, 300)),
        reply('done').usage(usage(4, 1)),
      ],
      { agents: [desk([ask]), desk([], { code: 'child' })] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    const rows = (await runtime.executions.list({ scope: 'all', rootExecutionId: run.executionId })).items
    const tokens = Object.fromEntries(rows.map((row) => [row.agentCode, [row.inputTokens, row.outputTokens]]))
    expect(tokens).toEqual({ ap_desk: [124, 13], child: [3000, 300] })
    expect([run.usage.inputTokens, run.treeUsage.inputTokens, run.treeUsage.outputTokens]).toEqual([124, 3124, 313])
    const header = await runtime.sessions.get('s-1', { scope: 'all' })
    expect([header.inputTokens, header.outputTokens]).toEqual([3124, 313])
  })
})

describe('calls that fail, stop half-way or are repeated', () => {
  const retry = { retry: { attempts: 3, backoffMs: 100, maxBackoffMs: 1_000 } }

  it.each([429, 500, 529, 'PROVIDER_TIMEOUT', 'PROVIDER_UNREACHABLE'] as const)(
    'CASE-12: %s is tried again as a new attempt, with the gates asked each time; totals are sums of attempts',
    async (fault) => {
      const recorder = recordingPlugin({ points: ['beforeModelCall', 'afterModelCall'] })
      const { runtime, clock, provider } = await house([providerError(fault), reply('done')], {
        agents: [desk()],
        plugins: [recorder.plugin],
        settings: retry,
      })
      const run = await clock.settle(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
      expect([run.text, provider.requests.length]).toEqual(['done', 2])
      const asked = recorder.at('beforeModelCall').map((entry) => entry.context as any)
      const closed = recorder.at('afterModelCall').map((entry) => entry.context as any)
      expect(asked.map((context) => [context.effectId, context.attempt])).toEqual([
        [`${run.executionId}/m1`, 1],
        [`${run.executionId}/m1`, 2],
      ])
      expect(closed.map((context) => [context.attempt, context.outcome, context.usage?.inputTokens ?? null])).toEqual([
        [1, 'error', null],
        [2, 'ok', 10],
      ])
      // sent, or perhaps sent: never settled at zero
      expect(run.usage).toMatchObject({ inputTokens: 10, unreportedCalls: 1 })
      const receipts = await runtime.executions.receipts(run.executionId, { scope: 'all' })
      expect(
        receipts
          .filter((receipt) => receipt.effect === 'model_call')
          .map((receipt) => [receipt.attempt, receipt.outcome]),
      ).toEqual([
        [1, 'error'],
        [2, 'ok'],
      ])
    },
  )

  it('a failure that cannot have been sent costs nothing', async () => {
    const { runtime } = await house([providerError('PROVIDER_UNREACHABLE', { sent: 'no' })], { agents: [desk()] })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(error.partial.usage).toMatchObject({ inputTokens: 0, unreportedCalls: 0 })
  })

  it.each([400, 401, 404, 'CONTENT_FILTERED', 'CONTEXT_LENGTH_EXCEEDED'] as const)(
    'CASE-13: %s is never sent again unchanged',
    async (fault) => {
      const { runtime, provider } = await house([providerError(fault)], { agents: [desk()], settings: retry })
      const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
      expect([provider.requests.length, error.retryable]).toEqual([1, false])
      const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
      expect([row.status, row.failureKind, row.error?.code]).toEqual(['failed', 'provider', error.code])
    },
  )

  it('the wait that the provider asked for is kept; without one it doubles', async () => {
    const waited = async (script: Parameters<typeof house>[0]) => {
      const { runtime, clock, provider } = await house(script, { agents: [desk()], settings: retry })
      const start = clock.monotonic()
      await clock.settle(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
      expect(provider.requests.length).toBe(script instanceof Array ? script.length : 0)
      return clock.monotonic() - start
    }
    expect(await waited([providerError(429, { retryAfterMs: 700 }), reply('ok')])).toBe(700)
    expect(await waited([providerError(429, { retryAfterMs: 1_000 }), reply('ok')])).toBe(1_000)
    const doubled = await waited([providerError(500), providerError(500), reply('ok')])
    expect(doubled).toBeGreaterThanOrEqual(150)
    expect(doubled).toBeLessThanOrEqual(300)
  })

  it('a provider that asks for a longer wait than is allowed is not asked again: the fallback is, at once, or the call fails', async () => {
    const busy = () => providerError(429, { retryAfterMs: 60_000 })
    const second = scriptedProvider([reply('from the second')], { id: 'second' })
    for (const fallback of [[], ['second/big']]) {
      const { runtime, clock, provider } = await house([busy()], {
        agents: [desk()],
        others: [second],
        settings: { ...retry, fallback },
      })
      const start = clock.monotonic()
      const outcome = await clock.settle(
        runtime.execute({ agent: 'ap_desk', input: QUESTION }).then(
          (run) => run.text,
          (error) => [error.code, error.retryAfterMs],
        ),
      )
      expect(outcome).toEqual(fallback.length === 0 ? ['PROVIDER_RATE_LIMITED', 60_000] : 'from the second')
      expect([provider.requests.length, clock.monotonic() - start]).toEqual([1, 0])
    }
  })

  it('the key, the address and the raw options of a call go to its own provider and to no fallback', async () => {
    const second = scriptedProvider([reply('from the second')], { id: 'second' })
    const { runtime, clock, provider } = await house([providerError(500), providerError(500)], {
      others: [second],
      settings: { retry: { ...retry.retry, attempts: 1 }, fallback: ['scripted/small', 'second/big'] },
    })
    const result = await clock.settle(
      runtime.generateText({
        model: 'scripted/test',
        prompt: 'Hello',
        connection: { apiKey: 'sk-of-the-first', headers: { 'x-team': 'ap' } },
        providerOptions: { service_tier: 'flex' },
      }),
    )
    expect(result.text).toBe('from the second')
    expect(provider.requests.map(({ model, connection }) => [model, connection?.apiKey])).toEqual([
      ['test', 'sk-of-the-first'],
      ['small', 'sk-of-the-first'],
    ])
    expect(second.requests[0]).not.toHaveProperty('connection')
    expect(second.requests[0]).not.toHaveProperty('providerOptions')
  })

  it('a failed answer tells its rate-limit headers too', async () => {
    const headers = { 'x-ratelimit-remaining-requests': '0', 'retry-after': '7' }
    const error = new ProviderError('PROVIDER_RATE_LIMITED', 'No room.', { provider: 'scripted', rateLimit: headers })
    const recorder = recordingPlugin({ points: ['afterModelCall'] })
    const { runtime } = await house([throwing(error)], { agents: [desk()], plugins: [recorder.plugin] })
    expect((await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))).rateLimit).toEqual(headers)
    expect(recorder.at('afterModelCall')[0]?.context).toMatchObject({ outcome: 'error', rateLimit: headers })
  })

  // cites: CASE-12, G-W14
  it('CASE-12: nothing is repeated after a delta was delivered', async () => {
    const { runtime, clock, provider } = await house([reply('one two three four five').streamed({ breakAfter: 1 })], {
      agents: [desk()],
      settings: { ...retry, fallback: ['scripted/other'] },
    })
    const stream = runtime.stream({ agent: 'ap_desk', input: QUESTION, show: 'live' })
    const error = await clock.settle(failureOf(stream.run))
    expect([error.code, provider.requests.length]).toEqual(['PROVIDER_STREAM_BROKEN', 1])
  })

  it('a stream that broke before its first delta is tried again', async () => {
    const { runtime, clock, provider } = await house([reply('one two').streamed({ breakAfter: 0 }), reply('done')], {
      agents: [desk()],
      settings: retry,
    })
    // the scripted break is not marked retryable, an unreachable provider is
    const run = await clock.settle(runtime.stream({ agent: 'ap_desk', input: QUESTION }).run)
    expect([run.text, provider.requests.length]).toEqual(['done', 2])
  })

  it('CASE-12: fallback goes to the next model with its own provider, as further attempts of the same effect', async () => {
    const second = scriptedProvider([reply('from the second')], { id: 'second' })
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime, clock } = await house([providerError(500), providerError(500)], {
      agents: [desk()],
      others: [second],
      plugins: [recorder.plugin],
      settings: { retry: { ...retry.retry, attempts: 2 }, fallback: ['second/big'] },
    })
    const run = await clock.settle(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect([run.text, run.provider, run.model]).toEqual(['from the second', 'second', 'big'])
    expect(recorder.at('beforeModelCall').map((entry) => (entry.context as any).attempt)).toEqual([1, 2, 3])
    expect(recorder.at('beforeModelCall').map((entry) => (entry.context as any).provider)).toEqual([
      'scripted',
      'scripted',
      'second',
    ])
    expect(run.usage.unreportedCalls).toBe(2)
  })

  it('CASE-12: a retry passes no gate unasked: a veto on the second attempt stops it before it is sent', async () => {
    let asked = 0
    const once = definePlugin({
      name: 'once',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeModelCall.tap({ name: 'once' }, () => {
          if (++asked > 1) throw new Veto('ONCE', 'Only once.')
        })
      },
    })
    const { runtime, clock, provider } = await house([providerError(500)], {
      agents: [desk()],
      plugins: [once()],
      settings: retry,
    })
    const error = await clock.settle(failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION })))
    expect([error.code, provider.requests.length]).toEqual(['ONCE', 1])
  })

  it('CASE-12: no retry or fallback runs a tool again', async () => {
    const { tool, calls } = noteTool()
    const { runtime, clock } = await house(
      [reply.toolCall('write_note'), providerError(500), providerError(500), reply('done')],
      {
        agents: [desk([tool])],
        settings: retry,
      },
    )
    await clock.settle(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(calls).toHaveLength(1)
  })

  // cites: CASE-12, G-42, S-22, H-W4, S-W1
  it.each([
    ['before any byte', reply('one two three').streamed({ breakAfter: 0 }), null, 1],
    ['after text, before usage', reply('one two three').streamed({ breakAfter: 1, chunkLength: 4 }), null, 1],
    [
      'after usage',
      reply('one two three').usage(usage(40, 8)).streamed({ breakAfter: 2, chunkLength: 4, usageBeforeBreak: true }),
      40,
      0,
    ],
  ])('CASE-12: a stream that breaks %s tells what it cost, never zero', async (_name, step, input, unreported) => {
    const { tool } = noteTool()
    const recorder = recordingPlugin({ points: ['afterModelCall', 'afterExecution'] })
    const { runtime } = await house([reply.toolCall('write_note').usage(usage(7, 2)), step], {
      agents: [desk([tool])],
      plugins: [recorder.plugin],
    })
    const error = await failureOf(runtime.stream({ agent: 'ap_desk', input: QUESTION }).run)
    expect(error.code).toBe('PROVIDER_STREAM_BROKEN')
    expect(error.partial.usage).toMatchObject({ inputTokens: 7 + (input ?? 0), unreportedCalls: unreported })
    expect(error.partial.toolCalls).toHaveLength(1)
    expect(error.partial.messages).toHaveLength(4)
    const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
    expect([row.status, row.toolCallsCount, row.usage]).toEqual(['failed', 1, error.partial.usage])
    expect(recorder.at('afterModelCall')[1]?.context).toMatchObject({
      outcome: 'error',
      sent: 'yes',
      usage: input === null ? null : { inputTokens: 40 },
    })
    expect(recorder.at('afterExecution')[0]?.context).toMatchObject({ status: 'failed', usage: error.partial.usage })
  })

  it.each([
    ['abort', { limits: undefined }],
    ['timeout', { limits: { durationMs: 1_000 } }],
  ])('CASE-12: a call that is ended by %s may have been billed: it counts as not reported', async (how, { limits }) => {
    const { runtime, clock, provider } = await house([hang()], {
      agents: [desk()],
      ...(limits === undefined ? {} : { limits }),
    })
    const controller = new AbortController()
    const running = failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION, signal: controller.signal }))
    await clock.tick()
    if (how === 'abort') controller.abort(new Error('enough'))
    const error = await clock.settle(running)
    expect([error.code, error.partial.usage.unreportedCalls]).toEqual([
      how === 'abort' ? 'RUN_ABORTED' : 'TREE_LIMIT',
      1,
    ])
    expect(provider.calls[0]?.outcome).toBe('aborted')
    const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
    expect([row.status, row.inputTokens]).toEqual([how === 'abort' ? 'aborted' : 'timeout', null])
  })

  // cites: G-55, G-56, X-W2
  it('G-55: an error of the provider leaves as ProviderError with status and retryability; one of the adapter is named as such', async () => {
    const bug = new TypeError("Cannot read properties of undefined (reading 'choices')")
    const { runtime } = await house([
      providerError(400, { message: 'bad request', requestId: 'req_1' }),
      throwing(bug),
      throwing('text'),
    ])
    const call = { model: 'scripted/m', prompt: 'go' } as const
    expect(await failureOf(runtime.generateText(call))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
      status: 400,
      retryable: false,
      requestId: 'req_1',
      provider: 'scripted',
      model: 'm',
    })
    expect(await failureOf(runtime.generateText(call))).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', cause: bug })
    expect(await failureOf(runtime.generateText(call))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
      cause: 'text',
    })
  })

  const sound = {
    parts: [{ type: 'text', text: 'a' }],
    finishReason: 'stop',
    usage: USAGE_NOT_REPORTED,
  } as const satisfies ModelReply

  // cites: G-56, CASE-14
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'hello'],
    ['no parts', { ...sound, parts: undefined }],
    ['parts that are no list', { ...sound, parts: {} }],
    ['a part that is null', { ...sound, parts: [null] }],
    ['a text part without text', { ...sound, parts: [{ type: 'text' }] }],
    ['a call without a name', { ...sound, parts: [{ type: 'tool_call', toolCallId: 'a', args: '{}' }] }],
    [
      'a call with an object as arguments',
      { ...sound, parts: [{ type: 'tool_call', toolCallId: 'a', toolName: 'write_note', args: {} }] },
    ],
    [
      'a call whose id is a number',
      { ...sound, parts: [{ type: 'tool_call', toolCallId: 7, toolName: 'write_note', args: '{}' }] },
    ],
    ['no usage', { ...sound, usage: undefined }],
    ['usage that is no number', { ...sound, usage: { ...USAGE_NOT_REPORTED, inputTokens: 'many' } }],
    ['usage that is not finite', { ...sound, usage: { ...USAGE_NOT_REPORTED, inputTokens: Number.NaN } }],
    ['no finish reason', { ...sound, finishReason: undefined }],
  ])('G-56: an adapter that gives %s is an unusable reply, never a crash', async (_name, value) => {
    for (const mode of ['execute', 'stream'] as const) {
      const { tool, calls } = noteTool()
      const { runtime } = await house([rawReply(value)], { agents: [desk([tool])] })
      const given = { agent: 'ap_desk', input: QUESTION } as const
      const error = await failureOf(mode === 'execute' ? runtime.execute(given) : runtime.stream(given).run)
      expect([error.code, calls]).toEqual([
        mode === 'stream' && value == null ? expect.any(String) : 'PROVIDER_RESPONSE_ERROR',
        [],
      ])
      const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
      expect([row.status, row.failureKind, row.usage.unreportedCalls]).toEqual(['failed', 'provider', 1])
      expect(SluiceError.isInstance(error)).toBe(true)
    }
  })
})
