import { HookFailedError, Veto } from '@sluice/core'
import { checkNames } from '../check-names.js'
import { testkitError } from '../testkit-error.js'

/** Which veto is expected; what is left out may be anything. */
export interface ExpectedVeto {
  readonly code?: string
  /** Name of the plugin, with `#id` where it has one. */
  readonly by?: string
  /** The hook point. */
  readonly point?: string
}

/**
 * Awaits a run, a gate result of `callGate`, or a function that gives one, and returns its veto. Anything else fails: a pass,
 * another error, and also a gate that failed instead of answering, because a decision and a bug are not the same.
 *
 * @throws NOT_VETOED saying what happened instead; OPTION_UNKNOWN for an expectation that there is not
 */
export async function expectVeto(outcome: unknown, expected: ExpectedVeto = {}): Promise<Veto> {
  checkExpected('expectVeto', expected)
  const found = await findVeto(outcome)
  if (typeof found === 'string') throw testkitError('NOT_VETOED', `${wanted(expected)}, but ${found}.`)
  if ('other' in found) {
    throw testkitError('NOT_VETOED', `${wanted(expected)}, but ${describe(found.other)}.`, undefined, found.other)
  }
  const difference = compareVeto(found.veto, expected)
  if (difference !== undefined)
    throw testkitError('NOT_VETOED', `${wanted(expected)}, but ${difference}.`, undefined, found.veto)
  return found.veto
}

/** The veto of an outcome, another error, or what happened in words. */
export async function findVeto(
  outcome: unknown,
): Promise<{ readonly veto: Veto } | { readonly other: unknown } | string> {
  let value: unknown
  try {
    value = await (typeof outcome === 'function' ? (outcome as () => unknown)() : outcome)
  } catch (error) {
    return asVeto(error)
  }
  if (value instanceof Error) return asVeto(value)
  if (isGateResult(value))
    return value.error === undefined ? `the gate answered "${value.answer}"` : asVeto(value.error)
  const status = (value as { status?: unknown } | null | undefined)?.status
  return typeof status === 'string' ? `the run ended with status "${status}"` : 'nothing was thrown'
}

function asVeto(error: unknown): { readonly veto: Veto } | { readonly other: unknown } {
  return Veto.isInstance(error) ? { veto: error } : { other: error }
}

function isGateResult(value: unknown): value is { readonly answer: string; readonly error: unknown } {
  return value !== null && typeof value === 'object' && 'answer' in value && 'gates' in value && 'error' in value
}

/** Refuses an expectation that is misspelt: it would fit any veto. */
export function checkExpected(of: string, expected: ExpectedVeto): void {
  checkNames(`What ${of} expects`, expected, ['code', 'by', 'point'])
}

/** What differs between a veto and the expected one, in words; `undefined` where it fits. */
export function compareVeto(veto: Veto, expected: ExpectedVeto): string | undefined {
  if (expected.code !== undefined && veto.code !== expected.code) return `the code is ${veto.code} (${veto.message})`
  if (expected.by !== undefined && veto.by?.plugin !== expected.by)
    return `it came from ${veto.by?.plugin ?? 'no plugin'}`
  if (expected.point !== undefined && veto.by?.point !== expected.point)
    return `it came at ${veto.by?.point ?? 'no hook point'}`
  return undefined
}

/** The expectation in words. */
export function wanted(expected: ExpectedVeto): string {
  const parts = [
    expected.code === undefined ? 'a veto' : `the veto ${expected.code}`,
    expected.by === undefined ? '' : ` by ${expected.by}`,
    expected.point === undefined ? '' : ` at ${expected.point}`,
  ]
  return `Expected ${parts.join('')}`
}

/** An outcome that is no veto, in words. */
export function describe(error: unknown): string {
  if (HookFailedError.isInstance(error)) return `a gate failed instead of answering: ${error.message}`
  if (error instanceof Error) {
    const code = (error as { code?: unknown }).code
    return `it was ${error.name}${typeof code === 'string' ? ` ${code}` : ''}: ${error.message}`
  }
  return `something was thrown that is no error: ${String(error)}`
}
