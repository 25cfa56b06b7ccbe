import type { ModelProvider, ModelReply, ModelRequest, StreamPart } from '@sluice/core'
import type { RecordedResponse } from '@sluice/testkit'
import { exchangeFetch } from '@sluice/testkit'
import type { WiredAdapter } from './adapters.js'
import { never, request } from './adapters.js'

/** An adapter that gets one answer from memory. */
export function answering(adapter: WiredAdapter, answer: RecordedResponse): ModelProvider {
  return adapter.make({ baseUrl: 'http://127.0.0.1:9', fetch: exchangeFetch(answer) })
}

/** The reply to a plain call that is answered so. */
export function replyTo(
  adapter: WiredAdapter,
  answer: RecordedResponse,
  changes: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  return answering(adapter, answer).generate(request(changes), never())
}

/** Everything that a stream yields that is answered so. */
export async function partsTo(
  adapter: WiredAdapter,
  answer: RecordedResponse,
  changes: Partial<ModelRequest> = {},
): Promise<StreamPart[]> {
  const parts: StreamPart[] = []
  for await (const part of answering(adapter, answer).stream(request(changes), never())) parts.push(part)
  return parts
}

/** The reply that such a stream ends with. */
export async function streamedReplyTo(
  adapter: WiredAdapter,
  answer: RecordedResponse,
  changes: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  const last = (await partsTo(adapter, answer, changes)).at(-1)
  if (last?.type !== 'reply') throw new Error('the stream did not end with a reply')
  return last.reply
}

/** What a call throws. */
export async function errorOf(work: Promise<unknown>): Promise<any> {
  return work.then(
    () => {
      throw new Error('it did not fail')
    },
    (error: unknown) => error,
  )
}
