import type { JsonObject } from '../../internal/json.js'
import { checkId } from '../embedded/check-key.js'
import { freeReference } from '../embedded/free-reference.js'
import { numberRows } from '../embedded/message-rules.js'
import { checkCount } from '../embedded/page.js'
import { checkStrings, type SoundItems } from '../embedded/well-formed.js'
import type { MessageRecord, ToolErrorRecord } from '../records.js'
import type { JournalRepository, MessageRepository, ReceiptRepository, ToolErrorRepository } from '../store.js'

/** The message log in memory. */
export function createMemoryMessages(check: () => void): MessageRepository {
  const sessions = new Map<string, MessageRecord[]>()
  return {
    async append(sessionId, rows) {
      check()
      const log = sessions.get(checkId(sessionId, 'A session id'))
      const numbered = numberRows(sessionId, rows, log?.length ?? 0)
      if (log === undefined) {
        if (numbered.length > 0) sessions.set(sessionId, numbered)
        return numbered.length
      }
      for (const row of numbered) log.push(row)
      return log.length
    },
    async list(sessionId, options = {}) {
      check()
      const log = sessions.get(checkId(sessionId, 'A session id')) ?? []
      const from = options.afterSeq === undefined ? 0 : checkCount(options.afterSeq, 'afterSeq', 0)
      const limit = options.limit === undefined ? log.length : checkCount(options.limit, 'limit', 0)
      return log.slice(from, from + limit)
    },
    async count(sessionId) {
      check()
      return sessions.get(checkId(sessionId, 'A session id'))?.length ?? 0
    },
  }
}

/** Receipts in memory. */
export function createMemoryReceipts(check: () => void): ReceiptRepository {
  const trees = new Map<string, JsonObject[]>()
  const sound: SoundItems = new WeakSet()
  return {
    async append(rootExecutionId, receipts) {
      check()
      checkId(rootExecutionId, 'The id of a root execution')
      for (const receipt of receipts) checkStrings(receipt, 'A receipt', sound)
      const tree = trees.get(rootExecutionId)
      if (tree === undefined) trees.set(rootExecutionId, [...receipts])
      else for (const receipt of receipts) tree.push(receipt)
    },
    async list(rootExecutionId) {
      check()
      return [...(trees.get(checkId(rootExecutionId, 'The id of a root execution')) ?? [])]
    },
  }
}

/** Journals of paused runs in memory. */
export function createMemoryJournals(check: () => void): JournalRepository {
  const journals = new Map<string, JsonObject>()
  return {
    async put(rootExecutionId, journal) {
      check()
      checkId(rootExecutionId, 'The id of a root execution')
      checkStrings(journal, 'The journal')
      journals.set(rootExecutionId, journal)
    },
    async get(rootExecutionId) {
      check()
      return journals.get(checkId(rootExecutionId, 'The id of a root execution'))
    },
    async delete(rootExecutionId) {
      check()
      journals.delete(checkId(rootExecutionId, 'The id of a root execution'))
    },
  }
}

/** The error log in memory. */
export function createMemoryToolErrors(check: () => void): ToolErrorRepository {
  const errors = new Map<string, ToolErrorRecord>()
  return {
    async insert(record) {
      check()
      checkId(record.reference, 'An error reference')
      checkStrings(record, 'The error')
      const reference = freeReference(record.reference, (taken) => errors.has(taken))
      errors.set(reference, reference === record.reference ? record : { ...record, reference })
      return reference
    },
    async get(reference) {
      check()
      return errors.get(checkId(reference, 'An error reference'))
    },
  }
}
