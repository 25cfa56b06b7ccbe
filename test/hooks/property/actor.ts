import type { FakeClock } from '@sluice/testkit'
import type { Act, Give, Via } from './acts.js'
import { answerRow, THROWN, VALUES } from './acts.js'
import { TIMES } from './composition.js'

/** What an act needs of the run it is in. */
export interface Surroundings {
  readonly clock: FakeClock
  abort(): void
  /** Calls the runtime from inside. */
  callRuntime(): Promise<unknown>
}

type Callback = (error?: unknown, value?: unknown) => void

/** The function of a tap: performs the act that `next` draws for this asking. */
export function tapFunction(via: Via, timeoutMs: number, around: Surroundings, next: (context: object) => Act) {
  if (via !== 'tapAsync') return (context: object) => perform(next(context), timeoutMs, around, context)
  return (context: object, callback: Callback) => {
    const act = next(context)
    if (act.act === 'callback') return callBack(act.shape, around, callback)
    return viaCallback(() => perform(act, timeoutMs, around, context), callback)
  }
}

/** Says by callback what a promise would settle with; what is thrown at once is thrown, if a callback could not carry it. */
function viaCallback(act: () => unknown, callback: Callback): unknown {
  let returned: unknown
  try {
    returned = act()
  } catch (thrown) {
    if (thrown === null || thrown === undefined) throw thrown
    callback(thrown)
    return undefined
  }
  if (returned instanceof Promise) {
    returned.then(
      (value: unknown) => (value === undefined ? callback() : callback(null, value)),
      (error: unknown) => callback(error),
    )
    return undefined
  }
  if (returned === undefined) callback(null)
  else callback(null, returned)
  return undefined
}

export function perform(act: Act, timeoutMs: number, around: Surroundings, context: object): unknown {
  const { clock } = around
  switch (act.act) {
    case 'settle':
      return settle(act.how, act.ms, clock, () => speak(act.say))
    case 'hang':
      return new Promise(() => {})
    case 'late':
      return after(clock, timeoutMs + TIMES.lateByMs, () => speak(act.say))
    case 'block': {
      const block = () => {
        clock.block(act.over ? timeoutMs + TIMES.blockMs : TIMES.blockMs)
        return speak(act.say)
      }
      return act.promise ? Promise.resolve().then(block) : block()
    }
    case 'abort':
      return settle(act.how, act.ms, clock, () => {
        around.abort()
        return speak(act.say)
      })
    case 'meddle':
      return meddle(context, act.loud)
    case 'call':
      return act.catches ? around.callRuntime().then(nothing, nothing) : around.callRuntime().then(nothing)
    case 'thenable':
      return thenable(act.shape)
    case 'callback':
      throw new Error('only a tapAsync calls back')
  }
}

const nothing = () => undefined

function speak(say: Give): unknown {
  switch (say.give) {
    case 'pass':
      return undefined
    case 'value':
      return VALUES[say.name]
    case 'throw':
      throw THROWN[say.name]
    case 'answer':
      throw answerRow(say.name).make()
  }
}

function settle(how: 'sync' | 'soon' | 'timer', ms: number, clock: FakeClock, say: () => unknown): unknown {
  if (how === 'sync') return say()
  return how === 'soon' ? Promise.resolve().then(say) : after(clock, ms, say)
}

function after(clock: FakeClock, ms: number, say: () => unknown): Promise<unknown> {
  return new Promise((resolve) => void clock.setTimeout(() => resolve(undefined), ms)).then(say)
}

function thenable(shape: Extract<Act, { act: 'thenable' }>['shape']): unknown {
  const then = (call: (resolve: (value?: unknown) => void, reject: (reason: unknown) => void) => void) => ({
    then: call,
  })
  const bug = new Error('of a thenable')
  switch (shape) {
    case 'passes':
      return then((resolve) => resolve())
    case 'pass-then-reject':
      return then((resolve, reject) => {
        resolve()
        reject(bug)
      })
    case 'reject-then-pass':
      return then((resolve, reject) => {
        reject(bug)
        resolve()
      })
    case 'throws':
      return then(() => {
        throw bug
      })
    case 'accessor-throws':
      return Object.defineProperty({}, 'then', {
        get: () => {
          throw bug
        },
      })
    case 'gives-false':
      return then((resolve) => resolve(false))
    case 'never':
      return then(() => {})
  }
}

function callBack(
  shape: Extract<Act, { act: 'callback' }>['shape'],
  around: Surroundings,
  callback: Callback,
): unknown {
  const veto = answerRow('veto').make()
  switch (shape) {
    case 'twice':
      callback()
      callback(veto)
      return undefined
    case 'veto-then-pass':
      callback(veto)
      callback()
      return undefined
    case 'then-throw':
      callback()
      throw new Error('after its callback')
    case 'with-value':
      callback(null, false)
      return undefined
    case 'veto-after-pass':
      callback()
      around.clock.setTimeout(() => callback(veto), 10)
      return undefined
    case 'pass-beside-rejection':
      callback()
      return Promise.reject(veto)
    case 'veto-beside-rejection':
      callback(veto)
      return Promise.reject(new Error('beside its callback'))
  }
}

/** Tries to change the context, everything below it and what stands behind it. */
function meddle(context: object, loud: boolean): undefined {
  const record = context as Record<string, unknown>
  for (const key of [...Object.keys(record), 'signal', 'answers', 'decision']) {
    Reflect.set(record, key, 'changed')
    Reflect.deleteProperty(record, key)
    const value = record[key]
    if (value !== null && typeof value === 'object' && !(value instanceof AbortSignal))
      for (const inner of Object.keys(value)) Reflect.set(value, inner, 'changed')
  }
  for (let shape: object | null = Object.getPrototypeOf(record); shape !== null && shape !== Object.prototype; )
    shape = spoil(shape)
  if (loud) record.effectId = 'changed'
  return undefined
}

function spoil(prototype: object): object | null {
  for (const key of ['effectId', 'signal', 'answers', 'toolCode'])
    Reflect.defineProperty(prototype, key, { get: () => 'changed', configurable: true })
  return Object.getPrototypeOf(prototype) as object | null
}
