import { checkId } from '../embedded/check-key.js'
import { checkExecutionChange, duplicateExecution, noExecution } from '../embedded/execution-rules.js'
import { refusePromise } from '../embedded/refuse-promise.js'
import { checkExecution } from '../embedded/check-rows.js'
import type { ExecutionRecord } from '../records.js'
import type { ExecutionRepository } from '../store.js'
import type { FolderGround } from './folder-ground.js'

/** Rows of runs in a folder. */
export function createFolderExecutions(ground: FolderGround): ExecutionRepository {
  return {
    async insert(record) {
      ground.check()
      const id = checkId(record.id, 'The id of an execution')
      checkExecution(record)
      await ground.write((batch) => {
        if (batch.layer.executions.has(id) || ground.state.executions.get(id) !== undefined)
          throw duplicateExecution(id)
        batch.insertExecution(record)
      })
    },
    async update(id, fields) {
      ground.check()
      checkId(id, 'The id of an execution')
      await ground.write((batch) => {
        const [current] = batch.lookup.executions([id])
        if (current === undefined) throw noExecution(id)
        checkExecutionChange(current, fields)
        batch.changeExecution(current, fields)
      })
    },
    async transition(id, decide) {
      ground.check()
      checkId(id, 'The id of an execution')
      return ground.write((batch) => {
        const [current] = batch.lookup.executions([id])
        if (current === undefined) return undefined
        const fields = decide(current)
        refusePromise(fields, 'transition')
        if (fields === undefined) return current
        checkExecutionChange(current, fields)
        return batch.changeExecution(current, fields)
      })
    },
    async get(id) {
      ground.check()
      checkId(id, 'The id of an execution')
      return (await ground.look((lookup) => lookup.executions([id])))[0]
    },
    async list(filter = {}) {
      ground.check()
      return ground.look((lookup) => {
        const { items, next } = ground.state.executions.page(filter)
        const rows = lookup.executions(items.map((item) => item.id))
        return { items: rows as readonly ExecutionRecord[], next }
      })
    },
  }
}
