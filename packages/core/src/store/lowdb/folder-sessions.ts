import { checkId } from '../embedded/check-key.js'
import { numberRows } from '../embedded/message-rules.js'
import { checkCount } from '../embedded/page.js'
import { checkHeader } from '../embedded/session-rules.js'
import type { TurnQueue } from '../embedded/turn-queue.js'
import type { SessionRecord } from '../records.js'
import type { MessageRepository, SessionRepository } from '../store.js'
import type { FolderGround } from './folder-ground.js'

/** Headers of sessions in a folder. */
export function createFolderSessions(ground: FolderGround, turns: TurnQueue): SessionRepository {
  return {
    async get(sessionId) {
      ground.check()
      checkId(sessionId, 'A session id')
      return (await ground.look((lookup) => lookup.headers([sessionId])))[0]
    },
    async update(sessionId, change) {
      ground.check()
      checkId(sessionId, 'A session id')
      return ground.write((batch) => {
        const [current] = batch.lookup.headers([sessionId])
        const next = change(current)
        checkHeader(sessionId, next, current)
        if (next === undefined || next === current) return current
        batch.setHeader(next)
        return next
      })
    },
    async list(filter = {}) {
      ground.check()
      return ground.look((lookup) => {
        const { items, next } = ground.state.sessions.page(filter)
        const headers = lookup.headers(items.map((item) => item.sessionId))
        return { items: headers as readonly SessionRecord[], next }
      })
    },
    async acquire(sessionId, holder, options) {
      ground.check()
      return turns.acquire(checkId(sessionId, 'A session id'), checkId(holder, 'The holder of a turn'), options)
    },
  }
}

/** The message log in a folder. */
export function createFolderMessages(ground: FolderGround): MessageRepository {
  return {
    async append(sessionId, rows) {
      ground.check()
      checkId(sessionId, 'A session id')
      return ground.write((batch) => {
        const count = batch.lookup.count(sessionId)
        batch.addRows(sessionId, numberRows(sessionId, rows, count))
        return count + rows.length
      })
    },
    async list(sessionId, options = {}) {
      ground.check()
      checkId(sessionId, 'A session id')
      const first = options.afterSeq === undefined ? 0 : checkCount(options.afterSeq, 'afterSeq', 0)
      const limit = options.limit === undefined ? Number.MAX_SAFE_INTEGER : checkCount(options.limit, 'limit', 0)
      const waiting = ground.state.rowsInLayers(sessionId)
      const from = Math.max(0, first - (ground.state.messageChunks.get(sessionId)?.count ?? 0))
      const written = await ground.reader.rows(sessionId, { first, limit })
      return [...written, ...waiting.slice(from, from + limit - written.length)]
    },
    async count(sessionId) {
      ground.check()
      checkId(sessionId, 'A session id')
      return ground.look((lookup) => lookup.count(sessionId))
    },
  }
}
