import type { ModelReply, StreamPart } from '@sluice/core'
import type { RecordedResponse } from '@sluice/testkit'
import { exchangeFetch } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { seededRandom } from './recorded/seeded-random.js'
import { never, request } from './wire/adapters.js'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'
import { called } from './wire/some-requests.js'
import { json, sse } from './wire/wire-reply.js'

const GENERIC = adapterOf('oci-generic')
const COHERE = adapterOf('oci-cohere')
const BOTH = [GENERIC, COHERE].map((adapter) => [adapter.protocol, adapter] as const)
const SEED = Number(process.env.SLUICE_SEED ?? Date.now() % 1_000_000)

const wholeGeneric = (chatResponse: object) =>
  json({ modelId: 'm', chatResponse: { apiFormat: 'GENERIC', ...chatResponse } })
const wholeCohere = (chatResponse: object) =>
  json({ modelId: 'm', chatResponse: { apiFormat: 'COHERE', ...chatResponse } })
const callsOf = ({ parts }: ModelReply) =>
  parts.flatMap((part) => (part.type === 'tool_call' ? [[part.toolCallId, part.toolName, part.args]] : []))
const textsOf = (parts: readonly StreamPart[]) =>
  parts.map((part) => (part.type === 'text_delta' ? part.text : '')).join('')

describe.each(BOTH)('%s', (_protocol, adapter) => {
  it('a stream is the same reply wherever it is cut, at each of its bytes', async () => {
    const text = 'Ein Maß 🌊'
    const calls = [{ id: 'c1', name: 'find', args: '{"name":"ü"}' }]
    const stream = adapter.wire.stream({ text, calls })
    const expected = await streamedReplyTo(adapter, stream)
    const length = Buffer.byteLength(stream.bodyText ?? '')
    let cuts: readonly number[] = []
    const provider = adapter.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: (...sent) => exchangeFetch(stream, cuts)(...sent),
    })
    const read = async (next: readonly number[]) => {
      cuts = next
      const parts: StreamPart[] = []
      for await (const part of provider.stream(request(), never())) parts.push(part)
      const last = parts.pop()
      expect(textsOf(parts)).toBe(text)
      return last?.type === 'reply' ? last.reply : undefined
    }
    for (let cut = 1; cut < length; cut++) expect(await read([cut]), `cut at ${cut}`).toEqual(expected)
    const random = seededRandom(SEED)
    for (let times = 0; times < 20; times++) {
      const some = Array.from({ length: 1 + random(20) }, () => random(length)).sort((left, right) => left - right)
      expect(await read(some), `seed ${SEED}, cuts ${some.join(' ')}`).toEqual(expected)
    }
  })

  it('events that no empty line parts are events all the same, also where the type names a character set', async () => {
    const stream = adapter.wire.stream({ text: 'All of it.' })
    const dense = {
      ...stream,
      headers: { 'content-type': 'text/event-stream;charset=utf-8' },
      bodyText: stream.bodyText?.replaceAll('\n\n', '\n') as string,
    }
    expect((await streamedReplyTo(adapter, dense)).parts).toEqual([{ type: 'text', text: 'All of it.' }])
  })

  it('an error that takes the place of an event, as bare JSON, is that error with what had come', async () => {
    const begun = adapter.wire.cutOff({ text: 'Half' })
    const bodyText = `${begun.bodyText}{"code":"InternalServerError","message":"Mid."}\n`
    const error = await errorOf(partsTo(adapter, { ...begun, bodyText }))
    expect(error).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true })
    expect(error.delivered.parts).toEqual([{ type: 'text', text: 'Half' }])
  })

  it('the request id of an answer, and of an error, is the one that OCI gave', async () => {
    expect((await replyTo(adapter, adapter.wire.whole({ text: 'x' }))).requestId).toBe('req_v1')
    const error = await errorOf(replyTo(adapter, adapter.wire.error(429, 'Slow.', 'TooManyRequests')))
    expect(error).toMatchObject({
      code: 'PROVIDER_RATE_LIMITED',
      requestId: 'req_e1',
      details: { providerCode: 'TooManyRequests' },
    })
  })

  it('errors are told by OCI’s codes, and by the text where there is none', async () => {
    const codeOf = async (status: number, code: string, message: string) => {
      const error = await errorOf(replyTo(adapter, adapter.wire.error(status, message, code)))
      return error.code as string
    }
    expect(await codeOf(401, 'NotAuthenticated', 'The required information was not provided.')).toBe('PROVIDER_AUTH')
    expect(await codeOf(404, 'NotAuthorizedOrNotFound', 'Authorization failed.')).toBe('PROVIDER_AUTH')
    expect(await codeOf(404, '404', 'Entity with key cohere.none not found')).toBe('MODEL_NOT_FOUND')
    expect(await codeOf(400, '400', 'Inappropriate content detected!!!')).toBe('CONTENT_FILTERED')
    expect(await codeOf(400, '400', 'too many tokens: the prompt cannot exceed 4081')).toBe('CONTEXT_LENGTH_EXCEEDED')
    expect(await codeOf(500, 'InternalServerError', 'Oops.')).toBe('PROVIDER_OVERLOADED')
    expect(await codeOf(400, 'InvalidParameter', 'maxTokens must be positive.')).toBe('PROVIDER_RESPONSE_ERROR')
  })

  it('says nothing to the console, and asks once, whatever the answer is', async () => {
    let asked = 0
    const provider = adapter.make({
      baseUrl: 'http://127.0.0.1:9',
      fetch: async () => {
        asked += 1
        return Response.json({ code: 'InternalServerError', message: 'x' }, { status: 500 })
      },
    })
    const written: unknown[] = []
    const before = { warn: console.warn, log: console.log, error: console.error }
    Object.assign(console, { warn: () => written.push(1), log: () => written.push(1), error: () => written.push(1) })
    try {
      await errorOf(provider.generate(request(), never()))
    } finally {
      Object.assign(console, before)
    }
    expect(written).toEqual([])
    expect(asked).toBe(1)
  })
})

