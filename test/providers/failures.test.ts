import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspect } from 'node:util'
import { ProviderError } from '@sluice/core'
import type { RecordedResponse } from '@sluice/testkit'
import { serveExchanges } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { never, request, WIRED } from './wire/adapters.js'
import { lines } from './wire/ollama-wire.js'
import { answering, errorOf, partsTo, replyTo } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'
import { json, sse } from './wire/wire-reply.js'

const EACH = WIRED.map((adapter) => [adapter.protocol, adapter] as const)
const RESPONSES = adapterOf('openai-responses')
const CHAT = adapterOf('openai-chat')
const ANTHROPIC = adapterOf('anthropic-messages')
const SECRET = 'sk-sentinel-7c1d9a44e0b2'

describe('error answers', () => {
  it.each(EACH)('%s: each status is the code that it stands for', async (_protocol, adapter) => {
    const table: ReadonlyArray<readonly [number, string, boolean]> = [
      [400, 'PROVIDER_RESPONSE_ERROR', false],
      [401, 'PROVIDER_AUTH', false],
      [403, 'PROVIDER_AUTH', false],
      [404, 'PROVIDER_RESPONSE_ERROR', false],
      [408, 'PROVIDER_TIMEOUT', true],
      [409, 'PROVIDER_RESPONSE_ERROR', true],
      [413, 'CONTEXT_LENGTH_EXCEEDED', false],
      [422, 'PROVIDER_RESPONSE_ERROR', false],
      [429, 'PROVIDER_RATE_LIMITED', true],
      [500, 'PROVIDER_OVERLOADED', true],
      [501, 'PROVIDER_OVERLOADED', false],
      [503, 'PROVIDER_OVERLOADED', true],
      [504, 'PROVIDER_TIMEOUT', true],
      [529, 'PROVIDER_OVERLOADED', true],
    ]
    for (const [status, code, retryable] of table) {
      for (const answer of [
        adapter.wire.error(status, 'Said so.', 'some_type'),
        { status, headers: {}, bodyText: 'no JSON' },
        { status, headers: {}, bodyText: '' },
      ]) {
        expect(await errorOf(replyTo(adapter, answer))).toMatchObject({ code, retryable, status, sent: 'yes' })
        expect(await errorOf(partsTo(adapter, answer))).toMatchObject({ code, retryable, status, sent: 'yes' })
      }
    }
  })

  it.each(EACH)(
    '%s: G-55: a model that the provider does not know is MODEL_NOT_FOUND, a wrong path is not',
    async (_protocol, adapter) => {
      expect(await errorOf(replyTo(CHAT, CHAT.wire.error(400, 'x is not a valid model ID', 'y')))).toMatchObject({
        code: 'MODEL_NOT_FOUND',
      })
      expect(await errorOf(replyTo(CHAT, CHAT.wire.error(400, 'Incorrect API key provided.', 'y')))).toMatchObject({
        code: 'PROVIDER_AUTH',
      })
      for (const text of ['The model `x` does not exist', 'model: x']) {
        expect(await errorOf(replyTo(adapter, adapter.wire.error(404, text, 'not_found_error')))).toMatchObject({
          code: 'MODEL_NOT_FOUND',
        })
      }
      expect(
        await errorOf(
          replyTo(adapter, adapter.wire.error(404, "Item with id 'rs_1' not found.", 'invalid_request_error')),
        ),
      ).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR' })
    },
  )

  it.each(EACH)('%s: a request that is too long is told by its code or its text', async (_protocol, adapter) => {
    for (const text of [
      'prompt is too long: 3 tokens > 2 maximum',
      'maximum context length is 8',
      'exceeds the context window of this model',
    ]) {
      expect(await errorOf(replyTo(adapter, adapter.wire.error(400, text, 'invalid_request_error')))).toMatchObject({
        code: 'CONTEXT_LENGTH_EXCEEDED',
      })
    }
  })

  it.each(EACH)('%s: the provider’s own word on retrying decides', async (_protocol, adapter) => {
    const error = (status: number, says: string) => adapter.wire.error(status, 'x', 'y', { 'x-should-retry': says })
    expect(await errorOf(replyTo(adapter, error(400, 'true')))).toMatchObject({ retryable: true })
    expect(await errorOf(replyTo(adapter, error(500, 'false')))).toMatchObject({ retryable: false })
  })

  it.each(EACH)(
    '%s: details hold the provider’s words, the cause is there, and JSON shows neither stack nor cause',
    async (_protocol, adapter) => {
      const error = await errorOf(
        replyTo(adapter, adapter.wire.error(400, 'Said so.', 'some_type', { 'retry-after': '3' })),
      )
      expect(error).toMatchObject({
        provider: expect.any(String),
        model: 'test-model',
        requestId: 'req_e1',
        retryAfterMs: 3000,
        rateLimit: { 'retry-after': '3' },
      })
      if (adapter.lacks?.includes('error types') !== true) expect(error.details.providerType).toBe('some_type')
      expect(error.message).toContain('Said so.')
      expect(error.cause).toBeInstanceOf(Error)
      expect(Object.keys(error.toJSON())).not.toContain('stack')
      expect(error.name).toBe('ProviderError')
    },
  )

  it('an error whose fields stand at the top level keeps its words', async () => {
    const error = await errorOf(
      replyTo(CHAT, json({ object: 'error', message: 'Flat.', type: 'odd', code: '3051' }, 400)),
    )
    expect(error.message).toContain('Flat.')
    expect(error.details).toMatchObject({ providerCode: '3051', providerType: 'odd' })
  })

  it('a quota that is used up is a 429 that no waiting mends; a filter is CONTENT_FILTERED', async () => {
    expect(await errorOf(replyTo(CHAT, CHAT.wire.error(429, 'Pay.', 'insufficient_quota')))).toMatchObject({
      code: 'PROVIDER_RATE_LIMITED',
      retryable: false,
    })
    expect(await errorOf(replyTo(CHAT, CHAT.wire.error(400, 'No.', 'content_filter')))).toMatchObject({
      code: 'CONTENT_FILTERED',
    })
  })
})

