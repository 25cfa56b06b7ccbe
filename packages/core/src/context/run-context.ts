import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { boundText } from '../internal/bounded-text.js'
import { escapeControl } from '../internal/escape-text.js'
import { isPlainObject } from '../internal/json.js'
import { isPlainText, isWellFormed, reachesPrototype } from './text-rules.js'

/** A value that a caller may bind. */
export type RunContextValue = string | number | boolean

/**
 * What the caller bound to a run and the model must not choose: flat, frozen, without a prototype. Not a place for
 * secrets: tools see it and rows keep it.
 */
export type RunContext = Readonly<Record<string, RunContextValue>>

/** What a caller offers: a value, or `null` (or `undefined`) for a key that is not bound yet. */
export type OfferedRunContext = Readonly<Record<string, RunContextValue | null | undefined>>

/** Bounds of a run context. */
export const RUN_CONTEXT_BOUNDS = Object.freeze({ keys: 100, keyLength: 200, textLength: 16_384 } as const)

/** The context of a run to which nothing is bound. */
export const EMPTY_RUN_CONTEXT: RunContext = Object.freeze(Object.create(null) as Record<string, RunContextValue>)

/**
 * The effective context: what is bound, and the keys that `offered` adds. A key keeps its value for ever: the same value
 * again (by JSON equality) is accepted, another one is a conflict, `null` neither binds nor changes. Where nothing is added
 * to a context that this function made, that one is returned. Nothing is stored here, and no caller's object is kept.
 *
 * @throws INVALID_CONFIG (`reason` `run_context.invalid`) for keys and values that cannot be bound, all faults at once
 * @throws LIMIT_EXCEEDED for a context beyond {@link RUN_CONTEXT_BOUNDS}
 * @throws RUN_CONTEXT_CONFLICT naming the key, the bound and the offered value
 */
export function bindRunContext(bound: RunContext | undefined, offered: OfferedRunContext | undefined): RunContext {
  const base = bound === undefined ? EMPTY_RUN_CONTEXT : adopt(bound)
  if (offered === undefined || offered === null || (offered as unknown) === base) return base
  const values = readOffered(offered)
  let added = 0
  for (const key in values) {
    const current = base[key]
    if (current === undefined) added += 1
    else if (current !== values[key]) throw conflict(key, current, values[key] as RunContextValue)
  }
  if (added === 0) return base
  if (base === EMPTY_RUN_CONTEXT) return Object.freeze(values)
  const next = Object.assign(Object.create(null), base, values) as Record<string, RunContextValue>
  const keys = Object.keys(next).length
  if (keys > RUN_CONTEXT_BOUNDS.keys) throw tooLarge('keys', keys, RUN_CONTEXT_BOUNDS.keys)
  return Object.freeze(next)
}

/** A bound value as text; `null` for a key that is not bound, and for a missing context. */
export function runContextValue(context: RunContext | null | undefined, key: string): string | null {
  if (context === null || context === undefined || !Object.hasOwn(context, key)) return null
  const value: unknown = context[key]
  return value === null || value === undefined ? null : String(value)
}

/**
 * Checks that every key that an agent requires is bound (R-W1).
 *
 * @throws RUN_CONTEXT_MISSING naming all keys that are not
 */
export function requireRunContext(context: RunContext, required: readonly string[], agentCode: string): void {
  let missing: string[] | undefined
  for (const key of required) {
    if (!Object.hasOwn(context, key)) (missing ??= []).push(key)
  }
  if (missing === undefined) return
  const names = missing.map((key) => `'${escapeControl(key, 200)}'`).join(', ')
  throw new SluiceError(
    'RUN_CONTEXT_MISSING',
    `Agent '${escapeControl(agentCode, 200)}' requires ${names} in the run context, which ${missing.length === 1 ? 'is' : 'are'} not bound.`,
    {
      details: { agentCode, missing },
      hint: 'Give it in `runContext` of the call, or bind it in an earlier turn of the session.',
    },
  )
}

/** A context that came from a record is copied into our own form; one of ours is taken as it is. */
function adopt(bound: RunContext): RunContext {
  if (Object.isFrozen(bound) && Object.getPrototypeOf(bound) === null) return bound
  return Object.freeze(Object.assign(Object.create(null), bound) as Record<string, RunContextValue>)
}

/** The checked values that are there, in a fresh object without a prototype. */
function readOffered(offered: OfferedRunContext): Record<string, RunContextValue> {
  const faults = new Faults()
  const values = Object.create(null) as Record<string, RunContextValue>
  if (!isPlainObject(offered)) {
    faults.add('runContext', 'must be a plain object of texts, numbers and booleans')
  } else {
    const keys = Object.keys(offered)
    if (keys.length > RUN_CONTEXT_BOUNDS.keys) throw tooLarge('keys', keys.length, RUN_CONTEXT_BOUNDS.keys)
    for (const key of keys) {
      // read once: what was checked is what is bound
      const value = offered[key]
      if (checkKey(key, faults) && checkValue(key, value, faults)) values[key] = value
    }
  }
  faults.throwIfAny('The run context is not acceptable', { reason: 'run_context.invalid' })
  return values
}

function checkKey(key: string, faults: Faults): boolean {
  if (key.length > RUN_CONTEXT_BOUNDS.keyLength) throw tooLarge('keyLength', key.length, RUN_CONTEXT_BOUNDS.keyLength)
  if (reachesPrototype(key)) faults.add(key, 'is not allowed as a key')
  else if (!isPlainText(key)) faults.add(key, 'is not allowed as a key: it must be text without control characters')
  else return true
  return false
}

function checkValue(key: string, value: unknown, faults: Faults): value is RunContextValue {
  if (value === null || value === undefined) return false
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return true
  if (typeof value !== 'string') {
    const kind = Array.isArray(value)
      ? 'an array'
      : typeof value === 'number'
        ? String(value)
        : `a value of type ${typeof value}`
    faults.add(key, `must be text, a finite number or a boolean, not ${kind}`)
  } else if (value.length > RUN_CONTEXT_BOUNDS.textLength) {
    throw tooLarge('textLength', value.length, RUN_CONTEXT_BOUNDS.textLength)
  } else if (!isWellFormed(value)) {
    faults.add(key, 'must not hold unpaired surrogates')
  } else {
    return true
  }
  return false
}

function conflict(key: string, bound: RunContextValue, offered: RunContextValue): SluiceError {
  return new SluiceError(
    'RUN_CONTEXT_CONFLICT',
    `Run context key '${escapeControl(key, 200)}' is bound to ${show(bound)} and cannot become ${show(offered)}.`,
    {
      details: { key, bound: cut(bound), offered: cut(offered) },
      hint: 'Start another session to work on another subject.',
    },
  )
}

function tooLarge(bound: keyof typeof RUN_CONTEXT_BOUNDS, actual: number, limit: number): SluiceError {
  return new SluiceError('LIMIT_EXCEEDED', `The run context has ${actual} where ${bound} allows at most ${limit}.`, {
    details: { limit: `runContext.${bound}`, actual, allowed: limit },
    hint: 'Bind ids and names, and let tools look the rest up.',
  })
}

function show(value: RunContextValue): string {
  return typeof value === 'string' ? `'${escapeControl(value, 200)}'` : String(value)
}

function cut(value: RunContextValue): RunContextValue {
  return typeof value === 'string' ? boundText(value, 200).text : value
}
