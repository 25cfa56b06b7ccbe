import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE, sse } from './wire-reply.js'

function items(reply: WireReply): Array<Record<string, unknown>> {
  const reasoning = reply.reasoning
  return [
    ...(reasoning === undefined
      ? []
      : [
          {
            type: 'reasoning',
            id: 'rs_1',
            summary: [{ type: 'summary_text', text: reasoning.text }],
            encrypted_content: reasoning.marker,
          },
        ]),
    ...(reply.text === undefined
      ? []
      : [
          {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: reply.text, annotations: [] }],
          },
        ]),
    ...(reply.calls ?? []).map(({ id, name, args }, index) => ({
      type: 'function_call',
      id: `fc_${index}`,
      ...(id === undefined ? {} : { call_id: id }),
      name,
      arguments: args,
      status: 'completed',
    })),
  ]
}

function response(reply: WireReply): Record<string, unknown> {
  const usage = reply.usage === undefined ? SOME_USAGE : reply.usage
  const cut = reply.finish !== undefined
  return {
    id: 'resp_1',
    object: 'response',
    status: cut ? 'incomplete' : 'completed',
    incomplete_details: cut ? { reason: reply.finish } : null,
    error: null,
    model: 'gpt-test-2026',
    output: items(reply),
    usage: usage && {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: usage.reasoning },
      total_tokens: usage.input + usage.output,
    },
  }
}

function deltas(item: Record<string, any>, output_index: number): unknown[] {
  if (item.type === 'message') {
    return halves(item.content[0].text).map((delta) => ({
      type: 'response.output_text.delta',
      output_index,
      content_index: 0,
      delta,
    }))
  }
  if (item.type === 'reasoning') {
    return halves(item.summary[0].text).map((delta) => ({
      type: 'response.reasoning_summary_text.delta',
      output_index,
      summary_index: 0,
      delta,
    }))
  }
  return halves(item.arguments).map((delta) => ({
    type: 'response.function_call_arguments.delta',
    output_index,
    delta,
  }))
}

function events(reply: WireReply): unknown[] {
  const opened = { ...response(reply), status: 'in_progress', output: [], usage: null }
  return [
    { type: 'response.created', response: opened },
    { type: 'response.unheard_of', anything: [1, { two: 3 }] },
    ...items(reply).flatMap((item, output_index) => [
      {
        type: 'response.output_item.added',
        output_index,
        item: {
          ...item,
          ...(item.type === 'function_call' ? { arguments: '' } : {}),
          ...(item.type === 'message' ? { content: [] } : {}),
        },
      },
      ...deltas(item, output_index),
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: reply.finish === undefined ? 'response.completed' : 'response.incomplete', response: response(reply) },
  ]
}

/** OpenAI Responses. */
export const responsesWire: Wire = {
  whole: (reply) => json(response(reply), 200, { 'x-request-id': 'req_r1' }),
  stream: (reply) => sse(events(reply), true),
  cutOff: (reply) => sse(events(reply).slice(0, -1), true),
  error: (status, message, type, headers) =>
    json({ error: { message, type, code: type, param: null } }, status, { 'x-request-id': 'req_e1', ...headers }),
}
