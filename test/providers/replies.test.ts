import type { ModelReply } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import type { Lack } from './wire/adapters.js'
import { WIRED } from './wire/adapters.js'
import { errorOf, partsTo, replyTo, streamedReplyTo } from './wire/memory.js'
import { json } from './wire/wire-reply.js'

const EACH = WIRED.map((adapter) => [adapter.protocol, adapter] as const)

const textOf = (reply: ModelReply) => reply.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const calls = (reply: ModelReply) => reply.parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))

describe('every protocol', () => {
  it.each(EACH)(
    '%s: CASE-11: one logical request is the same figures, plain and streamed',
    async (_protocol, adapter) => {
      const usage = { input: 2000, cacheRead: 500, cacheWrite: 300, output: 5200, reasoning: 5000 }
      for (const reply of [
        await replyTo(adapter, adapter.wire.whole({ text: 'x', usage })),
        await streamedReplyTo(adapter, adapter.wire.stream({ text: 'x', usage })),
      ]) {
        const told = (figure: number, lack: Lack) => (adapter.lacks?.includes(lack) === true ? null : figure)
        const [read, written] = [told(500, 'cached tokens'), told(300, 'written tokens')]
        expect(reply.usage).toEqual({
          inputTokens: 2000 - (read ?? 0) - (written ?? 0),
          cacheReadTokens: read,
          cacheWriteTokens: written,
          outputTokens: 5200,
          reasoningTokens: told(5000, 'reasoning tokens'),
          unreportedCalls: 0,
        })
        expect(reply.usageMismatch).toBeUndefined()
      }
    },
  )

  it.each(EACH)('%s: CASE-12: a reply without usage reports none, plain and streamed', async (_protocol, adapter) => {
    for (const reply of [
      await replyTo(adapter, adapter.wire.whole({ text: 'x', usage: null })),
      await streamedReplyTo(adapter, adapter.wire.stream({ text: 'x', usage: null })),
    ]) {
      expect(reply.usage).toMatchObject({ inputTokens: null, outputTokens: null, unreportedCalls: 1 })
    }
  })

  it.each(EACH)('%s: an answer without text and calls is an empty reply that ended', async (_protocol, adapter) => {
    for (const reply of [
      await replyTo(adapter, adapter.wire.whole({})),
      await streamedReplyTo(adapter, adapter.wire.stream({})),
    ]) {
      expect(reply.parts).toEqual([])
      expect(reply.finishReason).toBe('stop')
    }
  })

  it.each(EACH)(
    '%s: reasoning, text and calls of one reply stand in its order, with what has to go back',
    async (_protocol, adapter) => {
      const wire = {
        reasoning: { text: 'I think.', marker: 'I think.' },
        text: 'I look.',
        calls: [{ id: 'c1', name: 'find', args: '{"a":1}' }],
      }
      for (const reply of [
        await replyTo(adapter, adapter.wire.whole(wire)),
        await streamedReplyTo(adapter, adapter.wire.stream(wire)),
      ]) {
        const kinds = reply.parts.map((part) => part.type)
        // the chat wire of these tests streams no reasoning
        expect(kinds.filter((kind) => kind !== 'reasoning')).toEqual(['text', 'tool_call'])
        expect(kinds.lastIndexOf('reasoning')).toBeLessThanOrEqual(0)
        const toolCallId = adapter.lacks?.includes('call ids') === true ? 'tool_call_1' : 'c1'
        expect(calls(reply)[0]).toMatchObject({ toolCallId, toolName: 'find', args: '{"a":1}' })
        expect(reply.finishReason).toBe('tool_calls')
      }
    },
  )

  it.each(EACH)('%s: a stream ends with the very reply that a plain call gives', async (protocol, adapter) => {
    const reasoning = protocol === 'openai-chat' ? {} : { reasoning: { text: 'I think.', marker: 'S1G' } }
    const wire = { ...reasoning, text: 'I look.', calls: [{ id: 'c1', name: 'find', args: '{"a":1}' }] }
    const { requestId, ...plain } = await replyTo(adapter, adapter.wire.whole(wire))
    expect(requestId).toBeDefined()
    const { model, ...rest } = await streamedReplyTo(adapter, adapter.wire.stream(wire))
    if (adapter.lacks?.includes('model in streams') === true) {
      expect(model).toBeUndefined()
      expect({ ...rest, model: plain.model }).toEqual(plain)
    } else expect({ ...rest, model }).toEqual(plain)
  })

  it.each(EACH)(
    '%s: CASE-16: ids of a stream are unique, and the same in its deltas and its reply',
    async (_protocol, adapter) => {
      const repeated = ['same', 'same', undefined].map((id) => ({
        ...(id === undefined ? {} : { id }),
        name: 'f',
        args: '{"a":1}',
      }))
      const parts = await partsTo(adapter, adapter.wire.stream({ calls: repeated }))
      const last = parts.at(-1)
      const ids = last?.type === 'reply' ? calls(last.reply).map((call) => call.toolCallId) : []
      expect(new Set(ids).size).toBe(3)
      const told = parts.flatMap((part) =>
        part.type === 'tool_call_delta' && part.toolCallId !== undefined ? [[part.index, part.toolCallId]] : [],
      )
      for (const [index, id] of told) expect(id).toBe(ids[index as number])
      expect(told.length).toBeGreaterThanOrEqual(2)
    },
  )

  it.each(EACH.filter(([, { lacks }]) => lacks?.includes('wrapped answers') !== true))(
    '%s: a wrapped answer comes out as the caller asked for it, and is streamed only when it is whole',
    async (_protocol, adapter) => {
      const output = { name: 'list', schema: { type: 'array', items: { type: 'string' } } } as const
      const text = '{"value":["a","b"]}'
      expect(textOf(await replyTo(adapter, adapter.wire.whole({ text }), { output }))).toBe('["a","b"]')
      const parts = await partsTo(adapter, adapter.wire.stream({ text }), { output })
      expect(parts.filter((part) => part.type === 'text_delta')).toEqual([{ type: 'text_delta', text: '["a","b"]' }])
      // what is not wrapped as asked for is left for the validation to judge
      expect(textOf(await replyTo(adapter, adapter.wire.whole({ text: '["a"]' }), { output }))).toBe('["a"]')
      expect(textOf(await replyTo(adapter, adapter.wire.whole({ text: '{"val' }), { output }))).toBe('{"val')
      const other = '{"other":1}'
      expect(textOf(await replyTo(adapter, adapter.wire.whole({ text: other }), { output }))).toBe(other)
    },
  )

  it.each(EACH)('%s: an answer is read by its content where the server names no type', async (_protocol, adapter) => {
    expect(textOf(await replyTo(adapter, { ...adapter.wire.whole({ text: 'hello' }), headers: {} }))).toBe('hello')
  })

  it.each(EACH)(
    '%s: one JSON object in place of a stream is understood as the whole reply',
    async (_protocol, adapter) => {
      const parts = await partsTo(adapter, adapter.wire.whole({ text: 'hello' }))
      expect(parts.map((part) => part.type)).toEqual(['text_delta', 'reply'])
      expect(await errorOf(partsTo(adapter, json({ error: { message: 'No.', code: 429 } })))).toMatchObject({
        code: 'PROVIDER_RATE_LIMITED',
      })
    },
  )

  it.each(EACH)(
    '%s: G-55: an answer that cannot be used is PROVIDER_RESPONSE_ERROR with its beginning',
    async (_protocol, adapter) => {
      const html = { status: 200, headers: { 'content-type': 'text/html' }, bodyText: `<html>${'x'.repeat(2000)}` }
      const error = await errorOf(replyTo(adapter, html))
      expect(error).toMatchObject({ code: 'PROVIDER_RESPONSE_ERROR', status: 200, retryable: false, sent: 'yes' })
      expect(error.message).toContain('<html>xxx')
      expect(error.message.length).toBeLessThan(900)
      for (const body of [[], 'text', null, 17, {}, { output: 1, choices: 'none', content: 'x' }]) {
        expect(await errorOf(replyTo(adapter, json(body)))).toMatchObject({
          code: 'PROVIDER_RESPONSE_ERROR',
          status: 200,
        })
      }
    },
  )

  it.each(EACH)('%s: G-55: an error object in a 200 answer is the error that it says', async (_protocol, adapter) => {
    const error = await errorOf(replyTo(adapter, json({ error: { message: 'Too many.', code: 429 } })))
    expect(error).toMatchObject({ code: 'PROVIDER_RATE_LIMITED', retryable: true })
    expect(error.message).toContain('Too many.')
    expect(await errorOf(replyTo(adapter, json({ error: 'plain words' })))).toMatchObject({
      code: 'PROVIDER_RESPONSE_ERROR',
    })
  })

  it.each(EACH)(
    '%s: the request id and rate-limit figures of the headers are in the reply',
    async (_protocol, adapter) => {
      const answer = adapter.wire.whole({ text: 'x' })
      const reply = await replyTo(adapter, {
        ...answer,
        headers: { ...answer.headers, 'x-ratelimit-remaining-tokens': '9' },
      })
      expect(reply.requestId).toMatch(/^req_/)
      expect(reply.rateLimit).toEqual({ 'x-ratelimit-remaining-tokens': '9' })
    },
  )
})
