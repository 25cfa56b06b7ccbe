import type { ModelProvider } from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import { checkProviderOptions } from '../shared/check-provider-options.js'
import { createConnectionClients } from '../shared/connection-clients.js'
import { loadSdk } from '../shared/load-sdk.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sdkFetch } from '../shared/sdk-fetch.js'
import { SdkProvider } from '../shared/sdk-provider.js'
import { generateContentProtocol } from './generate-content-protocol.js'
import type { GenAI } from './google-client.js'
import { GoogleClient } from './google-client.js'
import type { GoogleThinking } from './google-thinking.js'

/** What {@link google} takes. All of it may be left out. */
export interface GoogleOptions {
  /** The part of a model reference before the slash. @default 'google' */
  readonly id?: string
  /** Without the version, which the SDK adds. @default the SDK's, which reads GOOGLE_GEMINI_BASE_URL */
  readonly baseUrl?: string
  /** @default the environment's GOOGLE_API_KEY, else GEMINI_API_KEY (the SDK's order), read at the first use */
  readonly apiKey?: string
  /** A client of the official SDK, where it needs more than key and base URL (Vertex AI, credentials, proxies). */
  readonly client?: GenAI
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * How `reasoning.level` is asked for: `budget` as 2 048, 8 192 or 32 768 tokens; `level` as the level itself, which is
   * the way of Gemini 3 and later. These ask for the signature of each call too: with `level`, calls that another model
   * made are marked as such. A `reasoning.budgetTokens` is always sent as a budget.
   * @default 'budget'
   */
  readonly thinking?: GoogleThinking
}

const OPTIONS = ['id', 'baseUrl', 'apiKey', 'client', 'fetch', 'headers', 'thinking']

const GENAI = {
  is: (value: object) => typeof (value as Partial<GenAI>).models?.generateContent === 'function',
  lacks: '`models.generateContent`',
}

/**
 * The adapter for Google's generateContent: the Gemini API, and Vertex AI through a `client` of its own. The SDK
 * (`@google/genai`, an optional peer) is imported at the first request; it asks nothing twice and has no timeout.
 *
 * @example
 * createRuntime({ providers: [google()] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use MISSING_CONFIG without a
 * key, PROVIDER_SDK_MISSING without the SDK
 */
export function google(options: GoogleOptions = {}): ModelProvider {
  checkProviderOptions('google', options, OPTIONS, { thinking: ['budget', 'level'] }, GENAI)
  const id = options.id ?? GOOGLE_GENERATE_CONTENT.id
  return new SdkProvider({
    id,
    wire: generateContentProtocol(id, options.thinking ?? 'budget'),
    defaults: GOOGLE_GENERATE_CONTENT.defaults,
    clients: googleClients(id, options),
    objectBodies: options.client !== undefined,
    headers: options.headers,
  })
}

function googleClients(id: string, options: GoogleOptions) {
  const [keyVariable, ...otherKeyVariables] = GOOGLE_GENERATE_CONTENT.environment.apiKey
  const { client } = options
  return createConnectionClients({
    providerId: id,
    apiKey: options.apiKey,
    keyVariable,
    otherKeyVariables,
    baseUrl: options.baseUrl,
    client: client === undefined ? undefined : new GoogleClient(client, sdkFetch(fetchOf(client))),
    async create({ apiKey, baseUrl }) {
      const [{ range }] = GOOGLE_GENERATE_CONTENT.sdks
      const { GoogleGenAI } = await loadSdk('@google/genai', range, () => import('@google/genai'))
      const genai = new GoogleGenAI({
        apiKey,
        // the environment may say otherwise
        vertexai: false,
        ...(baseUrl === undefined ? {} : { httpOptions: { baseUrl } }),
      })
      return new GoogleClient(genai, sdkFetch(options.fetch))
    },
  })
}

/** The `fetch` that a client of the user was given. */
function fetchOf(client: GenAI): Fetch | undefined {
  const { fetch } = (client as { httpOptions?: { fetch?: unknown } }).httpOptions ?? {}
  return typeof fetch === 'function' ? (fetch as Fetch) : undefined
}
