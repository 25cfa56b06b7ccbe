import { AnswerFailure } from '../shared/answer-failure.js'
import { boundedBodyOf } from '../shared/bounded-answer.js'
import type { SdkAnswer, SdkClient, SdkRequest } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sseEvents } from '../shared/sse-events.js'

/** What the SDK is asked for. */
export interface GenAIParameters {
  readonly model: string
  readonly contents: string
  readonly config: object
}

/** The part of the official SDK's client that the adapter uses; `GoogleGenAI` fits. */
export interface GenAI {
  readonly models: {
    generateContent(parameters: GenAIParameters): Promise<unknown>
    generateContentStream(parameters: GenAIParameters): Promise<unknown>
  }
  /** True for clients of Vertex AI, whose credentials are not a key. */
  readonly vertexai?: boolean
}

/** What stands above the client's own settings. */
export interface GenAIOverrides {
  readonly apiKey?: string
  readonly baseURL?: string
}

/** The SDK takes this for what it is asked; what goes out is our body. */
const ANY_CONTENTS = '-'
/** Its answer to itself, so that it reads nothing of ours. */
const NOTHING = '{}'

/**
 * Sends through the official SDK: address, version, credentials and its headers are the SDK's. It would drop what it does
 * not know from requests and from answers, lose the headers of errors, ask again by itself where an answer was cut off, and
 * take the bytes of one piece of the network for one event. So the request gets our `fetch`, which sends our body and keeps
 * the answer; it is read here.
 */
export class GoogleClient implements SdkClient {
  readonly #genai: GenAI
  readonly #fetch: Fetch
  readonly #overrides: GenAIOverrides
  /** Given where the client may take another key or base URL: made anew for each, on the same SDK client. */
  readonly withOptions?: (options: GenAIOverrides) => GoogleClient

  constructor(genai: GenAI, fetch: Fetch, overrides: GenAIOverrides = {}) {
    this.#genai = genai
    this.#fetch = fetch
    this.#overrides = overrides
    if (genai.vertexai !== true) this.withOptions = (options) => new GoogleClient(genai, fetch, options)
  }

  /** The client's own key, so that it can be kept out of errors. */
  get apiKey(): unknown {
    return this.#overrides.apiKey ?? (this.#genai as { apiKey?: unknown }).apiKey
  }

  /** The path is the SDK's own. */
  post(_path: string, request: SdkRequest): SdkAnswer {
    return {
      asResponse: () => this.#send(request),
      withResponse: async () => {
        const response = await this.#send(request)
        return { data: jsonEvents(response), response }
      },
    }
  }

  async #send(request: SdkRequest): Promise<Response> {
    const { models } = this.#genai
    let answer: Response | undefined
    const fetch: Fetch = async (input, init) => {
      const headers = new Headers(init?.headers)
      for (const [name, value] of Object.entries(request.headers)) headers.set(name, value)
      const body = typeof request.body === 'string' ? { body: request.body } : {}
      const response = await this.#fetch(input, { ...init, ...body, headers })
      if (!response.ok) throw await failureOf(response)
      answer = response
      return new Response(NOTHING, { headers: { 'content-type': 'application/json' } })
    }
    const parameters = { model: request.model, contents: ANY_CONTENTS, config: this.#config(request, fetch) }
    await (request.stream ? models.generateContentStream(parameters) : models.generateContent(parameters))
    if (answer === undefined) throw new Error('the SDK did not send the request')
    return answer
  }

  #config({ body, signal }: SdkRequest, fetch: Fetch): object {
    const { apiKey, baseURL } = this.#overrides
    return {
      abortSignal: signal,
      // neither tools of its own, nor a second request where the first answer was cut off
      automaticFunctionCalling: { disable: true },
      automaticContinuation: false,
      httpOptions: {
        fetch,
        timeout: 0,
        retryOptions: { attempts: 1 },
        ...(baseURL === undefined ? {} : { baseUrl: baseURL }),
        ...(apiKey === undefined ? {} : { headers: { 'x-goog-api-key': apiKey } }),
        // a client of the user may add to the body, and its `fetch` sees the whole
        ...(typeof body === 'string' ? {} : { extraBody: body }),
      },
    }
  }
}

/** Each event as JSON; one that is none throws, for then the stream is broken. */
async function* jsonEvents(response: Response): AsyncGenerator<unknown> {
  for await (const data of sseEvents(boundedBodyOf(response))) if (data !== '[DONE]') yield JSON.parse(data) as unknown
}

/** Vertex AI puts an error of a stream into a list. */
async function failureOf(response: Response): Promise<AnswerFailure> {
  const text = await response.text()
  return new AnswerFailure(response, text.trimStart().startsWith('[') ? firstOf(text) : text)
}

function firstOf(text: string): string {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.length > 0 ? JSON.stringify(list[0]) : text
  } catch {
    return text
  }
}