describe('streams', () => {
  const opened: Record<string, unknown> = {
    'openai-responses': { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Half' },
    'openai-chat': { model: 'm', choices: [{ delta: { content: 'Half' } }] },
    'anthropic-messages': { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
    'google-generate-content': { candidates: [{ content: { parts: [{ text: 'Half' }] } }] },
    'ollama-chat': { model: 'm', message: { role: 'assistant', content: 'Half' }, done: false },
    'oci-generic': { index: 0, message: { role: 'ASSISTANT', content: [{ type: 'TEXT', text: 'Half' }] } },
    'oci-cohere': { apiFormat: 'COHERE', text: 'Half' },
  }
  const start = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const streamOf = (protocol: string, ...events: unknown[]): RecordedResponse => {
    const all = [...(protocol === 'anthropic-messages' ? [start] : []), opened[protocol], ...events]
    if (protocol === 'ollama-chat') return lines(all)
    return sse(all, protocol === 'openai-responses' || protocol === 'anthropic-messages')
  }

  it.each(EACH)(
    '%s: an error event inside a 200 stream is that error, with what had come',
    async (protocol, adapter) => {
      const events: Record<string, readonly unknown[]> = {
        'openai-responses': [
          { type: 'error', error: { code: 'server_error', message: 'Mid.' } },
          { type: 'error', code: 'server_error', message: 'Mid.', param: null },
          { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'Mid.' } } },
        ],
        'openai-chat': [
          { error: { code: 502, message: 'Mid.' } },
          { choices: [{ error: { code: 502, message: 'Mid.' } }] },
        ],
        'anthropic-messages': [{ type: 'error', error: { type: 'overloaded_error', message: 'Mid.' } }],
        'google-generate-content': [
          { error: { code: 503, message: 'Mid.', status: 'UNAVAILABLE' } },
          { error: { message: 'Mid.', status: 'INTERNAL' } },
          [{ error: { code: 503, message: 'Mid.', status: 'UNAVAILABLE' } }],
        ],
        'ollama-chat': [{ error: { code: 502, message: 'Mid.' } }],
        'oci-generic': [{ code: 'InternalServerError', message: 'Mid.' }, { error: { code: 502, message: 'Mid.' } }],
        'oci-cohere': [
          { code: 503, message: 'Mid.' },
          { apiFormat: 'COHERE', finishReason: 'ERROR', errorMessage: 'Mid.' },
        ],
      }
      expect(events[protocol]).toBeDefined()
      for (const event of events[protocol] ?? []) {
        const error = await errorOf(partsTo(adapter, streamOf(protocol, event)))
        expect(error).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true, sent: 'yes' })
        expect(error.message).toContain('Mid.')
        expect(error.delivered.parts).toEqual([expect.objectContaining({ type: 'text', text: 'Half' })])
      }
    },
  )

  it.each(EACH)(
    '%s: CASE-12: a stream that ends before its end event, or in the middle of an event, is broken',
    async (protocol, adapter) => {
      const whole = streamOf(protocol)
      for (const bodyText of [
        whole.bodyText,
        `${whole.bodyText}data: {"half`,
        `${whole.bodyText}data: {"half\n\n`,
        '',
        ': comment\n\n',
      ]) {
        const error = await errorOf(partsTo(adapter, { ...whole, bodyText: bodyText as string }))
        expect(error).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN', retryable: true, status: 200, sent: 'yes' })
      }
    },
  )

  it.each(EACH)(
    '%s: what breaks behind the end event takes nothing away from the reply',
    async (_protocol, adapter) => {
      const { bodyText, headers } = adapter.wire.stream({ text: 'All of it.' })
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(bodyText)),
        pull: (controller) => controller.error(new TypeError('terminated')),
      })
      const provider = adapter.make({
        baseUrl: 'http://127.0.0.1:9',
        fetch: async () => new Response(body, { headers }),
      })
      const types: string[] = []
      for await (const part of provider.stream(request(), never())) types.push(part.type)
      expect(types.at(-1)).toBe('reply')
    },
  )

  it('an error that a server sends behind the finish reason is still an error', async () => {
    const end = { choices: [{ delta: {}, finish_reason: 'length' }] }
    const error = await errorOf(partsTo(CHAT, streamOf('openai-chat', end, { error: { code: 502, message: 'Late.' } })))
    expect(error).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    expect(error.message).toContain('Late.')
  })

  it('CASE-12: usage of a broken Anthropic stream is what its beginning said, without a count of output', async () => {
    const begun = {
      type: 'message_start',
      message: { model: 'claude-x', usage: { input_tokens: 9, cache_read_input_tokens: 4, output_tokens: 1 } },
    }
    const error = await errorOf(partsTo(ANTHROPIC, sse([begun, start], true)))
    expect(error.delivered).toEqual({
      parts: [],
      model: 'claude-x',
      usage: {
        inputTokens: 9,
        cacheReadTokens: 4,
        cacheWriteTokens: null,
        outputTokens: null,
        reasoningTokens: null,
        unreportedCalls: 0,
      },
    })
  })

  it('a broken stream has the call whose arguments were still arriving', async () => {
    const events = [
      {
        type: 'response.output_item.added',
        output_index: 0,
        item: { type: 'function_call', call_id: 'c', name: 'f', arguments: '' },
      },
      { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{"a"' },
    ]
    const error = await errorOf(partsTo(RESPONSES, sse(events, true)))
    expect(error.delivered.parts).toEqual([{ type: 'tool_call', toolCallId: 'c', toolName: 'f', args: '{"a"' }])
  })
})

