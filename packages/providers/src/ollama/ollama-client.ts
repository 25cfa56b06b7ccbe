import type { Ollama } from 'ollama'
import { answerFailure } from '../shared/answer-failure.js'
import { ndjsonEvents } from '../shared/ndjson-events.js'
import type { SdkAnswer, SdkClient, SdkRequest } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'

/** What the client of one server is made of. */
export interface OllamaConnection {
  readonly Ollama: typeof Ollama
  readonly host: string
  /** `undefined` for a server that asks for none. */
  readonly apiKey: string | undefined
  readonly fetch: Fetch
}

/**
 * Sends through the official SDK. The SDK has no signal for a plain request, keeps its own list of open streams, passes
 * over lines of a stream that it cannot read, writes to the console what it finds in an error answer, and takes the text
 * of an image for the name of a file: so each request has an SDK client of its own, whose `fetch` carries our signal and
 * our body, and what was answered is read here.
 */
export class OllamaClient implements SdkClient {
  readonly #connection: OllamaConnection

  constructor(connection: OllamaConnection) {
    this.#connection = connection
  }

  /** The path is the SDK's own. */
  post(_path: string, request: SdkRequest): SdkAnswer {
    return {
      asResponse: () => this.#send(request),
      withResponse: async () => {
        const response = await this.#send(request)
        return { data: ndjsonEvents(response), response }
      },
    }
  }

  async #send({ model, body, headers, signal }: SdkRequest): Promise<Response> {
    const { Ollama, host, apiKey, fetch } = this.#connection
    let answer: Response | undefined
    const client = new Ollama({
      host,
      // made here, so that a value which cannot stand in a header is told as one that was never sent
      headers: new Headers({ ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }), ...headers }),
      fetch: async (input, init) => {
        const response = await fetch(input, { ...init, body: body as string, signal })
        if (!response.ok) throw await answerFailure(response)
        answer = response
        return response
      },
    })
    try {
      // it makes address and headers of this
      await client.chat({ model, messages: [], stream: true })
    } catch (thrown) {
      // the SDK refuses an answer without a body; that is told where it is read
      if (answer === undefined) throw thrown
    }
    return answer as Response
  }
}
