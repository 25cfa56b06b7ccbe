import type { JsonObject, ModelProvider, ModelReply, ModelRequest, Protocol, StreamPart } from '@sluice/core'
import { AbortLink } from './abort-link.js'
import { boundedText } from './bounded-answer.js'
import type { ConnectionClients } from './connection-clients.js'
import { parseAnswer } from './parse-answer.js'
import type { Preparation } from './prepared-request.js'
import { createPreparation, tokensAtMost } from './prepared-request.js'
import { rateLimitHeaders, requestIdOf } from './response-headers.js'
import type { SdkAnswer, SdkClient } from './sdk-client.js'
import { NO_TIMEOUT_MS } from './sdk-client.js'
import { brokenReply, isAnswer, toProviderError } from './to-provider-error.js'
import { createToolCallIds } from './tool-call-ids.js'
import { unwrapReply } from './unwrap-output.js'
import type { Reading, StreamReader, WireProtocol, WireReply } from './wire-protocol.js'

export interface SdkProviderOptions {
  readonly id: string
  readonly defaults: ModelProvider['defaults']
  readonly wire: WireProtocol
  readonly clients: ConnectionClients
  /** True where the client is the user's own, which may want to see (and change) the body as an object. */
  readonly objectBodies: boolean
  /** Sent with every request. Their values may be secrets and are kept out of errors. */
  readonly headers: Readonly<Record<string, string>> | undefined
}

/** What is known of a call when it fails. */
interface CallState {
  response?: Response
  reader?: StreamReader
}

/** An adapter over an official SDK: prepares, sends, reads, translates errors. Everything of the protocol is in `wire`. */
export class SdkProvider implements ModelProvider {
  readonly id: string
  readonly protocol: Protocol
  readonly defaults: ModelProvider['defaults']
  readonly #options: SdkProviderOptions
  readonly #wire: WireProtocol
  readonly #prepare: Preparation
  readonly #tails: { readonly plain: string; readonly stream: string }
  readonly #headers: Readonly<Record<string, string>>

