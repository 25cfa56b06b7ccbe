import { createIds } from '../internal/ids.js'

/**
 * A fresh session id (a UUIDv7), for those who need it before the call. A call without `sessionId` opens a session by itself,
 * under an id that the runtime's `ids` make.
 */
export function createSessionId(): string {
  return createIds().id()
}
