import { runInFrame } from '../context/frame.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RunScope } from '../generate/run-scope.js'
import { Tree } from '../generate/tree.js'
import { totalInput } from '../messages/usage.js'
import { closeTurn } from '../sessions/session-header.js'
import type { ExecutionRecord } from '../store/records.js'
import { closeExecution, pausedExecution } from './ask-before-execution.js'
import { endNestedRow } from './end-nested-runs.js'
import { errorColumns } from './failure.js'
import { noteStore, tellAfterExecution } from './finish-run.js'
import type { PausedState } from './pause-run.js'
import { callerOf, closingFrame, scopeOf } from './record-scope.js'
import type { RuntimeFace } from './runtime-core.js'
import { writeReceipts } from './write-receipts.js'

/** Ends a paused run as aborted: only one of a cancel and a resume gets it. Returns false where it was not paused any more. */
export async function cancelPaused(face: RuntimeFace, record: ExecutionRecord, reason: string): Promise<boolean> {
  const { parts } = face.core
  const { store, clock } = parts
  const held = face.slot.acquire()
  try {
    const error = new SluiceError('RUN_ABORTED', reason, { details: { rootExecutionId: record.id } })
    const at = clock.now()
    let got = false
    await store.executions.transition(record.id, (current) => {
      got = current.status === 'paused'
      const ended = { status: 'aborted', failureKind: 'aborted', completedAt: at, updatedAt: at } as const
      return got ? { ...ended, ...errorColumns(error), pending: [], inFlight: [] } : undefined
    })
    if (!got) return false
    const stored = (await store.journals.get(record.id)) as unknown as PausedState | undefined
    const caller = callerOf(record, stored?.caller)
    const tree = new Tree(parts, {
      rootExecutionId: record.id,
      caller,
      createdBy: record.createdBy,
      tenant: record.tenant,
      appId: record.appId,
      hookSet: held.set,
      limits: parts.limits,
      recorded: true,
    })
    try {
      if (stored === undefined) tree.usage = record.usage
      else tree.restore(stored.tree)
      const run = scopeOf(tree, record)
      await runInFrame(closingFrame(run, caller), () => endCancelled(run, record, stored, error))
    } finally {
      tree.close()
    }
    return true
  } finally {
    held.release()
  }
}

/** Ends a run whose time to be decided about is over. Returns false for any other. */
export async function cancelExpired(face: RuntimeFace, executionId: string): Promise<boolean> {
  const { store, clock } = face.core.parts
  const record = await store.executions.get(executionId)
  if (record?.status !== 'paused' || !hasExpired(record, clock.now())) return false
  return cancelPaused(face, record, 'The run expired: nobody decided about it in time.')
}

/** An answer is missing, and no more can come. */
function hasExpired({ pending }: ExecutionRecord, now: number): boolean {
  const open = pending.filter((entry) => entry.decision === null)
  return open.length > 0 && open.every((entry) => entry.expiresAt !== null && entry.expiresAt <= now)
}

/** The end of a run as any run has it: `onStop`, what is not on record yet, the receipt of its own gates, `afterExecution`. */
async function endCancelled(
  run: RunScope,
  record: ExecutionRecord,
  stored: PausedState | undefined,
  error: SluiceError,
): Promise<void> {
  const { tree } = run
  const { store, clock } = tree.parts
  const failure = { error, kind: 'aborted', status: 'aborted' } as const
  const note = (fault: unknown): void => noteStore(tree, record.id, fault)
  tree.stateOpen = true
  tree.end(failure)
  await tree.windUp()
  const receipt = stored === undefined ? null : closeExecution(run, pausedExecution(run, stored.execution), 'aborted')
  await writeReceipts(tree)?.catch(note)
  await endNested(run, record).catch(note)
  const rows = stored?.unlogged ?? []
  const messageCount = rows.length === 0 ? undefined : await store.messages.append(record.sessionId, rows).catch(note)
  await store.sessions
    .update(record.sessionId, (current) =>
      current === undefined
        ? undefined
        : closeTurn(current, {
            status: 'aborted',
            inputTokens: totalInput(tree.usage),
            outputTokens: tree.usage.outputTokens,
            at: clock.now(),
            ...(messageCount === undefined ? {} : { messageCount }),
          }),
    )
    .catch(note)
  await tellAfterExecution(run, { status: 'failed', failure }, receipt)
  await tree.settle()
  await store.journals.delete(record.id).catch(note)
}

/** Runs below that wait with it. */
async function endNested(run: RunScope, record: ExecutionRecord): Promise<void> {
  const { store, clock } = run.tree.parts
  const page = await store.executions.list({ rootExecutionId: record.id, level: 'nested', limit: 1000 })
  for (const nested of page.items)
    if (nested.status === 'paused' || nested.status === 'running')
      await endNestedRow(store, clock, nested.id, 'The run above it was cancelled.')
}
