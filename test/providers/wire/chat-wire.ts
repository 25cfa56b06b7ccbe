import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE, sse } from './wire-reply.js'

function usageOf(reply: WireReply): Record<string, unknown> | undefined {
  const usage = reply.usage === undefined ? SOME_USAGE : reply.usage
  if (usage === null) return undefined
  return {
    prompt_tokens: usage.input,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    completion_tokens: usage.output,
    completion_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: usage.input + usage.output,
  }
}

function finishOf(reply: WireReply): string {
  return reply.finish ?? (reply.calls === undefined ? 'stop' : 'tool_calls')
}

function whole(reply: WireReply): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model: 'gpt-test-2026',
    choices: [
      {
        index: 0,
        finish_reason: finishOf(reply),
        unheard_of: { one: [2] },
        message: {
          role: 'assistant',
          content: reply.text ?? null,
          refusal: null,
          ...(reply.reasoning === undefined ? {} : { reasoning_content: reply.reasoning.marker }),
          ...(reply.calls === undefined
            ? {}
            : {
                tool_calls: reply.calls.map(({ id, name, args }) => ({
                  ...(id === undefined ? {} : { id }),
                  type: 'function',
                  function: { name, arguments: args },
                })),
              }),
        },
      },
    ],
    usage: usageOf(reply),
  }
}

function chunk(delta: unknown, finish_reason: string | null = null): unknown {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    model: 'gpt-test-2026',
    choices: [{ index: 0, delta, finish_reason }],
  }
}

function chunks(reply: WireReply): unknown[] {
  return [
    chunk({ role: 'assistant', content: '' }),
    ...(reply.text === undefined ? [] : halves(reply.text).map((content) => chunk({ content }))),
    ...(reply.calls ?? []).flatMap(({ id, name, args }, index) => [
      chunk({
        tool_calls: [
          { index, ...(id === undefined ? {} : { id }), type: 'function', function: { name, arguments: '' } },
        ],
      }),
      ...halves(args).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
  ]
}

/** OpenAI Chat Completions. */
export const chatWire: Wire = {
  whole: (reply) => json(whole(reply), 200, { 'x-request-id': 'req_c1' }),
  stream(reply) {
    const usage = usageOf(reply)
    const closing = usage === undefined ? [] : [{ id: 'chatcmpl-1', model: 'gpt-test-2026', choices: [], usage }]
    return sse([...chunks(reply), chunk({}, finishOf(reply)), ...closing, '[DONE]'], false)
  },
  cutOff: (reply) => sse(chunks(reply), false),
  error: (status, message, type, headers) =>
    json({ error: { message, type, code: type, param: null } }, status, { 'x-request-id': 'req_e1', ...headers }),
}
