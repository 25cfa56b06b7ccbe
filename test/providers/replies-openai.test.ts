import type { ModelReply } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'
import { json, sse } from './wire/wire-reply.js'

const RESPONSES = adapterOf('openai-responses')
const CHAT = adapterOf('openai-chat')

const textOf = (reply: ModelReply) => reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const calls = (reply: ModelReply) => reply.parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))

describe('openai-responses', () => {
  it('G-14: a reply that was cut off says so, also inside of a call, whose arguments stay as they are', async () => {
    const wire = { calls: [{ id: 'c', name: 'find', args: '{"a":' }], finish: 'max_output_tokens' }
    for (const reply of [
      await replyTo(RESPONSES, RESPONSES.wire.whole(wire)),
      await streamedReplyTo(RESPONSES, RESPONSES.wire.stream(wire)),
    ]) {
      expect(reply).toMatchObject({ finishReason: 'length', rawFinishReason: 'max_output_tokens' })
      expect(calls(reply)[0]?.args).toBe('{"a":')
    }
    expect(await replyTo(RESPONSES, RESPONSES.wire.whole({ text: 'x', finish: 'content_filter' }))).toMatchObject({
      finishReason: 'content_filter',
    })
  })

  it('keeps items that it does not know as hosted, so that they can go back, and passes over what has no form', async () => {
    const item = { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'news' } }
    const future = { type: 'telepathy', id: 't_1', waves: [1] }
    const body = {
      status: 'completed',
      output: [item, future, null, 7, { type: 'message', content: [{ type: 'smell', smell: 'rose' }, 3] }],
    }
    const { parts } = await replyTo(RESPONSES, json(body))
    expect(parts).toEqual([
      {
        type: 'hosted',
        toolName: 'web_search',
        text: 'web_search_call completed news',
        providerOptions: { openai: { item } },
      },
      { type: 'hosted', toolName: 'telepathy', text: 'telepathy', providerOptions: { openai: { item: future } } },
    ])
  })

  it('a response that failed, or that the provider works on later, is an error', async () => {
    const failed = { status: 'failed', output: [], error: { code: 'server_error', message: 'Oh.' } }
    expect(await errorOf(replyTo(RESPONSES, json(failed)))).toMatchObject({
      code: 'PROVIDER_OVERLOADED',
      retryable: true,
    })
    expect(await errorOf(replyTo(RESPONSES, json({ status: 'queued', output: [] })))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
    })
  })

  it('takes the items of a stream from its closing event where they were not delivered one by one', async () => {
    const response = {
      id: 'r',
      status: 'completed',
      model: 'm',
      output: [{ type: 'message', id: 'msg', content: [{ type: 'output_text', text: 'late' }] }],
    }
    expect(textOf(await streamedReplyTo(RESPONSES, sse([{ type: 'response.completed', response }], true)))).toBe('late')
  })
})