describe('an answer without an end', () => {
  /** A body that goes on until it is let go: JSON that never closes, or a line of a stream that never ends. */
  function endless(type: string, start: string): { answer: () => Response; state: { bytes: number; open: boolean } } {
    const state = { bytes: 0, open: true }
    const piece = new Uint8Array(1024 * 1024).fill(0x78)
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(start)),
      pull(controller) {
        state.bytes += piece.length
        // who has not let go by now never will
        if (state.bytes > 64 * 1024 * 1024) controller.close()
        else controller.enqueue(piece)
      },
      cancel() {
        state.open = false
      },
    })
    return { answer: () => new Response(body, { headers: { 'content-type': type } }), state }
  }

  it.each(EACH)('%s: is given up as PROVIDER_RESPONSE_TOO_LARGE, plain and streamed', async (_protocol, adapter) => {
    for (const [type, start, streamed] of [
      ['application/json', '{"text":"', false],
      ['text/event-stream', 'data: "', true],
    ] as const) {
      const { answer, state } = endless(type, start)
      const provider = adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch: async () => answer() })
      const error = await errorOf(
        streamed ? drain(provider.stream(request(), never())) : provider.generate(request(), never()),
      )
      expect(error).toMatchObject({ code: 'PROVIDER_RESPONSE_TOO_LARGE', status: 200, retryable: false, sent: 'yes' })
      expect(state.open).toBe(false)
      expect(state.bytes).toBeLessThan(20 * 1024 * 1024)
    }
  })
})

