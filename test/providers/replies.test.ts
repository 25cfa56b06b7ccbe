import type { ModelReply } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { WIRED } from './wire/adapters.js'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'
import { json, sse } from './wire/wire-reply.js'

const RESPONSES = adapterOf('openai-responses')
const CHAT = adapterOf('openai-chat')
const ANTHROPIC = adapterOf('anthropic-messages')
const EACH = WIRED.map((adapter) => [adapter.protocol, adapter] as const)

const textOf = (reply: ModelReply) => reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const calls = (reply: ModelReply) => reply.parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))

describe('every protocol', () => {
  it.each(EACH)('%s: CASE-11: one logical request is the same figures, plain and streamed', async (_protocol, adapter) => {
    const usage = { input: 2000, cacheRead: 500, cacheWrite: 300, output: 5200, reasoning: 5000 }
    for (const reply of [
      await replyTo(adapter, adapter.wire.whole({ text: 'x', usage })),
      await streamedReplyTo(adapter, adapter.wire.stream({ text: 'x', usage })),
    ]) {
      expect(reply.usage).toEqual({
        inputTokens: 1200,
        cacheReadTokens: 500,
        cacheWriteTokens: 300,
        outputTokens: 5200,
        reasoningTokens: 5000,
        unreportedCalls: 0,
      })
      expect(reply.usageMismatch).toBeUndefined()
    }
  })

  it.each(EACH)('%s: CASE-12: a reply without usage reports none, plain and streamed', async (_protocol, adapter) => {
    for (const reply of [
      await replyTo(adapter, adapter.wire.whole({ text: 'x', usage: null })),
      await streamedReplyTo(adapter, adapter.wire.stream({ text: 'x', usage: null })),
    ]) {
      expect(reply.usage).toMatchObject({ inputTokens: null, outputTokens: null, unreportedCalls: 1 })
    }
  })

  it.each(EACH)('%s: an answer without text and calls is an empty reply that ended', async (_protocol, adapter) => {
    for (const reply of [await replyTo(adapter, adapter.wire.whole({})), await streamedReplyTo(adapter, adapter.wire.stream({}))]) {
      expect(reply.parts).toEqual([])
      expect(reply.finishReason).toBe('stop')
    }
  })

  it.each(EACH)('%s: reasoning, text and calls of one reply stand in its order, with what has to go back', async (_protocol, adapter) => {
    const wire = {
      reasoning: { text: 'I think.', marker: 'I think.' },
      text: 'I look.',
      calls: [{ id: 'c1', name: 'find', args: '{"a":1}' }],
    }
    for (const reply of [await replyTo(adapter, adapter.wire.whole(wire)), await streamedReplyTo(adapter, adapter.wire.stream(wire))]) {
      const kinds = reply.parts.map((part) => part.type)
      // the chat wire of these tests streams no reasoning
      expect(kinds.filter((kind) => kind !== 'reasoning')).toEqual(['text', 'tool_call'])
      expect(kinds.lastIndexOf('reasoning')).toBeLessThanOrEqual(0)
      expect(calls(reply)[0]).toMatchObject({ toolCallId: 'c1', toolName: 'find', args: '{"a":1}' })
      expect(reply.finishReason).toBe('tool_calls')
    }
  })

  it.each(EACH)('%s: a wrapped answer comes out as the caller asked for it, and is streamed only when it is whole', async (_protocol, adapter) => {
    const output = { name: 'list', schema: { type: 'array', items: { type: 'string' } } } as const
    const text = '{"value":["a","b"]}'
    expect(textOf(await replyTo(adapter, adapter.wire.whole({ text }), { output }))).toBe('["a","b"]')
    const parts = await partsTo(adapter, adapter.wire.stream({ text }), { output })
    expect(parts.filter((part) => part.type === 'text_delta')).toEqual([{ type: 'text_delta', text: '["a","b"]' }])
    // what is not wrapped as asked for is left for the validation to judge
    expect(textOf(await replyTo(adapter, adapter.wire.whole({ text: '["a"]' }), { output }))).toBe('["a"]')
    expect(textOf(await replyTo(adapter, adapter.wire.whole({ text: '{"val' }), { output }))).toBe('{"val')
  })

  it.each(EACH)('%s: an answer is read by its content where the server names no type', async (_protocol, adapter) => {
    expect(textOf(await replyTo(adapter, { ...adapter.wire.whole({ text: 'hello' }), headers: {} }))).toBe('hello')
  })

  it.each(EACH)('%s: one JSON object in place of a stream is understood as the whole reply', async (_protocol, adapter) => {
    const parts = await partsTo(adapter, adapter.wire.whole({ text: 'hello' }))
    expect(parts.map((part) => part.type)).toEqual(['text_delta', 'reply'])
    expect(await errorOf(partsTo(adapter, json({ error: { message: 'No.', code: 429 } })))).toMatchObject({ code: 'PROVIDER_RATE_LIMITED' })
  })

  it.each(EACH)('%s: G-55: an answer that cannot be used is PROVIDER_RESPONSE_ERROR with its beginning', async (_protocol, adapter) => {
    const html = { status: 200, headers: { 'content-type': 'text/html' }, bodyText: `<html>${'x'.repeat(2000)}` }
    const error = await errorOf(replyTo(adapter, html))
    expect(error).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', status: 200, retryable: false, sent: 'yes' })
    expect(error.message).toContain('<html>xxx')
    expect(error.message.length).toBeLessThan(900)
    for (const body of [[], 'text', null, 17, {}, { output: 1, choices: 'none', content: 'x' }]) {
      expect(await errorOf(replyTo(adapter, json(body)))).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', status: 200 })
    }
  })

  it.each(EACH)('%s: G-55: an error object in a 200 answer is the error that it says', async (_protocol, adapter) => {
    const error = await errorOf(replyTo(adapter, json({ error: { message: 'Too many.', code: 429 } })))
    expect(error).toMatchObject({ code: 'PROVIDER_RATE_LIMITED', retryable: true })
    expect(error.message).toContain('Too many.')
    expect(await errorOf(replyTo(adapter, json({ error: 'plain words' })))).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR' })
  })

  it.each(EACH)('%s: the request id and rate-limit figures of the headers are in the reply', async (_protocol, adapter) => {
    const answer = adapter.wire.whole({ text: 'x' })
    const reply = await replyTo(adapter, { ...answer, headers: { ...answer.headers, 'x-ratelimit-remaining-tokens': '9' } })
    expect(reply.requestId).toMatch(/^req_/)
    expect(reply.rateLimit).toEqual({ 'x-ratelimit-remaining-tokens': '9' })
  })
})