describe('oci-generic', () => {
  it('G-56: an answer without a choice cannot be used; one without a word is empty', async () => {
    expect(await errorOf(replyTo(GENERIC, wholeGeneric({ choices: [] })))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
    })
    const reply = await replyTo(GENERIC, wholeGeneric({ choices: [{ finishReason: 'stop' }] }))
    expect(reply).toMatchObject({ parts: [], finishReason: 'stop' })
  })

  it('a refusal is one, text may come in pieces, and odd pieces have no text', async () => {
    const content = [{ type: 'TEXT', text: 'a' }, 'odd', { type: 'IMAGE' }, { type: 'TEXT', text: 'b' }]
    const reply = await replyTo(GENERIC, wholeGeneric({ choices: [{ message: { content }, finishReason: 'stop' }] }))
    expect(reply.parts).toEqual([{ type: 'text', text: 'ab' }])
    const refused = { message: { refusal: 'No.' }, finishReason: 'stop' }
    expect(await replyTo(GENERIC, wholeGeneric({ choices: [refused] }))).toMatchObject({
      parts: [{ type: 'refusal', text: 'No.' }],
      finishReason: 'refusal',
    })
    const streamed = await streamedReplyTo(
      GENERIC,
      sse([{ message: { refusal: 'N' } }, { message: { refusal: 'o.' } }, refusedEnd], false),
    )
    expect(streamed.parts).toEqual([{ type: 'refusal', text: 'No.' }])
  })
  const refusedEnd = { finishReason: 'stop' }

  it('CASE-16: fragments of a stream go to their calls: by id, by name, or to the one that is open', async () => {
    const fragment = (call: object) => ({ message: { toolCalls: [call] } })
    const reply = await streamedReplyTo(
      GENERIC,
      sse(
        [
          fragment({ id: 'a', name: 'f' }),
          fragment({ arguments: '{"x":' }),
          fragment({ id: 'a', arguments: '1}' }),
          fragment({ id: 'b', name: 'f', arguments: '{}' }),
          fragment({ name: 'g', arguments: '{}' }),
          fragment({ name: 'g', arguments: '{"y":2}' }),
          { finishReason: 'tool_calls' },
        ],
        false,
      ),
    )
    expect(callsOf(reply)).toEqual([
      ['a', 'f', '{"x":1}'],
      ['b', 'f', '{}'],
      ['tool_call_3', 'g', '{}'],
      ['tool_call_4', 'g', '{"y":2}'],
    ])
  })

  it('a stream of whole answers in place of bare choices is read as well', async () => {
    const event = (choice: object) => ({ modelId: 'm', choices: [{ index: 0, ...choice }] })
    const stream = sse(
      [event({ message: { content: [{ type: 'TEXT', text: 'Hi' }] } }), event({ finishReason: 'length' })],
      false,
    )
    expect(await streamedReplyTo(GENERIC, stream)).toMatchObject({
      parts: [{ type: 'text', text: 'Hi' }],
      finishReason: 'length',
      model: 'm',
    })
  })
})

