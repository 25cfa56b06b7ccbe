import type { BuiltInProtocol } from './protocol-behaviour.js'

/** Servers that speak one of OpenAI's protocols and are known by name. */
export type OpenAIServerName = 'openai' | 'xai' | 'openrouter' | 'compatible'

type OpenAIProtocol = Extract<BuiltInProtocol, 'openai-responses' | 'openai-chat'>

/** In what a server differs from the protocol that it speaks. */
export interface OpenAIServer {
  readonly title: string
  /** Its protocols; the first is the default. */
  readonly protocols: readonly OpenAIProtocol[]
  /** The call that makes the adapter. */
  readonly factory: string
  /** Id of the provider where the caller gives none (G-13). */
  readonly id: string
  /** `null`: the caller says where it is, or the SDK knows. */
  readonly baseUrl: string | null
  readonly keyVariable: string
  /** Hosts by which a base URL is known to be this server, subdomains included. */
  readonly hosts: readonly string[]
  /** Name of the output cap on Chat. */
  readonly outputCap: 'max_completion_tokens' | 'max_tokens'
  /** Whether tools are sent in strict mode on Chat, where it can express their schemas. */
  readonly strictTools: boolean
  /** Whether `store: false` is sent on Chat. */
  readonly saysStore: boolean
  /** Longest tool-call id on Chat that is sent as it is. */
  readonly longestCallId: number
  /** How reasoning is asked for on Chat: as `reasoning_effort`, or as `reasoning: { effort, max_tokens }`. */
  readonly reasoning: 'reasoning_effort' | 'reasoning'
  /** Levels that its Chat does not know, and what is sent in their place (G-50). */
  readonly levels: { readonly medium?: 'low' | 'high' }
}

/** Servers of one's own, and everybody else who speaks Chat: nothing is sent that only OpenAI knows. */
const COMPATIBLE: OpenAIServer = {
  title: 'Any compatible server',
  protocols: ['openai-chat', 'openai-responses'],
  factory: "openai({ id: 'local', protocol: 'openai-chat', baseUrl: 'http://127.0.0.1:8080/v1' })",
  id: 'openai',
  baseUrl: null,
  keyVariable: 'OPENAI_API_KEY',
  hosts: [],
  outputCap: 'max_tokens',
  strictTools: false,
  saysStore: false,
  longestCallId: 64,
  reasoning: 'reasoning_effort',
  levels: {},
}

/** The servers by name: `openai({ server: 'xai' })` takes id, base URL and key variable from its row. */
export const OPENAI_SERVERS: Readonly<Record<OpenAIServerName, OpenAIServer>> = Object.freeze({
  openai: {
    title: 'OpenAI, Azure OpenAI',
    protocols: ['openai-responses', 'openai-chat'],
    factory: 'openai()',
    id: 'openai',
    baseUrl: null,
    keyVariable: 'OPENAI_API_KEY',
    hosts: ['openai.com', 'openai.azure.com', 'services.ai.azure.com', 'cognitiveservices.azure.com'],
    outputCap: 'max_completion_tokens',
    strictTools: true,
    saysStore: true,
    longestCallId: 40,
    reasoning: 'reasoning_effort',
    levels: {},
  },
  xai: {
    ...COMPATIBLE,
    title: 'xAI',
    protocols: ['openai-responses', 'openai-chat'],
    factory: "openai({ server: 'xai' })",
    id: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    keyVariable: 'XAI_API_KEY',
    hosts: ['x.ai'],
    levels: { medium: 'low' },
  },
  openrouter: {
    ...COMPATIBLE,
    title: 'OpenRouter',
    protocols: ['openai-chat'],
    factory: "openai({ server: 'openrouter' })",
    id: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyVariable: 'OPENROUTER_API_KEY',
    hosts: ['openrouter.ai'],
    reasoning: 'reasoning',
  },
  compatible: COMPATIBLE,
})