describe('openai-responses', () => {
  it('G-14: a reply that was cut off says so, also inside of a call, whose arguments stay as they are', async () => {
    const wire = { calls: [{ id: 'c', name: 'find', args: '{"a":' }], finish: 'max_output_tokens' }
    for (const reply of [await replyTo(RESPONSES, RESPONSES.wire.whole(wire)), await streamedReplyTo(RESPONSES, RESPONSES.wire.stream(wire))]) {
      expect(reply).toMatchObject({ finishReason: 'length', rawFinishReason: 'max_output_tokens' })
      expect(calls(reply)[0]?.args).toBe('{"a":')
    }
    expect(await replyTo(RESPONSES, RESPONSES.wire.whole({ text: 'x', finish: 'content_filter' }))).toMatchObject({ finishReason: 'content_filter' })
  })

  it('keeps items that it does not know as hosted, so that they can go back, and passes over what has no form', async () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'news' } }
    const future = { type: 'telepathy', id: 't_1', waves: [1] }
    const body = { status: 'completed', output: [item, future, null, 7, { type: 'message', content: [{ type: 'smell', smell: 'rose' }, 3] }] }
    const { parts } = await replyTo(RESPONSES, json(body))
    expect(parts).toEqual([
      { type: 'hosted', toolName: 'web_search', text: 'web_search_call completed news', providerOptions: { openai: { item } } },
      { type: 'hosted', toolName: 'telepathy', text: 'telepathy', providerOptions: { openai: { item: future } } },
    ])
  })

  it('a response that failed, or that the provider works on later, is an error', async () => {
    const failed = { status: 'failed', output: [], error: { code: 'server_error', message: 'Oh.' } }
    expect(await errorOf(replyTo(RESPONSES, json(failed)))).toMatchObject({ code: 'PROVIDER_OVERLOADED', retryable: true })
    expect(await errorOf(replyTo(RESPONSES, json({ status: 'queued', output: [] })))).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR' })
  })

  it('takes the items of a stream from its closing event where they were not delivered one by one', async () => {
    const response = { id: 'r', status: 'completed', model: 'm', output: [{ type: 'message', id: 'msg', content: [{ type: 'output_text', text: 'late' }] }] }
    expect(textOf(await streamedReplyTo(RESPONSES, sse([{ type: 'response.completed', response }], true)))).toBe('late')
  })
})