  constructor(options: SdkProviderOptions) {
    this.id = options.id
    this.protocol = options.wire.protocol
    this.defaults = options.defaults
    this.#options = options
    this.#wire = options.wire
    this.#prepare = createPreparation(options.wire, options.objectBodies)
    const members = JSON.stringify(options.wire.streamMembers).slice(1)
    this.#tails = options.wire.tails ?? { plain: '}', stream: members === '}' ? members : `,${members}` }
    this.#headers = Object.freeze(joinedHeaders({ 'content-type': 'application/json' }, options.headers ?? {}))
  }

  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    if (signal.aborted) return Promise.reject(signal.reason)
    const link = new AbortLink(signal)
    return link.settle(this.#exchange(request, link.signal))
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamPart> {
    signal.throwIfAborted()
    const link = new AbortLink(signal)
    const state: CallState = {}
    try {
      const events = await link.race(this.#open(request, link.signal, state))
      const response = state.response as Response
      if (isWhole(response)) {
        const reply = await link.race(this.#wholeReply(request, response))
        yield* wholeTexts(reply)
        yield { type: 'reply', reply }
        return
      }
      const reader = this.#wire.openStream(this.#reading(request))
      state.reader = reader
      yield* this.#read(events, reader, request, link)
      signal.throwIfAborted()
      if (!reader.ended) throw this.#failed(undefined, request, state)
      const reply = this.#finish(reader.reply(), request, response)
      if (this.#holdsText(request)) yield* wholeTexts(reply)
      yield { type: 'reply', reply }
    } catch (thrown) {
      throw signal.aborted ? signal.reason : this.#failed(thrown, request, state)
    } finally {
      link.release()
    }
  }

  inputTokensAtMost(request: ModelRequest): number | null {
    try {
      return tokensAtMost(request, this.#prepare.measure(request).json, this.#wire)
    } catch {
      // what cannot be translated has no bound; sending it says what is wrong
      return null
    }
  }

  checkSchema(schema: JsonObject, use: 'tool' | 'output'): void {
    this.#wire.checkSchema(schema, use)
  }

  async #exchange(request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
    const state: CallState = {}
    try {
      const client = this.#options.clients.get(request)
      const ready = client instanceof Promise ? await client : client
      state.response = await this.#post(ready, request, signal, false).asResponse()
      return await this.#wholeReply(request, state.response)
    } catch (thrown) {
      throw this.#failed(thrown, request, state)
    }
  }

  async #open(request: ModelRequest, signal: AbortSignal, state: CallState): Promise<AsyncIterable<unknown>> {
    const client = await this.#options.clients.get(request)
    const { data, response } = await this.#post(client, request, signal, true).withResponse()
    state.response = response
    return data as AsyncIterable<unknown>
  }

  async *#read(
    events: AsyncIterable<unknown>,
    reader: StreamReader,
    request: ModelRequest,
    link: AbortLink,
  ): AsyncGenerator<StreamPart> {
    const held = this.#holdsText(request)
    const out: StreamPart[] = []
    const iterator = events[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { done, value } = await link.race(iterator.next())
        // the SDK goes on with what it has buffered, and ends an aborted stream without an error
        if (done === true || link.signal.aborted) return
        reader.read(value, out)
        for (const part of out) if (!held || part.type !== 'text_delta') yield part
        out.length = 0
      }
    } catch (thrown) {
      // a connection that breaks behind the end event takes nothing away from the reply
      if (!reader.ended || isAnswer(thrown)) throw thrown
    } finally {
      // closes the connection of a stream that is left early; not awaited, because it may wait for what never comes
      iterator.return?.().catch(() => {})
    }
  }

  #post(client: SdkClient, request: ModelRequest, signal: AbortSignal, stream: boolean): SdkAnswer {
    const own = request.connection?.headers
    return client.post(this.#wire.path, {
      model: request.model,
      body: this.#body(request, stream),
      headers: own === undefined ? this.#headers : joinedHeaders(this.#headers, own),
      signal,
      stream,
      maxRetries: 0,
      timeout: NO_TIMEOUT_MS,
    })
  }

  #body(request: ModelRequest, stream: boolean): unknown {
    const { body, json } = this.#prepare.send(request)
    if (body !== undefined) return stream ? { ...body, ...this.#wire.streamMembers } : body
    return stream ? json.slice(0, -this.#tails.plain.length) + this.#tails.stream : json
  }

  #reading(request: ModelRequest): Reading {
    return { providerId: this.id, ids: createToolCallIds(request) }
  }

  async #wholeReply(request: ModelRequest, response: Response): Promise<ModelReply> {
    const body = parseAnswer(await boundedText(response))
    return this.#finish(this.#wire.fromBody(body, this.#reading(request)), request, response)
  }

  #finish(reply: WireReply, request: ModelRequest, response: Response): ModelReply {
    const whole: { -readonly [Key in keyof ModelReply]: ModelReply[Key] } = this.#holdsText(request)
      ? unwrapReply(reply)
      : reply
    const requestId = requestIdOf(response.headers)
    const rateLimit = rateLimitHeaders(response.headers)
    if (requestId !== undefined) whole.requestId = requestId
    if (rateLimit !== undefined) whole.rateLimit = rateLimit
    return whole
  }

  /** A wrapped answer is shown only when it is whole: its deltas are not what the caller asked for. */
  #holdsText(request: ModelRequest): boolean {
    return request.output !== undefined && this.#wire.wrapsOutput(request.output.schema)
  }

  #failed(thrown: unknown, request: ModelRequest, { response, reader }: CallState): unknown {
    const context = {
      provider: this.id,
      model: request.model,
      dialect: this.#wire.errors,
      secrets: this.#secrets(request),
      response,
      partial: partialOf(reader),
    }
    return thrown === undefined ? brokenReply(undefined, context) : toProviderError(thrown, context)
  }

  #secrets({ connection = {} }: ModelRequest): readonly string[] {
    const { clients, headers } = this.#options
    const known = [...headerSecrets(connection.headers), ...headerSecrets(headers), ...clients.secrets()]
    return connection.apiKey === undefined ? known : [connection.apiKey, ...known]
  }
}

/** What a stream had delivered; nothing where that is what cannot be told. */
function partialOf(reader: StreamReader | undefined): ReturnType<StreamReader['partial']> | undefined {
  try {
    return reader?.partial()
  } catch {
    return undefined
  }
}

/** Names of headers have no case: the later value stands in the place of the earlier, not beside it. */
function joinedHeaders(usual: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>) {
  const joined: Record<string, string> = {}
  for (const [name, value] of [...Object.entries(usual), ...Object.entries(own)]) joined[name.toLowerCase()] = value
  return joined
}

/** A header's value, and what stands behind its first word: `Bearer` is no secret, but its token is. */
function headerSecrets(headers: Readonly<Record<string, string>> = {}): readonly string[] {
  return Object.values(headers).flatMap((value) => {
    const space = value.indexOf(' ')
    return space === -1 ? [value] : [value, value.slice(space + 1).trim()]
  })
}

/** Some compatible servers answer a request for a stream with one JSON object. (`x-ndjson` is a stream of them.) */
function isWhole(response: Response): boolean {
  return /[/+]json\b/.test(response.headers.get('content-type') ?? '')
}

function* wholeTexts(reply: ModelReply): Generator<StreamPart> {
  for (const part of reply.parts) if (part.type === 'text') yield { type: 'text_delta', text: part.text }
}
