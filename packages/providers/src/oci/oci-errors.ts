import type { ErrorDialect } from '../shared/to-provider-error.js'
import { wireObject } from '../shared/wire-json.js'

/**
 * Error codes of OCI's services. A model that is not there, a prompt that is too long and one that is filtered have no code
 * of their own and are told by the text.
 * @see https://docs.oracle.com/iaas/Content/API/References/apierrors.htm
 */
export const OCI_ERRORS: ErrorDialect = {
  known: {
    NotAuthenticated: 'PROVIDER_AUTH',
    NotAuthorized: 'PROVIDER_AUTH',
    NotAuthorizedOrNotFound: 'PROVIDER_AUTH',
    SignUpRequired: 'PROVIDER_AUTH',
    RequestEntityTooLarge: 'CONTEXT_LENGTH_EXCEEDED',
    TooManyRequests: 'PROVIDER_RATE_LIMITED',
    InternalServerError: 'PROVIDER_OVERLOADED',
    ServiceUnavailable: 'PROVIDER_OVERLOADED',
    ExternalServerTimeout: 'PROVIDER_TIMEOUT',
    // the word of Cohere for a reply that could not be made
    ERROR: 'PROVIDER_OVERLOADED',
  },
  errorOf: (body) => (body.error === undefined ? body : wireObject(body.error)),
  codeOf({ status, message }) {
    if (status !== 400 && status !== 404) return undefined
    if (/^entity with key .* not found/i.test(message)) return 'MODEL_NOT_FOUND'
    return /inappropriate content/i.test(message) ? 'CONTENT_FILTERED' : undefined
  },
}
