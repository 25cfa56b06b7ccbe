import type { Tree } from '../generate/tree.js'
import type { Clock } from '../internal/clock.js'
import type { ExecutionStatus } from '../store/records.js'
import type { Store } from '../store/store.js'
import { noteStore } from './finish-run.js'

/** Ends the rows of the runs below that are still open or paused where the run above them ends: nobody comes back to them. */
export function endOpenRuns(tree: Tree): Promise<void> | undefined {
  if (tree.open.size <= 1 && tree.usedBefore.size <= 1) return undefined
  const ids = new Set([...tree.open.keys(), ...tree.usedBefore.keys()])
  ids.delete(tree.rootExecutionId)
  return ids.size === 0 ? undefined : endAll(tree, ids, 'The run above it ended before it could go on.')
}

async function endAll(tree: Tree, ids: Iterable<string>, message: string): Promise<void> {
  const { store, clock } = tree.parts
  for (const id of ids) {
    try {
      await endNestedRow(store, clock, id, message)
    } catch (fault) {
      noteStore(tree, id, fault)
    }
  }
}

const OPEN: readonly ExecutionStatus[] = ['paused', 'running']

/** Ends the rows of all runs below a run that nobody executes. */
export async function endNestedRuns(tree: Tree, message: string, which = OPEN): Promise<void> {
  const { store, clock } = tree.parts
  const page = await store.executions.list({ rootExecutionId: tree.rootExecutionId, level: 'nested', limit: 1000 })
  for (const { id, status } of page.items) if (which.includes(status)) await endNestedRow(store, clock, id, message)
}

/** Ends the row of a nested run with the one above it; one that has ended stays as it is. */
async function endNestedRow(store: Store, clock: Clock, id: string, message: string): Promise<void> {
  const at = clock.now()
  await store.executions.transition(id, (current) =>
    current.status === 'paused' || current.status === 'running'
      ? {
          status: 'aborted',
          failureKind: 'aborted',
          completedAt: at,
          updatedAt: at,
          error: { name: 'SluiceError', code: 'RUN_ABORTED', message, details: null },
        }
      : undefined,
  )
}
