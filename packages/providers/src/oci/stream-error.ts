import { errorInReply } from '../shared/reply-fault.js'
import type { Wire } from '../shared/wire-json.js'
import { wireName } from '../shared/wire-json.js'

/** Throws where an event of a stream is an error: an object of its own, or one with OCI's code and message. */
export function refuseError(event: Wire): void {
  if (event.error !== undefined && event.error !== null) throw errorInReply(event.error)
  const isCoded = typeof event.code === 'number' || wireName(event.code) !== undefined
  if (isCoded && wireName(event.message) !== undefined) throw errorInReply(event)
}
