import type { Steps } from '../engine/engine.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { Effect } from '../generate/effect.js'
import type { RunScope } from '../generate/run-scope.js'
import type { TreeStop } from '../generate/tree.js'
import { closeTurn, continueTurn, openTurn } from '../sessions/session-header.js'
import { closeExecution } from './ask-before-execution.js'
import { startRow } from './execution-row.js'
import { errorColumns } from './failure.js'
import { endRow, noteStore } from './finish-run.js'
import { withPartial } from './run-result.js'
import type { TopRun } from './top-run.js'
import { writeReceipts } from './write-receipts.js'

/** Writes the row and the session header; where that fails, the run fails and nothing was sent (S-7). */
export async function openRecord(top: TopRun, run: RunScope, steps: Steps): Promise<void> {
  const { tree, sessionId } = top
  const { store, clock } = tree.parts
  if (top.resumed !== undefined) {
    await steps.step('record', () => undefined)
    await store.executions.update(tree.rootExecutionId, { status: 'running', pending: [], updatedAt: clock.now() })
    await store.sessions.update(sessionId, (current) =>
      current === undefined ? undefined : continueTurn(current, clock.now()),
    )
    return
  }
  await steps.step('record', async () => {
    const at = clock.now()
    const row = startRow({
      facts: run.facts,
      agent: top.agent,
      environment: top.environment,
      turnIndex: top.turnIndex,
      input: top.input,
      followUp: top.followUp,
      labels: top.labels,
      hookSet: tree.hookSet,
      outerExecutionId: top.outerExecutionId,
      at,
    })
    const header = { sessionId, agentId: top.agent.id, environment: top.environment, runContext: top.runContext, at }
    await Promise.all([
      store.executions.insert(row),
      store.sessions.update(sessionId, (current) => openTurn(current, header)),
      top.repairRows.length === 0 ? undefined : store.messages.append(sessionId, top.repairRows),
    ])
  })
}

/** The run could not be put on record, so it never began: whoever was asked is told by `onStop`. */
export async function neverBegan(top: TopRun, run: RunScope, effect: Effect, thrown: unknown): Promise<unknown> {
  const { tree } = top
  const error = SluiceError.isInstance(thrown)
    ? thrown
    : new SluiceError('STORE_FAILED', 'The record of the run could not be written; nothing was sent.', {
        cause: thrown,
      })
  await tellNotRun(run, effect, { error, kind: 'store', status: 'failed' })
  if (top.resumed === undefined) {
    // the row may have been written beside the header that was not, or the other way round
    const { store, clock } = tree.parts
    const at = clock.now()
    const change = { status: 'failed', failureKind: 'store', completedAt: at, updatedAt: at } as const
    const note = (failure: unknown): void => noteStore(tree, tree.rootExecutionId, failure)
    await endRow(store, tree.rootExecutionId, { ...change, ...errorColumns(error) }).catch(note)
    await store.sessions
      .update(top.sessionId, (current) =>
        current?.status === 'running'
          ? closeTurn(current, { status: 'failed', inputTokens: null, outputTokens: null, at })
          : undefined,
      )
      .catch(note)
  }
  return withPartial(tree.stop?.error ?? error, run)
}

/** Nothing was run: whoever was asked is told by `onStop`, and the receipt of the asking is stored. */
export async function tellNotRun(run: RunScope, effect: Effect, stop: TreeStop): Promise<void> {
  const { tree } = run
  tree.end(stop)
  await tree.windUp()
  closeExecution(run, effect, 'error', 'no')
  await tree.settle()
  await writeReceipts(tree)?.catch((failure: unknown) => noteStore(tree, null, failure))
}
