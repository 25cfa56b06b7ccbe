import type { JsonObject, Message, ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'
import { describe, expect, it } from 'vitest'
import { never, request, WIRED } from './wire/adapters.js'
import { adapterOf, sentBody } from './wire/sent-body.js'

const RESPONSES = adapterOf('openai-responses')
const CHAT = adapterOf('openai-chat')
const ANTHROPIC = adapterOf('anthropic-messages')
const CAPS = { 'openai-responses': 'max_output_tokens', 'openai-chat': 'max_completion_tokens', 'anthropic-messages': 'max_tokens' }

const tool = {
  name: 'find',
  description: 'Finds.',
  inputSchema: { type: 'object', properties: { name: { type: 'string', description: 'Whom' }, limit: { type: 'number' } }, required: ['name'] },
}
const recordTool = { name: 'bag', description: '', inputSchema: { type: 'object', properties: { any: { type: 'object', additionalProperties: true } }, required: ['any'] } }
const output = { name: 'answer', schema: { type: 'object', properties: { yes: { type: 'boolean' }, why: { type: 'string' } }, required: ['yes'] } }

const called = (id: string, args = '{"name":"x"}'): Message => ({
  role: 'assistant',
  content: [{ type: 'tool_call', toolCallId: id, toolName: 'find', args }],
})
const result = (id: string, text: string, status: 'ok' | 'error' | 'refused' = 'ok') => ({
  type: 'tool_result' as const,
  toolCallId: id,
  toolName: 'find',
  result: text,
  status,
})
const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => (SluiceError.isInstance(error) ? error.code : error),
  )
}

