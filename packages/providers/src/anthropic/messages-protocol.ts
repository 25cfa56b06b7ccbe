import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { isImage } from '../shared/file-content.js'
import type { WireProtocol } from '../shared/wire-protocol.js'
import { ANTHROPIC_ERRORS } from './anthropic-errors.js'
import type { AnthropicThinking } from './anthropic-thinking.js'
import { createAnthropicSchemas } from './anthropic-tools.js'
import { fromAnthropicResponse } from './from-anthropic-response.js'
import { openAnthropicStream } from './from-anthropic-stream.js'
import { toAnthropicRequest } from './to-anthropic-request.js'

/** The Messages API as a wire protocol. */
export function messagesProtocol(providerId: string, thinking: AnthropicThinking): WireProtocol {
  const schemas = createAnthropicSchemas()
  return {
    protocol: 'anthropic-messages',
    path: '/v1/messages',
    streamMembers: { stream: true },
    errors: ANTHROPIC_ERRORS,
    toBody: (request) => toAnthropicRequest(request, { providerId, thinking, schemas }),
    fromBody: fromAnthropicResponse,
    openStream: openAnthropicStream,
    fileTokensAtMost: (mediaType) =>
      mediaType === 'text/plain' ? 'bytes' : isImage(mediaType) ? ANTHROPIC_MESSAGES.imageTokensAtMost : null,
    checkSchema: schemas.check,
    wrapsOutput: schemas.wrapsOutput,
  }
}
