import type { ModelProvider } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { OPENAI_CHAT, OPENAI_RESPONSES } from '../behaviour/openai-behaviour.js'
import type { OpenAIServer } from '../behaviour/openai-servers.js'
import { OPENAI_SERVERS } from '../behaviour/openai-servers.js'
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
  /** @default 'openai-responses'; 'openai-chat' where the server speaks nothing else */
  readonly protocol?: 'openai-responses' | 'openai-chat'
  /** A server known by name: it gives the defaults of `id`, `baseUrl`, `dialect` and the variable of the key. @default 'openai' */
  readonly server?: 'openai' | 'xai' | 'openrouter'
  /** The part of a model reference before the slash. @default 'openai', or the name of the server */
  readonly id?: string
  /** Any server that speaks the protocol. @default the server's; for OpenAI the SDK's, which reads OPENAI_BASE_URL */
  readonly baseUrl?: string
  /** @default OPENAI_API_KEY, XAI_API_KEY or OPENROUTER_API_KEY of the environment, read at the first use */
  readonly apiKey?: string
  /** A client of the official SDK, where it needs more than key and base URL (Azure, proxies, logging). */
  readonly client?: SdkClient
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * What the server understands on Chat: `compatible` servers get `max_tokens` for the output cap, no strict tools and no
   * member that only OpenAI knows. @default the server's, else told by the host name of `baseUrl`
   */
  readonly dialect?: OpenAIDialect
}

const OPTIONS = ['protocol', 'server', 'id', 'baseUrl', 'apiKey', 'client', 'fetch', 'headers', 'dialect']

/**
 * The adapter for OpenAI and for servers that speak one of its protocols. The SDK (`openai`, an optional peer) is imported
 * at the first request; its retries and its timeout are off.
 *
 * @example
 * createRuntime({ providers: [openai(), openai({ server: 'xai' }), openai({ server: 'openrouter' })] })
 * createRuntime({ providers: [openai({ id: 'local', protocol: 'openai-chat', baseUrl: 'http://127.0.0.1:8080/v1' })] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use MISSING_CONFIG without a
 * key, PROVIDER_SDK_MISSING without the SDK
 */
export function openai(options: OpenAIOptions = {}): ModelProvider {
  checkProviderOptions('openai', options, OPTIONS, {
    protocol: [OPENAI_RESPONSES.protocol, OPENAI_CHAT.protocol],
    server: ['openai', 'xai', 'openrouter'],
    dialect: Object.keys(OPENAI_SERVERS),
  })
  const server = OPENAI_SERVERS[options.server ?? 'openai']
  const id = options.id ?? server.id
  const chat = protocolOf(options, server) === OPENAI_CHAT.protocol
  return new SdkProvider({
    id,
    wire: chat ? chatProtocol(id, chatDialect(options)) : responsesProtocol(id),
    defaults: (chat ? OPENAI_CHAT : OPENAI_RESPONSES).defaults,
    clients: openaiClients(id, options, server),
    objectBodies: options.client !== undefined,
    headers: options.headers,
  })
}

function protocolOf({ protocol, server: name }: OpenAIOptions, server: OpenAIServer): string {
  if (protocol === undefined || server.protocols.includes(protocol)) return protocol ?? (server.protocols[0] as string)
  throw new SluiceError('INVALID_CONFIG', `The server "${name}" does not speak ${protocol}.`, {
    hint: `It speaks ${server.protocols.join(', ')}.`,
    reason: 'provider.options',
  })
}

/** The environment may name another server, so it is asked, like the key, when a body is first made. */
function chatDialect({
  dialect,
  server,
  baseUrl,
  client,
}: OpenAIOptions): (requestUrl: string | undefined) => OpenAIDialect {
  if (dialect !== undefined) return () => dialect
  const clientUrl = (client as { baseURL?: unknown } | undefined)?.baseURL
  const configured = baseUrl ?? (typeof clientUrl === 'string' ? clientUrl : undefined)
  let usual: OpenAIDialect | undefined = server
  return (requestUrl) => {
    if (requestUrl !== undefined) return dialectOf(requestUrl)
    usual ??= dialectOf(configured ?? process.env.OPENAI_BASE_URL)
    return usual
  }
}

function openaiClients(id: string, options: OpenAIOptions, server: OpenAIServer) {
  return createConnectionClients({
    providerId: id,
    apiKey: options.apiKey,
    keyVariable: server.keyVariable,
    baseUrl: options.baseUrl ?? server.baseUrl ?? undefined,
    keyed: server.baseUrl ?? undefined,
    client: options.client,
    async create({ apiKey, baseUrl }) {
      const { default: OpenAI } = await loadSdk('openai', OPENAI_CHAT.sdks[0].range, () => import('openai'))
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
