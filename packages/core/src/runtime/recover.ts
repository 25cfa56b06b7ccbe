import type { ResolvedCaller } from '../context/caller.js'
import { runInFrame } from '../context/frame.js'
import { SluiceError } from '../errors/sluice-error.js'
import { Tree } from '../generate/tree.js'
import { addUsage, totalInput, USAGE_NONE, USAGE_NOT_REPORTED } from '../messages/usage.js'
import type { Usage } from '../messages/usage.js'
import { describeError } from '../hooks/observe.js'
import { closeTurn } from '../sessions/session-header.js'
import type { Receipt } from '../hooks/receipt.js'
import type { ExecutionRecord } from '../store/records.js'
import type { Store } from '../store/store.js'
import { endCancelledBefore, wasBeingCancelled } from './end-cancelled.js'
import { endNestedRuns } from './end-nested-runs.js'
import { endColumns, tellAfterExecution } from './finish-run.js'
import type { PausedState } from './pause-run.js'
import { callerOf, closingFrame, scopeOf } from './record-scope.js'
import type { RuntimeFace } from './runtime-core.js'

/**
 * Finds the runs that a dead process left behind, marks them `failed` with kind `crashed`, and sends each top-level one its
 * `afterExecution` with `recovered: true`; a paused one that was being cancelled is cancelled. What goes wrong with one is logged and does not keep the runtime from starting.
 */
export async function recoverCrashed(face: RuntimeFace): Promise<number> {
  const { parts } = face.core
  const orphans = await parts.store.orphans()
  for (const record of orphans) {
    try {
      await markCrashed(face, record)
    } catch (error) {
      parts.logger.error({ executionId: record.id, error: describeError(error) }, 'a crashed run could not be marked')
    }
  }
  return orphans.length
}

async function markCrashed(face: RuntimeFace, record: ExecutionRecord): Promise<void> {
  const { parts } = face.core
  const { store } = parts
  const held = face.slot.acquire()
  try {
    if (wasBeingCancelled(record)) return await endCancelledBefore(parts, held.set, record)
    const stored = (await store.journals.get(record.id)) as unknown as PausedState | undefined
    const caller = callerOf(record, stored?.caller)
    const tree = new Tree(parts, {
      rootExecutionId: record.rootExecutionId,
      caller,
      createdBy: record.createdBy,
      tenant: record.tenant,
      appId: record.appId,
      hookSet: held.set,
      limits: parts.limits,
      recorded: true,
    })
    try {
      // a run that crashed after a resume: the state of its plugins as the pause stored it
      if (stored !== undefined) tree.restore(stored.tree)
      await endCrashed(tree, record, caller)
    } finally {
      tree.close()
    }
  } finally {
    held.release()
  }
}

/** Told first and marked last: where this process dies in between, the next one finds the run again. */
async function endCrashed(tree: Tree, record: ExecutionRecord, caller: ResolvedCaller): Promise<void> {
  const { store, clock } = tree.parts
  const run = scopeOf(tree, record)
  // what it had spent since its row was last written is not known, and that is not zero
  const spent = toKnown(record.usage)
  const usage = addUsage(spent, USAGE_NOT_REPORTED)
  tree.usage = usage
  run.usage = usage
  const error = new SluiceError(
    'RUN_CRASHED',
    'The process that owned this run is gone; what was in flight may have taken effect.',
    { details: { executionId: record.id } },
  )
  const ended = { status: 'failed' as const, failure: { error, kind: 'crashed' as const, status: 'failed' as const } }
  if (record.parentExecutionId === null) {
    await runInFrame(closingFrame(run, caller), async () => {
      tree.stateOpen = true
      await tree.windUp()
      await tellAfterExecution(run, ended, null, true)
      await tree.settle()
    })
    const messageCount = await store.messages.count(record.sessionId)
    await store.sessions.update(record.sessionId, (current) =>
      current === undefined
        ? undefined
        : closeTurn(current, {
            status: 'failed',
            inputTokens: totalInput(spent),
            outputTokens: spent.outputTokens,
            messageCount,
            at: clock.now(),
          }),
    )
    // those below that were waiting when it was resumed, and that it had not come to again
    await endNestedRuns(tree, 'The process that owned the run above it is gone.', ['paused'])
    await store.journals.delete(record.id)
  }
  const columns = endColumns(run, ended, clock.now())
  await store.executions.update(record.id, { ...columns, toolCallsCount: await toolCallsOf(store, record) })
}

/** Tool calls that are known to have come to a result: their receipts were stored round by round. */
async function toolCallsOf(store: Store, record: ExecutionRecord): Promise<number> {
  const receipts = (await store.receipts.list(record.rootExecutionId)) as unknown as readonly Receipt[]
  const ran = receipts.filter(
    ({ effect, executionId, outcome }) =>
      effect === 'tool_call' &&
      executionId === record.id &&
      (outcome === 'ok' || outcome === 'error' || outcome === 'refused'),
  )
  return Math.max(record.toolCallsCount, ran.length)
}

/** A row that was never written again says 0 in every class: nothing is known of it. */
function toKnown(usage: Usage): Usage {
  const { unreportedCalls, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = usage
  const figures = [unreportedCalls, inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens]
  return figures.every((figure) => figure === 0) ? USAGE_NONE : usage
}
