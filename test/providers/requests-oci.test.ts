import type { Message } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { oci } from '@sluice/providers/oci'
import { describe, expect, it } from 'vitest'
import { SIGNING_KEY } from './recorded/signing-key.js'
import { request } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { called, codeOf, output, recordTool, result, tool, user } from './wire/some-requests.js'

const GENERIC = adapterOf('oci-generic')
const COHERE = adapterOf('oci-cohere')
const BOTH = [GENERIC, COHERE].map((adapter) => [adapter.protocol, adapter] as const)

const round = (...ids: string[]): Message => ({
  role: 'assistant',
  content: ids.map((id) => ({ type: 'tool_call', toolCallId: id, toolName: 'find', args: `{"name":"${id}"}` })),
})

describe.each(BOTH)('%s', (protocol, adapter) => {
  it('puts the model into the serving mode, and settings into the request to it', async () => {
    const settings = { temperature: 0.5, topP: 0.9, maxOutputTokens: 777, stopSequences: ['END'] }
    const body = await sentBody(adapter, request(settings))
    expect(body).toMatchObject({
      compartmentId: 'ocid1.compartment.oc1..example',
      servingMode: { servingType: 'ON_DEMAND', modelId: 'test-model' },
      chatRequest: { temperature: 0.5, topP: 0.9, maxTokens: 777 },
    })
    const { stop, stopSequences } = body.chatRequest
    expect(stop ?? stopSequences).toEqual(['END'])
    expect(Object.keys(body)).toEqual(['compartmentId', 'servingMode', 'chatRequest'])
  })

  it('names a model on a cluster of one’s own by its endpoint', async () => {
    const model = 'ocid1.generativeaiendpoint.oc1.us-chicago-1.example'
    expect((await sentBody(adapter, request({ model }))).servingMode).toEqual({
      servingType: 'DEDICATED',
      endpointId: model,
    })
  })

  it('merges raw options last, into the request to the model', async () => {
    const raw = { seed: 42, temperature: null, isStream: false, numGenerations: 1 }
    const { chatRequest } = await sentBody(adapter, request({ temperature: 1, providerOptions: raw }))
    expect(chatRequest).toMatchObject({ seed: 42, numGenerations: 1 })
    expect('temperature' in chatRequest).toBe(false)
    expect('isStream' in chatRequest).toBe(false)
  })

  it('G-6: refuses raw options that would add tools, or change cap, history or stream', async () => {
    const codes = async (providerOptions: object) =>
      codeOf(sentBody(adapter, request({ providerOptions: providerOptions as never })))
    expect(await codes({ tools: [] })).toBe('HOSTED_TOOL_UNDECLARED')
    const history = protocol === 'oci-cohere' ? { chatHistory: [] } : { messages: [] }
    for (const raw of [
      { maxTokens: 1 },
      history,
      { isStream: true },
      { numGenerations: 2 },
      { apiFormat: 'COHEREV2' },
    ]) {
      expect(await codes(raw), JSON.stringify(raw)).toBe('INVALID_CONFIG')
    }
  })

  it('refuses by name tools that run at the provider', async () => {
    const hostedTools = [{ code: 'search', configuration: { type: 'web_search' } }]
    const refused = await errorOf(sentBody(adapter, request({ hostedTools })))
    expect(refused).toMatchObject({ code: 'INVALID_CONFIG', reason: 'hosted_tools.unsupported' })
    expect(refused.message).toContain(protocol)
  })
})

describe('oci-generic', () => {
  it('offers functions, and a choice among them', async () => {
    const choices = { auto: 'AUTO', required: 'REQUIRED', none: 'NONE' } as const
    for (const [toolChoice, type] of Object.entries(choices)) {
      const body = await sentBody(GENERIC, request({ tools: [tool], toolChoice: toolChoice as 'auto' }))
      expect(body.chatRequest.toolChoice).toEqual({ type })
    }
    const { chatRequest } = await sentBody(GENERIC, request({ tools: [tool], toolChoice: { tool: 'find' } }))
    expect(chatRequest.toolChoice).toEqual({ type: 'FUNCTION', name: 'find' })
    expect(chatRequest.tools).toEqual([
      { type: 'FUNCTION', name: 'find', description: 'Finds.', parameters: tool.inputSchema },
    ])
  })

  it('holds an answer to its schema in strict mode', async () => {
    const { chatRequest } = await sentBody(GENERIC, request({ output }))
    expect(chatRequest.responseFormat).toMatchObject({
      type: 'JSON_SCHEMA',
      jsonSchema: { name: 'answer', isStrict: true, schema: { required: ['yes', 'why'], additionalProperties: false } },
    })
  })

  it('OpenAI’s models get the output cap under the name that they know', async () => {
    const { chatRequest } = await sentBody(GENERIC, request({ model: 'openai.gpt-oss-120b' }))
    expect(chatRequest).toMatchObject({ maxCompletionTokens: 500 })
    expect('maxTokens' in chatRequest).toBe(false)
  })

  it('a call without text has no content, its result names it, and reasoning goes back beside it', async () => {
    const messages: Message[] = [
      { role: 'system', content: 'Be brief.' },
      user('go'),
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'I think.', providerOptions: { oci: { member: 'reasoningContent' } } },
          { type: 'tool_call', toolCallId: 'c1', toolName: 'find', args: '{"name": "x"}' },
        ],
      },
      { role: 'tool', content: [result('c1', 'found')] },
    ]
    const text = (content: string) => [{ type: 'TEXT', text: content }]
    expect((await sentBody(GENERIC, request({ messages }))).chatRequest.messages).toEqual([
      { role: 'SYSTEM', content: text('Be brief.') },
      { role: 'USER', content: text('go') },
      {
        role: 'ASSISTANT',
        reasoningContent: 'I think.',
        // exactly as the model wrote them
        toolCalls: [{ type: 'FUNCTION', id: 'c1', name: 'find', arguments: '{"name": "x"}' }],
      },
      { role: 'TOOL', toolCallId: 'c1', content: text('found') },
    ])
  })

  it('G-20: images and PDF go along as data URLs', async () => {
    const file = (mediaType: string) => ({ type: 'file' as const, mediaType, data: 'AAAA' })
    const messages: Message[] = [{ role: 'user', content: [file('image/png'), file('application/pdf')] }]
    expect((await sentBody(GENERIC, request({ messages }))).chatRequest.messages[0].content).toEqual([
      { type: 'IMAGE', imageUrl: { url: 'data:image/png;base64,AAAA' } },
      { type: 'DOCUMENT', documentUrl: { url: 'data:application/pdf;base64,AAAA' } },
    ])
  })
})

