import type { ModelProvider } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { openai } from '@sluice/providers/openai'

/** Where an adapter sends its requests. */
export interface Destination {
  /** Of a loopback server, without a path. */
  readonly url: string
  readonly fetch?: typeof fetch
}

/** One adapter with the folders of recordings that it is held to, and the least that they must hold. */
export interface AdapterUnderTest {
  readonly name: 'openai-responses' | 'openai-chat' | 'anthropic'
  readonly protocol: 'openai-responses' | 'openai-chat' | 'anthropic-messages'
  readonly folders: readonly string[]
  readonly floor: { readonly files: number; readonly exchanges: number }
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
    floor: { files: 39, exchanges: 61 },
    make: (destination) => openai(options(destination, '/v1')),
  },
  {
    name: 'openai-chat',
    protocol: 'openai-chat',
    folders: ['openai-chat', 'uc-ai/openai-chat'],
    floor: { files: 44, exchanges: 73 },
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
    floor: { files: 39, exchanges: 62 },
    make: (destination) => anthropic(options(destination, '')),
  },
]
