import type { SessionRecord } from '../records.js'
import { callbackFault, refusePromise } from './refuse-promise.js'
import { checkChangedStrings } from './well-formed.js'

/** @throws STORE_CALLBACK for a header that is none, a promise, or the header of another session; STORE_VALUE_INVALID */
export function checkHeader(
  sessionId: string,
  header: SessionRecord | undefined,
  current: SessionRecord | undefined,
): void {
  refusePromise(header, 'sessions.update')
  if (header === undefined) return
  if (header === null || typeof header !== 'object' || header.sessionId !== sessionId) {
    throw callbackFault('sessions.update', 'returned something else than the header of this session')
  }
  checkChangedStrings(header, current, 'The header of a session')
}