describe('oci-cohere', () => {
  const chatOf = async (messages: readonly Message[], changes = {}) =>
    (await sentBody(COHERE, request({ messages, ...changes }))).chatRequest

  it('says the newest question apart from the history, and system text that opens it apart from both', async () => {
    const chat = await chatOf([
      { role: 'system', content: 'One.' },
      { role: 'system', content: 'Two.' },
      user('1'),
      { role: 'assistant', content: [{ type: 'text', text: '2' }] },
      { role: 'system', content: 'Three.' },
      user('3'),
    ])
    expect(chat).toMatchObject({
      message: '3',
      preambleOverride: 'One.\nTwo.',
      chatHistory: [
        { role: 'USER', message: '1' },
        { role: 'CHATBOT', message: '2' },
        { role: 'SYSTEM', message: 'Three.' },
      ],
    })
    expect('toolResults' in chat).toBe(false)
  })

  it('CASE-16: each result carries its call; those of the last round stand apart, of earlier ones in the history', async () => {
    const of = (id: string) => ({ call: { name: 'find', parameters: { name: id } } })
    const chat = await chatOf([
      user('go'),
      round('a'),
      { role: 'tool', content: [result('a', 'first')] },
      round('b', 'c'),
      { role: 'tool', content: [result('c', 'third', 'error'), result('b', 'second')] },
    ])
    expect(chat.message).toBe('')
    expect(chat.chatHistory).toEqual([
      { role: 'USER', message: 'go' },
      { role: 'CHATBOT', toolCalls: [of('a').call] },
      { role: 'TOOL', toolResults: [{ ...of('a'), outputs: [{ result: 'first' }] }] },
      { role: 'CHATBOT', toolCalls: [of('b').call, of('c').call] },
    ])
    expect(chat.toolResults).toEqual([
      { ...of('b'), outputs: [{ result: 'second' }] },
      { ...of('c'), outputs: [{ result: 'third' }] },
    ])
  })

  it('a system message at the end takes the place of neither the question nor the results', async () => {
    const note: Message = { role: 'system', content: 'Now.' }
    expect(await chatOf([user('go'), note])).toMatchObject({
      message: 'go',
      chatHistory: [{ role: 'SYSTEM', message: 'Now.' }],
    })
    const chat = await chatOf([user('go'), round('a'), { role: 'tool', content: [result('a', 'x')] }, note])
    expect(chat.toolResults).toHaveLength(1)
    expect(chat.chatHistory.at(-1)).toEqual({ role: 'SYSTEM', message: 'Now.' })
  })

  it('a round that was answered stands in the history when the next question comes', async () => {
    const chat = await chatOf([
      user('go'),
      round('a'),
      { role: 'tool', content: [result('a', 'first')] },
      { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
      user('on'),
    ])
    expect(chat.message).toBe('on')
    expect('toolResults' in chat).toBe(false)
    expect(chat.chatHistory.map((turn: any) => turn.role)).toEqual(['USER', 'CHATBOT', 'TOOL', 'CHATBOT'])
  })

  it('says the question again behind results where the caller asks for single steps', async () => {
    const messages = [user('go'), round('a'), { role: 'tool' as const, content: [result('a', 'x')] }]
    expect(await chatOf(messages, { providerOptions: { isForceSingleStep: true } })).toMatchObject({
      message: 'go',
      isForceSingleStep: true,
    })
  })

  it('CASE-14: arguments that are no object go back as the model wrote them', async () => {
    const chat = await chatOf([user('go'), called('a', '{"half'), { role: 'tool', content: [result('a', 'bad')] }])
    expect(chat.toolResults[0].call.parameters).toEqual({ invalid_json: '{"half' })
  })

  it('CASE-17: a tool is a list of parameters; what a type does not say stands in the text', async () => {
    const rich = {
      name: 'rich',
      description: '',
      inputSchema: {
        type: 'object',
        properties: {
          plain: { type: 'integer', description: 'A number' },
          one: { enum: ['p', 'q'] },
          maybe: { type: ['string', 'null'], description: 'Perhaps' },
          either: { anyOf: [{ type: 'null' }, { type: 'number', minimum: 1 }] },
          tree: { $ref: '#/$defs/node' },
          list: { type: 'array', items: { type: 'string' } },
        },
        required: ['plain'],
        $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      },
    }
    const { chatRequest } = await sentBody(COHERE, request({ tools: [tool, rich as never] }))
    expect(chatRequest.tools[0]).toEqual({
      name: 'find',
      description: 'Finds.',
      parameterDefinitions: {
        name: { type: 'string', description: 'Whom', isRequired: true },
        limit: { type: 'number', isRequired: false },
      },
    })
    const { description, parameterDefinitions } = chatRequest.tools[1]
    expect(description).toBe('rich')
    const types = Object.entries(parameterDefinitions).map(([name, each]: any) => [name, each.type])
    expect(Object.fromEntries(types)).toEqual({
      plain: 'integer',
      one: 'string',
      maybe: 'string',
      either: 'number',
      tree: 'object',
      list: 'array',
    })
    expect(parameterDefinitions.plain.description).toBe('A number')
    expect(parameterDefinitions.one.description).toBe('JSON Schema: {"enum":["p","q"]}')
    expect(parameterDefinitions.maybe.description).toBe('Perhaps (JSON Schema: {"type":["string","null"]})')
    expect(parameterDefinitions.either.description).toContain('"minimum":1')
    expect(parameterDefinitions.tree.description).toContain('"$defs":{"node"')
  })

  it('holds an answer to its schema', async () => {
    const { chatRequest } = await sentBody(COHERE, request({ output }))
    expect(chatRequest.responseFormat).toMatchObject({ type: 'JSON_OBJECT', schema: { required: ['yes'] } })
  })

  it('refuses by name a tool that must be called, and every file', async () => {
    for (const toolChoice of ['required', { tool: 'find' }] as const) {
      expect(await errorOf(sentBody(COHERE, request({ tools: [tool], toolChoice })))).toMatchObject({
        code: 'INVALID_CONFIG',
        reason: 'tool_choice.unsupported',
      })
    }
    expect('tools' in (await chatOf([user('go')], { tools: [tool], toolChoice: 'none' }))).toBe(false)
    const image = { type: 'file' as const, mediaType: 'image/png', data: 'AAAA' }
    expect(await codeOf(chatOf([{ role: 'user', content: [image] }]))).toBe('UNHANDLED_FORMAT')
  })
})

describe('oci without a protocol', () => {
  const options = { auth: SIGNING_KEY, compartmentId: 'c', baseUrl: 'http://127.0.0.1:9' }

  it('speaks to the models of Cohere as Cohere wants it, and to all others the generic protocol', async () => {
    const sent = async (model: string) => {
      let body = ''
      const provider = oci({
        ...options,
        fetch: async (_url, init) => {
          body = String(init?.body)
          return Response.json({ code: 'x', message: 'y' }, { status: 400 })
        },
      })
      await provider.generate(request({ model }), new AbortController().signal).catch(() => {})
      return JSON.parse(body).chatRequest.apiFormat as string
    }
    expect(await sent('cohere.command-a-03-2025')).toBe('COHERE')
    expect(await sent('meta.llama-3.3-70b-instruct')).toBe('GENERIC')
    expect(await sent('xai.grok-4')).toBe('GENERIC')
  })

  it('reads each answer and each stream as what it says that it is', async () => {
    for (const adapter of [GENERIC, COHERE]) {
      const answers = [adapter.wire.whole({ text: 'Hello.' }), adapter.wire.stream({ text: 'Hello.' })]
      const provider = oci({
        ...options,
        fetch: async () => {
          const { headers, body, bodyText } = answers.shift() as (typeof answers)[0]
          return new Response(bodyText ?? JSON.stringify(body), { headers })
        },
      })
      const { signal } = new AbortController()
      const { parts } = await provider.generate(request(), signal)
      expect(parts).toEqual([{ type: 'text', text: 'Hello.' }])
      const texts: string[] = []
      for await (const part of provider.stream(request(), signal)) if (part.type === 'text_delta') texts.push(part.text)
      expect(texts.join('')).toBe('Hello.')
    }
  })

  it('CASE-17: refuses when it is defined what the generic protocol cannot say', () => {
    const provider = oci(options)
    const check = () => provider.checkSchema?.(recordTool.inputSchema, 'output')
    expect(check).toThrow(SluiceError)
    expect(check).toThrow(/oci-generic.*any/)
  })
})
