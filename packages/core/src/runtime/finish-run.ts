import { SluiceError } from '../errors/sluice-error.js'
import { emitRun } from '../generate/emit-run.js'
import { snapshotError } from '../generate/effect.js'
import { frozenReceipt } from '../generate/frozen-receipt.js'
import type { RunScope } from '../generate/run-scope.js'
import type { Tree } from '../generate/tree.js'
import type { AfterExecutionContext } from '../hooks/hook-contexts.js'
import { describeError, observe } from '../hooks/observe.js'
import type { Receipt } from '../hooks/receipt.js'
import { withSignal } from '../hooks/with-signal.js'
import type { JsonObject } from '../internal/json.js'
import { LazySignal } from '../internal/lazy-signal.js'
import { wellFormedJson } from '../internal/well-formed-text.js'
import { totalInput } from '../messages/usage.js'
import { closeTurn } from '../sessions/session-header.js'
import type { ExecutionRecord, FailureKind } from '../store/records.js'
import type { Store } from '../store/store.js'
import { countColumns } from './execution-row.js'
import { errorColumns } from './failure.js'
import type { Failure } from './failure.js'
import { writeReceipts } from './write-receipts.js'

/** How a run ended, for its row. */
export type Ended =
  | {
      readonly status: 'completed'
      readonly output: JsonObject
      readonly finishReason: string
      readonly iterationCount: number
    }
  | { readonly status: 'failed'; readonly failure: Failure }

/** The columns of a row whose run has ended. */
export function endColumns(run: RunScope, ended: Ended, at: number): Partial<ExecutionRecord> {
  const counts = { ...countColumns(run), completedAt: at, updatedAt: at, pending: [] }
  if (ended.status === 'completed') {
    return {
      ...counts,
      status: 'completed',
      currentState: null,
      output: ended.output,
      finishReason: ended.finishReason,
      iterationCount: ended.iterationCount,
    }
  }
  const { failure } = ended
  return {
    ...counts,
    status: failure.status,
    failureKind: failure.kind,
    ...errorColumns(failure.error),
    inFlight: [...run.tree.inFlight],
  }
}

/**
 * Finalises the row and the session header. A write that fails is logged and hides neither the result nor the error of the
 * run (S-7).
 */
export async function finaliseRun(run: RunScope, ended: Ended, messageCount: number | undefined): Promise<void> {
  const { tree } = run
  const { store, clock } = tree.parts
  const at = clock.now()
  const { executionId, sessionId, parentExecutionId } = run.facts
  const writes: Promise<unknown>[] = [endRow(store, executionId as string, endColumns(run, ended, at))]
  if (parentExecutionId === null) {
    const status = ended.status === 'completed' ? 'completed' : ended.failure.status
    const tokens = { inputTokens: totalInput(tree.usage), outputTokens: tree.usage.outputTokens }
    writes.push(
      store.sessions.update(sessionId as string, (current) =>
        current === undefined
          ? undefined
          : closeTurn(current, { status, ...tokens, at, ...(messageCount === undefined ? {} : { messageCount }) }),
      ),
    )
  }
  const receipts = writeReceipts(tree)
  if (receipts !== undefined) writes.push(receipts)
  for (const settled of await Promise.allSettled(writes))
    if (settled.status === 'rejected') noteStore(tree, executionId, settled.reason)
}

/** Writes the last columns of a row. A text that no store takes must not leave the row open (CASE-20). */
export async function endRow(store: Store, executionId: string, columns: Partial<ExecutionRecord>): Promise<void> {
  try {
    await store.executions.update(executionId, columns)
  } catch (fault) {
    if (!SluiceError.isInstance(fault, 'STORE_VALUE_INVALID')) throw fault
    await store.executions.update(executionId, wellFormedJson(columns))
  }
}

/** What somebody meant to happen is no error of the system. */
const MEANT: readonly FailureKind[] = ['veto', 'limit', 'aborted']

/** Logs the error that ended a run or a plain call, once, where it leaves (Z-3). */
export function logFailure(run: RunScope, failure: Failure, text: string): void {
  const { executionId, rootExecutionId, agentCode, sessionId } = run.facts
  const { code, message } = snapshotError(failure.error)
  const fields = { executionId, rootExecutionId, agentCode, sessionId, kind: failure.kind, code, error: message }
  try {
    run.tree.parts.logger[MEANT.includes(failure.kind) ? 'info' : 'error'](fields, text)
  } catch {
    // a logger that throws is ignored
  }
}

/** Logs a record that could not be written at the end of a run. */
export function noteStore(tree: Tree, executionId: string | null, error: unknown): void {
  try {
    tree.parts.logger.error({ executionId, error: describeError(error) }, 'a record of a run could not be written')
  } catch {
    // a logger that throws is ignored
  }
}

/** Tells `afterExecution`, once, with the receipt of the run's own gates. */
export async function tellAfterExecution(
  run: RunScope,
  ended: Ended,
  receipt: Receipt | null,
  recovered = false,
): Promise<void> {
  const { tree, facts } = run
  const taps = run.options.hookSet.observers.afterExecution
  if (taps.length === 0) return
  const failure =
    ended.status === 'completed'
      ? null
      : Object.freeze({ kind: ended.failure.kind, error: snapshotError(ended.failure.error) })
  const fields: Omit<AfterExecutionContext, 'signal'> = {
    executionId: facts.executionId as string,
    rootExecutionId: facts.rootExecutionId,
    effectId: receipt?.effectId ?? `${facts.rootExecutionId}/execution`,
    status: ended.status,
    agentId: facts.agentId,
    agentCode: facts.agentCode,
    createdBy: facts.createdBy,
    appId: tree.options.appId,
    sessionId: facts.sessionId,
    tenant: tree.options.tenant,
    inputTokens: totalInput(run.usage),
    outputTokens: run.usage.outputTokens,
    usage: run.usage,
    treeUsage: tree.usage,
    failure,
    recovered,
    receipt: receipt === null ? null : frozenReceipt(receipt),
  }
  const late = new LazySignal()
  await observe(tree.observing, taps, withSignal(fields, late), true, late)
}

/** The last event of a run, for a stream. */
export function emitEnd(run: RunScope, ended: Ended): void {
  emitRun(run, 'run_ended', {
    status: ended.status === 'completed' ? 'completed' : ended.failure.status,
    finishReason: ended.status === 'completed' ? ended.finishReason : null,
    ...(ended.status === 'completed' ? {} : { error: { ...snapshotError(ended.failure.error) } as JsonObject }),
  })
}