describe('the way to the provider', () => {
  it.each(EACH)(
    '%s: a connection that breaks inside a plain answer is broken, not unreachable',
    async (_protocol, adapter) => {
      const server = await serveExchanges([
        (_request, response) => {
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
          response.write('{"half', () => response.destroy())
        },
      ])
      const error = await errorOf(adapter.make({ baseUrl: server.url }).generate(request(), never()))
      expect(error).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN', sent: 'yes', retryable: true })
      await server.close()
    },
  )

  it.each(EACH)('%s: a connection that is reset before an answer may have been heard', async (_protocol, adapter) => {
    const server = createServer((incoming) => incoming.socket.destroy())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const provider = adapter.make({ baseUrl })
    for (const start of [
      () => provider.generate(request(), never()),
      () => drain(provider.stream(request(), never())),
    ]) {
      expect(await errorOf(start())).toMatchObject({ code: 'PROVIDER_UNREACHABLE', sent: 'unknown', retryable: true })
    }
    await new Promise((resolve) => server.close(resolve))
  })

  it.each(EACH)(
    '%s: what `fetch` throws is read by its code, not by words that look like a timeout',
    async (_protocol, adapter) => {
      const failing = (cause: object, message = 'fetch failed') =>
        adapter.make({
          baseUrl: 'http://127.0.0.1:9',
          fetch: async () => {
            throw new TypeError(message, { cause: Object.assign(new Error('inner'), cause) })
          },
        })
      const seen = async (cause: object, message?: string) => {
        const { code, sent } = await errorOf(failing(cause, message).generate(request(), never()))
        return [code, sent]
      }
      expect(await seen({ code: 'ENOTFOUND' })).toEqual(['PROVIDER_UNREACHABLE', 'no'])
      expect(await seen({ code: 'ECONNRESET' })).toEqual(['PROVIDER_UNREACHABLE', 'unknown'])
      expect(await seen({ code: 'CERT_HAS_EXPIRED' })).toEqual(['PROVIDER_UNREACHABLE', 'no'])
      expect(await seen({ code: 'UND_ERR_CONNECT_TIMEOUT' })).toEqual(['PROVIDER_TIMEOUT', 'no'])
      expect(await seen({ code: 'UND_ERR_HEADERS_TIMEOUT' })).toEqual(['PROVIDER_TIMEOUT', 'unknown'])
      expect(await seen({ code: 'ETIMEDOUT', syscall: 'connect' })).toEqual(['PROVIDER_TIMEOUT', 'no'])
      expect(await seen({}, 'no interceptor for x-stainless-timeout: timed out')).toEqual([
        'PROVIDER_UNREACHABLE',
        'unknown',
      ])
    },
  )

  it.each(EACH)('%s: CASE-05: abort ends a call whose `fetch` does not listen', async (_protocol, adapter) => {
    const reason = new Error('enough')
    let owner = new AbortController()
    const deaf = adapter.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: () => {
        owner.abort(reason)
        return new Promise(() => {})
      },
    })
    expect(await errorOf(deaf.generate(request(), owner.signal))).toBe(reason)
    owner = new AbortController()
    expect(await errorOf(drain(deaf.stream(request(), owner.signal)))).toBe(reason)
  })

  it.each(EACH)(
    '%s: CASE-05: abort behind the end event still means that no reply comes',
    async (_protocol, adapter) => {
      const { bodyText, headers } = adapter.wire.stream({ text: 'All of it.' })
      const owner = new AbortController()
      const reason = new Error('enough')
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(bodyText)),
        // everything was read and understood, and the connection is still open
        pull: () => setImmediate(() => owner.abort(reason)) && new Promise(() => {}),
      })
      const provider = adapter.make({
        baseUrl: 'http://127.0.0.1:9',
        fetch: async () => new Response(body, { headers }),
      })
      expect(await errorOf(drain(provider.stream(request(), owner.signal)))).toBe(reason)
    },
  )

  it.each(EACH)('%s: CASE-05: abort ends a stream whose body does not listen', async (_protocol, adapter) => {
    const { bodyText, headers } = adapter.wire.cutOff({ text: 'Half of it.' })
    const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(bodyText)) })
    const deaf = adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch: async () => new Response(body, { headers }) })
    const owner = new AbortController()
    const reason = new Error('enough')
    const read = async () => {
      for await (const part of deaf.stream(request(), owner.signal)) {
        // after the last delta nothing comes any more
        if (part.type === 'text_delta' && part.text.endsWith('it.')) setImmediate(() => owner.abort(reason))
      }
    }
    expect(await errorOf(read())).toBe(reason)
  })

  it.each(EACH)(
    '%s: CASE-05: abort between two parts of a stream ends it, also where nothing listens',
    async (_protocol, adapter) => {
      const { bodyText, headers } = adapter.wire.cutOff({ text: 'Half of it.' })
      const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(bodyText)) })
      const deaf = adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch: async () => new Response(body, { headers }) })
      const owner = new AbortController()
      const reason = new Error('enough')
      const read = async () => {
        // while the consumer looks at a part, nothing waits for the next one
        for await (const part of deaf.stream(request(), owner.signal)) {
          if (part.type === 'text_delta' && part.text.endsWith('it.')) owner.abort(reason)
        }
      }
      expect(await errorOf(read())).toBe(reason)
    },
  )

  it.each(EACH)('%s: an abort during a plain answer rejects with the reason', async (_protocol, adapter) => {
    const owner = new AbortController()
    const reason = new Error('enough')
    const provider = adapter.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async (_url, init) => {
        const body = new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode('{"half'))
            init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason))
          },
          pull: () => owner.abort(reason),
        })
        return new Response(body, { headers: { 'content-type': 'application/json' } })
      },
    })
    expect(await errorOf(provider.generate(request(), owner.signal))).toBe(reason)
  })
})

