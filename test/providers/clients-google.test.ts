import { GoogleGenAI } from '@google/genai'
import { SluiceError } from '@sluice/core'
import { google } from '@sluice/providers/google'
import { replay, serveExchanges } from '@sluice/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { never, request } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'

const GOOGLE = adapterOf('google-generate-content')
const OK = GOOGLE.wire.whole({ text: 'ok' })
const BUSY = GOOGLE.wire.error(503, 'Busy.', 'UNAVAILABLE')
const PATH = '/v1beta/models/test-model:generateContent'

function faultOf(work: () => unknown): SluiceError {
  try {
    work()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
  }
  throw new Error('no SluiceError')
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

describe('google()', () => {
  it('has the protocol, id and defaults of its row: tool errors are returned, the bound of calls throws', () => {
    expect(google()).toMatchObject({
      id: 'google',
      protocol: 'google-generate-content',
      defaults: { onToolError: 'return', onToolLimit: 'throw' },
    })
    expect(google({ id: 'vertex' }).id).toBe('vertex')
  })

  it('names everything that is wrong with its options at once', () => {
    const options = { apikey: 'x', id: 'a/b', baseUrl: 'no url', client: { post() {} }, thinking: 'hard', fetch: 1 }
    const fault = faultOf(() => google(options as never))
    expect(fault).toMatchObject({ code: 'INVALID_CONFIG', reason: 'provider.options' })
    for (const name of Object.keys(options)) expect(fault.message).toContain(`\`${name}\``)
    expect(fault.message).toContain('budget, level')
    expect(fault.message).toContain('it has no `models.generateContent`')
    expect(faultOf(() => google('key-given-0123456' as never)).message).not.toContain('key-given')
  })

  it('takes its key from the environment at the first use, in the order of the SDK', async () => {
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    const server = await serveExchanges([OK, OK])
    const key = async (variables: Record<string, string>) => {
      const provider = google({ baseUrl: server.url })
      for (const name of ['GOOGLE_API_KEY', 'GEMINI_API_KEY']) vi.stubEnv(name, variables[name] ?? '')
      await provider.generate(request(), never())
      return server.requests.at(-1)?.headers['x-goog-api-key']
    }
    expect(await key({ GEMINI_API_KEY: 'gemini-0123456' })).toBe('gemini-0123456')
    expect(await key({ GEMINI_API_KEY: 'gemini-0123456', GOOGLE_API_KEY: 'google-0123456' })).toBe('google-0123456')
    await server.close()
  })

  it('that has no key says both names, before anything is sent; a server of one’s own needs none', async () => {
    for (const name of ['GOOGLE_API_KEY', 'GEMINI_API_KEY']) vi.stubEnv(name, '')
    const error = await errorOf(google().generate(request(), never()))
    expect(error).toMatchObject({ code: 'MISSING_CONFIG' })
    expect(error.message).toContain('GOOGLE_API_KEY or GEMINI_API_KEY')
    const server = await serveExchanges([OK])
    await google({ baseUrl: server.url }).generate(request(), never())
    expect(server.requests[0]?.headers['x-goog-api-key']).toBe('none')
    await server.close()
  })

  it('speaks to the Gemini API whatever the environment says of Vertex AI, and asks nothing twice', async () => {
    vi.stubEnv('GOOGLE_GENAI_USE_VERTEXAI', 'true')
    const server = await serveExchanges([BUSY, GOOGLE.wire.whole({ text: 'Half', finish: 'MAX_TOKENS' })])
    const provider = google({ apiKey: 'key-0123456789', baseUrl: server.url })
    expect(await errorOf(provider.generate(request(), never()))).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    // the SDK would go on with an answer that was cut off
    expect(await provider.generate(request(), never())).toMatchObject({ finishReason: 'length' })
    expect(server.requests.map(({ path }) => path)).toEqual([PATH, PATH])
    await server.close()
  })

  it('sends headers of its own and of a call, each once, above those of the SDK', async () => {
    const server = await serveExchanges([OK])
    const provider = google({
      apiKey: 'key-0123456789',
      baseUrl: server.url,
      headers: { 'x-own': 'a', 'User-Agent': 'mine' },
    })
    await provider.generate(request({ connection: { headers: { 'X-Own': 'b', 'x-more': 'c' } } }), never())
    expect(server.requests[0]?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'mine',
      'x-own': 'b',
      'x-more': 'c',
      'x-goog-api-client': expect.stringContaining('google-genai-sdk'),
    })
    await server.close()
  })

  it('CASE-27: uses key and base URL of a call for this call alone', async () => {
    const [usual, other] = [await serveExchanges([OK, OK, OK]), await serveExchanges([OK])]
    const provider = google({ apiKey: 'key-usual-012345', baseUrl: usual.url })
    const connections = [undefined, { apiKey: 'key-tenant-012345' }, { baseUrl: other.url }, undefined]
    for (const connection of connections) {
      await provider.generate(request(connection === undefined ? {} : { connection }), never())
    }
    expect(usual.requests.map(({ headers }) => headers['x-goog-api-key'])).toEqual([
      'key-usual-012345',
      'key-tenant-012345',
      'key-usual-012345',
    ])
    expect(other.requests).toHaveLength(1)
    await usual.close()
    await other.close()
  })

  it('T-16: streams the shipped fixture with a text before its call', async () => {
    const wire = replay('google-generate-content/stream')
    const types: string[] = []
    const provider = google({ apiKey: wire.apiKey })
    for await (const part of provider.stream(request({ model: 'gemini-2.5-flash' }), never())) types.push(part.type)
    wire.restore()
    expect(types).toEqual(['text_delta', 'text_delta', 'tool_call_delta', 'tool_call_delta', 'reply'])
  })
})

