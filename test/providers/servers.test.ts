// xAI and OpenRouter are settings of the adapter for OpenAI's protocols; any other server is a base URL of it.
import type { AfterModelCallContext, JsonObject, Message, ModelProvider, ModelReply, ModelRequest } from '@sluice/core'
import { createMemoryStore, createRuntime, definePlugin } from '@sluice/core'
import { OPENAI_SERVERS } from '@sluice/providers/behaviour'
import type { OpenAIOptions } from '@sluice/providers/openai'
import { openai } from '@sluice/providers/openai'
import type { RecordedResponse } from '@sluice/testkit'
import { exchangeFetch } from '@sluice/testkit'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { never, request } from './wire/adapters.js'
import { errorOf } from './wire/memory.js'
import { user } from './wire/some-requests.js'
import { json, sse } from './wire/wire-reply.js'

afterEach(() => {
  vi.unstubAllEnvs()
})

const SERVERS = ['xai', 'openrouter'] as const
const completion = (message: object, more: object = {}, choice: object = {}) =>
  json({ id: 'c1', model: 'answered', choices: [{ message, finish_reason: 'stop', ...choice }], ...more })

/** What one request looks like on the wire. */
async function sent(options: OpenAIOptions, changes: Partial<ModelRequest> = {}) {
  const seen: { url: string; key: string | null; body: any }[] = []
  const provider = openai({
    apiKey: 'sk-server-0123456789',
    fetch: async (url, init) => {
      const body: unknown = JSON.parse(String(init?.body))
      seen.push({ url: String(url), key: new Headers(init?.headers).get('authorization'), body })
      const {
        status,
        headers,
        body: answer,
      } = String(url).endsWith('/responses') ? RESPONSE : completion({ content: 'ok' })
      return new Response(JSON.stringify(answer), { status, headers })
    },
    ...options,
  })
  await provider.generate(request(changes), never())
  return seen[0] as (typeof seen)[number]
}
const RESPONSE = json({ id: 'r', status: 'completed', model: 'm', output: [] })

function answered(options: OpenAIOptions, answer: RecordedResponse): ModelProvider {
  return openai({ apiKey: 'sk-server-0123456789', fetch: exchangeFetch(answer), ...options })
}
const replyOf = (options: OpenAIOptions, answer: RecordedResponse): Promise<ModelReply> =>
  answered(options, answer).generate(request(), never())

async function streamed(options: OpenAIOptions, answer: RecordedResponse): Promise<ModelReply> {
  for await (const part of answered(options, answer).stream(request(), never())) {
    if (part.type === 'reply') return part.reply
  }
  throw new Error('the stream gave no reply')
}

describe('a server known by name', () => {
  it.each(SERVERS)('%s: gives its id, its address and the variable of its key', async (server) => {
    const row = OPENAI_SERVERS[server]
    expect(openai({ server })).toMatchObject({ id: server, protocol: row.protocols[0] })
    vi.stubEnv('OPENAI_API_KEY', 'sk-not-for-this-server')
    vi.stubEnv('OPENAI_BASE_URL', 'https://elsewhere.example/v1')
    vi.stubEnv(row.keyVariable, 'sk-of-this-server-1')
    const { url, key } = await sent({ server, protocol: 'openai-chat', apiKey: undefined as never })
    expect(url).toBe(`${row.baseUrl}/chat/completions`)
    expect(key).toBe('Bearer sk-of-this-server-1')
  })

  it.each(SERVERS)('%s: always asks for a key, unlike a server of one’s own', async (server) => {
    const { keyVariable } = OPENAI_SERVERS[server]
    vi.stubEnv(keyVariable, '')
    vi.stubEnv('OPENAI_API_KEY', 'sk-not-for-this-server')
    const error = await errorOf(openai({ server }).generate(request(), never()))
    expect(error.code).toBe('MISSING_CONFIG')
    expect(error.message + error.hint).toContain(keyVariable)
  })

  it('each has defaults of its protocol: xAI speaks both, OpenRouter Chat alone', () => {
    expect(openai({ server: 'xai' }).defaults).toEqual({ onToolError: 'throw', onToolLimit: 'finish' })
    expect(openai({ server: 'xai', protocol: 'openai-chat' }).defaults.onToolLimit).toBe('throw')
    expect(openai({ server: 'openrouter' })).toMatchObject({
      protocol: 'openai-chat',
      defaults: { onToolLimit: 'throw' },
    })
    expect(() => openai({ server: 'openrouter', protocol: 'openai-responses' })).toThrow(
      /"openrouter" does not speak openai-responses/,
    )
    expect(() => openai({ server: 'grok' as never })).toThrow(/openai, xai, openrouter/)
  })

  it('is known by its host name as well, and not by a name that only looks like it', async () => {
    const asked = { reasoning: { level: 'medium' as const } }
    const body = async (baseUrl: string) => (await sent({ protocol: 'openai-chat', baseUrl }, asked)).body
    expect((await body('https://api.x.ai/v1')).reasoning_effort).toBe('low')
    expect((await body('https://eu.openrouter.ai/api/v1')).reasoning).toEqual({ effort: 'medium' })
    expect((await body('https://notx.ai/v1')).reasoning_effort).toBe('medium')
  })
})

