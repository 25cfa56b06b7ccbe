import type { Message } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { ollama } from '@sluice/providers/ollama'
import { serveExchanges } from '@sluice/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { never, request } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { called, codeOf, output, recordTool, result, tool, user } from './wire/some-requests.js'

const OLLAMA = adapterOf('ollama-chat')

describe('ollama-chat', () => {
  it('sends settings among its options, and says that a plain request is no stream', async () => {
    const settings = { temperature: 0.5, topP: 0.9, maxOutputTokens: 777, stopSequences: ['END'] }
    const body = await sentBody(OLLAMA, request({ ...settings, tools: [tool], toolChoice: 'auto' }))
    expect(body.options).toEqual({ num_predict: 777, temperature: 0.5, top_p: 0.9, stop: ['END'] })
    expect(body.tools).toEqual([
      { type: 'function', function: { name: 'find', description: 'Finds.', parameters: tool.inputSchema } },
    ])
    expect(Object.entries(body).at(-1)).toEqual(['stream', false])
  })

  it('asks for a stream with the same body', async () => {
    const server = await serveExchanges([OLLAMA.wire.stream({ text: 'ok' }), OLLAMA.wire.whole({ text: 'ok' })])
    const provider = ollama({ baseUrl: server.url })
    for await (const _part of provider.stream(request(), never()));
    await provider.generate(request(), never())
    const [streamed, plain] = server.requests.map(({ body }) => body) as [string, string]
    expect(streamed).toBe(plain.replace('"stream":false', '"stream":true'))
    expect(server.requests.map(({ path }) => path)).toEqual(['/api/chat', '/api/chat'])
    await server.close()
  })

  it('G-50: reasoning is on or off, and the caller’s own setting wins', async () => {
    for (const reasoning of [{ level: 'low' }, { level: 'high' }, { budgetTokens: 100 }] as const) {
      expect((await sentBody(OLLAMA, request({ reasoning }))).think).toBe(true)
    }
    expect('think' in (await sentBody(OLLAMA, request()))).toBe(false)
    const own = request({ reasoning: { level: 'low' }, providerOptions: { think: 'high' } })
    expect((await sentBody(OLLAMA, own)).think).toBe('high')
  })

  it('merges raw options last, those of the model into its options', async () => {
    const raw = { keep_alive: '5m', options: { seed: 42, temperature: 0 } }
    const body = await sentBody(OLLAMA, request({ temperature: 1, providerOptions: raw }))
    expect(body.keep_alive).toBe('5m')
    expect(body.options).toEqual({ num_predict: 500, temperature: 0, seed: 42 })
    // what holds anyway may be said
    expect((await sentBody(OLLAMA, request({ providerOptions: { stream: false } }))).stream).toBe(false)
  })

  it('G-6: refuses raw options that would add tools, or change cap, history or stream', async () => {
    const codes = async (providerOptions: Record<string, unknown>) =>
      codeOf(sentBody(OLLAMA, request({ providerOptions: providerOptions as never })))
    expect(await codes({ tools: [] })).toBe('HOSTED_TOOL_UNDECLARED')
    // its server reads names in whatever case they stand
    expect(await codes({ Tools: [] })).toBe('HOSTED_TOOL_UNDECLARED')
    const caps = [{ options: { num_predict: -1 } }, { options: null }, { options: [] }, { options: 'x' }]
    const cased = [{ OPTIONS: null }, { Messages: [] }]
    for (const raw of [...caps, ...cased, { messages: [] }, { model: 'm' }, { stream: true }]) {
      expect(await codes(raw), JSON.stringify(raw)).toBe('INVALID_CONFIG')
    }
  })

  it('refuses by name what it has not: a tool that must be called, tools that run at the provider', async () => {
    const choices = [{ toolChoice: 'required' }, { toolChoice: { tool: 'find' } }] as const
    for (const choice of choices) {
      const refused = await errorOf(sentBody(OLLAMA, request({ tools: [tool], ...choice })))
      expect(refused).toMatchObject({ code: 'INVALID_CONFIG', reason: 'tool_choice.unsupported' })
      expect(refused.message).toContain('ollama-chat')
    }
    const hostedTools = [{ code: 'search', configuration: { type: 'web_search' } }]
    expect(await errorOf(sentBody(OLLAMA, request({ hostedTools })))).toMatchObject({
      code: 'INVALID_CONFIG',
      reason: 'hosted_tools.unsupported',
    })
    expect('tools' in (await sentBody(OLLAMA, request({ tools: [tool], toolChoice: 'none' })))).toBe(false)
  })

  it('CASE-16: results stand in the order of their calls, and each names its call and its tool', async () => {
    const messages: Message[] = [
      user('go'),
      { role: 'assistant', content: ['a', 'b', 'c'].flatMap((id) => called(id).content as never) },
      { role: 'tool', content: [result('c', 'third'), result('a', 'first', 'error'), result('b', 'second')] },
    ]
    const body = await sentBody(OLLAMA, request({ messages }))
    expect(body.messages[1].tool_calls.map((call: any) => call.function)).toEqual(
      Array(3).fill({ name: 'find', arguments: { name: 'x' } }),
    )
    expect(body.messages.slice(2)).toEqual([
      { role: 'tool', content: 'first', tool_name: 'find', tool_call_id: 'a' },
      { role: 'tool', content: 'second', tool_name: 'find', tool_call_id: 'b' },
      { role: 'tool', content: 'third', tool_name: 'find', tool_call_id: 'c' },
    ])
  })

  it('CASE-14: arguments that are no object go back as the model wrote them', async () => {
    const messages: Message[] = [user('go'), called('a', '{"half'), { role: 'tool', content: [result('a', 'bad')] }]
    const body = await sentBody(OLLAMA, request({ messages }))
    expect(body.messages[1].tool_calls[0].function.arguments).toEqual({ invalid_json: '{"half' })
  })

  it('thinking goes back beside the text that it led to, and alone it is no message', async () => {
    const thought = (text: string) => ({
      type: 'reasoning' as const,
      text,
      providerOptions: { ollama: { member: 'thinking' } },
    })
    const messages: Message[] = [
      { role: 'assistant', content: [thought('One.'), thought('Two.'), { type: 'text', text: 'So.' }] },
      { role: 'assistant', content: [thought('Nothing came of it.')] },
      user('on'),
    ]
    const body = await sentBody(OLLAMA, request({ messages }))
    expect(body.messages).toEqual([
      { role: 'assistant', content: 'So.', thinking: 'One.\n\nTwo.' },
      { role: 'user', content: 'on' },
    ])
  })

  it('an image goes along as it is, also one whose text is the name of a file here', async () => {
    const image = (data: string) => ({ type: 'file' as const, mediaType: 'image/png', data })
    const messages: Message[] = [{ role: 'user', content: [{ type: 'text', text: 'See' }, image('package.json')] }]
    expect((await sentBody(OLLAMA, request({ messages }))).messages).toEqual([
      { role: 'user', content: 'See', images: ['package.json'] },
    ])
    expect(ollama().inputTokensAtMost?.(request({ messages }))).toBeNull()
  })
})

