import { join } from 'node:path'
import type { ModelProvider, ModelReply, ModelRequest, StreamPart } from '@sluice/core'
import type { RecordedExchange } from '@sluice/testkit'
import { neutralRequest, readRecordings } from '@sluice/testkit'
import type { AdapterUnderTest } from './adapters.js'
import { recordingsFolder } from './recordings-folder.js'

/** One recorded exchange with its place. */
export interface Placed {
  /** `openai-chat/refusal#0` */
  readonly name: string
  readonly file: string
  readonly index: number
  readonly exchange: RecordedExchange
  readonly next: RecordedExchange | undefined
}

/** Every exchange of every file of an adapter's folders. */
export function exchangesOf(adapter: AdapterUnderTest): readonly Placed[] {
  return adapter.folders.flatMap((folder) =>
    readRecordings(join(recordingsFolder, folder)).flatMap(({ file, recording }) =>
      recording.exchanges
        .filter(({ request }) => adapter.only?.(request.url) ?? true)
        .map((exchange, index) => ({
          name: `${folder}/${file.replace(/\.json$/, '')}#${index}`,
          file: `${folder}/${file}`,
          index,
          exchange,
          next: recording.exchanges[index + 1],
        })),
    ),
  )
}

/** A request for the recordings that have kept only the answer. */
const ANY_REQUEST: ModelRequest = {
  model: 'any-model',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  hostedTools: [],
  maxOutputTokens: 8192,
}

/** The recorded request in neutral form. */
export function requestOf(adapter: AdapterUnderTest, providerId: string, exchange: RecordedExchange): ModelRequest {
  if (exchange.request.body === null) return ANY_REQUEST
  return neutralRequest(adapter.protocol, exchange.request.body, { providerId, url: exchange.request.url })
}

/** What came of one call: the reply with the deltas before it, or the error. */
export type Outcome =
  | { readonly reply: ModelReply; readonly deltas: readonly StreamPart[] }
  | { readonly error: unknown; readonly deltas: readonly StreamPart[] }

/** Makes the call as it was recorded: as a stream where a stream was recorded, else plain. */
export async function call(provider: ModelProvider, request: ModelRequest, streamed: boolean): Promise<Outcome> {
  const deltas: StreamPart[] = []
  const { signal } = new AbortController()
  try {
    if (!streamed) return { reply: await provider.generate(request, signal), deltas }
    for await (const part of provider.stream(request, signal)) deltas.push(part)
    const last = deltas.pop()
    if (last?.type !== 'reply') throw new Error('the stream did not end with its reply')
    return { reply: last.reply, deltas }
  } catch (error) {
    return { error, deltas }
  }
}

/** True where the answer is an error, or a stream that turns out to be one. */
export function isFailure({ response }: RecordedExchange): boolean {
  return response.status >= 400 || /event: error|^data: \{[^\n]*"error":\{/m.test(response.bodyText ?? '')
}
