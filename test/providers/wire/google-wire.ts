import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE, sse } from './wire-reply.js'

function usageOf(reply: WireReply): Record<string, unknown> | undefined {
  const usage = reply.usage === undefined ? SOME_USAGE : reply.usage
  if (usage === null) return undefined
  return {
    promptTokenCount: usage.input,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output - usage.reasoning,
    thoughtsTokenCount: usage.reasoning,
    totalTokenCount: usage.input + usage.output,
  }
}

function parts({ reasoning, calls }: WireReply, texts: readonly string[]): unknown[] {
  return [
    ...(reasoning === undefined ? [] : [{ text: reasoning.text, thought: true, thoughtSignature: reasoning.marker }]),
    ...texts.map((text) => ({ text })),
    ...(calls ?? []).map(({ id, name, args }) => ({
      functionCall: {
        ...(id === undefined ? {} : { id }),
        name,
        args: JSON.parse(args === '' ? '{}' : args) as unknown,
      },
    })),
  ]
}

function answer(content: readonly unknown[], said: object = {}, usageMetadata?: unknown): unknown {
  return {
    candidates: [{ content: { role: 'model', parts: content }, index: 0, unheard_of: { one: [2] }, ...said }],
    modelVersion: 'gemini-test-2026',
    responseId: 'resp_g1',
    usageMetadata,
  }
}

function opening(reply: WireReply): unknown[] {
  return parts(reply, reply.text === undefined ? [] : halves(reply.text)).map((part) => answer([part]))
}

function finish(reply: WireReply): object {
  return { finishReason: reply.finish ?? 'STOP' }
}

/** Google's generateContent: a stream is answers of the same form, the last of which says why it ended. */
export const googleWire: Wire = {
  whole: (reply) =>
    json(answer(parts(reply, reply.text === undefined ? [] : [reply.text]), finish(reply), usageOf(reply)), 200, {
      'x-request-id': 'req_g1',
    }),
  stream: (reply) => sse([...opening(reply), answer([{ text: '' }], finish(reply), usageOf(reply))], false),
  cutOff: (reply) => sse(opening(reply), false),
  error: (code, message, status, headers) =>
    json({ error: { code, message, status } }, code, { 'x-request-id': 'req_e1', ...headers }),
}
