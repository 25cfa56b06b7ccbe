import { OPENAI_CHAT } from '../../behaviour/openai-behaviour.js'
import { OPENAI_SERVERS } from '../../behaviour/openai-servers.js'
import { isImage } from '../../shared/file-content.js'
import type { WireProtocol } from '../../shared/wire-protocol.js'
import type { OpenAIDialect } from '../openai-dialect.js'
import { OPENAI_ERRORS } from '../openai-errors.js'
import { createOpenAISchemas } from '../openai-tools.js'
import { fromOpenAIResponse } from './from-openai-response.js'
import { openOpenAIStream } from './from-openai-stream.js'
import { toOpenAIRequest } from './to-openai-request.js'

/** Chat Completions as a wire protocol. `dialectFor` tells what the server of a request understands. */
export function chatProtocol(
  providerId: string,
  dialectFor: (requestUrl: string | undefined) => OpenAIDialect,
): WireProtocol {
  const strict = createOpenAISchemas(OPENAI_CHAT, true)
  const loose = createOpenAISchemas(OPENAI_CHAT, false)
  return {
    protocol: 'openai-chat',
    path: '/chat/completions',
    streamMembers: { stream: true, stream_options: { include_usage: true } },
    errors: OPENAI_ERRORS,
    toBody(request) {
      const server = OPENAI_SERVERS[dialectFor(request.connection?.baseUrl)]
      return toOpenAIRequest(request, { providerId, server, schemas: server.strictTools ? strict : loose })
    },
    fromBody: fromOpenAIResponse,
    openStream: openOpenAIStream,
    fileTokensAtMost: (mediaType) => (isImage(mediaType) ? OPENAI_CHAT.imageTokensAtMost : null),
    checkSchema: strict.check,
    wrapsOutput: strict.wrapsOutput,
  }
}
