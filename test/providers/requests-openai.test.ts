import type { Message } from '@sluice/core'
import { openai } from '@sluice/providers/openai'
import { describe, expect, it } from 'vitest'
import { never, request } from './wire/adapters.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { tool, recordTool, called, result, user, codeOf } from './wire/some-requests.js'

const RESPONSES = adapterOf('openai-responses')
const CHAT = adapterOf('openai-chat')

describe('openai-responses', () => {
  it('keeps no state at the provider: store is off, and the first system message goes as instructions', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'One' },
      user('hi'),
      { role: 'system', content: 'Two' },
      user('on'),
    ]
    const body = await sentBody(RESPONSES, request({ messages }))
    expect(body.store).toBe(false)
    expect(body.instructions).toBe('One')
    expect(body.input.map((item: any) => item.role)).toEqual(['user', 'system', 'user'])
  })

  it('G-49: asks for encrypted reasoning where reasoning is asked for, and from then on', async () => {
    const asked = await sentBody(RESPONSES, request({ reasoning: { level: 'low', summary: 'auto' } }))
    expect(asked.reasoning).toEqual({ effort: 'low', summary: 'auto' })
    expect(asked.include).toEqual(['reasoning.encrypted_content'])
    expect('include' in (await sentBody(RESPONSES, request()))).toBe(false)
    const joined = await sentBody(
      RESPONSES,
      request({ reasoning: { level: 'low' }, providerOptions: { include: ['web_search_call.results'] } }),
    )
    expect(joined.include).toEqual(['reasoning.encrypted_content', 'web_search_call.results'])
  })

  const reasoned = (item: object, ...rest: object[]): Message => ({
    role: 'assistant',
    content: [
      { type: 'reasoning', text: '', providerOptions: { openai: { reasoning: item as never } } },
      ...(rest as never[]),
    ],
  })
  const text = { type: 'text', text: 'So.', providerOptions: { openai: { itemId: 'msg_1', phase: 'commentary' } } }

  it('G-52: an encrypted reasoning item goes back before the item that followed it, with its id and phase', async () => {
    const body = await sentBody(
      RESPONSES,
      request({
        messages: [user('q'), reasoned({ id: 'rs_1', summary: [], encrypted_content: 'E' }, text), user('on')],
      }),
    )
    expect(body.input.slice(1, 3)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'So.', annotations: [] }],
      },
    ])
  })

  it('G-52: an item that has only an id stays here, and with it the ids that would ask for it', async () => {
    const body = await sentBody(
      RESPONSES,
      request({ messages: [user('q'), reasoned({ id: 'rs_1', summary: [] }, text), user('on')] }),
    )
    expect(body.input[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'output_text', text: 'So.' }],
      phase: 'commentary',
    })
    expect(JSON.stringify(body)).not.toContain('rs_1')
    expect(body.include).toEqual(['reasoning.encrypted_content'])
  })

  it('G-52: reasoning that nothing followed is not sent: the provider would refuse the history', async () => {
    const body = await sentBody(
      RESPONSES,
      request({ messages: [user('q'), reasoned({ id: 'rs_1', encrypted_content: 'E' }), user('on')] }),
    )
    expect(body.input.map((item: any) => item.role)).toEqual(['user', 'user'])
  })

  it('G-52: reasoning whose follower came from elsewhere is not sent: the provider knows the pair by its ids', async () => {
    const foreign = { type: 'text', text: 'Put in by hand.' }
    const body = await sentBody(
      RESPONSES,
      request({ messages: [user('q'), reasoned({ id: 'rs_1', encrypted_content: 'E' }, foreign), user('on')] }),
    )
    expect(body.input.map((item: any) => item.type ?? item.role)).toEqual(['user', 'assistant', 'user'])
  })

  it('texts of one output message become one message again', async () => {
    const part = (words: string) => ({ type: 'text', text: words, providerOptions: { openai: { itemId: 'msg_1' } } })
    const body = await sentBody(
      RESPONSES,
      request({ messages: [{ role: 'assistant', content: [part('a'), part('b')] as never }, user('on')] }),
    )
    expect(body.input[0].content.map((piece: any) => piece.text)).toEqual(['a', 'b'])
    expect(body.input).toHaveLength(2)
  })

  it('CASE-17: a tool is strict where strict mode can express it, and one that it cannot spoils no other', async () => {
    const body = await sentBody(RESPONSES, request({ tools: [tool, recordTool] }))
    expect(body.tools[0]).toMatchObject({ type: 'function', name: 'find', description: 'Finds.', strict: true })
    expect(body.tools[0].parameters.required).toEqual(['name', 'limit'])
    expect(body.tools[0].parameters.properties).toEqual({
      name: { type: 'string', description: 'Whom' },
      limit: { type: ['number', 'null'] },
    })
    expect(body.tools[1]).toMatchObject({ name: 'bag', strict: false })
    expect(body.tools[1].parameters.properties.any).toEqual({
      type: 'object',
      additionalProperties: true,
      properties: {},
    })
  })

  it('has no stop sequences and says so', async () => {
    expect(await codeOf(sentBody(RESPONSES, request({ stopSequences: ['END'] })))).toBe('INVALID_CONFIG')
  })

  it('names one tool in its own form', async () => {
    expect((await sentBody(RESPONSES, request({ tools: [tool], toolChoice: { tool: 'find' } }))).tool_choice).toEqual({
      type: 'function',
      name: 'find',
    })
  })
})