describe('schemas of ollama-chat', () => {
  const provider = ollama()

  it('CASE-17: an answer schema goes out as what a grammar can say, whatever its root is', async () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      title: 'T',
      type: 'array',
      minItems: 2,
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time', description: 'When' },
          mail: { type: 'string', format: 'email', pattern: '@' },
          kind: { enum: ['title', 'pattern'] },
          pattern: { type: 'string', maxLength: 3 },
          more: { type: 'object', additionalProperties: { type: 'number', minimum: 0, multipleOf: 2 } },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
        },
        required: ['at'],
      },
    }
    provider.checkSchema?.(schema, 'output')
    expect((await sentBody(OLLAMA, request({ output: { name: 'x', schema } }))).format).toEqual({
      type: 'array',
      items: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time', description: 'When' },
          mail: { type: 'string' },
          kind: { enum: ['title', 'pattern'] },
          pattern: { type: 'string' },
          more: { type: 'object', additionalProperties: { type: 'number', minimum: 0 } },
          pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
        },
        required: ['at'],
      },
    })
  })

  it('CASE-17: what a grammar cannot say is refused with path and protocol, all at once', () => {
    const schema = {
      type: 'object',
      properties: { a: { not: { type: 'null' } }, b: { type: 'array', items: { $ref: '#/$defs/gone' } } },
    }
    const refused = faultOf(() => provider.checkSchema?.(schema, 'output'))
    expect(refused.code).toBe('SCHEMA_UNSUPPORTED')
    expect(refused.details).toMatchObject({
      protocol: 'ollama-chat',
      faults: [
        { path: 'a', problem: 'uses "not"' },
        { path: 'b[]', problem: 'refers to "#/$defs/gone", which is not in the schema' },
      ],
    })
    const union = { anyOf: [{ type: 'object', properties: {} }] }
    expect(faultOf(() => provider.checkSchema?.(union, 'tool')).message).toContain('(root)')
  })

  it('CASE-17: a property that is described by `true` spoils no request', async () => {
    const odd = { ...recordTool, inputSchema: { type: 'object', properties: { any: true } } } as never
    const body = await sentBody(OLLAMA, request({ tools: [odd], output }))
    expect(body.tools[0].function.parameters.properties).toEqual({ any: {} })
  })
})