describe('what is asked for', () => {
  it.each(SERVERS)(
    '%s: Chat gets max_tokens, tools as written and no member that only OpenAI knows',
    async (server) => {
      const inputSchema = { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] }
      const { body } = await sent(
        { server, protocol: 'openai-chat' },
        { tools: [{ name: 'find', description: 'Finds.', inputSchema }] },
      )
      expect(Object.keys(body).sort()).toEqual(['max_tokens', 'messages', 'model', 'tools'])
      expect(body.tools[0].function).toEqual({ name: 'find', description: 'Finds.', parameters: inputSchema })
    },
  )

  it('G-50: xAI’s Chat has no medium, which becomes low; its Responses take the level as it is', async () => {
    for (const [level, effort] of [
      ['low', 'low'],
      ['medium', 'low'],
      ['high', 'high'],
    ] as const) {
      const chat = await sent({ server: 'xai', protocol: 'openai-chat' }, { reasoning: { level } })
      expect(chat.body.reasoning_effort).toBe(effort)
      const responses = await sent({ server: 'xai' }, { reasoning: { level } })
      expect(responses.body.reasoning).toEqual({ effort: level })
    }
  })

  it('G-49: OpenRouter takes an effort or a budget; a budget wins, and a raw option stands above both', async () => {
    const of = async (changes: Partial<ModelRequest>) => (await sent({ server: 'openrouter' }, changes)).body.reasoning
    expect(await of({ reasoning: { level: 'high' } })).toEqual({ effort: 'high' })
    expect(await of({ reasoning: { level: 'high', budgetTokens: 1024 } })).toEqual({ max_tokens: 1024 })
    expect(await of({ reasoning: { level: 'high' }, providerOptions: { reasoning: { effort: 'low' } } })).toEqual({
      effort: 'low',
    })
    expect(await of({})).toBeUndefined()
  })

  it('a tool that runs at the server must be declared', async () => {
    for (const [server, protocol, option] of [
      ['xai', 'openai-chat', 'search_parameters'],
      ['xai', 'openai-responses', 'search_parameters'],
      ['openrouter', 'openai-chat', 'plugins'],
      ['openrouter', 'openai-chat', 'Plugins'],
    ] as const) {
      const work = sent({ server, protocol }, { providerOptions: { [option]: {} } })
      expect((await errorOf(work)).code, option).toBe('HOSTED_TOOL_UNDECLARED')
    }
    const online = sent({ server: 'openrouter' }, { model: 'vendor/model:online' })
    expect((await errorOf(online)).code).toBe('HOSTED_TOOL_UNDECLARED')
  })

  it('a raw option lets no other model answer than the one that the gates were asked about', async () => {
    const options: readonly JsonObject[] = [{ models: ['a/b'] }, { route: 'fallback' }, { MODEL: 'a/b' }]
    for (const option of options) {
      const work = sent({ server: 'openrouter' }, { providerOptions: option })
      expect((await errorOf(work)).code, JSON.stringify(option)).toBe('INVALID_CONFIG')
    }
  })
})

