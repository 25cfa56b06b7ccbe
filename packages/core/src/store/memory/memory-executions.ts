import type { ExecutionIndex } from '../embedded/execution-index.js'
import { checkExecutionChange, duplicateExecution, noExecution } from '../embedded/execution-rules.js'
import { checkId } from '../embedded/check-key.js'
import { refusePromise } from '../embedded/refuse-promise.js'
import { checkExecution } from '../embedded/check-rows.js'
import type { ExecutionRecord } from '../records.js'
import type { ExecutionRepository } from '../store.js'

/** Rows of runs in memory. Rows that the core hands over are kept as they are: nobody changes them afterwards. */
export function createMemoryExecutions(rows: ExecutionIndex<ExecutionRecord>, check: () => void): ExecutionRepository {
  function change(current: ExecutionRecord, fields: Partial<ExecutionRecord>): ExecutionRecord {
    checkExecutionChange(current, fields)
    const next = { ...current, ...fields }
    rows.set(next)
    return next
  }

  return {
    async insert(record) {
      check()
      checkId(record.id, 'The id of an execution')
      checkExecution(record)
      if (rows.get(record.id) !== undefined) throw duplicateExecution(record.id)
      rows.set(record)
    },
    async update(id, fields) {
      check()
      const current = rows.get(checkId(id, 'The id of an execution'))
      if (current === undefined) throw noExecution(id)
      change(current, fields)
    },
    async transition(id, decide) {
      check()
      const current = rows.get(checkId(id, 'The id of an execution'))
      if (current === undefined) return undefined
      const fields = decide(current)
      refusePromise(fields, 'transition')
      return fields === undefined ? current : change(current, fields)
    },
    async get(id) {
      check()
      return rows.get(checkId(id, 'The id of an execution'))
    },
    async list(filter = {}) {
      check()
      return rows.page(filter)
    },
  }
}
