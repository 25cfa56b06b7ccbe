import type { ErrorDialect } from '../shared/to-provider-error.js'
import { wireObject } from '../shared/wire-json.js'

/**
 * Error types of the Messages API. A `not_found_error` is told by its text: it may also be a wrong path.
 * @see https://platform.claude.com/docs/en/api/errors
 */
export const ANTHROPIC_ERRORS: ErrorDialect = {
  known: {
    authentication_error: 'PROVIDER_AUTH',
    permission_error: 'PROVIDER_AUTH',
    request_too_large: 'CONTEXT_LENGTH_EXCEEDED',
    rate_limit_error: 'PROVIDER_RATE_LIMITED',
    timeout_error: 'PROVIDER_TIMEOUT',
    api_error: 'PROVIDER_OVERLOADED',
    overloaded_error: 'PROVIDER_OVERLOADED',
  },
  // the SDK keeps the whole body: { type: 'error', error: {...}, request_id }
  errorOf: (body) => (body.error === undefined ? body : wireObject(body.error)),
}
