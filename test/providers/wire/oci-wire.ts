import type { RecordedResponse } from '@sluice/testkit'
import type { Wire, WireReply } from './wire-reply.js'
import { halves, json, SOME_USAGE, sse } from './wire-reply.js'

function usageOf({ usage = SOME_USAGE }: WireReply): object {
  if (usage === null) return {}
  return {
    usage: {
      completionTokens: usage.output,
      promptTokens: usage.input,
      totalTokens: usage.input + usage.output,
      promptTokensDetails: { cachedTokens: usage.cacheRead },
      completionTokensDetails: { reasoningTokens: usage.reasoning },
    },
  }
}

function whole(chatResponse: object): RecordedResponse {
  const body = { modelId: 'vendor.model-test', modelVersion: '1.0', chatResponse }
  return json(body, 200, { 'opc-request-id': 'req_v1' })
}

function error(
  status: number,
  message: string,
  type: string,
  headers?: Readonly<Record<string, string>>,
): RecordedResponse {
  return json({ code: type, message }, status, { 'opc-request-id': 'req_e1', ...headers })
}

function finishOf(reply: WireReply): string {
  return reply.finish ?? (reply.calls === undefined ? 'stop' : 'tool_calls')
}

const text = (content: string) => [{ type: 'TEXT', text: content }]
const choice = (message: object): object => ({ index: 0, message: { role: 'ASSISTANT', ...message }, pad: 'aaaa' })

function genericEvents(reply: WireReply): object[] {
  return [
    ...(reply.reasoning === undefined
      ? []
      : halves(reply.reasoning.marker).map((reasoningContent) => choice({ reasoningContent }))),
    ...(reply.text === undefined ? [] : halves(reply.text).map((piece) => choice({ content: text(piece) }))),
    ...(reply.calls ?? []).flatMap(({ id, name, args }) => [
      choice({ toolCalls: [{ type: 'FUNCTION', ...(id === undefined ? {} : { id }), name, arguments: '' }] }),
      ...halves(args).map((piece) => choice({ toolCalls: [{ type: 'FUNCTION', arguments: piece }] })),
    ]),
  ]
}

/** OCI's chat for every vendor but Cohere: a stream is choices, each with what is new of its message. */
export const ociGenericWire: Wire = {
  whole: (reply) =>
    whole({
      apiFormat: 'GENERIC',
      timeCreated: '2025-08-31T19:18:46.201Z',
      choices: [
        {
          index: 0,
          message: {
            role: 'ASSISTANT',
            ...(reply.text === undefined ? {} : { content: text(reply.text) }),
            ...(reply.reasoning === undefined ? {} : { reasoningContent: reply.reasoning.marker }),
            ...(reply.calls === undefined
              ? {}
              : {
                  toolCalls: reply.calls.map(({ id, name, args }) => ({
                    type: 'FUNCTION',
                    ...(id === undefined ? {} : { id }),
                    name,
                    arguments: args,
                  })),
                }),
            unheard_of: { one: [2] },
          },
          finishReason: finishOf(reply),
          logprobs: {},
        },
      ],
      ...usageOf(reply),
    }),
  stream: (reply) => sse([...genericEvents(reply), { finishReason: finishOf(reply), pad: 'a' }, usageOf(reply)], false),
  cutOff: (reply) => sse(genericEvents(reply), false),
  error,
}

function callsOf({ calls }: WireReply): object {
  if (calls === undefined) return {}
  return {
    toolCalls: calls.map(({ name, args }) => ({ name, parameters: JSON.parse(args === '' ? '{}' : args) as unknown })),
  }
}

const piece = (rest: object): object => ({ apiFormat: 'COHERE', ...rest, pad: 'aaaaaaa' })

function cohereEvents(reply: WireReply): object[] {
  return [
    ...(reply.text === undefined ? [] : halves(reply.text).map((each) => piece({ text: each }))),
    ...(reply.calls === undefined ? [] : [piece(callsOf(reply))]),
  ]
}

/** What a reply is at its end: a stream says all of it again. */
function cohereChat(reply: WireReply): object {
  return {
    apiFormat: 'COHERE',
    text: reply.text ?? '',
    chatHistory: [{ role: 'USER', message: 'Hello' }],
    finishReason: reply.finish ?? 'COMPLETE',
    ...callsOf(reply),
    ...usageOf(reply),
    unheard_of: { one: [2] },
  }
}

/** OCI's chat for the models of Cohere: calls have no ids. */
export const ociCohereWire: Wire = {
  whole: (reply) => whole(cohereChat(reply)),
  stream: (reply) => sse([...cohereEvents(reply), cohereChat(reply)], false),
  cutOff: (reply) => sse(cohereEvents(reply), false),
  error,
}
