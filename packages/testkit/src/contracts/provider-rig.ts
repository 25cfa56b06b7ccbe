import { getEventListeners } from 'node:events'
import type { AssistantPart, ModelProvider, ModelReply, ModelRequest, StreamPart } from '@sluice/core'
import type { RecordedResponse } from '../recordings/recording.js'
import type { ExchangeServer } from '../recordings/serve-exchanges.js'
import { serveExchanges } from '../recordings/serve-exchanges.js'

/** Makes the adapter under test for a server on loopback. Each row makes one of its own. */
export type MakeProvider = (connection: {
  readonly baseUrl: string
  readonly apiKey: string
  /** Where a second provider of the same protocol is asked for. */
  readonly id?: string
}) => ModelProvider

/** One answer in the adapter's protocol, plain and as a stream. */
export interface AnswerPair {
  readonly whole: RecordedResponse
  readonly stream: RecordedResponse
}

/**
 * Answers in the wire format of the adapter's protocol, written by hand or recorded. Rows for what is left out are skipped
 * by name.
 */
export interface ProviderFixtures {
  /** A text, its tokens reported. */
  readonly text: AnswerPair & {
    readonly text: string
    readonly usage: { readonly input: number; readonly output: number }
  }
  /** One reply that asks for several tools. */
  readonly calls: AnswerPair & { readonly calls: ReadonlyArray<{ readonly name: string; readonly args: unknown }> }
  /** A stream that ends, cleanly, before its end event, and the text that it had given. */
  readonly broken: { readonly stream: RecordedResponse; readonly text: string }
  /** Error answers. `unauthorized` should quote the key {@link CONTRACT_KEY}, as careless servers do. */
  readonly errors: {
    readonly unauthorized: RecordedResponse
    readonly rateLimited: RecordedResponse & { readonly retryAfterMs: number }
    readonly overloaded: RecordedResponse
  }
  /** A text without any usage. */
  readonly withoutUsage?: RecordedResponse
  /** Several calls of which two have the same id, or none. */
  readonly repeatedIds?: RecordedResponse
  /** A reply with reasoning that has to go back: `marker` is in what goes back (a signature). */
  readonly reasoning?: { readonly whole: RecordedResponse; readonly marker: string }
  /** False where requests are signed, so that a call can bring headers of its own but no key. @default true */
  readonly requestKeys?: boolean
  /** A folder of recordings of this protocol, all of which must be understood. */
  readonly recordings?: string
}

/** The key that the adapter is given in the rows. */
export const CONTRACT_KEY = 'sk-contract-5f2c9e7a1b3d4680'

/** One row's server and adapter. */
export interface ProviderRig {
  readonly server: ExchangeServer
  readonly provider: ModelProvider
  /** The request of the row, frozen all through. */
  readonly request: ModelRequest
}

/** Runs `row` with a server and an adapter of its own, and ends both. */
export async function withRig(make: MakeProvider, row: (rig: ProviderRig) => Promise<void>): Promise<void> {
  const server = await serveExchanges()
  const provider = make({ baseUrl: server.url, apiKey: CONTRACT_KEY })
  try {
    await row({ server, provider, request: aRequest() })
  } finally {
    await provider.close?.()
    await server.close()
  }
}

/** A small request, frozen all through: an adapter that changes it throws. */
export function aRequest(changes: Partial<ModelRequest> = {}): ModelRequest {
  return frozen({
    model: 'contract-model',
    messages: [
      { role: 'system', content: 'You are tested.' },
      { role: 'user', content: [{ type: 'text', text: 'Say it.' }] },
    ],
    tools: ['first', 'second'].map((name) => ({
      name,
      description: `The ${name} tool.`,
      inputSchema: { type: 'object', properties: { value: { type: 'string' } }, required: ['value'] },
    })),
    hostedTools: [],
    maxOutputTokens: 4321,
    ...changes,
  })
}

function frozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  for (const inner of Object.values(value)) frozen(inner)
  return Object.freeze(value)
}

/** A stream read to its end. */
export interface ReadStream {
  readonly deltas: readonly StreamPart[]
  readonly replies: readonly ModelReply[]
  /** True where the last part was the reply. */
  readonly endedWithReply: boolean
}

export async function readStream(
  provider: ModelProvider,
  request: ModelRequest,
  signal?: AbortSignal,
): Promise<ReadStream> {
  const deltas: StreamPart[] = []
  const replies: ModelReply[] = []
  let last: StreamPart | undefined
  for await (const part of provider.stream(request, signal ?? new AbortController().signal)) {
    last = part
    if (part.type === 'reply') replies.push(part.reply)
    else deltas.push(part)
  }
  return { deltas, replies, endedWithReply: last?.type === 'reply' }
}

export function textsOf(parts: readonly AssistantPart[], type: 'text' | 'reasoning' | 'refusal'): string {
  return parts.map((part) => (part.type === type ? part.text : '')).join('')
}

export function callsOf(parts: readonly AssistantPart[]): ReadonlyArray<{ id: string; name: string; args: unknown }> {
  return parts.flatMap((part) =>
    part.type === 'tool_call'
      ? [{ id: part.toolCallId, name: part.toolName, args: JSON.parse(part.args || '{}') as unknown }]
      : [],
  )
}

/** What a call threw; `undefined` where it did not. */
export async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work
    return undefined
  } catch (thrown) {
    return thrown
  }
}

export function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length
}
