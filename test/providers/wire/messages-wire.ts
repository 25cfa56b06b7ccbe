import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE, sse } from './wire-reply.js'

function usageOf(reply: WireReply): Record<string, unknown> | undefined {
  const usage = reply.usage === undefined ? SOME_USAGE : reply.usage
  if (usage === null) return undefined
  return {
    input_tokens: usage.input - usage.cacheRead - usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
    output_tokens: usage.output,
    output_tokens_details: { thinking_tokens: usage.reasoning },
  }
}

function blocks(reply: WireReply): Array<Record<string, any>> {
  return [
    ...(reply.reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reply.reasoning.text, signature: reply.reasoning.marker }]),
    ...(reply.text === undefined ? [] : [{ type: 'text', text: reply.text }]),
    ...(reply.calls ?? []).map(({ id, name, args }) => ({
      type: 'tool_use',
      ...(id === undefined ? {} : { id }),
      name,
      input: JSON.parse(args === '' ? '{}' : args) as unknown,
    })),
  ]
}

function message(reply: WireReply): Record<string, unknown> {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test-2026',
    content: blocks(reply),
    stop_reason: reply.finish ?? (reply.calls === undefined ? 'end_turn' : 'tool_use'),
    stop_sequence: null,
    usage: usageOf(reply),
  }
}

function blockEvents(block: Record<string, any>, index: number, args: string): unknown[] {
  const deltas =
    block.type === 'text'
      ? halves(block.text).map((text) => ({ type: 'text_delta', text }))
      : block.type === 'thinking'
        ? [
            ...halves(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
            { type: 'signature_delta', signature: block.signature },
          ]
        : halves(args).map((partial_json) => ({ type: 'input_json_delta', partial_json }))
  const empty =
    block.type === 'text' ? { text: '' } : block.type === 'thinking' ? { thinking: '', signature: '' } : { input: {} }
  return [
    { type: 'content_block_start', index, content_block: { ...block, ...empty } },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ]
}

function events(reply: WireReply): unknown[] {
  const whole = message(reply)
  const calls = [...(reply.calls ?? [])]
  const usage = usageOf(reply)
  return [
    {
      type: 'message_start',
      message: {
        ...whole,
        content: [],
        stop_reason: null,
        ...(usage === undefined ? {} : { usage: { ...usage, output_tokens: 1 } }),
      },
    },
    { type: 'ping' },
    { type: 'unheard_of', anything: [1] },
    ...blocks(reply).flatMap((block, index) =>
      blockEvents(block, index, block.type === 'tool_use' ? (calls.shift()?.args ?? '') : ''),
    ),
    { type: 'message_delta', delta: { stop_reason: whole.stop_reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

/** Anthropic Messages. */
export const messagesWire: Wire = {
  whole: (reply) => json(message(reply), 200, { 'request-id': 'req_a1' }),
  stream: (reply) => sse(events(reply), true),
  cutOff: (reply) => sse(events(reply).slice(0, -2), true),
  error: (status, text, type, headers) =>
    json({ type: 'error', error: { type, message: text }, request_id: 'req_e1' }, status, headers),
}
