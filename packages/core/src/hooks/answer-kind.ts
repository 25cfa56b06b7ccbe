import { HookFailedError, Land, Pause, Refusal, Veto, Wait } from '../errors/answers.js'
import type { AnswerOrigin } from '../errors/answers.js'
import { isPlainJson } from '../internal/json.js'
import type { JsonObject } from '../internal/json.js'
import { GATE_ANSWERS } from './hook-points.js'
import type { AskPoint } from './hook-points.js'
import type { GateAnswer } from './receipt.js'

/** A gate that did not pass, as the loop sees it. `error` is always a fresh object of this run (CASE-27). */
export type GateStop =
  | { readonly answer: 'vetoed'; readonly error: Veto; readonly by: AnswerOrigin }
  | { readonly answer: 'refused'; readonly error: Refusal; readonly by: AnswerOrigin }
  | { readonly answer: 'paused'; readonly error: Pause; readonly by: AnswerOrigin }
  | { readonly answer: 'waited'; readonly error: Wait; readonly by: AnswerOrigin }
  | { readonly answer: 'landed'; readonly error: Land; readonly by: AnswerOrigin }
  | { readonly answer: 'failed' | 'timed_out'; readonly error: HookFailedError; readonly by: AnswerOrigin }
  | { readonly answer: 'aborted'; readonly error: undefined; readonly by: AnswerOrigin }

/** Stands for a value that a gate returned instead of settling with `undefined`. */
export class ReturnedValue {
  readonly value: unknown
  readonly #made = true

  constructor(value: unknown) {
    this.value = value
  }

  /** Unlike `instanceof`, this runs no foreign code: a thrown proxy may have a trap that throws. */
  static is(thrown: unknown): thrown is ReturnedValue {
    return thrown !== null && typeof thrown === 'object' && #made in thrown
  }
}

/** Tells what a thrown value means at this point. Reading it may run foreign code; whatever that throws is a failure too. */
export function readAnswer(point: AskPoint, by: AnswerOrigin, thrown: unknown): GateStop {
  if (ReturnedValue.is(thrown)) {
    const message = `Plugin "${by.plugin}" returned ${show(thrown.value)} from ${point}. A gate passes by returning nothing; to stop, throw a Veto.`
    return { answer: 'failed', by, error: new HookFailedError(by, 'returned_value', message, thrown.value) }
  }
  try {
    const stop = readKnown(point, by, thrown)
    if (stop !== undefined) return stop
  } catch {
    // an accessor of the thrown value failed: it is no answer
  }
  const message = `Plugin "${by.plugin}" failed in ${point}: ${show(thrown)}. A gate that fails stops the run.`
  return { answer: 'failed', by, error: new HookFailedError(by, 'threw', message, thrown) }
}

function readKnown(point: AskPoint, by: AnswerOrigin, thrown: unknown): GateStop | undefined {
  const allowed: readonly string[] = GATE_ANSWERS[point]
  if (Veto.isInstance(thrown)) {
    return { answer: 'vetoed', by, error: freshVeto(thrown, by) }
  }
  if (Refusal.isInstance(thrown)) {
    if (!allowed.includes('Refusal')) return wrong(point, by, 'Refusal', thrown)
    if (typeof thrown.text !== 'string') return unsound(point, by, 'Refusal', 'text', 'a text', thrown.text, thrown)
    return { answer: 'refused', by, error: new Refusal(text(thrown.code, 'REFUSED'), thrown.text) }
  }
  if (Pause.isInstance(thrown)) {
    const expiresAt = thrown.expiresAt
    if (!allowed.includes('Pause')) return wrong(point, by, 'Pause', thrown)
    if (expiresAt !== undefined && !Number.isFinite(expiresAt))
      return unsound(point, by, 'Pause', 'expiresAt', 'milliseconds since the epoch', expiresAt, thrown)
    const details = isPlainJson(thrown.details) ? (structuredClone(thrown.details) as JsonObject) : undefined
    return {
      answer: 'paused',
      by,
      error: new Pause(text(thrown.code, 'PAUSED'), {
        ...(expiresAt === undefined ? {} : { expiresAt }),
        ...(details === undefined ? {} : { details }),
      }),
    }
  }
  if (Wait.isInstance(thrown)) {
    if (!allowed.includes('Wait')) return wrong(point, by, 'Wait', thrown)
    if (!(Number.isFinite(thrown.ms) && thrown.ms >= 0))
      return unsound(point, by, 'Wait', 'ms', 'a number of milliseconds, 0 or more', thrown.ms, thrown)
    return { answer: 'waited', by, error: new Wait(text(thrown.code, 'WAIT'), thrown.ms) }
  }
  if (Land.isInstance(thrown)) {
    const cap = thrown.maxOutputTokens
    if (!allowed.includes('Land')) return wrong(point, by, 'Land', thrown)
    if (cap !== undefined && !(Number.isInteger(cap) && cap > 0))
      return unsound(point, by, 'Land', 'maxOutputTokens', 'a whole number from 1', cap, thrown)
    return {
      answer: 'landed',
      by,
      error: new Land(text(thrown.code, 'LAND'), cap === undefined ? {} : { maxOutputTokens: cap }),
    }
  }
  return undefined
}

/** A veto as an object of this run (CASE-27): code, reason and JSON details of what was thrown, which is its `cause`. */
export function freshVeto(thrown: Veto, by: AnswerOrigin): Veto {
  const details = isPlainJson(thrown.details) ? (structuredClone(thrown.details) as JsonObject) : undefined
  return new Veto(text(thrown.code, 'VETO'), text(thrown.message, 'Stopped.'), details, { by, cause: thrown })
}

function wrong(point: AskPoint, by: AnswerOrigin, name: string, thrown: unknown): GateStop {
  const message = `Plugin "${by.plugin}" answered ${name} at ${point}, which takes only ${GATE_ANSWERS[point].join(', ')}. The run is stopped.`
  return { answer: 'failed', by, error: new HookFailedError(by, 'wrong_answer', message, thrown) }
}

function unsound(
  point: AskPoint,
  by: AnswerOrigin,
  name: string,
  field: string,
  wanted: string,
  value: unknown,
  thrown: unknown,
): GateStop {
  const message = `Plugin "${by.plugin}" answered ${name} at ${point} with ${field} ${show(value)}; it has to be ${wanted}. The run is stopped.`
  return { answer: 'failed', by, error: new HookFailedError(by, 'wrong_answer', message, thrown) }
}

/** A gate that missed its deadline. */
export function timedOut(point: AskPoint, by: AnswerOrigin, timeoutMs: number): GateStop {
  const message = `Plugin "${by.plugin}" did not answer in ${point} within ${timeoutMs} ms. A gate that cannot answer stays shut.`
  return { answer: 'timed_out', by, error: new HookFailedError(by, 'timed_out', message, undefined) }
}

/** The code of a stop, for its receipt. */
export function stopCode(stop: GateStop): string | undefined {
  return stop.error?.code
}

/** What a shadowed gate's stop is recorded as. */
export const SHADOW_ANSWER: GateAnswer = 'would_veto'

function text(value: unknown, fallback: string): string {
  return typeof value === 'string' && value !== '' ? value : fallback
}

function show(value: unknown): string {
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`.slice(0, 300)
    if (typeof value === 'string') return JSON.stringify(value.slice(0, 200))
    if (value === null || typeof value !== 'object') return String(value)
    return 'an object'
  } catch {
    return 'something that cannot be shown'
  }
}
