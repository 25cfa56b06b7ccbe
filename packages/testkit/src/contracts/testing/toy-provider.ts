import type { AssistantPart, ModelProvider, ModelReply, ModelRequest, StreamPart, Usage } from '@sluice/core'
import { ProviderError, USAGE_NOT_REPORTED } from '@sluice/core'
import type { MakeProvider } from '../provider-rig.js'

/** Ways in which the toy breaks the contract. */
export type ToyFault =
  | 'two replies'
  | 'changes the request'
  | 'drops a call'
  | 'no cap'
  | 'measures short'
  | 'usage as zero'
  | 'ids as given'
  | 'marker to everybody'
  | 'no marker'
  | 'loses failed results'
  | 'asks again'
  | 'one code for all'
  | 'shows the key'
  | 'broken is whole'
  | 'deaf'
  | 'late parts'
  | 'keeps its listener'
  | 'one key for all'

/** An answer of the toy's own protocol; a stream is lines of `{ t }` and one `{ end }`. */
export interface ToyAnswer {
  readonly text?: string
  readonly calls?: ReadonlyArray<{ readonly id?: string; readonly name: string; readonly args: string }>
  readonly tokens?: readonly [number, number]
  readonly marker?: string
}

const CODES: Readonly<Record<number, 'PROVIDER_AUTH' | 'PROVIDER_RATE_LIMITED' | 'PROVIDER_OVERLOADED'>> = {
  401: 'PROVIDER_AUTH',
  429: 'PROVIDER_RATE_LIMITED',
  503: 'PROVIDER_OVERLOADED',
}

/** A small adapter of a protocol of its own, with or without one fault. */
export const toyProvider =
  (fault?: ToyFault): MakeProvider =>
  ({ baseUrl, apiKey, id = 'toy' }) =>
    new Toy(baseUrl, apiKey, id, fault)

class Toy implements ModelProvider {
  readonly protocol = 'toy'
  readonly defaults = { onToolError: 'throw', onToolLimit: 'throw' } as const
  readonly id: string
  readonly #baseUrl: string
  readonly #apiKey: string
  readonly #fault: ToyFault | undefined

  constructor(baseUrl: string, apiKey: string, id: string, fault: ToyFault | undefined) {
    this.id = id
    this.#baseUrl = baseUrl
    this.#apiKey = apiKey
    this.#fault = fault
  }

  async generate(request: ModelRequest, outer: AbortSignal): Promise<ModelReply> {
    const { signal, release } = this.#linked(outer)
    try {
      const response = await this.#send(request, signal)
      return this.#reply((await response.json()) as ToyAnswer, request)
    } catch (cause) {
      throw outer.aborted && this.#fault !== 'deaf' ? outer.reason : cause
    } finally {
      release()
    }
  }

  async *stream(request: ModelRequest, outer: AbortSignal): AsyncGenerator<StreamPart> {
    const { signal, release } = this.#linked(outer)
    try {
      yield* this.#parts(request, signal)
    } catch (cause) {
      throw outer.aborted ? outer.reason : cause
    } finally {
      release()
    }
  }

