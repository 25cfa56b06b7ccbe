import type { RecordedResponse } from '@sluice/testkit'
import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE } from './wire-reply.js'

/** A body with one JSON value a line. */
export function lines(values: readonly unknown[]): RecordedResponse {
  const bodyText = values.map((value) => `${JSON.stringify(value)}\n`).join('')
  return { status: 200, headers: { 'content-type': 'application/x-ndjson' }, bodyText }
}

function figuresOf({ usage = SOME_USAGE }: WireReply): Record<string, unknown> {
  return usage === null ? {} : { prompt_eval_count: usage.input, eval_count: usage.output }
}

function callsOf({ calls }: WireReply): Record<string, unknown> {
  if (calls === undefined) return {}
  return {
    tool_calls: calls.map(({ id, name, args }, index) => ({
      ...(id === undefined ? {} : { id }),
      function: { index, name, arguments: JSON.parse(args === '' ? '{}' : args) as unknown },
    })),
  }
}

function line(message: object, closing: object = { done: false }): unknown {
  return { model: 'qwen-test', created_at: '2026-08-05T08:11:04.351521Z', message, ...closing }
}

function closing(reply: WireReply): object {
  return { done: true, done_reason: reply.finish ?? 'stop', total_duration: 1, ...figuresOf(reply) }
}

function opening(reply: WireReply): unknown[] {
  const { text, reasoning } = reply
  return [
    ...(reasoning === undefined
      ? []
      : halves(reasoning.marker).map((thinking) => line({ role: 'assistant', content: '', thinking }))),
    ...(text === undefined ? [] : halves(text).map((content) => line({ role: 'assistant', content }))),
    ...(reply.calls ?? []).map((call) => line({ role: 'assistant', content: '', ...callsOf({ calls: [call] }) })),
  ]
}

/** Ollama's own chat: a whole call in one line, one closing line with the figures. */
export const ollamaWire: Wire = {
  whole: (reply) =>
    json(
      line(
        {
          role: 'assistant',
          content: reply.text ?? '',
          ...(reply.reasoning === undefined ? {} : { thinking: reply.reasoning.marker }),
          ...callsOf(reply),
          unheard_of: { one: [2] },
        },
        closing(reply),
      ),
      200,
      { 'x-request-id': 'req_o1' },
    ),
  stream: (reply) => lines([...opening(reply), line({ role: 'assistant', content: '' }, closing(reply))]),
  cutOff: (reply) => lines(opening(reply)),
  error: (status, message, _type, headers) =>
    json({ error: message }, status, { 'x-request-id': 'req_e1', ...headers }),
}
