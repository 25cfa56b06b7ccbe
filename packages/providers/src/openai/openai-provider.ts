import type { ModelProvider } from '@sluice/core'
import { checkProviderOptions } from '../shared/check-provider-options.js'
import { createConnectionClients } from '../shared/connection-clients.js'
import { leanFetch } from '../shared/lean-response.js'
import { loadSdk } from '../shared/load-sdk.js'
import type { SdkClient } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sdkFetch } from '../shared/sdk-fetch.js'
import { NO_TIMEOUT_MS } from '../shared/sdk-client.js'
import { SdkProvider } from '../shared/sdk-provider.js'
import { chatProtocol } from './chat/chat-protocol.js'
import type { OpenAIDialect } from './openai-dialect.js'
import { dialectOf } from './openai-dialect.js'
import { responsesProtocol } from './responses/responses-protocol.js'

/** What {@link openai} takes. All of it may be left out. */
export interface OpenAIOptions {
  /** @default 'openai-responses' */
  readonly protocol?: 'openai-responses' | 'openai-chat'
  /** The part of a model reference before the slash. @default 'openai' */
  readonly id?: string
  /** Any server that speaks the protocol: `https://openrouter.ai/api/v1`. @default the SDK's, which reads OPENAI_BASE_URL */
  readonly baseUrl?: string
  /** @default the environment's OPENAI_API_KEY, read at the first use */
  readonly apiKey?: string
  /** A client of the official SDK, where it needs more than key and base URL (Azure, proxies, logging). */
  readonly client?: SdkClient
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * What the server understands: `compatible` servers get `max_tokens` for the output cap, no strict tools and no member
   * that only OpenAI knows (Chat only). @default told by the host name of `baseUrl`
   */
  readonly dialect?: OpenAIDialect
}

const OPTIONS = ['protocol', 'id', 'baseUrl', 'apiKey', 'client', 'fetch', 'headers', 'dialect']

/**
 * The adapter for OpenAI and for servers that speak one of its protocols. The SDK (`openai`, an optional peer) is imported
 * at the first request; its retries and its timeout are off.
 *
 * @example
 * createRuntime({ providers: [openai(), openai({ id: 'local', protocol: 'openai-chat', baseUrl: 'http://127.0.0.1:8080/v1' })] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use MISSING_CONFIG without a
 * key, PROVIDER_SDK_MISSING without the SDK
 */
export function openai(options: OpenAIOptions = {}): ModelProvider {
  checkProviderOptions('openai', options, OPTIONS, {
    protocol: ['openai-responses', 'openai-chat'],
    dialect: ['openai', 'compatible'],
  })
  const id = options.id ?? 'openai'
  const chat = options.protocol === 'openai-chat'
  const wire = chat ? chatProtocol(id, chatDialect(options)) : responsesProtocol(id)
  return new SdkProvider({
    id,
    wire,
    defaults: { onToolError: 'throw', onToolLimit: chat ? 'throw' : 'finish' },
    clients: openaiClients(id, options),
    objectBodies: options.client !== undefined,
    headers: options.headers,
  })
}

/** The environment may name another server, so it is asked, like the key, when a body is first made. */
function chatDialect({ dialect, baseUrl, client }: OpenAIOptions): (requestUrl: string | undefined) => OpenAIDialect {
  if (dialect !== undefined) return () => dialect
  const clientUrl = (client as { baseURL?: unknown } | undefined)?.baseURL
  const configured = baseUrl ?? (typeof clientUrl === 'string' ? clientUrl : undefined)
  let usual: OpenAIDialect | undefined
  return (requestUrl) => {
    if (requestUrl !== undefined) return dialectOf(requestUrl)
    usual ??= dialectOf(configured ?? process.env.OPENAI_BASE_URL)
    return usual
  }
}

function openaiClients(id: string, options: OpenAIOptions) {
  return createConnectionClients({
    providerId: id,
    apiKey: options.apiKey,
    keyVariable: 'OPENAI_API_KEY',
    baseUrl: options.baseUrl,
    client: options.client,
    async create({ apiKey, baseUrl }) {
      const { default: OpenAI } = await loadSdk('openai', '^6.49.0', () => import('openai'))
      return new OpenAI({
        apiKey,
        ...(baseUrl === undefined ? {} : { baseURL: baseUrl }),
        fetch: leanFetch(sdkFetch(options.fetch)),
        maxRetries: 0,
        timeout: NO_TIMEOUT_MS,
        // its log may show prompts; what goes wrong is told by errors
        logLevel: 'off',
      })
    },
  })
}
