import { HookFailedError, Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import { boundText } from '../internal/bounded-text.js'
import type { MaybePromise } from '../internal/json.js'
import { isThenable } from '../internal/json.js'
import { wellFormedText } from '../internal/well-formed-text.js'
import type { ToolContext } from './tool-definition.js'

const REFERENCED: unique symbol = Symbol.for('sluice.referenced-tool-error') as never
const STOPS: readonly string[] = ['RUN_ABORTED', 'RUN_TIMEOUT', 'RUN_OVER', 'TREE_LIMIT', 'GATE_REENTERED']
const MAX_MESSAGE = 4000
const MAX_STACK = 16_000

/**
 * The reference of an error at `now` (milliseconds since the epoch): `ERR-` and 17 digits of UTC time, `yyyymmddhhmmssfff`
 * (B-21). Two errors of one millisecond get the same: the store gives the second one a suffix.
 */
export function nextErrorReference(now: number): string {
  return `ERR-${new Date(now).toISOString().replace(/\D/g, '').slice(0, 17)}`
}

/** The sentence that a model reads of an error: nothing but the reference under which the true one is kept. */
export function errorReferenceText(reference: string): string {
  return `The tool could not complete this request. Its error is on record under ${reference}.`
}

/** The raw text of an error for `exposeToolErrors: true`. It may name tables, lines and secrets (B-20). */
export function rawErrorText(error: unknown): string {
  return `Error executing tool: ${describeThrown(error).message}`
}

/** What an error log keeps of a thrown value. */
export interface ThrownFields {
  readonly name: string
  /** At most 4 000 units. */
  readonly message: string
  readonly stack: string | null
}

/** Reads name, message and stack of whatever was thrown. Never throws itself, whatever accessors or proxies it meets. */
export function describeThrown(error: unknown): ThrownFields {
  try {
    if (error !== null && typeof error === 'object') {
      const { name, message, stack } = error as Partial<Record<'name' | 'message' | 'stack', unknown>>
      if (typeof message === 'string')
        return {
          name: typeof name === 'string' ? bounded(name, 200) : 'Error',
          message: bounded(message, MAX_MESSAGE),
          stack: typeof stack === 'string' ? bounded(stack, MAX_STACK) : null,
        }
      return { name: 'unknown', message: bounded(JSON.stringify(error) ?? String(error), MAX_MESSAGE), stack: null }
    }
    return { name: typeof error, message: bounded(String(error), MAX_MESSAGE), stack: null }
  } catch {
    return { name: 'unknown', message: 'A value that cannot be read was thrown.', stack: null }
  }
}

/**
 * Wraps a handler so that its errors always reach the model as a reference (B-22), whatever `onToolError` and
 * `exposeToolErrors` say: the runtime keeps the true error in the error log, the call is on record as `error`, the run
 * goes on. A stop (a `Veto`, an abort, a limit) passes through unchanged.
 */
export function withErrorReference<Input, Resources>(
  handler: (args: Input, tool: ToolContext<Resources>) => MaybePromise<unknown>,
): (args: Input, tool: ToolContext<Resources>) => MaybePromise<unknown> {
  return (args, tool) => {
    try {
      const result = handler(args, tool)
      return isThenable(result) ? result.then(undefined, (error: unknown) => rethrow(error, tool)) : result
    } catch (error) {
      return rethrow(error, tool)
    }
  }
}

/** True for the error of a handler that {@link withErrorReference} wraps; its `cause` is the true one. */
export function wantsErrorReference(error: unknown): error is SluiceError<'TOOL_FAILED'> {
  return SluiceError.isInstance(error, 'TOOL_FAILED') && Object.hasOwn(error, REFERENCED)
}

function rethrow(error: unknown, tool: { readonly toolCode: string; readonly signal: AbortSignal }): never {
  if (isStop(error) || wantsErrorReference(error) || tool.signal.aborted) throw error
  const marked = new SluiceError('TOOL_FAILED', `The handler of tool '${tool.toolCode}' failed.`, { cause: error })
  Object.defineProperty(marked, REFERENCED, { value: true })
  throw marked
}

function isStop(error: unknown): boolean {
  return (
    Veto.isInstance(error) ||
    HookFailedError.isInstance(error) ||
    (SluiceError.isInstance(error) && STOPS.includes(error.code))
  )
}

function bounded(text: string, max: number): string {
  return wellFormedText(boundText(text, max).text)
}
