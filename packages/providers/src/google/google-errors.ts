import type { ErrorDialect } from '../shared/to-provider-error.js'
import type { KnownCodes } from '../shared/failure-code.js'
import type { Wire } from '../shared/wire-json.js'
import { isWire, wireList, wireName, wireObject, wireText } from '../shared/wire-json.js'

/** Reasons that say more than the status they come with, and the canonical statuses. */
const KNOWN: KnownCodes = {
  API_KEY_INVALID: 'PROVIDER_AUTH',
  API_KEY_EXPIRED: 'PROVIDER_AUTH',
  API_KEY_SERVICE_BLOCKED: 'PROVIDER_AUTH',
  UNAUTHENTICATED: 'PROVIDER_AUTH',
  PERMISSION_DENIED: 'PROVIDER_AUTH',
  RESOURCE_EXHAUSTED: 'PROVIDER_RATE_LIMITED',
  INTERNAL: 'PROVIDER_OVERLOADED',
  UNAVAILABLE: 'PROVIDER_OVERLOADED',
  DEADLINE_EXCEEDED: 'PROVIDER_TIMEOUT',
}

/**
 * Errors of Google's APIs. A `NOT_FOUND` is told by its text: it may also be a file, or a wrong path.
 * @see https://cloud.google.com/apis/design/errors
 */
export const GOOGLE_ERRORS: ErrorDialect = {
  known: KNOWN,
  errorOf(body) {
    const error = body.error === undefined ? body : wireObject(body.error)
    const reason = detailOf(error, 'ErrorInfo')?.reason
    const known = typeof reason === 'string' && Object.hasOwn(KNOWN, reason)
    return { ...error, type: known ? reason : wireText(error.status) }
  },
  codeOf: ({ type, message }) => (type === 'NOT_FOUND' && /\bmodels?\b/i.test(message) ? 'MODEL_NOT_FOUND' : undefined),
  retryAfterMs(error) {
    const delay = wireName(detailOf(error, 'RetryInfo')?.retryDelay)
    const seconds = /^(\d{1,9}(?:\.\d+)?)s$/.exec(delay ?? '')?.[1]
    return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000)
  },
}

/** The detail of one kind, which is named by the end of a type's address. */
function detailOf(error: Wire, kind: string): Wire | undefined {
  return wireList(error.details).find(
    (detail): detail is Wire => isWire(detail) && wireText(detail['@type']).endsWith(`.${kind}`),
  )
}
