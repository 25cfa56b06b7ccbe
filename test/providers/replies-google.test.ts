import type { AssistantPart, Message, ModelReply } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { request } from './wire/adapters.js'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { adapterOf, sentBody } from './wire/sent-body.js'
import { json, sse } from './wire/wire-reply.js'

const GOOGLE = adapterOf('google-generate-content')

const answer = (parts: readonly unknown[], said: object = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...said }],
  modelVersion: 'gemini-x',
})
const STOP = { finishReason: 'STOP' }

/** The same parts in one answer, and each in an answer of a stream. */
async function bothOf(parts: readonly unknown[], said: object = STOP): Promise<[ModelReply, ModelReply]> {
  const events = [...parts.map((part) => answer([part])), answer([], said)]
  return [await replyTo(GOOGLE, json(answer(parts, said))), await streamedReplyTo(GOOGLE, sse(events, false))]
}

/** What is sent as the model's turn when a reply goes back. */
async function sentBack(content: readonly AssistantPart[], id?: string): Promise<unknown> {
  const messages: Message[] = [
    { role: 'assistant', content },
    { role: 'user', content: [{ type: 'text', text: 'on' }] },
  ]
  return (await sentBody(GOOGLE, request({ messages }), id)).contents[0].parts
}

describe('google-generate-content', () => {
  it('G-14: maps finish reasons and filters of every kind, and leaves others as they are', async () => {
    for (const [raw, finishReason] of [
      ['STOP', 'stop'],
      ['MAX_TOKENS', 'length'],
      ['SAFETY', 'content_filter'],
      ['RECITATION', 'content_filter'],
      ['BLOCKLIST', 'content_filter'],
      ['PROHIBITED_CONTENT', 'content_filter'],
      ['SPII', 'content_filter'],
      ['MALFORMED_FUNCTION_CALL', 'MALFORMED_FUNCTION_CALL'],
      ['LANGUAGE', 'LANGUAGE'],
      ['constructor', 'constructor'],
    ] as const) {
      for (const reply of await bothOf([{ text: 'x' }], { finishReason: raw })) {
        expect(reply).toMatchObject({ finishReason, rawFinishReason: raw, model: 'gemini-x' })
      }
    }
  })

  it('G-15: a blocked prompt and a filtered answer are replies, with the reason that the provider gives', async () => {
    const feedback = { promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'Not that.' } }
    for (const reply of [
      await replyTo(GOOGLE, json(feedback)),
      await streamedReplyTo(GOOGLE, sse([feedback], false)),
    ]) {
      expect(reply).toMatchObject({ finishReason: 'content_filter', rawFinishReason: 'SAFETY' })
      expect(reply.parts).toEqual([{ type: 'refusal', text: 'Not that.' }])
    }
    const said = { finishReason: 'SPII', finishMessage: 'It named somebody.' }
    for (const reply of await bothOf([{ text: 'Half of it' }], said)) {
      expect(reply.parts).toEqual([
        { type: 'text', text: 'Half of it' },
        { type: 'refusal', text: 'It named somebody.' },
      ])
    }
  })

  it('G-56: an answer without a candidate is an error, a stream without one is broken', async () => {
    for (const body of [{ candidates: [] }, { candidates: [null] }, { promptFeedback: {} }]) {
      expect(await errorOf(replyTo(GOOGLE, json(body)))).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR' })
      expect(await errorOf(partsTo(GOOGLE, sse([body], false)))).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' })
    }
  })

  it('signatures go back in the part in which they came, and to nobody else', async () => {
    const wire = [
      { text: 'I think.', thought: true },
      { text: 'On and on.', thought: true, thoughtSignature: 'T1' },
      { text: 'First, ', thoughtSignature: 'S1' },
      { text: 'then ' },
      { text: 'more.' },
      { functionCall: { id: 'c1', name: 'find', args: { a: 1 } }, thoughtSignature: 'S2' },
      { functionCall: { id: 'c2', name: 'find', args: {} } },
      { text: '', thoughtSignature: 'S3' },
    ]
    for (const reply of await bothOf(wire)) {
      expect(reply.parts.map((part) => [part.type, 'text' in part ? part.text : ''])).toEqual([
        ['reasoning', 'I think.On and on.'],
        ['text', 'First, then more.'],
        ['tool_call', ''],
        ['tool_call', ''],
        ['reasoning', ''],
      ])
      expect(await sentBack(reply.parts)).toEqual([
        ...wire.slice(0, 3),
        // pieces without a signature need no border
        { text: 'then more.' },
        ...wire.slice(5),
      ])
      const other = JSON.stringify(await sentBack(reply.parts, 'another'))
      expect(other).not.toMatch(/T1|S1|S2|S3|I think/)
      expect(other).toContain('First, then more.')
    }
  })

  it('a text that was changed goes back as one, without a signature that was another text’s', async () => {
    const [reply] = await bothOf([{ text: 'First, ', thoughtSignature: 'S1' }, { text: 'then more.' }])
    const changed = reply.parts.map((part) => ({ ...part, text: '[redacted]' }) as AssistantPart)
    expect(await sentBack(changed)).toEqual([{ text: '[redacted]' }])
  })

  it('a signature behind the text stays a piece of it, and an empty text without one is nothing', async () => {
    const wire = [{ text: 'All.' }, { text: '' }, { text: '', thoughtSignature: 'S' }]
    for (const reply of await bothOf(wire)) {
      expect(reply.parts).toHaveLength(1)
      expect(await sentBack(reply.parts)).toEqual([wire[0], wire[2]])
    }
  })

  it('what ran at the provider is kept and goes back; sources are kept', async () => {
    const wire = [
      { executableCode: { code: 'print(1)', language: 'PYTHON' }, thoughtSignature: 'S' },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { toolCall: { id: 't', toolType: 'GOOGLE_SEARCH_WEB', args: {} } },
      { unheardOf: { deep: [1] } },
      { text: 'One.' },
    ]
    const sources = {
      groundingMetadata: { webSearchQueries: ['one', 'two'], groundingChunks: [] },
      urlContextMetadata: { urlMetadata: [{ retrievedUrl: 'https://example.com/a' }] },
    }
    for (const reply of await bothOf(wire, { ...STOP, ...sources })) {
      expect(reply.parts.map((part) => (part.type === 'hosted' ? [part.toolName, part.text] : part.type))).toEqual([
        ['code_execution', 'print(1)'],
        ['code_execution', '1'],
        ['google_search_web', 'toolCall'],
        ['unheardOf', 'unheardOf'],
        'text',
        ['google_search', 'one, two'],
        ['url_context', 'https://example.com/a'],
      ])
      expect(reply.parts[5]?.providerOptions).toEqual({ google: { groundingMetadata: sources.groundingMetadata } })
      expect(await sentBack(reply.parts)).toEqual(wire)
    }
  })

  it('a text with members that nobody has heard of is a text', async () => {
    for (const reply of await bothOf([
      { text: 'So ', partMetadata: { a: 1 } },
      { text: 'it is.', unheardOf: true },
    ])) {
      expect(reply.parts).toEqual([{ type: 'text', text: 'So it is.' }])
    }
  })

  it('an image that the model drew is a file, and goes back to it', async () => {
    const wire = [{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' }, thoughtSignature: 'S' }]
    for (const reply of await bothOf(wire)) {
      expect(reply.parts[1]).toMatchObject({ type: 'file', mediaType: 'image/png', data: 'AAAA' })
      expect(await sentBack(reply.parts)).toEqual(wire)
    }
  })

  it('CASE-16: calls without ids get ours, counted over the conversation; empty and repeated ones too', async () => {
    const wire = ['', 'same', 'same', undefined].map((id) => ({ functionCall: { id, name: 'f', args: {} } }))
    for (const reply of await bothOf(wire)) {
      const ids = reply.parts.map((part) => (part.type === 'tool_call' ? part.toolCallId : ''))
      expect(ids).toEqual(['tool_call_1', 'same', 'tool_call_3', 'tool_call_4'])
    }
  })

  it('CASE-14: arguments that arrive value by value are told when they are whole; a call that was cut off keeps what came, as no JSON', async () => {
    const call = (functionCall: object) => answer([{ functionCall }])
    const piece = (stringValue: string, willContinue: boolean) => ({
      partialArgs: [{ jsonPath: '$.city', stringValue, willContinue }],
      willContinue: true,
    })
    const events = [
      call({ name: 'find', willContinue: true }),
      call(piece('Kyo', true)),
      call(piece('to', false)),
      call({}),
      call({ name: 'find', willContinue: true }),
      call(piece('Flo', true)),
    ]
    const parts = await partsTo(GOOGLE, sse([...events, answer([], { finishReason: 'MAX_TOKENS' })], false))
    expect(parts.filter((part) => part.type === 'tool_call_delta')).toEqual([
      { type: 'tool_call_delta', index: 0, toolCallId: 'tool_call_1', toolName: 'find', argsDelta: '' },
      { type: 'tool_call_delta', index: 0, argsDelta: '{"city":"Kyoto"}' },
      { type: 'tool_call_delta', index: 1, toolCallId: 'tool_call_2', toolName: 'find', argsDelta: '' },
    ])
    expect(parts.at(-1)).toMatchObject({
      reply: { finishReason: 'length', parts: [{ args: '{"city":"Kyoto"}' }, { args: '{"city":"Flo"' }] },
    })
    // also where the provider says that all is well
    const stopped = await partsTo(GOOGLE, sse([...events, answer([], STOP)], false))
    expect(stopped.at(-1)).toMatchObject({
      reply: { parts: [{ args: '{"city":"Kyoto"}' }, { args: '{"city":"Flo"' }] },
    })
    const broken = await errorOf(partsTo(GOOGLE, sse(events, false)))
    expect(broken).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' })
    expect(broken.delivered.parts[1]).toMatchObject({ toolCallId: 'tool_call_2', args: '{"city":"Flo"' })
  })

  it('a call that nobody ends is ended by the next one', async () => {
    const named = (name: string, city: string) => ({
      functionCall: { name, partialArgs: [{ jsonPath: '$.city', stringValue: city }], willContinue: true },
    })
    const parts = await partsTo(
      GOOGLE,
      sse(
        [named('a', 'X'), named('b', 'Y')].map((part) => answer([part], STOP)),
        false,
      ),
    )
    expect(parts.flatMap((part) => (part.type === 'tool_call_delta' ? [[part.index, part.argsDelta]] : []))).toEqual([
      [0, ''],
      [0, '{"city":"X"}'],
      [1, ''],
    ])
    expect(parts.at(-1)).toMatchObject({ reply: { parts: [{ args: '{"city":"X"}' }, { args: '{"city":"Y"}' }] } })
  })

  it('CASE-14: arguments nested thousands deep are read, or the answer is an error, at once', async () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const args = `{"deep":${open.repeat(10_000)}1${close.repeat(10_000)}}`
      const bodyText = JSON.stringify(answer([{ functionCall: { name: 'f', args: 'ARGS' } }], STOP)).replace(
        '"ARGS"',
        args,
      )
      const headers = { 'content-type': 'application/json' }
      const work = replyTo(GOOGLE, { status: 200, headers, bodyText })
      const outcome = await work.catch((error: unknown) => error)
      if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', retryable: false })
      else expect((outcome as ModelReply).parts[0]).toMatchObject({ args })
    }
  })

  it('CASE-14: arguments that are no object are an empty one', async () => {
    for (const args of [undefined, null, 'x', [1], 7]) {
      const [reply] = await bothOf([{ functionCall: { name: 'f', args } }])
      expect(reply.parts[0]).toMatchObject({ args: '{}' })
    }
  })

  it('a reason in the middle is no end: what ends behind more content, without a reason, is broken', async () => {
    const events = [answer([{ text: 'a' }], STOP), answer([{ text: 'b' }])]
    expect(await errorOf(partsTo(GOOGLE, sse(events, false)))).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN' })
    const figures = { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 } }
    const whole = await streamedReplyTo(GOOGLE, sse([...events, answer([], STOP), figures], false))
    expect(whole).toMatchObject({ parts: [{ text: 'ab' }], usage: { inputTokens: 3, outputTokens: 2 } })
  })

  it('CASE-12: figures of a broken stream are what was told last, or none', async () => {
    const early = { ...answer([{ text: 'a' }]), usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } }
    const error = await errorOf(partsTo(GOOGLE, sse([early], false)))
    expect(error.delivered).toMatchObject({ model: 'gemini-x', usage: { inputTokens: 9, outputTokens: 0 } })
    expect((await errorOf(partsTo(GOOGLE, sse([answer([{ text: 'a' }])], false)))).delivered.usage).toBeNull()
  })

  it('the wait that an error names is the wait; a longer one in its headers stands above it', async () => {
    const body = (retryDelay: string) => ({
      error: {
        code: 429,
        message: 'Quota.',
        status: 'RESOURCE_EXHAUSTED',
        details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
      },
    })
    const waits = async (retryDelay: string, headers: Record<string, string> = {}) =>
      (await errorOf(replyTo(GOOGLE, json(body(retryDelay), 429, headers)))).retryAfterMs
    expect(await waits('48s')).toBe(48_000)
    expect(await waits('0.25s')).toBe(250)
    expect(await waits('48s', { 'retry-after': '60' })).toBe(60_000)
    expect(await waits('48s', { 'retry-after': '6' })).toBe(48_000)
    for (const odd of ['soon', '-5s', '48', '']) expect(await waits(odd)).toBeUndefined()
    const inside = await errorOf(partsTo(GOOGLE, sse([answer([{ text: 'a' }]), body('7s')], false)))
    expect(inside).toMatchObject({ code: 'PROVIDER_RATE_LIMITED', retryAfterMs: 7000, status: 429, retryable: true })
  })

  it('errors in a list, and errors that no field announces, are read', async () => {
    const error = { code: 503, message: 'Busy.', status: 'UNAVAILABLE' }
    expect(await errorOf(partsTo(GOOGLE, json([{ error }], 503)))).toMatchObject({
      code: 'PROVIDER_OVERLOADED',
      status: 503,
      message: expect.stringContaining('Busy.'),
      details: { providerType: 'UNAVAILABLE' },
    })
    const start = sse([answer([{ text: 'Half' }])], false)
    const bodyText = `${start.bodyText}${JSON.stringify({ error }, null, 2)}\n`
    const bare = await errorOf(partsTo(GOOGLE, { ...start, bodyText }))
    expect(bare).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true })
    expect(bare.delivered.parts).toEqual([{ type: 'text', text: 'Half' }])
  })

  it('statuses that are words decide before the number does, and reasons before them', async () => {
    const coded = async (status: string, code: number, reason?: string) => {
      const details = reason === undefined ? [] : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason }]
      const error = await errorOf(replyTo(GOOGLE, json({ error: { code, status, message: 'Said.', details } }, code)))
      return [error.code, error.retryable]
    }
    expect(await coded('INVALID_ARGUMENT', 400, 'API_KEY_INVALID')).toEqual(['PROVIDER_AUTH', false])
    expect(await coded('INVALID_ARGUMENT', 400, 'toString')).toEqual(['PROVIDER_RESPONSE_ERROR', false])
    expect(await coded('PERMISSION_DENIED', 403)).toEqual(['PROVIDER_AUTH', false])
    expect(await coded('DEADLINE_EXCEEDED', 504)).toEqual(['PROVIDER_TIMEOUT', true])
    expect(await coded('NOT_FOUND', 404)).toEqual(['PROVIDER_RESPONSE_ERROR', false])
  })
})
