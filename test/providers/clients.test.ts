import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Anthropic from '@anthropic-ai/sdk'
import type { ModelProvider } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'
import { serveExchanges } from '@sluice/testkit'
import OpenAI, { AzureOpenAI } from 'openai'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { never, request, WIRED } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'

const OK = adapterOf('openai-responses').wire.whole({ text: 'ok' })
const OK_CHAT = adapterOf('openai-chat').wire.whole({ text: 'ok' })
const OK_ANTHROPIC = adapterOf('anthropic-messages').wire.whole({ text: 'ok' })

function faultOf(work: () => unknown): SluiceError {
  try {
    work()
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
  }
  throw new Error('no SluiceError')
}

afterEach(() => vi.unstubAllEnvs())

describe('options', () => {
  it('names everything that is wrong with them at once', () => {
    const options = {
      protocl: 'x',
      protocol: 'grpc',
      id: 'a/b',
      baseUrl: 'not a url',
      apiKey: '',
      client: {},
      headers: { a: 1 },
      fetch: 'x',
    }
    const fault = faultOf(() => openai(options as never))
    expect(fault.code).toBe('INVALID_CONFIG')
    for (const name of Object.keys(options)) expect(fault.message).toContain(`\`${name}\``)
    expect(faultOf(() => anthropic({ thinking: 'hard' } as never)).message).toContain('budget, adaptive')
    expect(faultOf(() => openai({ dialect: 'strict' } as never)).message).toContain(
      'openai, xai, openrouter, compatible',
    )
  })

  it('are an object: a key in their place is told so and not shown', () => {
    for (const make of [openai, anthropic])
      for (const given of ['sk-given-0123456', null, ['sk-given-0123456']]) {
        const fault = faultOf(() => make(given as never))
        expect(fault).toMatchObject({ code: 'INVALID_CONFIG', reason: 'provider.options' })
        expect(fault.message).toContain('({ apiKey })')
        expect(fault.message).not.toContain('sk-given')
      }
  })

  it('have the protocol, id and defaults that the provider’s row says', () => {
    expect(openai()).toMatchObject({
      id: 'openai',
      protocol: 'openai-responses',
      defaults: { onToolError: 'throw', onToolLimit: 'finish' },
    })
    expect(openai({ protocol: 'openai-chat', id: 'local' })).toMatchObject({
      id: 'local',
      protocol: 'openai-chat',
      defaults: { onToolError: 'throw', onToolLimit: 'throw' },
    })
    expect(anthropic()).toMatchObject({
      id: 'anthropic',
      protocol: 'anthropic-messages',
      defaults: { onToolError: 'throw', onToolLimit: 'throw' },
    })
  })
})

describe('the key', () => {
  it('comes from the environment, read at the first use', async () => {
    const server = await serveExchanges([OK, OK_ANTHROPIC])
    const providers = [openai({ baseUrl: server.url }), anthropic({ baseUrl: server.url })]
    vi.stubEnv('OPENAI_API_KEY', 'sk-from-environment-1')
    vi.stubEnv('ANTHROPIC_API_KEY', 'sk-from-environment-2')
    for (const provider of providers) await provider.generate(request(), never())
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-from-environment-1',
      'Bearer sk-from-environment-2',
    ])
    await server.close()
  })

  it('that is missing is told by its name before anything is sent; a server of one’s own needs none', async () => {
    vi.stubEnv('OPENAI_API_KEY', '')
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    for (const [provider, variable] of [
      [openai(), 'OPENAI_API_KEY'],
      [anthropic(), 'ANTHROPIC_API_KEY'],
    ] as const) {
      const error = await errorOf(provider.generate(request(), never()))
      expect(error).toMatchObject({ code: 'MISSING_CONFIG' })
      expect(error.message).toContain(variable)
    }
    const server = await serveExchanges([OK_CHAT])
    await openai({ protocol: 'openai-chat', baseUrl: server.url }).generate(request(), never())
    expect(server.requests).toHaveLength(1)
    await server.close()
  })
})

describe('the SDK', () => {
  it('is told by its install line where it is not installed', async () => {
    const child = fileURLToPath(new URL('./without-sdk.child.ts', import.meta.url))
    const run = promisify(execFile)(process.execPath, ['--conditions=sluice-source', '--import', 'tsx', child])
    const lines = (await run).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { code: string; message: string })
    expect(lines.map(({ code }) => code)).toEqual(Array(5).fill('PROVIDER_SDK_MISSING'))
    expect(lines[0]?.message).toContain('npm install "openai@')
    expect(lines[1]?.message).toContain('npm install "@anthropic-ai/sdk@')
    expect(lines[2]?.message).toContain('npm install "@google/genai@')
    expect(lines[3]?.message).toContain('npm install "ollama@')
    // it brings the other one along
    expect(lines[4]?.message).toContain('npm install "oci-generativeaiinference@')
  })

  it('is asked for one client for each key and base URL, however many calls are made at once', async () => {
    const server = await serveExchanges(Array.from({ length: 12 }, () => OK))
    const fetches = new Set<unknown>()
    const constructed = vi.spyOn(OpenAI.prototype, 'buildURL')
    const provider = openai({ baseUrl: server.url, apiKey: 'sk-0123456789' })
    const connections = [undefined, { apiKey: 'sk-other-012345' }, { baseUrl: `${server.url}/v9` }]
    await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const connection = connections[index % 3]
        return provider.generate(request(connection === undefined ? {} : { connection }), never())
      }),
    )
    for (const client of constructed.mock.contexts) fetches.add(client)
    expect(fetches.size).toBe(3)
    expect(server.requests.filter(({ path }) => path === '/v9/responses')).toHaveLength(4)
    await server.close()
  })

  it('never repeats a request and never ends one by a timeout of its own', async () => {
    for (const { make, protocol } of WIRED) {
      const server = await serveExchanges([{ status: 500, headers: {}, bodyText: '' }])
      await errorOf(make({ baseUrl: server.url }).generate(request(), never()))
      expect(server.requests, protocol).toHaveLength(1)
      const { headers } = server.requests[0] as (typeof server.requests)[0]
      expect(Number(headers['x-stainless-timeout'] ?? 2_147_483)).toBe(2_147_483)
      expect(headers['x-stainless-retry-count'] ?? '0').toBe('0')
      await server.close()
    }
  })
})

