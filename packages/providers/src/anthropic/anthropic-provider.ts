import type { ModelProvider } from '@sluice/core'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { checkProviderOptions } from '../shared/check-provider-options.js'
import { createConnectionClients } from '../shared/connection-clients.js'
import { leanFetch } from '../shared/lean-response.js'
import { loadSdk } from '../shared/load-sdk.js'
import type { SdkClient } from '../shared/sdk-client.js'
import { NO_TIMEOUT_MS } from '../shared/sdk-client.js'
import type { Fetch } from '../shared/sdk-fetch.js'
import { sdkFetch } from '../shared/sdk-fetch.js'
import { SdkProvider } from '../shared/sdk-provider.js'
import type { AnthropicThinking } from './anthropic-thinking.js'
import { messagesProtocol } from './messages-protocol.js'

/** What {@link anthropic} takes. All of it may be left out. */
export interface AnthropicOptions {
  /** The part of a model reference before the slash. @default 'anthropic' */
  readonly id?: string
  /** @default the SDK's, which reads ANTHROPIC_BASE_URL */
  readonly baseUrl?: string
  /** @default the environment's ANTHROPIC_API_KEY, read at the first use */
  readonly apiKey?: string
  /** A client of the official SDK, where it needs more than key and base URL (other clouds, proxies, credentials). */
  readonly client?: SdkClient
  /** Replaces the global `fetch`. */
  readonly fetch?: Fetch
  /** Sent with every request, `anthropic-beta` for one. Their values are kept out of errors. */
  readonly headers?: Readonly<Record<string, string>>
  /**
   * How `reasoning.level` is asked for: `budget` as 2 048, 8 192 or 32 768 tokens; `adaptive` lets the model decide, with
   * the level as its effort (newer models ask for that). A `reasoning.budgetTokens` is always sent as a budget.
   * @default 'budget'
   */
  readonly thinking?: AnthropicThinking
}

const OPTIONS = ['id', 'baseUrl', 'apiKey', 'client', 'fetch', 'headers', 'thinking']

/**
 * The adapter for Anthropic's Messages API. The SDK (`@anthropic-ai/sdk`, an optional peer) is imported at the first
 * request; its retries and its timeout are off.
 *
 * @example
 * createRuntime({ providers: [anthropic()] })
 *
 * @throws INVALID_CONFIG for options that are not known or not of their type; at the first use MISSING_CONFIG without a
 * key, PROVIDER_SDK_MISSING without the SDK
 */
export function anthropic(options: AnthropicOptions = {}): ModelProvider {
  checkProviderOptions('anthropic', options, OPTIONS, { thinking: ['budget', 'adaptive'] })
  const id = options.id ?? 'anthropic'
  return new SdkProvider({
    id,
    wire: messagesProtocol(id, options.thinking ?? 'budget'),
    defaults: ANTHROPIC_MESSAGES.defaults,
    clients: anthropicClients(id, options),
    objectBodies: options.client !== undefined,
    headers: options.headers,
  })
}

function anthropicClients(id: string, options: AnthropicOptions) {
  return createConnectionClients({
    providerId: id,
    apiKey: options.apiKey,
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrl: options.baseUrl,
    client: options.client,
    async create({ apiKey, baseUrl }) {
      const { default: Anthropic } = await loadSdk(
        '@anthropic-ai/sdk',
        ANTHROPIC_MESSAGES.sdks[0].range,
        () => import('@anthropic-ai/sdk'),
      )
      return new Anthropic({
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
