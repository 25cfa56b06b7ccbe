import type { ModelProvider } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'
import type { FixtureProtocol } from '@sluice/testkit'
import { signingKey } from './signing-key.js'

/** A provider that the scenes are played on. */
export interface ProviderChoice {
  /** What `--provider` takes. */
  readonly id: string
  /** The part of the model's name before the slash. @default `id` */
  readonly providerId?: string
  /** Which fixtures are in its wire format. */
  readonly protocol: FixtureProtocol
  /** The model that is asked for; in live runs `modelVariable` of the environment names another. */
  readonly model: string
  readonly modelVariable: string
  /** What of the environment a live run needs: one of these variables is enough. Empty where it needs none. */
  readonly keyVariables: readonly string[]
  /** True for those that are played where none is named. */
  readonly usual: boolean
  /** For replayed runs: what the environment says of keys and servers is left out of account. */
  createReplayed(apiKey: string): ModelProvider
  /** For live runs: key and server come from the environment. */
  createLive(): ModelProvider
}

const OCI_REGION = 'us-chicago-1'
const replayedOci = () =>
  oci({ auth: signingKey(), compartmentId: 'ocid1.compartment.oc1..example', region: OCI_REGION })

/** The providers of the example, in the order in which they are played. */
export const PROVIDER_CHOICES: readonly ProviderChoice[] = [
  {
    id: 'openai',
    protocol: 'openai-responses',
    model: 'gpt-5.6',
    modelVariable: 'OPENAI_MODEL',
    keyVariables: ['OPENAI_API_KEY'],
    usual: true,
    createReplayed: (apiKey) => openai({ apiKey, baseUrl: 'https://api.openai.com/v1' }),
    createLive: () => openai(),
  },
  {
    id: 'anthropic',
    protocol: 'anthropic-messages',
    model: 'claude-sonnet-4-5',
    modelVariable: 'ANTHROPIC_MODEL',
    keyVariables: ['ANTHROPIC_API_KEY'],
    usual: true,
    createReplayed: (apiKey) => anthropic({ apiKey, baseUrl: 'https://api.anthropic.com' }),
    createLive: () => anthropic(),
  },
  {
    id: 'google',
    protocol: 'google-generate-content',
    model: 'gemini-2.5-pro',
    modelVariable: 'GOOGLE_MODEL',
    keyVariables: ['GOOGLE_API_KEY', 'GEMINI_API_KEY'],
    usual: false,
    createReplayed: (apiKey) => google({ apiKey, baseUrl: 'https://generativelanguage.googleapis.com' }),
    createLive: () => google(),
  },
  {
    id: 'ollama',
    protocol: 'ollama-chat',
    model: 'qwen3:8b',
    modelVariable: 'OLLAMA_MODEL',
    // a server of one's own takes no key
    keyVariables: [],
    usual: false,
    createReplayed: () => ollama({ baseUrl: 'http://127.0.0.1:11434' }),
    createLive: () => ollama(),
  },
  {
    id: 'oci',
    protocol: 'oci-generic',
    model: 'meta.llama-3.3-70b-instruct',
    modelVariable: 'OCI_MODEL',
    keyVariables: ['OCI_COMPARTMENT_ID'],
    usual: false,
    createReplayed: replayedOci,
    createLive: () => oci(),
  },
  {
    id: 'oci-cohere',
    providerId: 'oci',
    protocol: 'oci-cohere',
    model: 'cohere.command-a-03-2025',
    modelVariable: 'OCI_COHERE_MODEL',
    keyVariables: ['OCI_COMPARTMENT_ID'],
    usual: false,
    createReplayed: replayedOci,
    createLive: () => oci(),
  },
  {
    id: 'openai-chat',
    providerId: 'openai',
    protocol: 'openai-chat',
    model: 'gpt-5.6',
    modelVariable: 'OPENAI_MODEL',
    keyVariables: ['OPENAI_API_KEY'],
    usual: false,
    createReplayed: (apiKey) => openai({ apiKey, baseUrl: 'https://api.openai.com/v1', protocol: 'openai-chat' }),
    createLive: () => openai({ protocol: 'openai-chat' }),
  },
]