describe('headers and keys of a request', () => {
  it('a header of the connection stands in the place of one of the adapter, in whatever case it is written', async () => {
    const seen: (string | null)[] = []
    const provider = openai({
      apiKey: 'sk-own-0123456789',
      headers: { 'X-Tenant': 'usual' },
      fetch: async (_url, init) => {
        seen.push(new Headers(init?.headers).get('x-tenant'))
        return new Response('{}', { status: 500 })
      },
    })
    await errorOf(provider.generate(request(), never()))
    await errorOf(provider.generate(request({ connection: { headers: { 'x-tenant': 'acme' } } }), never()))
    expect(seen).toEqual(['usual', 'acme'])
  })

  it('the key of the adapter stays out of errors when hundreds of tenants have brought their own', async () => {
    const key = 'sk-own-0123456789'
    const provider = openai({
      apiKey: key,
      fetch: async () => new Response(JSON.stringify({ error: { message: `bad ${key}` } }), { status: 401 }),
    })
    await errorOf(provider.generate(request(), never()))
    for (let tenant = 0; tenant < 300; tenant++)
      await errorOf(provider.generate(request({ connection: { apiKey: `sk-tenant-${tenant}-0123` } }), never()))
    const error = await errorOf(provider.generate(request(), never()))
    expect(error.message).toContain('[redacted]')
    expect(error.message).not.toContain(key)
  })
})

describe('a client of the user', () => {
  it('is used as it is, with retries off, and sees the body as an object', async () => {
    const server = await serveExchanges([{ status: 500, headers: {}, bodyText: '' }, OK_CHAT, OK_CHAT])
    const client = new OpenAI({
      apiKey: 'sk-client-0123456',
      baseURL: `${server.url}/own`,
      maxRetries: 5,
      defaultHeaders: { 'x-own': 'yes' },
    })
    const provider = openai({ client, protocol: 'openai-chat', headers: { 'x-more': 'too' } })
    await errorOf(provider.generate(request(), never()))
    await provider.generate(request({ connection: { apiKey: 'sk-tenant-0123456' } }), never())
    await stream(provider)
    expect(server.requests.map(({ path }) => path)).toEqual(Array(3).fill('/own/chat/completions'))
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sk-client-0123456',
      'Bearer sk-tenant-0123456',
      'Bearer sk-client-0123456',
    ])
    expect(server.requests[0]?.headers).toMatchObject({ 'x-own': 'yes', 'x-more': 'too' })
    // a base URL that is not OpenAI's tells a compatible server
    expect(JSON.parse(server.requests[0]?.body ?? '{}')).toMatchObject({ max_tokens: 500 })
    expect(JSON.parse(server.requests[2]?.body ?? '{}')).toMatchObject({ stream: true })
    await server.close()
  })

  it('may be one that puts the deployment into the path, or one of Anthropic', async () => {
    const server = await serveExchanges([OK_CHAT, OK_ANTHROPIC])
    const azure = new AzureOpenAI({
      apiKey: 'azure-key-0123456',
      baseURL: `${server.url}/openai`,
      apiVersion: '2025-01-01',
    })
    await openai({ client: azure, protocol: 'openai-chat', dialect: 'openai' }).generate(request(), never())
    expect(server.requests[0]?.path).toBe('/openai/deployments/test-model/chat/completions?api-version=2025-01-01')
    expect(server.requests[0]?.headers['api-key']).toBe('azure-key-0123456')
    await anthropic({
      client: new Anthropic({ apiKey: 'sk-ant-0123456', baseURL: server.url, maxRetries: 3 }),
    }).generate(request(), never())
    expect(server.requests[1]?.path).toBe('/v1/messages')
    await server.close()
  })

  it('that cannot take another key says so', async () => {
    const post = () => ({
      asResponse: async () => new Response('{}'),
      withResponse: async () => ({ data: [], response: new Response('{}') }),
    })
    const provider = openai({ client: { post } })
    expect(await errorOf(provider.generate(request({ connection: { apiKey: 'k' } }), never()))).toMatchObject({
      code: 'INVALID_CONFIG',
    })
  })

  it('keeps its key out of errors', async () => {
    const key = 'sk-of-the-client-0123'
    const server = await serveExchanges([
      { status: 401, headers: { 'content-type': 'application/json' }, body: { error: { message: `bad ${key}` } } },
    ])
    const error = await errorOf(
      openai({ client: new OpenAI({ apiKey: key, baseURL: server.url }) }).generate(request(), never()),
    )
    expect(error.code).toBe('PROVIDER_AUTH')
    expect(error.message).not.toContain(key)
    await server.close()
  })
})

async function stream(provider: ModelProvider): Promise<void> {
  for await (const _part of provider.stream(request(), never()));
}