describe('every protocol', () => {
  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: sends settings under its own names', async (protocol, adapter) => {
    const body = await sentBody(
      adapter,
      request({ tools: [tool], toolChoice: 'required', temperature: 0.5, topP: 0.9, maxOutputTokens: 777 }),
    )
    expect(body.model).toBe('test-model')
    expect(body.temperature).toBe(0.5)
    expect(body.top_p).toBe(0.9)
    expect(body[CAPS[protocol as keyof typeof CAPS]]).toBe(777)
    expect(body.tool_choice).toEqual(protocol === 'anthropic-messages' ? { type: 'any' } : 'required')
    expect(body.tools).toHaveLength(1)
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: offers hosted tools as they were declared', async (_protocol, adapter) => {
    const configuration = { type: 'web_search', name: 'web_search', max_uses: 3 }
    const body = await sentBody(adapter, request({ tools: [tool], hostedTools: [{ code: 'search', configuration }] }))
    expect(body.tools.at(-1)).toEqual(configuration)
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: G-6: refuses undeclared tools in raw options', async (protocol, adapter) => {
    const keys = { 'openai-responses': ['tools', 'prompt'], 'openai-chat': ['tools', 'functions', 'web_search_options'], 'anthropic-messages': ['tools', 'mcp_servers'] }
    for (const key of keys[protocol as keyof typeof keys]) {
      const sending = sentBody(adapter, request({ providerOptions: { [key]: [{ type: 'web_search' }] } }))
      expect(await codeOf(sending)).toBe('HOSTED_TOOL_UNDECLARED')
    }
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: refuses raw options that would change cap, history or state', async (protocol, adapter) => {
    const keys: Record<string, object> = {
      'openai-responses': { max_output_tokens: 9, store: true, previous_response_id: 'x', conversation: 'c', background: true, input: [], model: 'm' },
      'openai-chat': { max_tokens: 1, max_completion_tokens: 1, n: 2, store: true, messages: [] },
      'anthropic-messages': { max_tokens: 1, system: 's', messages: [], stream: true },
    }
    for (const [key, value] of Object.entries(keys[protocol] ?? {})) {
      expect(await codeOf(sentBody(adapter, request({ providerOptions: { [key]: value } }))), key).toBe('INVALID_CONFIG')
    }
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: merges raw options last', async (protocol, adapter) => {
    const text: JsonObject = protocol === 'openai-responses' ? { text: { verbosity: 'low' } } : { output_config: { effort: 'low' } }
    const raw: JsonObject = { metadata: { a: 'b' }, temperature: null, ...text }
    const body = await sentBody(adapter, request({ temperature: 1, output, providerOptions: raw }))
    expect(body.metadata).toEqual({ a: 'b' })
    expect('temperature' in body).toBe(false)
    if (protocol === 'openai-responses') expect(body.text).toMatchObject({ verbosity: 'low', format: { type: 'json_schema' } })
    if (protocol === 'anthropic-messages') expect(body.output_config).toMatchObject({ effort: 'low', format: { type: 'json_schema' } })
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: G-20: sends images and PDF, refuses other media types by name', async (_protocol, adapter) => {
    const file = (mediaType: string) => ({ type: 'file' as const, mediaType, data: 'AAAA', filename: 'a.bin' })
    for (const mediaType of ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf']) {
      const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'See' }, file(mediaType)] }]
      expect(JSON.stringify(await sentBody(adapter, request({ messages })))).toContain('AAAA')
    }
    const messages: Message[] = [{ role: 'user', content: [file('audio/wav')] }]
    expect(await codeOf(sentBody(adapter, request({ messages })))).toBe('UNHANDLED_FORMAT')
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: G-20: refuses a file in a message of the model', async (_protocol, adapter) => {
    const messages: Message[] = [{ role: 'assistant', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }, user('and?')]
    expect(await codeOf(sentBody(adapter, request({ messages })))).toBe('UNSUPPORTED_CONTENT')
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: CASE-16: writes ids and names of any origin in the form that it takes', async (_protocol, adapter) => {
    const ids = ['functions.find:0', 'call with space', 'x'.repeat(90)]
    const odd: Message[] = [
      user('go'),
      { role: 'assistant', content: ids.map((toolCallId) => ({ type: 'tool_call' as const, toolCallId, toolName: 'no such\ntool', args: '' })) },
      { role: 'tool', content: [...ids].reverse().map((id) => result(id, `result of ${id}`)) },
    ]
    const text = JSON.stringify(await sentBody(adapter, request({ messages: odd })))
    for (const id of ids) expect(text).not.toContain(`"${id}"`)
    expect(text).toContain('no_such_tool')
    const wireIds = [...text.matchAll(/"(?:call_id|tool_call_id|tool_use_id|id)":"(x_[A-Za-z0-9_-]{38})"/g)].map((match) => match[1])
    expect(wireIds).toHaveLength(6)
    // each result stands with the id of its call
    expect(wireIds.slice(3)).toEqual(wireIds.slice(0, 3).reverse())
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: CASE-13: what another provider left in the history is not sent', async (_protocol, adapter) => {
    const messages: Message[] = [
      user('go'),
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'FOREIGN', providerOptions: { other: { signature: 'FOREIGN', member: 'reasoning', reasoning: { id: 'FOREIGN' } } } },
          { type: 'text', text: 'Said.', providerOptions: { other: { itemId: 'FOREIGN' } } },
          { type: 'hosted', toolName: 'search', text: 'FOREIGN', providerOptions: { other: { item: { type: 'FOREIGN' } } } },
          { type: 'refusal', text: 'No.' },
        ],
      },
      user('on'),
    ]
    const text = JSON.stringify(await sentBody(adapter, request({ messages })))
    expect(text).not.toContain('FOREIGN')
    expect(text).toContain('Said.')
    expect(text).toContain('No.')
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: the answer format is the strictest that it has, and a root that is no object is wrapped', async (protocol, adapter) => {
    const schemaOf = (body: any) => body.text?.format.schema ?? body.response_format?.json_schema.schema ?? body.output_config?.format.schema
    const plain = schemaOf(await sentBody(adapter, request({ output })))
    expect(plain.additionalProperties).toBe(false)
    expect(plain.required).toEqual(protocol === 'anthropic-messages' ? ['yes'] : ['yes', 'why'])
    const list = { name: 'list', schema: { type: 'array', items: { type: 'string' } } }
    expect(schemaOf(await sentBody(adapter, request({ output: list }))).properties.value).toMatchObject({ type: 'array' })
    const record = { name: 'bag', schema: { type: 'object', additionalProperties: { type: 'string' } } }
    expect(await codeOf(sentBody(adapter, request({ output: record })))).toBe('SCHEMA_UNSUPPORTED')
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: CASE-17: checkSchema refuses with path and protocol what it cannot express', (protocol, adapter) => {
    const provider = adapter.make({ baseUrl: 'http://127.0.0.1:9' })
    provider.checkSchema?.(tool.inputSchema, 'tool')
    provider.checkSchema?.(recordTool.inputSchema, 'tool')
    provider.checkSchema?.(output.schema, 'output')
    for (const [schema, use, path] of [
      [{ anyOf: [{ type: 'object', properties: {} }, { type: 'object', properties: {} }] }, 'tool', '(root)'],
      [recordTool.inputSchema, 'output', 'any'],
    ] as const) {
      let refused: unknown
      try {
        provider.checkSchema?.(schema, use)
      } catch (error) {
        refused = error
      }
      if (!SluiceError.isInstance(refused, 'SCHEMA_UNSUPPORTED')) throw refused
      expect(refused.message).toContain(protocol)
      expect(refused.message).toContain(path)
      expect(refused.details).toMatchObject({ protocol, faults: [expect.objectContaining({ path })] })
    }
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: a choice among tools is left out where there are none', async (_protocol, adapter) => {
    const body = await sentBody(adapter, request({ toolChoice: 'auto' }))
    expect('tool_choice' in body || 'tools' in body).toBe(false)
  })

  it.each(WIRED.map((adapter) => [adapter.protocol, adapter] as const))('%s: a request is measured and sent from one translation', async (_protocol, adapter) => {
    const provider = adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch: async () => new Response('{}', { status: 500 }) })
    let reads = 0
    const counted = request()
    const observed = new Proxy(counted, {
      get(target, key) {
        if (key === 'temperature') reads += 1
        return Reflect.get(target, key) as unknown
      },
    }) as ModelRequest
    provider.inputTokensAtMost?.(observed)
    const once = reads
    provider.inputTokensAtMost?.(observed)
    await provider.generate(observed, never()).catch(() => {})
    expect(once).toBeGreaterThan(0)
    expect(reads).toBe(once)
  })
})

