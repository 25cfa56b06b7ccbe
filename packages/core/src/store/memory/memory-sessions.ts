import { checkId } from '../embedded/check-key.js'
import { SessionIndex } from '../embedded/session-index.js'
import { checkHeader } from '../embedded/session-rules.js'
import type { TurnQueue } from '../embedded/turn-queue.js'
import type { SessionRecord } from '../records.js'
import type { SessionRepository } from '../store.js'

/** Headers of sessions in memory. */
export function createMemorySessions(check: () => void, turns: TurnQueue): SessionRepository {
  const headers = new SessionIndex<SessionRecord>()
  return {
    async get(sessionId) {
      check()
      return headers.get(checkId(sessionId, 'A session id'))
    },
    async update(sessionId, change) {
      check()
      const current = headers.get(checkId(sessionId, 'A session id'))
      const next = change(current)
      checkHeader(sessionId, next, current)
      if (next === undefined || next === current) return current
      headers.set(next)
      return next
    },
    async list(filter = {}) {
      check()
      return headers.page(filter)
    },
    async acquire(sessionId, holder, options) {
      check()
      return turns.acquire(checkId(sessionId, 'A session id'), checkId(holder, 'The holder of a turn'), options)
    },
  }
}
