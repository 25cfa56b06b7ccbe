import { ANTHROPIC_MESSAGES } from './anthropic-behaviour.js'
import { GOOGLE_GENERATE_CONTENT } from './google-behaviour.js'
import { OCI_COHERE, OCI_GENERIC } from './oci-behaviour.js'
import { OLLAMA_CHAT } from './ollama-behaviour.js'
import { OPENAI_CHAT, OPENAI_RESPONSES } from './openai-behaviour.js'
import type { BuiltInProtocol, ProtocolBehaviour } from './protocol-behaviour.js'

/**
 * What differs from protocol to protocol above the wire, as data: the adapters take their own behaviour from here, the page
 * docs/providers.md is made of it, and the tests of this package run once for each row.
 *
 * @example
 * PROTOCOL_BEHAVIOUR['anthropic-messages'].defaults.onToolError // 'throw'
 */
export const PROTOCOL_BEHAVIOUR: Readonly<Record<BuiltInProtocol, ProtocolBehaviour>> = Object.freeze({
  'openai-responses': OPENAI_RESPONSES,
  'openai-chat': OPENAI_CHAT,
  'anthropic-messages': ANTHROPIC_MESSAGES,
  'google-generate-content': GOOGLE_GENERATE_CONTENT,
  'ollama-chat': OLLAMA_CHAT,
  'oci-generic': OCI_GENERIC,
  'oci-cohere': OCI_COHERE,
})
