import type { RunFacts } from '../context/frame.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { RunScope } from '../generate/run-scope.js'
import { Tree } from '../generate/tree.js'
import { normalizeCaller } from '../context/caller.js'
import { inScope, parseScope } from '../sessions/scope.js'
import type { Scope } from '../sessions/scope.js'
import { closeTurn } from '../sessions/session-header.js'
import type { ExecutionRecord } from '../store/records.js'
import { escapeControl } from '../internal/escape-text.js'
import { totalInput } from '../messages/usage.js'
import { failureOf } from './failure.js'
import { endColumns, tellAfterExecution } from './finish-run.js'
import { knownOptions } from './known-options.js'
import { abortTree } from './runtime-core.js'
import type { RuntimeFace } from './runtime-core.js'
import type { PausedState } from './pause-run.js'

/**
 * Cancels a run: one in flight on this runtime ends as aborted within `abortGraceMs`; a paused one ends at once, frees its
 * session and gets its `afterExecution`. Returns false where the run had ended already.
 * @throws NOT_FOUND for an id that does not exist in the scope
 */
export async function cancel(
  face: RuntimeFace,
  executionId: string,
  options: { readonly scope: Scope; readonly reason?: string },
): Promise<boolean> {
  const faults = new Faults()
  const given = knownOptions(options, 'cancel', ['scope', 'reason'], faults)
  if (given.reason !== undefined && typeof given.reason !== 'string') faults.add('reason', 'must be a text')
  faults.throwIfAny('The options of cancel are not acceptable', { reason: 'cancel.options' })
  const scope = parseScope(options.scope)
  const { flight, parts } = face.core
  const record = await parts.store.executions.get(executionId)
  if (record === undefined || !inScope(record, scope === 'all' ? 'all' : { tenant: scope.tenant })) {
    throw new SluiceError('NOT_FOUND', `There is no run ${escapeControl(String(executionId), 100)} in this scope.`, {
      hint: 'Check the id and the scope.',
    })
  }
  const reason =
    options.reason === undefined
      ? 'The run was cancelled.'
      : `The run was cancelled: ${escapeControl(options.reason, 500)}`
  const tree = flight.find(executionId)
  if (tree !== undefined) {
    abortTree(tree, reason)
    return true
  }
  const root = record.parentExecutionId === null ? record : await parts.store.executions.get(record.rootExecutionId)
  if (root === undefined || root.status !== 'paused') return false
  return cancelPaused(face, root, reason)
}

async function cancelPaused(face: RuntimeFace, record: ExecutionRecord, reason: string): Promise<boolean> {
  const { parts } = face.core
  const { store, clock } = parts
  const stored = (await store.journals.get(record.id)) as unknown as PausedState | undefined
  const held = face.slot.acquire()
  try {
    const caller = normalizeCaller({
      user: record.appUser,
      tenant: record.tenant,
      audience: record.audience,
      appId: record.appId,
    })
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
    if (stored !== undefined) tree.restore(stored.tree)
    const run = scopeOf(tree, record)
    const failure = failureOf(tree, undefined)
    abortTree(tree, reason)
    const ended = { status: 'failed' as const, failure: { ...failure, ...(tree.stop as NonNullable<Tree['stop']>) } }
    let got = false
    await store.executions.transition(record.id, (current) => {
      got = current.status === 'paused'
      return got
        ? {
            ...endColumns(run, ended, clock.now()),
            toolCallsCount: record.toolCallsCount,
            usage: record.usage,
            inputTokens: record.inputTokens,
            outputTokens: record.outputTokens,
          }
        : undefined
    })
    if (!got) return false
    await endNested(face, record)
    await store.sessions.update(record.sessionId, (current) =>
      current === undefined
        ? undefined
        : closeTurn(current, {
            status: 'aborted',
            inputTokens: totalInput(tree.usage),
            outputTokens: tree.usage.outputTokens,
            at: clock.now(),
          }),
    )
    tree.stateOpen = true
    await tellAfterExecution(run, ended, null)
    await tree.settle()
    tree.close()
    await store.journals.delete(record.id)
    return true
  } finally {
    held.release()
  }
}

/** Runs below that wait with it. */
async function endNested(face: RuntimeFace, record: ExecutionRecord): Promise<void> {
  const { store, clock } = face.core.parts
  const page = await store.executions.list({ rootExecutionId: record.id, level: 'nested', limit: 1000 })
  const at = clock.now()
  for (const nested of page.items) {
    if (nested.status === 'paused' || nested.status === 'running') {
      await store.executions.update(nested.id, {
        status: 'aborted',
        failureKind: 'aborted',
        completedAt: at,
        updatedAt: at,
        error: { name: 'SluiceError', code: 'RUN_ABORTED', message: 'The run above it was cancelled.', details: null },
      })
    }
  }
}

/** A scope for a run whose process is not ours: for its record and its last observers. */
export function scopeOf(tree: Tree, record: ExecutionRecord): RunScope {
  const facts: RunFacts = Object.freeze({
    agentId: record.agentId,
    agentCode: record.agentCode,
    executionId: record.id,
    parentExecutionId: record.parentExecutionId,
    rootExecutionId: record.rootExecutionId,
    depth: record.depth,
    sessionId: record.sessionId,
    createdBy: record.createdBy,
    runContext: record.runContext,
  })
  const run = new RunScope({
    tree,
    facts,
    parent: undefined,
    stops: tree.stops,
    labels: [],
    gatePoints: undefined,
    resources: undefined,
    hookSet: tree.hookSet,
    pausable: false,
  })
  run.usage = record.usage
  return run
}