describe('openai-chat', () => {
  it('CASE-16: fragments of calls find each other, whatever order and places the server gives them', async () => {
    const chunk = (...tool_calls: object[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] })
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    const seen = async (...chunks: object[]) =>
      calls(await streamedReplyTo(CHAT, sse([...chunks, end, '[DONE]'], false))).map(({ toolName, args }) => [toolName, args])

    // the name arrives after the arguments
    expect(await seen(chunk({ index: 0, function: { arguments: '{"a"' } }), chunk({ index: 0, id: 'x', function: { name: 'f', arguments: ':1}' } }))).toEqual([['f', '{"a":1}']])
    // fragments of two calls take turns
    expect(
      await seen(
        chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{' } }, { index: 1, id: 'y', function: { name: 'g', arguments: '{' } }),
        chunk({ index: 1, function: { arguments: '"b":2}' } }, { index: 0, function: { arguments: '"a":1}' } }),
      ),
    ).toEqual([['f', '{"a":1}'], ['g', '{"b":2}']])
    // every call is counted as the first, with ids and without
    expect(await seen(chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }), chunk({ index: 0, id: 'y', function: { name: 'f', arguments: '{}' } }))).toEqual([['f', '{}'], ['f', '{}']])
    expect(await seen(chunk({ index: 0, function: { name: 'f', arguments: '{}' } }), chunk({ index: 0, function: { name: 'f', arguments: '{}' } }))).toEqual([['f', '{}'], ['f', '{}']])
    // no places at all
    expect(await seen(chunk({ id: 'x', function: { name: 'f', arguments: '{"a":1}' } }), chunk({ id: 'y', function: { name: 'g', arguments: '{"b"' } }), chunk({ function: { arguments: ':2}' } }))).toEqual([['f', '{"a":1}'], ['g', '{"b":2}']])
    // the id and name are repeated with every fragment
    expect(await seen(chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a"' } }), chunk({ index: 0, id: 'x', function: { name: 'f', arguments: ':1}' } }))).toEqual([['f', '{"a":1}']])
  })

  it('CASE-16: ids of a stream are those of its reply, also the ones that were made', async () => {
    const wire = { calls: [{ id: 'same', name: 'f', args: '{}' }, { id: 'same', name: 'g', args: '{}' }, { name: 'h', args: '{}' }] }
    const parts = await partsTo(CHAT, CHAT.wire.stream(wire))
    const last = parts.at(-1)
    const ids = last?.type === 'reply' ? calls(last.reply).map((call) => call.toolCallId) : []
    expect(new Set(ids).size).toBe(3)
    const told = parts.flatMap((part) => (part.type === 'tool_call_delta' && part.toolCallId !== undefined ? [part.toolCallId] : []))
    expect(told).toEqual(ids.slice(0, 2))
  })

  it('G-14: passes the finish reason on; calls and refusals beside `stop` say more', async () => {
    expect(await replyTo(CHAT, CHAT.wire.whole({ text: 'x', finish: 'length' }))).toMatchObject({ finishReason: 'length' })
    expect(await replyTo(CHAT, CHAT.wire.whole({ text: 'x', finish: 'eos' }))).toMatchObject({ finishReason: 'eos', rawFinishReason: 'eos' })
    expect(await replyTo(CHAT, CHAT.wire.whole({ calls: [{ id: 'a', name: 'f', args: '{}' }], finish: 'stop' }))).toMatchObject({ finishReason: 'tool_calls', rawFinishReason: 'stop' })
    const refused = { choices: [{ finish_reason: 'stop', message: { content: null, refusal: 'No.' } }] }
    expect(await replyTo(CHAT, json(refused))).toMatchObject({ finishReason: 'refusal', parts: [{ type: 'refusal', text: 'No.' }] })
    expect(await replyTo(CHAT, json({ choices: [{ finish_reason: 'content_filter' }] }))).toMatchObject({ finishReason: 'content_filter', parts: [] })
    expect(await replyTo(CHAT, json({ choices: [{ message: { content: 'x' } }] }))).toMatchObject({ finishReason: 'stop' })
  })

  it('reads content in pieces, arguments as an object, and reasoning under either name', async () => {
    const message = {
      reasoning: 'R',
      content: [{ type: 'text', text: 'a' }, { type: 'image' }, { type: 'text', text: 'b' }],
      tool_calls: [{ id: 'c', function: { name: 'f', arguments: { a: 1 } } }, 'nonsense'],
    }
    const { parts } = await replyTo(CHAT, json({ choices: [{ finish_reason: 'tool_calls', message }] }))
    expect(parts).toEqual([
      { type: 'reasoning', text: 'R', providerOptions: { openai: { member: 'reasoning' } } },
      { type: 'text', text: 'ab' },
      { type: 'tool_call', toolCallId: 'c', toolName: 'f', args: '{"a":1}' },
    ])
  })

  it('streams reasoning apart from text', async () => {
    const chunk = (delta: object) => ({ model: 'm', choices: [{ delta }] })
    const parts = await partsTo(CHAT, sse([chunk({ reasoning_content: 'I ' }), chunk({ reasoning_content: 'think' }), chunk({ content: 'So.' }), { choices: [{ delta: {}, finish_reason: 'stop' }] }], false))
    expect(parts.slice(0, 3)).toEqual([
      { type: 'reasoning_delta', text: 'I ' },
      { type: 'reasoning_delta', text: 'think' },
      { type: 'text_delta', text: 'So.' },
    ])
    expect(parts.at(-1)).toMatchObject({ type: 'reply', reply: { parts: [{ type: 'reasoning', text: 'I think' }, { type: 'text', text: 'So.' }] } })
  })
})

describe('anthropic-messages', () => {
  it('G-14: maps stop reasons, and leaves those without a mapping as they are', async () => {
    for (const [raw, finishReason] of [
      ['end_turn', 'stop'],
      ['stop_sequence', 'stop'],
      ['tool_use', 'tool_calls'],
      ['max_tokens', 'length'],
      ['model_context_window_exceeded', 'length'],
      ['pause_turn', 'pause_turn'],
      ['refusal', 'refusal'],
      ['constructor', 'constructor'],
    ] as const) {
      const reply = await replyTo(ANTHROPIC, ANTHROPIC.wire.whole({ text: 'x', finish: raw }))
      expect(reply).toMatchObject({ finishReason, rawFinishReason: raw })
    }
  })

  it('a call whose stream is cut off keeps the text of its arguments', async () => {
    const wire = { calls: [{ id: 'c', name: 'find', args: '' }], finish: 'max_tokens' }
    const answer = ANTHROPIC.wire.stream(wire)
    const bodyText = answer.bodyText?.replaceAll('"partial_json":""', '"partial_json":"{\\"a\\":"').replace('"partial_json":"{\\"a\\":"', '"partial_json":""')
    const reply = await streamedReplyTo(ANTHROPIC, { ...answer, bodyText: bodyText as string })
    expect(calls(reply)[0]?.args).toBe('{"a":')
    expect(reply.finishReason).toBe('length')
  })

  it('keeps hosted blocks, citations and callers for the next request, and reads a refusal’s explanation', async () => {
    const search = { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'news' } }
    const found = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
    const content = [
      search,
      found,
      { type: 'text', text: 'As said.', citations: [{ type: 'char_location', cited_text: 'x', file_id: null }] },
      { type: 'tool_use', id: 'c', name: 'f', input: { a: 1 }, caller: { type: 'code_execution_20250825', tool_id: 't' } },
      'nonsense',
    ]
    const stop = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'Not that.' } }
    const { parts, finishReason } = await replyTo(ANTHROPIC, json({ content, ...stop }))
    expect(finishReason).toBe('refusal')
    expect(parts).toEqual([
      { type: 'hosted', toolName: 'web_search', text: 'server_tool_use news', providerOptions: { anthropic: { block: search } } },
      { type: 'hosted', toolName: 'web_search', text: 'web_search_tool_result', providerOptions: { anthropic: { block: found } } },
      { type: 'text', text: 'As said.', providerOptions: { anthropic: { citations: [{ type: 'char_location', cited_text: 'x' }] } } },
      { type: 'tool_call', toolCallId: 'c', toolName: 'f', args: '{"a":1}', providerOptions: { anthropic: { caller: { type: 'code_execution_20250825', tool_id: 't' } } } },
      { type: 'refusal', text: 'Not that.' },
    ])
  })
})
