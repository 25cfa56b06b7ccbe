import { createIds } from '../internal/ids.js'

/** A fresh session id (a UUIDv7). A call without `sessionId` gets one by itself; this is for those who need it before. */
export function createSessionId(): string {
  return createIds().id()
}