describe('a client of the user', () => {
  it('is used as it is, with its fetch, its headers and what it adds to the body; its retries and its timeout are off', async () => {
    const bodies: unknown[] = []
    const server = await serveExchanges([BUSY, OK, GOOGLE.wire.stream({ text: 'ok' })])
    const client = new GoogleGenAI({
      apiKey: 'key-client-0123',
      httpOptions: {
        baseUrl: `${server.url}/own`,
        headers: { 'x-own': 'yes' },
        timeout: 1,
        retryOptions: { attempts: 5, initialDelay: 0 },
        extraBody: { labels: { team: 'a' } },
        fetch: async (input, init) => {
          bodies.push(JSON.parse(String(init?.body)))
          return fetch(input, init)
        },
      },
    })
    const provider = google({ client })
    expect(await errorOf(provider.generate(request(), never()))).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    await provider.generate(request(), never())
    for await (const _part of provider.stream(request(), never()));
    expect(server.requests.map(({ path }) => path)).toEqual([
      `/own${PATH}`,
      `/own${PATH}`,
      '/own/v1beta/models/test-model:streamGenerateContent?alt=sse',
    ])
    for (const { headers, body } of server.requests) {
      expect(headers).toMatchObject({ 'x-goog-api-key': 'key-client-0123', 'x-own': 'yes' })
      expect('x-server-timeout' in headers).toBe(false)
      expect(JSON.parse(body)).toEqual({
        contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
        generationConfig: { maxOutputTokens: 500 },
        labels: { team: 'a' },
      })
    }
    expect(bodies).toHaveLength(3)
    await server.close()
  })

  it('may be one of Vertex AI, which takes no other key; any other does', async () => {
    const server = await serveExchanges([OK, OK])
    const vertex = new GoogleGenAI({ vertexai: true, apiKey: 'key-express-012', httpOptions: { baseUrl: server.url } })
    const provider = google({ id: 'vertex', client: vertex })
    await provider.generate(request(), never())
    expect(server.requests[0]?.path).toBe('/v1beta1/publishers/google/models/test-model:generateContent')
    const connection = { apiKey: 'key-tenant-0123' }
    expect(await errorOf(provider.generate(request({ connection }), never()))).toMatchObject({
      code: 'INVALID_CONFIG',
      reason: 'provider.client',
    })
    const gemini = new GoogleGenAI({ apiKey: 'key-client-0123' })
    await google({ client: gemini }).generate(request({ connection: { ...connection, baseUrl: server.url } }), never())
    expect(server.requests[1]?.headers['x-goog-api-key']).toBe('key-tenant-0123')
    await server.close()
  })

  it('keeps its key out of errors', async () => {
    const key = 'key-of-the-client-01'
    const server = await serveExchanges([GOOGLE.wire.error(403, `Not with ${key}.`, 'PERMISSION_DENIED')])
    const client = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: server.url } })
    const error = await errorOf(google({ client }).generate(request(), never()))
    expect(error).toMatchObject({ code: 'PROVIDER_AUTH' })
    expect(error.message).toContain('[redacted]')
    expect(error.message).not.toContain(key)
    await server.close()
  })
})
