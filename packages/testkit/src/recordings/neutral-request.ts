import type { ModelRequest, Protocol } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import { fromChatRequest } from './from-chat-request.js'
import { fromGoogleRequest } from './from-google-request.js'
import { fromMessagesRequest } from './from-messages-request.js'
import { fromOciRequest } from './from-oci-request.js'
import { fromOllamaRequest } from './from-ollama-request.js'
import { fromResponsesRequest } from './from-responses-request.js'
import { isWire } from './recorded-json.js'

export interface ReadOptions {
  /** The id of the provider whose own data (signatures, item ids) the parts shall carry. */
  readonly providerId: string
  /** The recorded address, where a protocol names the model there and not in the body. */
  readonly url?: string
}

/**
 * The body of a recorded request as the neutral request that asks for the same: history, tools, answer format and
 * settings; whatever the neutral form has no word for goes along as raw options. OpenAI's two forms are told apart by the
 * body itself.
 *
 * @throws FIXTURE_INVALID for a protocol that is not known, or a body that is no object
 */
export function neutralRequest(protocol: Protocol, body: unknown, options: ReadOptions): ModelRequest {
  if (!isWire(body)) throw testkitError('FIXTURE_INVALID', 'The recorded request has no body to read.')
  if (protocol === 'anthropic-messages') return fromMessagesRequest(body, options)
  if (protocol === 'google-generate-content') return fromGoogleRequest(body, options)
  if (protocol === 'ollama-chat') return fromOllamaRequest(body, options)
  if (protocol === 'oci-generic' || protocol === 'oci-cohere') return fromOciRequest(body, options)
  if (protocol !== 'openai-responses' && protocol !== 'openai-chat') {
    throw testkitError('FIXTURE_INVALID', `Recorded requests of the protocol "${protocol}" cannot be read.`)
  }
  return body.input === undefined ? fromChatRequest(body, options) : fromResponsesRequest(body, options)
}