describe('openai-responses', () => {
  it('keeps no state at the provider: store is off, and the first system message goes as instructions', async () => {
    const messages: Message[] = [{ role: 'system', content: 'One' }, user('hi'), { role: 'system', content: 'Two' }, user('on')]
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
    const joined = await sentBody(RESPONSES, request({ reasoning: { level: 'low' }, providerOptions: { include: ['web_search_call.results'] } }))
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
    const body = await sentBody(RESPONSES, request({ messages: [user('q'), reasoned({ id: 'rs_1', summary: [], encrypted_content: 'E' }, text), user('on')] }))
    expect(body.input.slice(1, 3)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'E' },
      { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', phase: 'commentary', content: [{ type: 'output_text', text: 'So.', annotations: [] }] },
    ])
  })

  it('G-52: an item that has only an id stays here, and with it the ids that would ask for it', async () => {
    const body = await sentBody(RESPONSES, request({ messages: [user('q'), reasoned({ id: 'rs_1', summary: [] }, text), user('on')] }))
    expect(body.input[1]).toEqual({ role: 'assistant', content: [{ type: 'output_text', text: 'So.' }], phase: 'commentary' })
    expect(JSON.stringify(body)).not.toContain('rs_1')
    expect(body.include).toEqual(['reasoning.encrypted_content'])
  })

  it('G-52: reasoning that nothing followed is not sent: the provider would refuse the history', async () => {
    const body = await sentBody(RESPONSES, request({ messages: [user('q'), reasoned({ id: 'rs_1', encrypted_content: 'E' }), user('on')] }))
    expect(body.input.map((item: any) => item.role)).toEqual(['user', 'user'])
  })

  it('texts of one output message become one message again', async () => {
    const part = (words: string) => ({ type: 'text', text: words, providerOptions: { openai: { itemId: 'msg_1' } } })
    const body = await sentBody(RESPONSES, request({ messages: [{ role: 'assistant', content: [part('a'), part('b')] as never }, user('on')] }))
    expect(body.input[0].content.map((piece: any) => piece.text)).toEqual(['a', 'b'])
    expect(body.input).toHaveLength(2)
  })

  it('CASE-17: a tool is strict where strict mode can express it, and one that it cannot spoils no other', async () => {
    const body = await sentBody(RESPONSES, request({ tools: [tool, recordTool] }))
    expect(body.tools[0]).toMatchObject({ type: 'function', name: 'find', description: 'Finds.', strict: true })
    expect(body.tools[0].parameters.required).toEqual(['name', 'limit'])
    expect(body.tools[0].parameters.properties).toEqual({ name: { type: 'string', description: 'Whom' }, limit: { type: ['number', 'null'] } })
    expect(body.tools[1]).toMatchObject({ name: 'bag', strict: false })
    expect(body.tools[1].parameters.properties.any).toEqual({ type: 'object', additionalProperties: true, properties: {} })
  })

  it('has no stop sequences and says so', async () => {
    expect(await codeOf(sentBody(RESPONSES, request({ stopSequences: ['END'] })))).toBe('INVALID_CONFIG')
  })

  it('names one tool in its own form', async () => {
    expect((await sentBody(RESPONSES, request({ tools: [tool], toolChoice: { tool: 'find' } }))).tool_choice).toEqual({ type: 'function', name: 'find' })
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
    for (const options of [{}, { baseUrl: 'https://x.openai.azure.com/v1' }, { baseUrl: 'http://localhost:1/v1', dialect: 'openai' }]) {
      const body = await sentTo(options)
      expect(body).toMatchObject({ max_completion_tokens: 500, store: false })
      expect(body.tools[0].function.strict).toBe(true)
      expect('max_tokens' in body).toBe(false)
    }
    for (const options of [{ baseUrl: 'http://localhost:1/v1' }, { dialect: 'compatible' }, { baseUrl: 'https://openai.com.evil.example/v1' }]) {
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
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, ...(called('c1') as any).content, ...(called('c2').content as any)] },
      { role: 'tool', content: [result('c1', 'one'), result('c2', '', 'error')] },
    ]
    expect((await sentBody(CHAT, request({ messages }))).messages).toEqual([
      { role: 'system', content: 'S' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: ['c1', 'c2'].map((id) => ({ id, type: 'function', function: { name: 'find', arguments: '{"name":"x"}' } })),
      },
      { role: 'tool', tool_call_id: 'c1', content: 'one' },
      { role: 'tool', tool_call_id: 'c2', content: '' },
    ])
  })

  it('reasoning goes back in the member that it came in; a refusal as a refusal', async () => {
    const messages: Message[] = [
      { role: 'assistant', content: [{ type: 'reasoning', text: 'R', providerOptions: { openai: { member: 'reasoning_content' } } }, ...(called('c').content as any)] },
      { role: 'tool', content: [result('c', 'x')] },
      { role: 'assistant', content: [{ type: 'refusal', text: 'I will not.' }] },
      user('on'),
    ]
    const body = await sentBody(CHAT, request({ messages }))
    expect(body.messages[0]).toMatchObject({ content: null, reasoning_content: 'R' })
    expect(body.messages[2].content).toEqual([{ type: 'refusal', refusal: 'I will not.' }])
  })

  it('sends stop sequences, effort and the choice of one tool', async () => {
    const body = await sentBody(CHAT, request({ tools: [tool], toolChoice: { tool: 'find' }, stopSequences: ['END'], reasoning: { level: 'high' } }))
    expect(body).toMatchObject({ stop: ['END'], reasoning_effort: 'high', tool_choice: { type: 'function', function: { name: 'find' } } })
  })
})

