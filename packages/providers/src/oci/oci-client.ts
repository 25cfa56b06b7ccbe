import type { GenerativeAiInferenceClient } from 'oci-generativeaiinference'
import { answerFailure } from '../shared/answer-failure.js'
import type { SdkAnswer, SdkClient, SdkRequest } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { ociEvents } from './oci-events.js'

type Common = typeof import('oci-common')
type Signed = Parameters<InstanceType<Common['DefaultRequestSigner']>['signHttpRequest']>[0]

/** What the client of one place is made of. */
export interface OciConnection {
  readonly common: Common
  readonly Client: typeof GenerativeAiInferenceClient
  readonly signer: InstanceType<Common['DefaultRequestSigner']>
  /** A region's id; not used where there is an endpoint. */
  readonly region: string | undefined
  readonly endpoint: string | undefined
  readonly fetch: Fetch
}

/**
 * Sends through the official SDK, which makes address and headers of a request, and signs it. The SDK has no signal,
 * breaks its circuit, repeats, drops members that it does not know, takes a stream for one only by the exact words of a
 * header, and makes of what was answered an error without its headers, which it also writes to the console. So it gets an
 * HTTP client that signs and sends our body with our signal, and is told that all is well; what was answered is read here.
 */
export class OciClient implements SdkClient {
  readonly #connection: OciConnection

  constructor(connection: OciConnection) {
    this.#connection = connection
  }

  /** The path is the SDK's own. */
  post(_path: string, request: SdkRequest): SdkAnswer {
    return {
      asResponse: () => this.#send(request),
      withResponse: async () => {
        const response = await this.#send(request)
        return { data: ociEvents(response), response }
      },
    }
  }

  async #send(request: SdkRequest): Promise<Response> {
    const { common, Client, region, endpoint } = this.#connection
    const headers = new Headers(request.headers)
    let sent: Promise<Response> | undefined
    const client = new Client(
      {
        httpClient: {
          async send(composed) {
            sent = send(composed)
            return settled(sent)
          },
        },
      },
      { circuitBreaker: new common.CircuitBreaker({ disableClientCircuitBreaker: true }) },
    )
    const send = (composed: Signed): Promise<Response> => this.#signed(composed, headers, request)
    if (endpoint === undefined) client.regionId = region as string
    else client.endpoint = endpoint
    // it makes address and headers of this
    await client.chat({
      chatDetails: {
        compartmentId: '',
        servingMode: { servingType: 'ON_DEMAND', modelId: request.model },
        chatRequest: { apiFormat: 'GENERIC' },
      },
      retryConfiguration: common.NoRetryConfigurationDetails,
    } as Parameters<GenerativeAiInferenceClient['chat']>[0])
    return sent as unknown as Promise<Response>
  }

  async #signed({ method, headers, uri }: Signed, own: Headers, request: SdkRequest): Promise<Response> {
    const { signer, fetch } = this.#connection
    const body = request.body as string
    for (const [name, value] of own) headers.set(name, value)
    await signer.signHttpRequest({ method, headers, uri, body })
    const response = await fetch(uri, { method, headers, body, signal: request.signal })
    if (!response.ok) throw await answerFailure(response)
    return response
  }
}

/** What the SDK is told when a request has ended, well or not: a stream, which it hands on without a look. */
async function settled(sent: Promise<Response>): Promise<Response> {
  await sent.catch(() => {})
  return new Response(null, { headers: { 'content-type': 'text/event-stream' } })
}