describe('reasoning', () => {
  const WHOLE = {
    content: 'So.',
    reasoning: 'First. Then.',
    reasoning_details: [
      { type: 'reasoning.text', index: 0, format: 'f1', text: 'First. Then.', signature: 'SIGNED' },
      { type: 'reasoning.encrypted', index: 1, format: 'f1', id: 'rs_1', data: 'SEALED' },
    ],
  }
  const piece = (delta: object) => ({ id: 'c1', model: 'answered', choices: [{ delta }] })
  const PIECES = sse(
    [
      piece({
        reasoning: 'First.',
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f1', text: 'First.' }],
      }),
      piece({
        reasoning: ' Then.',
        reasoning_details: [{ type: 'reasoning.text', index: 0, format: null, text: ' Then.' }],
      }),
      piece({ reasoning_details: [{ type: 'reasoning.text', index: 0, format: 'f1', signature: 'SIGNED' }] }),
      piece({
        reasoning_details: [{ type: 'reasoning.encrypted', index: 1, format: 'f1', id: 'rs_1', data: 'SEALED' }],
      }),
      piece({ content: 'So.' }),
      { id: 'c1', model: 'answered', choices: [{ delta: {}, finish_reason: 'stop' }] },
      '[DONE]',
    ],
    false,
  )
  const backOf = async (options: OpenAIOptions, { parts }: ModelReply) => {
    const messages: Message[] = [user('q'), { role: 'assistant', content: parts }, user('on')]
    return (await sent(options, { messages })).body.messages[1]
  }

  it('of OpenRouter is the same plain and streamed, and its details go back as they came', async () => {
    const plain = await replyOf({ server: 'openrouter' }, completion(WHOLE))
    const stream = await streamed({ server: 'openrouter' }, PIECES)
    expect(stream.parts).toEqual(plain.parts)
    expect(plain.parts[0]).toMatchObject({ type: 'reasoning', text: 'First. Then.' })
    expect(await backOf({ server: 'openrouter' }, plain)).toEqual({
      role: 'assistant',
      content: 'So.',
      reasoning_details: WHOLE.reasoning_details,
    })
  })

  it('of two signed blocks stays two blocks in a stream, though the server counts both as the first', async () => {
    const details = ['ONE', 'TWO'].map((signature) => ({
      type: 'reasoning.text',
      index: 0,
      text: signature,
      signature,
    }))
    const reply = await streamed(
      { server: 'openrouter' },
      sse(
        [
          ...details.map((detail) => piece({ reasoning: detail.text, reasoning_details: [detail] })),
          { choices: [{ delta: {}, finish_reason: 'stop' }] },
        ],
        false,
      ),
    )
    expect(
      (await backOf({ server: 'openrouter' }, { ...reply, parts: [...reply.parts, { type: 'text', text: 'x' }] }))
        .reasoning_details,
    ).toEqual(details)
  })

  it('of xAI’s Chat goes back in the member that it came in', async () => {
    const reply = await replyOf(
      { server: 'xai', protocol: 'openai-chat' },
      completion({ content: 'So.', reasoning_content: 'Hm.' }),
    )
    expect(await backOf({ server: 'xai', protocol: 'openai-chat' }, reply)).toEqual({
      role: 'assistant',
      content: 'So.',
      reasoning_content: 'Hm.',
    })
  })

  it('goes to no other provider', async () => {
    const reply = await replyOf({ server: 'openrouter' }, completion(WHOLE))
    for (const other of [{ server: 'xai', protocol: 'openai-chat' }, { protocol: 'openai-chat' }] as const) {
      expect(await backOf(other, reply)).toEqual({ role: 'assistant', content: 'So.' })
    }
  })
})

