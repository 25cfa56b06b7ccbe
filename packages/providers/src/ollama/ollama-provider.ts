import type { ModelProvider } from '@sluice/core'
import { OLLAMA_CHAT } from '../behaviour/ollama-behaviour.js'
import { checkProviderOptions } from '../shared/check-provider-options.js'
import { createConnectionClients } from '../shared/connection-clients.js'
import { loadSdk } from '../shared/load-sdk.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sdkFetch } from '../shared/sdk-fetch.js'
import { SdkProvider } from '../shared/sdk-provider.js'
import { ollamaProtocol } from './chat-protocol.js'
import { OllamaClient } from './ollama-client.js'

/** What {@link ollama} takes. All of it may be left out. */
export interface OllamaOptions {
  /** The part of a model reference before the slash. @default 'ollama' */
  readonly id?: string
  /** The server. @default 'http://127.0.0.1:11434' */
  readonly baseUrl?: string
  /** For a server that asks for one, Ollama's cloud for instance. @default the environment's OLLAMA_API_KEY, else none */
  readonly apiKey?: string
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
}

const OPTIONS = ['id', 'baseUrl', 'apiKey', 'fetch', 'headers']
const LOCAL = 'http://127.0.0.1:11434'
/** What stands in the place of a key where there is none. */
const NO_KEY = 'none'

/**
 * The adapter for Ollama's own API (`/api/chat`). The SDK (`ollama`, an optional peer) is imported at the first request.
 *
 * @example
 * createRuntime({ providers: [ollama()] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use PROVIDER_SDK_MISSING
 * without the SDK
 */
export function ollama(options: OllamaOptions = {}): ModelProvider {
  checkProviderOptions('ollama', options, OPTIONS, {})
  const id = options.id ?? 'ollama'
  return new SdkProvider({
    id,
    wire: ollamaProtocol(id),
    defaults: OLLAMA_CHAT.defaults,
    clients: ollamaClients(id, options),
    objectBodies: false,
    headers: options.headers,
  })
}

function ollamaClients(id: string, options: OllamaOptions) {
  return createConnectionClients({
    providerId: id,
    apiKey: options.apiKey,
    keyVariable: 'OLLAMA_API_KEY',
    baseUrl: options.baseUrl ?? LOCAL,
    client: undefined,
    async create({ apiKey, baseUrl }) {
      const { Ollama } = await loadSdk('ollama', OLLAMA_CHAT.sdks[0].range, () => import('ollama'))
      return new OllamaClient({
        Ollama,
        host: baseUrl ?? LOCAL,
        apiKey: apiKey === NO_KEY ? undefined : apiKey,
        fetch: sdkFetch(options.fetch),
      })
    },
  })
}
