import { OPENAI_RESPONSES } from '../../behaviour/openai-behaviour.js'
import { isImage } from '../../shared/file-content.js'
import type { WireProtocol } from '../../shared/wire-protocol.js'
import { OPENAI_ERRORS } from '../openai-errors.js'
import { createOpenAISchemas } from '../openai-tools.js'
import { fromOpenAIResponse } from './from-openai-response.js'
import { openOpenAIStream } from './from-openai-stream.js'
import { toOpenAIRequest } from './to-openai-request.js'

/** The Responses API as a wire protocol. */
export function responsesProtocol(providerId: string): WireProtocol {
  const schemas = createOpenAISchemas(OPENAI_RESPONSES, true)
  return {
    protocol: 'openai-responses',
    path: '/responses',
    streamMembers: { stream: true },
    errors: OPENAI_ERRORS,
    toBody: (request) => toOpenAIRequest(request, providerId, schemas),
    fromBody: fromOpenAIResponse,
    openStream: openOpenAIStream,
    fileTokensAtMost: (mediaType) => (isImage(mediaType) ? OPENAI_RESPONSES.imageTokensAtMost : null),
    checkSchema: schemas.check,
    wrapsOutput: schemas.wrapsOutput,
  }
}
