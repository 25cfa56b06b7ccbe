import type { Caller, ResolvedCaller } from '../context/caller.js'
import type { StoredJournal } from '../engine/engine.js'
import type { Effect } from '../generate/effect.js'
import { emitRun } from '../generate/emit-run.js'
import type { RunScope } from '../generate/run-scope.js'
import type { TreeSnapshot } from '../generate/tree-snapshot.js'
import type { JsonObject } from '../internal/json.js'
import type { FilePart } from '../messages/message.js'
import { closeTurn } from '../sessions/session-header.js'
import type { NewMessageRecord, PendingRecord } from '../store/records.js'
import { askedExecution } from './ask-before-execution.js'
import { countColumns } from './execution-row.js'
import type { RunRecorder } from './recorder.js'
import type { AskedExecution } from './resumed.js'
import type { PausedRun } from './run-result.js'
import type { TopRun } from './top-run.js'
import { writeReceipts } from './write-receipts.js'

/** What a pause stores so that any process can carry the run on. */
export interface PausedState {
  readonly version: 1
  readonly journal: StoredJournal
  readonly tree: TreeSnapshot
  readonly files: readonly FilePart[]
  /** JSON Schema of the answer that the call itself asked for. */
  readonly output: JsonObject | null
  readonly limits: JsonObject
  readonly caller: Caller
  readonly execution: AskedExecution
  /** Rows of the turn that are not in the log: those of the round that waits. A resume makes them again, a cancel writes them. */
  readonly unlogged: readonly NewMessageRecord[]
}

/**
 * Stores the journal with the execution; the run is over for this process until somebody resumes it. Until the row says so, the
 * run can still be stopped: then this throws, and the run ends with that.
 */
export async function pauseRun(top: TopRun, run: RunScope, recorder: RunRecorder, effect: Effect): Promise<PausedRun> {
  const { tree, sessionId } = top
  const { store, engine, clock } = tree.parts
  const executionId = tree.rootExecutionId
  await tree.windUp(false)
  await tree.settle()
  const pending = Object.freeze([...tree.pending, ...tree.waiting])
  const state: PausedState = {
    version: 1,
    journal: engine.snapshot(executionId),
    tree: tree.snapshot(),
    files: top.files,
    output: top.output?.jsonSchema ?? null,
    limits: tree.limits as unknown as JsonObject,
    caller: callerAsGiven(top.caller),
    execution: askedExecution(effect),
    unlogged: recorder.unlogged(run.call),
  }
  await store.journals.put(executionId, state as unknown as JsonObject)
  await writeReceipts(tree)
  tree.check()
  tree.seal()
  const at = clock.now()
  await store.executions.update(executionId, { ...countColumns(run), status: 'paused', pending, updatedAt: at })
  await store.sessions.update(sessionId, (current) =>
    current === undefined
      ? undefined
      : closeTurn(current, {
          status: 'paused',
          inputTokens: null,
          outputTokens: null,
          pausedExecutionId: executionId,
          at,
          ...(recorder.messageCount === undefined ? {} : { messageCount: recorder.messageCount }),
        }),
  )
  const shown = pending.map(shownPending)
  emitRun(run, 'run_paused', { pending: shown as unknown as JsonObject['x'] })
  return Object.freeze({
    status: 'paused',
    executionId,
    sessionId,
    agentCode: top.agent.code,
    agentVersion: top.agent.version,
    text: null,
    output: undefined,
    finishReason: 'paused',
    details: null,
    pending: shown,
    usage: run.usage,
    treeUsage: tree.usage,
    messages: run.call?.shown() ?? [],
    toolCalls: Object.freeze([...run.toolCalls]),
    receipts: tree.receiptCounts(),
    model: null,
    provider: null,
  }) as PausedRun
}

function callerAsGiven({ createdBy: _, ...caller }: ResolvedCaller): Caller {
  return caller
}

/** What waits for a human, as callers see it. */
export function shownPending({ decision: _, ...pending }: PendingRecord): Omit<PendingRecord, 'decision'> {
  return Object.freeze(pending)
}