describe('oci-cohere', () => {
  it('G-14: its words, in ours', async () => {
    const reasonOf = async (finishReason: string) =>
      (await replyTo(COHERE, wholeCohere({ text: 'x', finishReason }))).finishReason
    expect(await reasonOf('COMPLETE')).toBe('stop')
    expect(await reasonOf('MAX_TOKENS')).toBe('length')
    expect(await reasonOf('ERROR_TOXIC')).toBe('content_filter')
    expect(await reasonOf('USER_CANCEL')).toBe('USER_CANCEL')
  })

  it('a reply that the model could not make is an error that may pass', async () => {
    const failed = wholeCohere({ text: '', finishReason: 'ERROR', errorMessage: 'Out of order.' })
    const error = await errorOf(replyTo(COHERE, failed))
    expect(error).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true, sent: 'yes' })
    expect(error.message).toContain('Out of order.')
  })

  it('G-23: calls are numbered over the conversation, not anew in each round', async () => {
    const calls = [1, 2].map(() => ({ name: 'find', args: '{}' }))
    const messages = [called('tool_call_1'), called('tool_call_2')]
    for (const reply of [
      await replyTo(COHERE, COHERE.wire.whole({ calls }), { messages }),
      await streamedReplyTo(COHERE, COHERE.wire.stream({ calls }), { messages }),
    ]) {
      expect(callsOf(reply).map(([id]) => id)).toEqual(['tool_call_3', 'tool_call_4'])
    }
  })

  it('the end of a stream, which says all of it again, adds only what had not come', async () => {
    const event = (rest: object) => ({ apiFormat: 'COHERE', ...rest })
    const end = { text: 'All of it.', finishReason: 'COMPLETE', toolCalls: [{ name: 'f', parameters: { a: 1 } }] }
    const streams: Record<string, RecordedResponse> = {
      'all in pieces': sse([event({ text: 'All ' }), event({ text: 'of it.' }), event(end)], false),
      'only the beginning': sse([event({ text: 'All' }), event(end)], false),
      'nothing before': sse([event(end)], false),
      'calls before': sse([event({ text: 'All of it.' }), event({ toolCalls: end.toolCalls }), event(end)], false),
    }
    for (const [what, stream] of Object.entries(streams)) {
      const parts = await partsTo(COHERE, stream)
      expect(textsOf(parts), what).toBe('All of it.')
      const last = parts.at(-1)
      expect(last?.type === 'reply' ? callsOf(last.reply) : [], what).toEqual([['tool_call_1', 'f', '{"a":1}']])
    }
  })

  it('the citations of a text stay with it', async () => {
    const citations = [{ start: 0, end: 1, text: 'x', documentIds: ['d'] }]
    const { parts } = await replyTo(COHERE, wholeCohere({ text: 'x', finishReason: 'COMPLETE', citations }))
    expect(parts).toEqual([{ type: 'text', text: 'x', providerOptions: { oci: { citations } } }])
  })
})
