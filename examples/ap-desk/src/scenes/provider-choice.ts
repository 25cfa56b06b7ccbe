import type { ModelProvider } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'
import type { FixtureProtocol } from '@sluice/testkit'

/** A provider that the scenes are played on. */
export interface ProviderChoice {
  readonly id: 'openai' | 'anthropic'
  /** Which fixtures are in its wire format. */
  readonly protocol: FixtureProtocol
  /** The model that is asked for; in live runs `modelVariable` of the environment names another. */
  readonly model: string
  readonly modelVariable: string
  readonly keyVariable: string
  /** For replayed runs: what the environment says of keys and servers is left out of account. */
  createReplayed(apiKey: string): ModelProvider
  /** For live runs: key and server come from the environment. */
  createLive(): ModelProvider
}

/** The providers of the example, in the order in which they are played. */
export const PROVIDER_CHOICES: readonly ProviderChoice[] = [
  {
    id: 'openai',
    protocol: 'openai-responses',
    model: 'gpt-5.6',
    modelVariable: 'OPENAI_MODEL',
    keyVariable: 'OPENAI_API_KEY',
    createReplayed: (apiKey) => openai({ apiKey, baseUrl: 'https://api.openai.com/v1' }),
    createLive: () => openai(),
  },
  {
    id: 'anthropic',
    protocol: 'anthropic-messages',
    model: 'claude-sonnet-4-5',
    modelVariable: 'ANTHROPIC_MODEL',
    keyVariable: 'ANTHROPIC_API_KEY',
    createReplayed: (apiKey) => anthropic({ apiKey, baseUrl: 'https://api.anthropic.com' }),
    createLive: () => anthropic(),
  },
]
