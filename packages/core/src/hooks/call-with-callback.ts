import { isThenable } from '../internal/json.js'
import { ReturnedValue } from './answer-kind.js'

const promiseThen = Promise.prototype.then

/**
 * Calls a tap that was registered with `tapAsync`. Only `null` and `undefined` mean that there is no error; a stop in the
 * same turn beats the callback; a promise that the tap returns has to settle as well. Returns `undefined` where it passed at
 * once, throws where it stopped at once, else a promise.
 */
export function callWithCallback(fn: (...args: never[]) => unknown, context: object): Promise<undefined> | undefined {
  let inTurn = true
  let passed = false
  let stop: { readonly thrown: unknown } | undefined
  let wake: (() => void) | undefined
  const callback = (error?: unknown, value?: unknown): void => {
    if (error !== null && error !== undefined) stop ??= { thrown: error }
    else if (value !== undefined) stop ??= { thrown: new ReturnedValue(value) }
    else passed = true
    // one microtask later, so that a stop in the same turn still beats a pass
    if (!inTurn && wake !== undefined) queueMicrotask(wake)
  }
  let promise: Promise<unknown> | undefined
  try {
    const returned = (fn as (context: object, callback: (error?: unknown, value?: unknown) => void) => unknown)(
      context,
      callback,
    )
    if (isThenable(returned) || returned instanceof Promise) promise = Promise.resolve(returned)
    else if (returned !== undefined) stop ??= { thrown: new ReturnedValue(returned) }
  } catch (thrown) {
    stop ??= { thrown }
  }
  inTurn = false
  if (stop === undefined && promise === undefined && passed) return undefined
  const settled = promise === undefined ? undefined : undefinedOnly(promise)
  if (stop !== undefined) {
    // what the promise still brings must not go unhandled
    settled?.catch(() => undefined)
    throw stop.thrown
  }
  const called = new Promise<undefined>((resolve, reject) => {
    wake = () => {
      if (stop !== undefined) reject(stop.thrown)
      else if (passed) resolve(undefined)
    }
    wake()
  })
  return settled === undefined ? called : Promise.all([called, settled]).then(() => undefined)
}

/** A promise of our own for one of the tap's: it rejects where that gives a value, and where it cannot be listened to. */
function undefinedOnly(promise: Promise<unknown>): Promise<undefined> {
  return new Promise((resolve, reject) => {
    void promiseThen.call(
      promise,
      (value) => {
        if (value === undefined) resolve(undefined)
        else reject(new ReturnedValue(value))
      },
      reject,
    )
  })
}