describe('secrets', () => {
  const shown = (error: unknown) =>
    [inspect(error, { depth: 12 }), JSON.stringify(error), (error as Error).stack].join('\n')

  it.each(EACH)('%s: keys and header values are in no error, whatever fails', async (_protocol, adapter) => {
    const echo = adapter.wire.error(401, `Your key ${SECRET} is wrong.`, 'authentication_error', {
      'set-cookie': `a=${SECRET}`,
    })
    const failures: ReadonlyArray<typeof fetch> = [
      async () => new Response(JSON.stringify(echo.body), { status: 401, headers: echo.headers }),
      async () => new Response(`<p>${SECRET}</p>`, { status: 502 }),
      async () => new Response(`<p>${SECRET}</p>`, { status: 200 }),
      async () => {
        throw new TypeError(`fetch failed for ${SECRET}`, { cause: new Error(`authorization: Bearer ${SECRET}`) })
      },
    ]
    for (const fetch of failures) {
      const keyed = adapter.make({ baseUrl: 'http://127.0.0.1:9', apiKey: SECRET, fetch })
      const connected = adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch })
      for (const start of [
        () => keyed.generate(request(), never()),
        () => drain(keyed.stream(request(), never())),
        ...(adapter.lacks?.includes('keys') === true
          ? []
          : [() => connected.generate(request({ connection: { apiKey: SECRET } }), never())]),
        () => connected.generate(request({ connection: { headers: { 'x-gateway': SECRET } } }), never()),
        () => connected.generate(request({ connection: { headers: { 'x-gateway': `Bearer ${SECRET}` } } }), never()),
      ]) {
        const error = await errorOf(start())
        expect(ProviderError.isInstance(error)).toBe(true)
        expect(shown(error)).not.toContain(SECRET)
        expect(error.message).toMatch(/\[redacted\]|broke off/)
      }
    }
  })

  it.each(EACH)(
    '%s: a key that cannot stand in a header is refused without being shown',
    async (_protocol, adapter) => {
      const bad = `${SECRET}\nx`
      const error = await errorOf(
        adapter.make({ baseUrl: 'http://127.0.0.1:9', apiKey: bad }).generate(request(), never()),
      )
      expect(error).toMatchObject({ code: 'PROVIDER_UNREACHABLE', retryable: false, sent: 'no' })
      expect(shown(error)).not.toContain(SECRET)
    },
  )

  it('the cause is the SDK’s own error where it shows nothing, and its headers are not printed', async () => {
    const error = await errorOf(
      answering(CHAT, CHAT.wire.error(400, 'x', 'y', { 'set-cookie': 'session=1' })).generate(request(), never()),
    )
    expect(error.cause.constructor.name).toBe('BadRequestError')
    expect(error.cause.headers.get('set-cookie')).toBe('session=1')
    expect(inspect(error, { depth: 12 })).not.toContain('session=1')
  })
})

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _part of stream);
}