  /** `fetch` leaves its listener on the signal that it is given. */
  #linked(outer: AbortSignal): { signal: AbortSignal; release: () => void } {
    const controller = new AbortController()
    const abort = () => controller.abort(outer.reason)
    if (outer.aborted) abort()
    outer.addEventListener('abort', abort)
    return {
      signal: controller.signal,
      release: () => this.#fault !== 'keeps its listener' && outer.removeEventListener('abort', abort),
    }
  }

  async *#parts(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StreamPart> {
    const response = await this.#send(request, signal)
    let text = ''
    let rest = ''
    let end: ToyAnswer | undefined
    try {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        rest += new TextDecoder().decode(chunk)
        const lines = rest.split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const event = JSON.parse(line) as { t?: string; end?: ToyAnswer }
          if (signal.aborted && this.#fault !== 'late parts') throw signal.reason
          if (event.t !== undefined) {
            text += event.t
            yield { type: 'text_delta', text: event.t }
          }
          end ??= event.end
        }
      }
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      throw this.#broken(text, cause)
    }
    if (end === undefined && this.#fault !== 'broken is whole') throw this.#broken(text, undefined)
    const reply = this.#reply(end ?? { text }, request)
    yield { type: 'reply', reply }
    if (this.#fault === 'two replies') yield { type: 'reply', reply }
  }

  inputTokensAtMost(request: ModelRequest): number | null {
    if (
      request.messages.some(({ content }) => typeof content !== 'string' && content.some(({ type }) => type === 'file'))
    )
      return null
    return this.#fault === 'measures short' ? 7 : Buffer.byteLength(this.#body(request))
  }

  #body(request: ModelRequest): string {
    const fault = this.#fault
    const messages = request.messages.map(({ role, content }) => ({
      role,
      content:
        typeof content === 'string'
          ? content
          : content
              .filter((part) => fault !== 'loses failed results' || part.type !== 'tool_result' || part.status === 'ok')
              .map((part) => {
                const { providerOptions, ...rest } = part
                const own =
                  fault === 'marker to everybody'
                    ? providerOptions
                    : fault === 'no marker'
                      ? undefined
                      : providerOptions?.[this.id]
                return { ...rest, own }
              }),
    }))
    if (fault === 'changes the request') (request.messages as unknown[]).push({ role: 'system', content: 'more' })
    return JSON.stringify({
      model: request.model,
      messages,
      ...(fault === 'no cap' ? {} : { cap: request.maxOutputTokens }),
    })
  }

  async #send(request: ModelRequest, signal: AbortSignal): Promise<Response> {
    const key = this.#fault === 'one key for all' ? this.#apiKey : (request.connection?.apiKey ?? this.#apiKey)
    const ask = () =>
      fetch(this.#baseUrl, {
        method: 'POST',
        ...(this.#fault === 'deaf' ? {} : { signal }),
        headers: { authorization: key, ...request.connection?.headers },
        body: this.#body(request),
      })
    if (signal.aborted) throw signal.reason
    try {
      let response = await ask()
      if (!response.ok && this.#fault === 'asks again') response = await ask()
      if (!response.ok) throw await this.#refused(response)
      return response
    } catch (cause) {
      if (signal.aborted) throw signal.reason
      if (ProviderError.isInstance(cause)) throw cause
      throw new ProviderError('PROVIDER_UNREACHABLE', 'No answer.', { provider: this.id, sent: 'no', cause })
    }
  }

  async #refused(response: Response): Promise<ProviderError> {
    const text = await response.text()
    const wait = response.headers.get('retry-after')
    const code =
      this.#fault === 'one code for all'
        ? 'PROVIDER_RESPONSE_ERROR'
        : (CODES[response.status] ?? 'PROVIDER_RESPONSE_ERROR')
    return new ProviderError(code, this.#fault === 'shows the key' ? text : 'The provider refused.', {
      provider: this.id,
      status: response.status,
      sent: 'yes',
      ...(wait === null ? {} : { retryAfterMs: Number(wait) * 1000 }),
    })
  }

  #broken(text: string, cause: unknown): ProviderError {
    return new ProviderError('PROVIDER_STREAM_BROKEN', 'It broke off.', {
      provider: this.id,
      sent: 'yes',
      cause,
      partial: { parts: text === '' ? [] : [{ type: 'text', text }], usage: null },
    })
  }

  #reply(answer: ToyAnswer, request: ModelRequest): ModelReply {
    const taken = new Set(JSON.stringify(request.messages).match(/"toolCallId":"[^"]*"/g) ?? [])
    const parts: AssistantPart[] = []
    if (answer.marker !== undefined)
      parts.push({ type: 'reasoning', text: '', providerOptions: { [this.id]: { marker: answer.marker } } })
    if (answer.text !== undefined) parts.push({ type: 'text', text: answer.text })
    for (const { id = '', name, args } of (answer.calls ?? []).slice(this.#fault === 'drops a call' ? 1 : 0)) {
      let toolCallId = id
      if (this.#fault !== 'ids as given')
        while (toolCallId === '' || taken.has(`"toolCallId":"${toolCallId}"`)) toolCallId += 'x'
      taken.add(`"toolCallId":"${toolCallId}"`)
      parts.push({ type: 'tool_call', toolCallId, toolName: name, args })
    }
    return { parts, finishReason: answer.calls === undefined ? 'stop' : 'tool_calls', usage: this.#usage(answer) }
  }

  #usage({ tokens }: ToyAnswer): Usage {
    if (tokens === undefined && this.#fault !== 'usage as zero') return USAGE_NOT_REPORTED
    const [inputTokens, outputTokens] = tokens ?? [0, 0]
    return {
      inputTokens,
      outputTokens,
      cacheReadTokens: null,
      cacheWriteTokens: null,
      reasoningTokens: null,
      unreportedCalls: 0,
    }
  }
}
