import { OLLAMA_CHAT } from '../behaviour/ollama-behaviour.js'
import type { WireProtocol } from '../shared/wire-protocol.js'
import { fromOllamaResponse } from './from-ollama-response.js'
import { openOllamaStream } from './from-ollama-stream.js'
import { OLLAMA_ERRORS } from './ollama-errors.js'
import { createOllamaSchemas } from './ollama-schemas.js'
import { toOllamaRequest } from './to-ollama-request.js'

/** Ollama's own chat as a wire protocol. Its default is a stream, so a plain request says that it is none. */
export function ollamaProtocol(providerId: string): WireProtocol {
  const schemas = createOllamaSchemas()
  return {
    protocol: 'ollama-chat',
    path: '/api/chat',
    streamMembers: { stream: true },
    tails: { plain: '"stream":false}', stream: '"stream":true}' },
    errors: OLLAMA_ERRORS,
    toBody: (request) => toOllamaRequest(request, { providerId, schemas }),
    fromBody: fromOllamaResponse,
    openStream: openOllamaStream,
    fileTokensAtMost: () => OLLAMA_CHAT.imageTokensAtMost,
    checkSchema: schemas.check,
    wrapsOutput: () => false,
  }
}
