import type { Wire } from './wire-json.js'
import { isWire, wireObject } from './wire-json.js'

/**
 * Thrown inside an adapter where a provider's answer, or an event of its stream, is an error or cannot be used. It never
 * leaves the package: `toProviderError` turns it into a `ProviderError`.
 */
export class ReplyFault extends Error {
  /** The provider's own error object; empty where the answer only could not be used. */
  readonly body: Wire

  constructor(message: string, body: Wire = {}) {
    super(message)
    this.body = body
  }
}

/** The fault of a reply that carries an error object, as some servers send with status 200 (G-55). */
export function errorInReply(error: unknown): ReplyFault {
  const body = typeof error === 'string' ? { message: error } : wireObject(error)
  return new ReplyFault('the provider answered with an error', body)
}

/** The reply as an object, or the fault that says what it is instead; an `error` member is a fault too. */
export function usableReply(body: unknown): Wire {
  if (!isWire(body)) throw new ReplyFault('the answer is not a JSON object')
  if (body.error !== undefined && body.error !== null) throw errorInReply(body.error)
  return body
}