describe('anthropic-messages', () => {
  it('CASE-13: system text apart, turns of one side joined, results first in their turn, calls last', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'One' },
      user('go'),
      { role: 'assistant', content: [...(called('c1').content as any), { type: 'text', text: 'I look.' }] },
      { role: 'tool', content: [result('c1', 'done')] },
      user('and?'),
      { role: 'system', content: 'Two' },
    ]
    const body = await sentBody(ANTHROPIC, request({ messages }))
    expect(body.system).toEqual([{ type: 'text', text: 'One' }, { type: 'text', text: 'Two' }])
    expect(body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'I look.' }, { type: 'tool_use', id: 'c1', name: 'find', input: { name: 'x' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'done' }, { type: 'text', text: 'and?' }] },
    ])
  })

  it('CASE-15: the protocol’s error flag is set for every result but ok and refused, never without content', async () => {
    const statuses = ['ok', 'refused', 'error', 'invalid', 'vetoed', 'skipped_limit', 'not_run', 'unknown'] as const
    const messages: Message[] = [
      { role: 'assistant', content: statuses.map((status) => ({ type: 'tool_call' as const, toolCallId: status, toolName: 'find', args: '{}' })) },
      { role: 'tool', content: statuses.map((status) => ({ ...result(status, ''), status })) },
    ]
    const blocks = (await sentBody(ANTHROPIC, request({ messages }))).messages[1].content as any[]
    expect(blocks.filter((block) => block.is_error === true).map((block) => block.tool_use_id)).toEqual(statuses.slice(2))
    for (const block of blocks) expect(block.is_error === true ? block.content : 'fine').not.toBe('')
  })

  it('CASE-14: arguments that are no object are shown to the model as it wrote them', async () => {
    const messages: Message[] = [called('a', '{"name":'), { role: 'tool', content: [result('a', 'not JSON', 'error')] }, called('b', ''), { role: 'tool', content: [result('b', 'x')] }]
    const body = await sentBody(ANTHROPIC, request({ messages }))
    expect(body.messages[0].content[0].input).toEqual({ invalid_json: '{"name":' })
    expect(body.messages[2].content[0].input).toEqual({})
  })

  it('texts without a visible character, and messages without content, are left out: the provider refuses them', async () => {
    const messages: Message[] = [user('go'), { role: 'assistant', content: [{ type: 'text', text: ' \n' }] }, { role: 'assistant', content: [] }, user('on')]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }, { type: 'text', text: 'on' }] },
    ])
  })

  it('thinking goes back exactly, redacted or signed; without a signature it stays here', async () => {
    const messages: Message[] = [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'T', providerOptions: { anthropic: { signature: 'S' } } },
          { type: 'reasoning', text: '', providerOptions: { anthropic: { redacted: 'D' } } },
          { type: 'reasoning', text: 'cut off' },
          { type: 'text', text: 'So.' },
        ],
      },
      user('on'),
    ]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages[0].content).toEqual([
      { type: 'thinking', thinking: 'T', signature: 'S' },
      { type: 'redacted_thinking', data: 'D' },
      { type: 'text', text: 'So.' },
    ])
  })

  it('G-50, G-51: levels are budgets, an explicit budget wins, and one that is not below the cap is refused', async () => {
    const thinking = async (reasoning: ModelRequest['reasoning'], maxOutputTokens: number) =>
      (await sentBody(ANTHROPIC, request({ ...(reasoning === undefined ? {} : { reasoning }), maxOutputTokens }))).thinking
    expect(await thinking({ level: 'low' }, 8192)).toEqual({ type: 'enabled', budget_tokens: 2048 })
    expect(await thinking({ level: 'medium' }, 8193)).toEqual({ type: 'enabled', budget_tokens: 8192 })
    expect(await thinking({ level: 'high' }, 40_000)).toEqual({ type: 'enabled', budget_tokens: 32_768 })
    expect(await thinking({ level: 'high', budgetTokens: 1024 }, 8192)).toEqual({ type: 'enabled', budget_tokens: 1024 })
    expect(await thinking({}, 8192)).toBeUndefined()
    expect(await codeOf(thinking({ level: 'medium' }, 8192))).toBe('REASONING_BUDGET_TOO_LARGE')
    expect(await codeOf(thinking({ budgetTokens: 500 }, 500))).toBe('REASONING_BUDGET_TOO_LARGE')
  })

  it('G-49: a raw thinking setting wins over the neutral one, and `adaptive` leaves the amount to the model', async () => {
    const raw = await sentBody(ANTHROPIC, request({ reasoning: { level: 'high' }, providerOptions: { thinking: { type: 'disabled' } } }))
    expect(raw.thinking).toEqual({ type: 'disabled' })
    let body: any
    const adaptive = anthropic({
      apiKey: 'sk-0123456789',
      thinking: 'adaptive',
      fetch: async (_url, init) => {
        body = JSON.parse(String(init?.body))
        return Response.json(ANTHROPIC.wire.whole({ text: 'ok' }).body)
      },
    })
    await adaptive.generate(request({ reasoning: { level: 'medium', summary: 'auto' }, output }), never())
    expect(body.thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(body.output_config).toMatchObject({ effort: 'medium', format: { type: 'json_schema' } })
  })

  it('carries the caller’s cache breakpoints and document settings', async () => {
    const messages: Message[] = [
      {
        role: 'user',
        content: [
          { type: 'file', mediaType: 'text/plain', data: Buffer.from('Grüße').toString('base64'), filename: 'a.txt', providerOptions: { anthropic: { citations: { enabled: true }, source: 'no' } } },
          { type: 'text', text: 'Read.', providerOptions: { anthropic: { cache_control: { type: 'ephemeral' }, type: 'no' } } },
        ],
      },
    ]
    expect((await sentBody(ANTHROPIC, request({ messages }))).messages[0].content).toEqual([
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' }, title: 'a.txt', citations: { enabled: true } },
      { type: 'text', text: 'Read.', cache_control: { type: 'ephemeral' } },
    ])
  })

  it('bounds images by their kind, text files by their bytes, and has no bound for a PDF', () => {
    const provider = ANTHROPIC.make({ baseUrl: 'http://127.0.0.1:9' })
    const bound = (mediaType: string, data: string) =>
      provider.inputTokensAtMost?.(request({ messages: [{ role: 'user', content: [{ type: 'file', mediaType, data }] }] }))
    const big = 'A'.repeat(400_000)
    expect(bound('image/png', big)).toBeLessThan(6000)
    expect(bound('text/plain', big)).toBeGreaterThan(300_000)
    expect(bound('application/pdf', 'AAAA')).toBeNull()
    expect(bound('audio/wav', 'AAAA')).toBeNull()
  })
})
