import type { ModelReply } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { replyTo, streamedReplyTo } from './wire/memory.js'
import { adapterOf } from './wire/sent-body.js'
import { json, sse } from './wire/wire-reply.js'

const ANTHROPIC = adapterOf('anthropic-messages')

const calls = (reply: ModelReply) => reply.parts.flatMap((part) => (part.type === 'tool_call' ? [part] : []))

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

  it('CASE-11: figures that a closing event does not repeat stand as they were at the beginning', async () => {
    const usage = { input_tokens: 11, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 1 }
    const events = [
      { type: 'message_start', message: { content: [], usage } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { input_tokens: null, output_tokens: 9 } },
      { type: 'message_stop' },
    ]
    expect((await streamedReplyTo(ANTHROPIC, sse(events, true))).usage).toMatchObject({
      inputTokens: 11,
      cacheReadTokens: 5,
      cacheWriteTokens: 0,
      outputTokens: 9,
    })
  })

  it('a call whose stream is cut off keeps the text of its arguments', async () => {
    const wire = { calls: [{ id: 'c', name: 'find', args: '' }], finish: 'max_tokens' }
    const answer = ANTHROPIC.wire.stream(wire)
    const bodyText = answer.bodyText
      ?.replaceAll('"partial_json":""', '"partial_json":"{\\"a\\":"')
      .replace('"partial_json":"{\\"a\\":"', '"partial_json":""')
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
      {
        type: 'tool_use',
        id: 'c',
        name: 'f',
        input: { a: 1 },
        caller: { type: 'code_execution_20250825', tool_id: 't' },
      },
      'nonsense',
    ]
    const stop = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'Not that.' } }
    const { parts, finishReason } = await replyTo(ANTHROPIC, json({ content, ...stop }))
    expect(finishReason).toBe('refusal')
    expect(parts).toEqual([
      {
        type: 'hosted',
        toolName: 'web_search',
        text: 'server_tool_use news',
        providerOptions: { anthropic: { block: search } },
      },
      {
        type: 'hosted',
        toolName: 'web_search',
        text: 'web_search_tool_result',
        providerOptions: { anthropic: { block: found } },
      },
      {
        type: 'text',
        text: 'As said.',
        providerOptions: { anthropic: { citations: [{ type: 'char_location', cited_text: 'x' }] } },
      },
      {
        type: 'tool_call',
        toolCallId: 'c',
        toolName: 'f',
        args: '{"a":1}',
        providerOptions: { anthropic: { caller: { type: 'code_execution_20250825', tool_id: 't' } } },
      },
      { type: 'refusal', text: 'Not that.' },
    ])
  })
})
