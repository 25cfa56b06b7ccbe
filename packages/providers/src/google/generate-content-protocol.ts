import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import { isImage } from '../shared/file-content.js'
import type { WireProtocol } from '../shared/wire-protocol.js'
import { fromGoogleResponse } from './from-google-response.js'
import { openGoogleStream } from './from-google-stream.js'
import { GOOGLE_ERRORS } from './google-errors.js'
import { createGoogleSchemas } from './google-schemas.js'
import type { GoogleThinking } from './google-thinking.js'
import { toGoogleRequest } from './to-google-request.js'

/** Google's generateContent as a wire protocol. Its path names the model, and is made by the SDK. */
export function generateContentProtocol(providerId: string, thinking: GoogleThinking): WireProtocol {
  const schemas = createGoogleSchemas()
  return {
    protocol: GOOGLE_GENERATE_CONTENT.protocol,
    path: '',
    // a stream is asked for by the path alone
    streamMembers: {},
    errors: GOOGLE_ERRORS,
    toBody: (request) => toGoogleRequest(request, { providerId, thinking, schemas }),
    fromBody: fromGoogleResponse,
    openStream: openGoogleStream,
    fileTokensAtMost: (mediaType) => (isImage(mediaType) ? GOOGLE_GENERATE_CONTENT.imageTokensAtMost : null),
    // what lies cached at the provider is read as input
    addsToInput: ({ providerOptions = {} }) =>
      'cachedContent' in providerOptions || 'cached_content' in providerOptions,
    checkSchema: schemas.check,
    wrapsOutput: schemas.wrapsOutput,
  }
}