describe('what is understood', () => {
  it('CASE-11: xAI counts reasoning beside the completion: the output holds it', async () => {
    const usage = {
      prompt_tokens: 165,
      completion_tokens: 2,
      total_tokens: 292,
      prompt_tokens_details: { cached_tokens: 156 },
      completion_tokens_details: { reasoning_tokens: 125 },
    }
    const reply = await replyOf({ server: 'xai', protocol: 'openai-chat' }, completion({ content: 'x' }, { usage }))
    expect(reply.usage).toMatchObject({ inputTokens: 9, cacheReadTokens: 156, outputTokens: 127, reasoningTokens: 125 })
    expect(reply.usageMismatch).toBeUndefined()
  })

  it('the cost that a server reports comes as dollars in decimals, exactly; one that reports none gives none', async () => {
    const of = async (server: 'xai' | 'openrouter', usage: object) =>
      (
        await replyOf(
          { server, protocol: 'openai-chat' },
          completion({ content: 'x' }, { usage: { prompt_tokens: 1, ...usage } }),
        )
      ).reportedUsd
    expect(await of('xai', { cost_in_usd_ticks: 731_000 })).toBe('0.0000731')
    expect(await of('xai', { cost_in_usd_ticks: 31_250_000_000 })).toBe('3.125')
    expect(await of('openrouter', { cost: 2.475e-5 })).toBe('0.00002475')
    expect(await of('openrouter', { cost: 0 })).toBe('0')
    expect(await of('openrouter', { cost: 100 })).toBe('100')
    for (const cost of [undefined, null, -1, '0.1', Number.MAX_VALUE])
      expect(await of('openrouter', { cost })).toBeUndefined()
  })

  it('cost and model that answered are told to afterModelCall, beside the model that was asked for', async () => {
    const told: AfterModelCallContext[] = []
    const listens = definePlugin({
      name: 'listens',
      hookApi: 1,
      apply: (hooks) => hooks.afterModelCall.tap('listens', (context) => void told.push(context)),
    })
    const runtime = await createRuntime({
      store: createMemoryStore(),
      providers: [
        answered(
          { server: 'openrouter' },
          completion({ content: 'x' }, { usage: { prompt_tokens: 1, completion_tokens: 1, cost: 0.5 } }),
        ),
      ],
      plugins: [listens()],
    })
    const generated = await runtime.generateText({ model: 'openrouter/vendor/some-model', prompt: 'go' })
    await runtime.close()
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({ model: 'vendor/some-model', answeredModel: 'answered', reportedUsd: '0.5' })
    expect(generated).toMatchObject({ provider: 'openrouter', model: 'answered' })
  })

  it('a reply that the model says was cut off is one, though OpenRouter says tool_calls', async () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x' } }
    for (const native of ['length', 'max_tokens', 'MAX_TOKENS', 'max_output_tokens']) {
      const choice = { finish_reason: 'tool_calls', native_finish_reason: native }
      const reply = await replyOf({ server: 'openrouter' }, completion({ tool_calls: [call] }, {}, choice))
      expect(reply).toMatchObject({ finishReason: 'length', rawFinishReason: native })
    }
    const kept = { finish_reason: 'tool_calls', native_finish_reason: 'tool_use' }
    expect((await replyOf({ server: 'openrouter' }, completion({ tool_calls: [call] }, {}, kept))).finishReason).toBe(
      'tool_calls',
    )
  })

  it('an error inside a stream of OpenRouter ends it by name, with what came before and what stands behind it', async () => {
    const cut = sse(
      [
        { id: 'c1', model: 'answered', choices: [{ delta: { content: 'Half a' } }] },
        {
          error: {
            code: 502,
            message: 'Provider returned error',
            metadata: { provider_name: 'Acme', raw: 'The host burns.' },
          },
        },
        '[DONE]',
      ],
      false,
    )
    const error = await errorOf(streamed({ server: 'openrouter' }, cut))
    expect(error).toMatchObject({ code: 'PROVIDER_OVERLOADED', status: 502, retryable: true, sent: 'yes' })
    expect(error.message).toContain('Acme: The host burns.')
    expect(error.delivered).toMatchObject({ parts: [{ type: 'text', text: 'Half a' }], model: 'answered' })
  })

  it('an error of xAI is a text beside its code', async () => {
    const said = json({ code: 'invalid-argument', error: 'Incorrect API key provided: sk-server-0123456789' }, 400)
    const error = await errorOf(replyOf({ server: 'xai' }, said))
    expect(error).toMatchObject({ code: 'PROVIDER_AUTH', status: 400, retryable: false })
    expect(error.message).toContain('Incorrect API key')
    expect(error.message).not.toContain('sk-server')
  })
})
