import { runInFrame } from '../context/frame.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RunScope } from '../generate/run-scope.js'
import type { RuntimeParts } from '../generate/runtime-parts.js'
import { Tree } from '../generate/tree.js'
import type { HookSet } from '../hooks/hook-set.js'
import type { Receipt } from '../hooks/receipt.js'
import { totalInput } from '../messages/usage.js'
import { closeTurn } from '../sessions/session-header.js'
import type { ExecutionRecord } from '../store/records.js'
import { closeExecution, pausedExecution } from './ask-before-execution.js'
import { endNestedRuns } from './end-nested-runs.js'
import { noteStore, tellAfterExecution } from './finish-run.js'
import type { PausedState } from './pause-run.js'
import { callerOf, closingFrame, scopeOf } from './record-scope.js'
import { writeReceipts } from './write-receipts.js'

/** The run was paused and cancelled, and the process that did it died before all had been told. */
export function wasBeingCancelled({ status, failureKind, parentExecutionId }: ExecutionRecord): boolean {
  return status === 'running' && failureKind === 'aborted' && parentExecutionId === null
}

/** Ends such a run, as the process that died would have done; what it has done already is not done twice. */
export function endCancelledBefore(parts: RuntimeParts, hookSet: HookSet, record: ExecutionRecord): Promise<void> {
  const error = new SluiceError('RUN_ABORTED', record.error?.message ?? 'The run was cancelled.', {
    details: { rootExecutionId: record.id },
  })
  return endCancelled(parts, hookSet, record, error, true)
}

/** Ends a paused run that was cancelled. Told first and marked last. */
export async function endCancelled(
  parts: RuntimeParts,
  hookSet: HookSet,
  record: ExecutionRecord,
  error: SluiceError,
  recovered: boolean,
): Promise<void> {
  const stored = (await parts.store.journals.get(record.id)) as unknown as PausedState | undefined
  const caller = callerOf(record, stored?.caller)
  const tree = new Tree(parts, {
    rootExecutionId: record.id,
    caller,
    createdBy: record.createdBy,
    tenant: record.tenant,
    appId: record.appId,
    hookSet,
    limits: parts.limits,
    recorded: true,
  })
  try {
    if (stored === undefined) tree.usage = record.usage
    else tree.restore(stored.tree)
    const run = scopeOf(tree, record)
    await runInFrame(closingFrame(run, caller), () => end(run, record, stored, error, recovered))
  } finally {
    tree.close()
  }
}

/** The end of a run as any run has it: `onStop`, what is not on record yet, the receipt of its own gates, `afterExecution`. */
async function end(
  run: RunScope,
  record: ExecutionRecord,
  stored: PausedState | undefined,
  error: SluiceError,
  recovered: boolean,
): Promise<void> {
  const { tree } = run
  const { store, clock } = tree.parts
  const failure = { error, kind: 'aborted', status: 'aborted' } as const
  const note = (fault: unknown): void => noteStore(tree, record.id, fault)
  tree.stateOpen = true
  tree.end(failure)
  await tree.windUp()
  const receipt = stored === undefined ? null : closeExecution(run, pausedExecution(run, stored.execution), 'aborted')
  if (receipt === null || !recovered || !(await isStored(run, receipt))) await writeReceipts(tree)?.catch(note)
  await endNestedRuns(tree, 'The run above it was cancelled.').catch(note)
  await closeSession(run, record, await logged(run, record, stored, recovered).catch(note), recovered).catch(note)
  await tellAfterExecution(run, { status: 'failed', failure }, receipt, recovered)
  await tree.settle()
  const at = clock.now()
  await store.executions.update(record.id, { status: 'aborted', completedAt: at, updatedAt: at }).catch(note)
  await store.journals.delete(record.id).catch(note)
}

async function isStored({ tree }: RunScope, { effectId, attempt }: Receipt): Promise<boolean> {
  const all = (await tree.parts.store.receipts.list(tree.rootExecutionId)) as unknown as readonly Receipt[]
  return all.some((one) => one.effectId === effectId && one.attempt === attempt)
}

/** Writes the rows of the round that waited; returns how many the session has then. */
async function logged(
  { tree }: RunScope,
  { sessionId }: ExecutionRecord,
  stored: PausedState | undefined,
  recovered: boolean,
): Promise<number | undefined> {
  const { messages } = tree.parts.store
  let rows = stored?.unlogged ?? []
  if (recovered && rows.length > 0) {
    const known = new Set((await messages.list(sessionId)).map(({ id }) => id))
    rows = rows.filter(({ id }) => !known.has(id))
  }
  if (rows.length > 0) return messages.append(sessionId, rows)
  return recovered ? messages.count(sessionId) : undefined
}

async function closeSession(
  { tree }: RunScope,
  record: ExecutionRecord,
  messageCount: number | void | undefined,
  recovered: boolean,
): Promise<void> {
  const { store, clock } = tree.parts
  await store.sessions.update(record.sessionId, (current) =>
    current === undefined || (recovered && current.pausedExecutionId !== record.id)
      ? undefined
      : closeTurn(current, {
          status: 'aborted',
          inputTokens: totalInput(tree.usage),
          outputTokens: tree.usage.outputTokens,
          at: clock.now(),
          ...(messageCount === undefined ? {} : { messageCount }),
        }),
  )
}
