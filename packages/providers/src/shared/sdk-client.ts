/** What is handed to an SDK for one request. */
export interface SdkRequest {
  /** The model asked for, for protocols whose body does not name it. */
  readonly model: string
  /** The body: JSON text for clients of our own, an object for a client that the user injected. */
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
  readonly signal: AbortSignal
  readonly stream: boolean
  /** Retries live above the adapters: always 0. */
  readonly maxRetries: number
  readonly timeout: number
}

/** A request on its way, as both official SDKs give it. */
export interface SdkAnswer {
  asResponse(): Promise<Response>
  withResponse(): Promise<{ readonly data: unknown; readonly response: Response }>
}

/**
 * The part of an official SDK's client that the adapters use; `OpenAI`, `AzureOpenAI`, `Anthropic` and the clients for
 * other clouds all fit.
 */
export interface SdkClient {
  post(path: string, request: SdkRequest): SdkAnswer
  /** Used where a request brings a key or a base URL of its own. */
  withOptions?(options: { readonly apiKey?: string; readonly baseURL?: string }): SdkClient
}

/**
 * The longest that a timer can wait: the SDK's own timeout must never be what ends a request, the caller's signal does.
 * (Node's `fetch` gives up by itself when a server sends no headers, or no further bytes, for five minutes.)
 */
export const NO_TIMEOUT_MS = 2_147_483_647
