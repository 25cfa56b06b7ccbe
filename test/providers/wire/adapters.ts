import type { ModelProvider, ModelRequest, Protocol } from '@sluice/core'
import { anthropic } from '@sluice/providers/anthropic'
import { google } from '@sluice/providers/google'
import { oci } from '@sluice/providers/oci'
import { ollama } from '@sluice/providers/ollama'
import { openai } from '@sluice/providers/openai'
import { chatWire } from './chat-wire.js'
import { googleWire } from './google-wire.js'
import { messagesWire } from './messages-wire.js'
import { SIGNING_KEY } from '../recorded/signing-key.js'
import { ociCohereWire, ociGenericWire } from './oci-wire.js'
import { ollamaWire } from './ollama-wire.js'
import { responsesWire } from './responses-wire.js'
import type { Wire } from './wire-reply.js'

/** Where an adapter sends its requests. */
export interface MakeOptions {
  readonly baseUrl: string
  readonly apiKey?: string
  readonly id?: string
  readonly fetch?: typeof fetch
}

/** What a protocol has no word for. */
export type Lack =
  | 'cached tokens'
  | 'written tokens'
  | 'reasoning tokens'
  | 'reasoning'
  | 'error types'
  | 'wrapped answers'
  | 'call ids'
  | 'model in streams'
  | 'keys'

/** An adapter with the wire format that it reads. */
export interface WiredAdapter {
  readonly protocol: Protocol
  readonly wire: Wire
  readonly lacks?: readonly Lack[]
  /** True where the members of its requests are shown in tests of their own. */
  readonly ownRequests?: true
  /** Error types in this protocol. */
  readonly types: { readonly unauthorized: string; readonly rateLimited: string; readonly overloaded: string }
  make(options: MakeOptions): ModelProvider
}

const KEY = 'sk-wire-0123456789abcdef'
const OCI_TYPES = {
  unauthorized: 'NotAuthenticated',
  rateLimited: 'TooManyRequests',
  overloaded: 'InternalServerError',
}
const OPENAI_TYPES = { unauthorized: 'invalid_api_key', rateLimited: 'rate_limit_exceeded', overloaded: 'server_error' }

export const WIRED: readonly WiredAdapter[] = [
  {
    protocol: 'openai-responses',
    wire: responsesWire,
    types: OPENAI_TYPES,
    make: ({ baseUrl, ...options }) => openai({ apiKey: KEY, ...options, baseUrl: `${baseUrl}/v1` }),
  },
  {
    protocol: 'openai-chat',
    wire: chatWire,
    types: OPENAI_TYPES,
    make: ({ baseUrl, ...options }) =>
      openai({ apiKey: KEY, ...options, baseUrl: `${baseUrl}/v1`, protocol: 'openai-chat', dialect: 'openai' }),
  },
  {
    protocol: 'anthropic-messages',
    wire: messagesWire,
    types: { unauthorized: 'authentication_error', rateLimited: 'rate_limit_error', overloaded: 'overloaded_error' },
    make: ({ baseUrl, ...options }) => anthropic({ apiKey: KEY, ...options, baseUrl }),
  },
  {
    protocol: 'google-generate-content',
    wire: googleWire,
    lacks: ['written tokens'],
    ownRequests: true,
    types: { unauthorized: 'UNAUTHENTICATED', rateLimited: 'RESOURCE_EXHAUSTED', overloaded: 'UNAVAILABLE' },
    make: (options) => google({ apiKey: KEY, ...options }),
  },
  {
    protocol: 'ollama-chat',
    wire: ollamaWire,
    lacks: ['cached tokens', 'written tokens', 'reasoning tokens', 'error types', 'wrapped answers'],
    ownRequests: true,
    types: { unauthorized: '', rateLimited: '', overloaded: '' },
    make: (options) => ollama({ apiKey: KEY, ...options }),
  },
  {
    protocol: 'oci-generic',
    wire: ociGenericWire,
    lacks: ['written tokens', 'error types', 'model in streams', 'keys'],
    ownRequests: true,
    types: OCI_TYPES,
    make: signed('oci-generic'),
  },
  {
    protocol: 'oci-cohere',
    wire: ociCohereWire,
    lacks: ['written tokens', 'reasoning', 'error types', 'call ids', 'model in streams', 'keys'],
    ownRequests: true,
    types: OCI_TYPES,
    make: signed('oci-cohere'),
  },
]

/** Requests of OCI are signed; what is no key there travels in a header of a gateway. */
function signed(protocol: 'oci-generic' | 'oci-cohere') {
  return ({ apiKey = KEY, ...options }: MakeOptions): ModelProvider =>
    oci({
      ...options,
      protocol,
      auth: SIGNING_KEY,
      compartmentId: 'ocid1.compartment.oc1..example',
      headers: { 'x-gateway-key': apiKey },
    })
}

/** A small request. */
export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'test-model',
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    tools: [],
    hostedTools: [],
    maxOutputTokens: 500,
    ...changes,
  }
}

export const never = (): AbortSignal => new AbortController().signal