describe('openai-chat', () => {
  it('CASE-16: fragments of calls find each other, whatever order and places the server gives them', async () => {
    const chunk = (...tool_calls: object[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] })
    const end = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
    const seen = async (...chunks: object[]) =>
      calls(await streamedReplyTo(CHAT, sse([...chunks, end, '[DONE]'], false))).map(({ toolName, args }) => [
        toolName,
        args,
      ])

    // the name arrives after the arguments
    expect(
      await seen(
        chunk({ index: 0, function: { arguments: '{"a"' } }),
        chunk({ index: 0, id: 'x', function: { name: 'f', arguments: ':1}' } }),
      ),
    ).toEqual([['f', '{"a":1}']])
    // fragments of two calls take turns
    expect(
      await seen(
        chunk(
          { index: 0, id: 'x', function: { name: 'f', arguments: '{' } },
          { index: 1, id: 'y', function: { name: 'g', arguments: '{' } },
        ),
        chunk({ index: 1, function: { arguments: '"b":2}' } }, { index: 0, function: { arguments: '"a":1}' } }),
      ),
    ).toEqual([
      ['f', '{"a":1}'],
      ['g', '{"b":2}'],
    ])
    // every call is counted as the first, with ids and without
    expect(
      await seen(
        chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }),
        chunk({ index: 0, id: 'y', function: { name: 'f', arguments: '{}' } }),
      ),
    ).toEqual([
      ['f', '{}'],
      ['f', '{}'],
    ])
    expect(
      await seen(
        chunk({ index: 0, function: { name: 'f', arguments: '{}' } }),
        chunk({ index: 0, function: { name: 'f', arguments: '{}' } }),
      ),
    ).toEqual([
      ['f', '{}'],
      ['f', '{}'],
    ])
    // no places at all
    expect(
      await seen(
        chunk({ id: 'x', function: { name: 'f', arguments: '{"a":1}' } }),
        chunk({ id: 'y', function: { name: 'g', arguments: '{"b"' } }),
        chunk({ function: { arguments: ':2}' } }),
      ),
    ).toEqual([
      ['f', '{"a":1}'],
      ['g', '{"b":2}'],
    ])
    // the id and name are repeated with every fragment
    expect(
      await seen(
        chunk({ index: 0, id: 'x', function: { name: 'f', arguments: '{"a"' } }),
        chunk({ index: 0, id: 'x', function: { name: 'f', arguments: ':1}' } }),
      ),
    ).toEqual([['f', '{"a":1}']])
  })

  it('CASE-16: ids of a stream are those of its reply, also the ones that were made', async () => {
    const wire = {
      calls: [
        { id: 'same', name: 'f', args: '{}' },
        { id: 'same', name: 'g', args: '{}' },
        { name: 'h', args: '{}' },
      ],
    }
    const parts = await partsTo(CHAT, CHAT.wire.stream(wire))
    const last = parts.at(-1)
    const ids = last?.type === 'reply' ? calls(last.reply).map((call) => call.toolCallId) : []
    expect(new Set(ids).size).toBe(3)
    const told = parts.flatMap((part) =>
      part.type === 'tool_call_delta' && part.toolCallId !== undefined ? [part.toolCallId] : [],
    )
    expect(told).toEqual(ids.slice(0, 2))
  })

  it('G-14: passes the finish reason on; calls and refusals beside `stop` say more', async () => {
    expect(await replyTo(CHAT, CHAT.wire.whole({ text: 'x', finish: 'length' }))).toMatchObject({
      finishReason: 'length',
    })
    expect(await replyTo(CHAT, CHAT.wire.whole({ text: 'x', finish: 'eos' }))).toMatchObject({
      finishReason: 'eos',
      rawFinishReason: 'eos',
    })
    expect(
      await replyTo(CHAT, CHAT.wire.whole({ calls: [{ id: 'a', name: 'f', args: '{}' }], finish: 'stop' })),
    ).toMatchObject({ finishReason: 'tool_calls', rawFinishReason: 'stop' })
    const refused = { choices: [{ finish_reason: 'stop', message: { content: null, refusal: 'No.' } }] }
    expect(await replyTo(CHAT, json(refused))).toMatchObject({
      finishReason: 'refusal',
      parts: [{ type: 'refusal', text: 'No.' }],
    })
    expect(await replyTo(CHAT, json({ choices: [{ finish_reason: 'content_filter' }] }))).toMatchObject({
      finishReason: 'content_filter',
      parts: [],
    })
    expect(await replyTo(CHAT, json({ choices: [{ message: { content: 'x' } }] }))).toMatchObject({
      finishReason: 'stop',
    })
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
    const parts = await partsTo(
      CHAT,
      sse(
        [
          chunk({ reasoning_content: 'I ' }),
          chunk({ reasoning_content: 'think' }),
          chunk({ content: 'So.' }),
          { choices: [{ delta: {}, finish_reason: 'stop' }] },
        ],
        false,
      ),
    )
    expect(parts.slice(0, 3)).toEqual([
      { type: 'reasoning_delta', text: 'I ' },
      { type: 'reasoning_delta', text: 'think' },
      { type: 'text_delta', text: 'So.' },
    ])
    expect(parts.at(-1)).toMatchObject({
      type: 'reply',
      reply: {
        parts: [
          { type: 'reasoning', text: 'I think' },
          { type: 'text', text: 'So.' },
        ],
      },
    })
  })
})