describe('the server of ollama', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('is asked without a key where there is none, with the one of the environment, or with the given one', async () => {
    const OK = OLLAMA.wire.whole({ text: 'ok' })
    const server = await serveExchanges([OK, OK, OK, OK])
    vi.stubEnv('OLLAMA_API_KEY', '')
    const call = (options: object, changes = {}) =>
      ollama({ baseUrl: server.url, ...options }).generate(request(changes), never())
    await call({ headers: { 'x-own': 'yes' } })
    vi.stubEnv('OLLAMA_API_KEY', 'key-of-environment')
    await call({})
    await call({ apiKey: 'key-given' })
    await call({ apiKey: 'key-given' }, { connection: { apiKey: 'key-of-tenant', headers: { 'x-tenant': 't' } } })
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      undefined,
      'Bearer key-of-environment',
      'Bearer key-given',
      'Bearer key-of-tenant',
    ])
    expect(server.requests[0]?.headers['x-own']).toBe('yes')
    expect(server.requests[3]?.headers['x-tenant']).toBe('t')
    await server.close()
  })

  it('may be named without its defaults: id, protocol and what follows a failure', () => {
    expect(ollama()).toMatchObject({
      id: 'ollama',
      protocol: 'ollama-chat',
      defaults: { onToolError: 'throw', onToolLimit: 'throw' },
    })
    expect(faultOf(() => ollama({ client: {}, host: 'x' } as never)).message).toMatch(/`client`.*`host`/)
  })

  it('writes nothing to the console, whatever it answers', async () => {
    const written = (['log', 'warn', 'error'] as const).map((name) =>
      vi.spyOn(console, name).mockImplementation(() => {}),
    )
    const server = await serveExchanges([
      { status: 500, headers: { 'content-type': 'text/html' }, bodyText: '<html>no</html>' },
      { status: 500, headers: { 'content-type': 'application/json' }, bodyText: '{"half' },
      { status: 200, headers: {}, bodyText: '{"message":{"content":"a"},"done":false}\nno JSON\n' },
    ])
    const provider = ollama({ baseUrl: server.url })
    expect(await errorOf(provider.generate(request(), never()))).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    expect(await errorOf(provider.generate(request(), never()))).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    const stream = async () => {
      for await (const _part of provider.stream(request(), never()));
    }
    expect(await errorOf(stream())).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' })
    for (const spy of written) expect(spy).not.toHaveBeenCalled()
    await server.close()
  })
})

function faultOf(work: () => unknown): SluiceError {
  try {
    work()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
  }
  throw new Error('no SluiceError')
}
