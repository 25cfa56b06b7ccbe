import { frameOf } from '../context/frame.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { inScope, parseScope } from '../sessions/scope.js'
import type { Scope } from '../sessions/scope.js'
import { escapeControl } from '../internal/escape-text.js'
import { cancelPaused } from './cancel-paused.js'
import { knownOptions } from './known-options.js'
import { abortTree } from './runtime-core.js'
import type { RuntimeFace } from './runtime-core.js'

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
    flight.cancelled.set(tree, reason)
    abortTree(tree, reason)
    if (tree.stop !== undefined) return true
    // how it ends is decided already, or its pause is being written; its own last observers do not wait for that
    if (frameOf(parts.runtimeKey)?.tree === tree) return false
    await flight.gone(tree)
    return cancel(face, executionId, options)
  }
  const root = record.parentExecutionId === null ? record : await parts.store.executions.get(record.rootExecutionId)
  if (root === undefined || root.status !== 'paused') return false
  return cancelPaused(face, root, reason)
}
