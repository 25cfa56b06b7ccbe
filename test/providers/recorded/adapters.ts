import type { ModelProvider } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'
import { SIGNING_KEY } from './signing-key.js'

/** Where an adapter sends its requests. */
export interface Destination {
  /** Of a loopback server, without a path. */
  readonly url: string
  readonly fetch?: typeof fetch
}

/** One adapter with the folders of recordings that it is held to, and the least that they must hold. */
export interface AdapterUnderTest {
  readonly name:
    | 'openai-responses'
    | 'openai-chat'
    | 'anthropic'
    | 'google'
    | 'ollama'
    | 'ollama-v1'
    | 'oci'
    | 'xai-responses'
    | 'xai-chat'
    | 'openrouter'
  readonly protocol:
    | 'openai-responses'
    | 'openai-chat'
    | 'anthropic-messages'
    | 'google-generate-content'
    | 'ollama-chat'
    | 'oci-generic'
  readonly folders: readonly string[]
  /** Which exchanges of the folders are this adapter's, by the recorded address; absent: all. */
  readonly only?: (recordedUrl: string) => boolean
  /** `streams`, `rounds` and `conversations`: those that are cut, that go on, and that the loop goes through. */
  readonly floor: {
    readonly files: number
    readonly exchanges: number
    readonly streams: number
    readonly rounds: number
    readonly conversations: number
  }
  make(destination: Destination, recordedUrl: string): ModelProvider
}

export const TEST_KEY = 'sk-recorded-0123456789abcdef'

function options({ url, fetch }: Destination, path: string) {
  return { baseUrl: `${url}${path}`, apiKey: TEST_KEY, ...(fetch === undefined ? {} : { fetch }) }
}

/** The adapters, each made for the kind of server that the recording comes from. */
export const ADAPTERS: readonly AdapterUnderTest[] = [
  {
    name: 'openai-responses',
    protocol: 'openai-responses',
    folders: ['openai-responses', 'uc-ai/openai-responses'],
    floor: { files: 39, exchanges: 61, streams: 15, rounds: 18, conversations: 6 },
    make: (destination) => openai(options(destination, '/v1')),
  },
  {
    name: 'openai-chat',
    protocol: 'openai-chat',
    folders: ['openai-chat', 'uc-ai/openai-chat'],
    floor: { files: 44, exchanges: 73, streams: 15, rounds: 20, conversations: 6 },
    make: (destination, recordedUrl) =>
      openai({
        ...options(destination, '/v1'),
        protocol: 'openai-chat',
        dialect: /openai\.com|azure\.com/.test(recordedUrl) ? 'openai' : 'compatible',
      }),
  },
  {
    name: 'anthropic',
    protocol: 'anthropic-messages',
    folders: ['anthropic', 'uc-ai/anthropic'],
    floor: { files: 39, exchanges: 62, streams: 15, rounds: 20, conversations: 6 },
    make: (destination) => anthropic(options(destination, '')),
  },
  {
    name: 'google',
    protocol: 'google-generate-content',
    folders: ['google', 'uc-ai/google'],
    floor: { files: 33, exchanges: 56, streams: 21, rounds: 21, conversations: 6 },
    make: (destination, recordedUrl) =>
      google({ ...options(destination, ''), thinking: recordedUrl.includes('/gemini-3') ? 'level' : 'budget' }),
  },
  {
    name: 'ollama',
    protocol: 'ollama-chat',
    folders: ['ollama', 'uc-ai/ollama'],
    only: (recordedUrl) => recordedUrl.endsWith('/api/chat'),
    floor: { files: 18, exchanges: 24, streams: 6, rounds: 6, conversations: 3 },
    make: (destination) => ollama(options(destination, '')),
  },
  {
    // the compatible endpoint of its cloud
    name: 'ollama-v1',
    protocol: 'openai-chat',
    folders: ['ollama'],
    only: (recordedUrl) => recordedUrl.includes('/v1/'),
    floor: { files: 3, exchanges: 4, streams: 0, rounds: 1, conversations: 1 },
    make: (destination) => openai({ ...options(destination, '/v1'), protocol: 'openai-chat', dialect: 'compatible' }),
  },
  {
    // both forms, told apart by the vendor of the model
    name: 'oci',
    protocol: 'oci-generic',
    folders: ['uc-ai/oci'],
    floor: { files: 5, exchanges: 7, streams: 0, rounds: 2, conversations: 1 },
    make: ({ url, fetch }) =>
      oci({
        baseUrl: url,
        auth: SIGNING_KEY,
        compartmentId: 'ocid1.tenancy.oc1..aaaaaaaaXXXX...',
        ...(fetch === undefined ? {} : { fetch }),
      }),
  },
  {
    name: 'xai-responses',
    protocol: 'openai-responses',
    folders: ['xai'],
    only: (recordedUrl) => recordedUrl.endsWith('/responses'),
    floor: { files: 5, exchanges: 10, streams: 3, rounds: 5, conversations: 1 },
    make: (destination) => openai({ ...options(destination, '/v1'), server: 'xai' }),
  },
  {
    name: 'xai-chat',
    protocol: 'openai-chat',
    folders: ['xai', 'uc-ai/xai'],
    only: (recordedUrl) => recordedUrl.endsWith('/chat/completions'),
    floor: { files: 10, exchanges: 15, streams: 3, rounds: 5, conversations: 3 },
    make: (destination) => openai({ ...options(destination, '/v1'), server: 'xai', protocol: 'openai-chat' }),
  },
  {
    name: 'openrouter',
    protocol: 'openai-chat',
    folders: ['openrouter', 'uc-ai/openrouter'],
    floor: { files: 20, exchanges: 34, streams: 8, rounds: 12, conversations: 4 },
    make: (destination) => openai({ ...options(destination, '/api/v1'), server: 'openrouter' }),
  },
]
