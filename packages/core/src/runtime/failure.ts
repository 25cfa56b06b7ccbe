import { HookFailedError, Veto } from '../errors/answers.js'
import { ProviderError } from '../errors/provider-error.js'
import { SluiceError } from '../errors/sluice-error.js'
import { FatalCallback } from '../events/event-hub.js'
import { snapshotError } from '../generate/effect.js'
import type { Tree } from '../generate/tree.js'
import type { StopSource } from '../internal/stop-source.js'
import type { ExecutionRecord, ExecutionStatus, FailureKind } from '../store/records.js'

/** How a run failed, for its record and for `afterExecution`. */
export interface Failure {
  readonly error: unknown
  readonly kind: FailureKind
  readonly status: Exclude<ExecutionStatus, 'running' | 'paused' | 'completed'>
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  MAX_TOOL_CALLS: 'limit',
  TREE_LIMIT: 'limit',
  LIMIT_EXCEEDED: 'limit',
  MAX_NESTING_DEPTH: 'limit',
  BUSY: 'limit',
  TOOL_FAILED: 'tool',
  TOOL_TIMEOUT: 'tool',
  TOOL_RESULT_INVALID: 'tool',
  TOOL_NOT_FOUND: 'tool',
  TOOL_ARGS_INVALID: 'tool',
  TOOL_ARGS_NOT_PLAIN: 'tool',
  OUTPUT_INVALID: 'provider',
  UNKNOWN_PROVIDER: 'provider',
  PROVIDER_SDK_MISSING: 'provider',
  // of a run below this one, whose own stop is read before
  RUN_ABORTED: 'tool',
  RUN_TIMEOUT: 'tool',
  RUN_CRASHED: 'crashed',
}

/**
 * Reads how a run failed from what was thrown in it; a stop of its tree, or one of its own (`stops`: a nested agent's timeout,
 * the signal of its caller), wins over whatever user code made of it.
 */
export function failureOf(tree: Tree, thrown: unknown, stops?: StopSource): Failure {
  if (tree.stop !== undefined) return tree.stop
  if (stops?.stopped === true) {
    const status = SluiceError.isInstance(stops.reason, 'RUN_TIMEOUT') ? 'timeout' : 'aborted'
    return { error: stops.reason, kind: status, status }
  }
  const error = thrown instanceof FatalCallback ? thrown.error : thrown
  return { error, kind: kindOf(error, thrown instanceof FatalCallback), status: 'failed' }
}

function kindOf(error: unknown, callback: boolean): FailureKind {
  if (callback || HookFailedError.isInstance(error)) return 'hook'
  if (Veto.isInstance(error)) return 'veto'
  if (ProviderError.isInstance(error)) return 'provider'
  if (!SluiceError.isInstance(error)) return 'tool'
  if (error.code.startsWith('STORE_')) return 'store'
  return Object.hasOwn(KINDS, error.code) ? (KINDS[error.code] as FailureKind) : 'input'
}

/** The error columns of a record (Z-4, B-11). */
export function errorColumns(error: unknown): Pick<ExecutionRecord, 'error'> {
  const { name, code, message, details } = snapshotError(error)
  return { error: { name, code, message, details } }
}