describe('openai-chat', () => {
  it('speaks to OpenAI and to compatible servers as each understands it', async () => {
    const sentTo = async (options: object) => {
      let body: any
      const provider = openai({
        protocol: 'openai-chat',
        apiKey: 'sk-0123456789',
        fetch: async (_url, init) => {
          body = JSON.parse(String(init?.body))
          return Response.json(CHAT.wire.whole({ text: 'ok' }).body)
        },
        ...options,
      })
      await provider.generate(request({ tools: [tool] }), never())
      return body as Record<string, any>
    }
    for (const options of [
      {},
      { baseUrl: 'https://x.openai.azure.com/v1' },
      { baseUrl: 'http://localhost:1/v1', dialect: 'openai' },
    ]) {
      const body = await sentTo(options)
      expect(body).toMatchObject({ max_completion_tokens: 500, store: false })
      expect(body.tools[0].function.strict).toBe(true)
      expect('max_tokens' in body).toBe(false)
    }
    for (const options of [
      { baseUrl: 'http://localhost:1/v1' },
      { dialect: 'compatible' },
      { baseUrl: 'https://openai.com.evil.example/v1' },
    ]) {
      const body = await sentTo(options)
      expect(body.max_tokens).toBe(500)
      expect('max_completion_tokens' in body || 'store' in body || 'strict' in body.tools[0].function).toBe(false)
      expect(body.tools[0].function.parameters).toEqual(tool.inputSchema)
    }
  })

  it('asks a stream for its usage', async () => {
    const bodies: string[] = []
    const provider = CHAT.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async (_url, init) => {
        bodies.push(String(init?.body))
        const { bodyText, headers } = CHAT.wire.stream({ text: 'ok' })
        return new Response(bodyText, { headers })
      },
    })
    for await (const _part of provider.stream(request(), never()));
    expect(JSON.parse(bodies[0] as string)).toMatchObject({ stream: true, stream_options: { include_usage: true } })
  })

  it('G-22: a round is one message of the model and one message for each result', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'S' },
      user('go'),
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I look.' },
          ...(called('c1') as any).content,
          ...(called('c2').content as any),
        ],
      },
      { role: 'tool', content: [result('c1', 'one'), result('c2', '', 'error')] },
    ]
    expect((await sentBody(CHAT, request({ messages }))).messages).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: ['c1', 'c2'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'find', arguments: '{"name":"x"}' },
        })),
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: '' },
    ])
  })

  it('reasoning goes back in the member that it came in; a refusal as a refusal', async () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'R', providerOptions: { openai: { member: 'reasoning_content' } } },
          ...(called('c').content as any),
        ],
      },
      { role: 'tool', content: [result('c', 'x')] },
      { role: 'assistant', content: [{ type: 'refusal', text: 'I will not.' }] },
      user('on'),
    ]
    const body = await sentBody(CHAT, request({ messages }))
    expect(body.messages[0]).toMatchObject({ content: null, reasoning_content: 'R' })
    expect(body.messages[2].content).toEqual([{ type: 'refusal', refusal: 'I will not.' }])
  })

  it('sends stop sequences, effort and the choice of one tool', async () => {
    const body = await sentBody(
      CHAT,
      request({ tools: [tool], toolChoice: { tool: 'find' }, stopSequences: ['END'], reasoning: { level: 'high' } }),
    )
    expect(body).toMatchObject({
      stop: ['END'],
      reasoning_effort: 'high',
      tool_choice: { type: 'function', function: { name: 'find' } },
    })
  })
})
