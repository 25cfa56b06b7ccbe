import { isThenable } from '../internal/json.js'
import { ReturnedValue } from './answer-kind.js'

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
  let returned: unknown
  try {
    returned = (fn as (context: object, callback: (error?: unknown, value?: unknown) => void) => unknown)(
      context,
      callback,
    )
  } catch (thrown) {
    stop ??= { thrown }
  }
  inTurn = false
  const promise = isThenable(returned) ? Promise.resolve(returned) : undefined
  if (returned !== undefined && promise === undefined) stop ??= { thrown: new ReturnedValue(returned) }
  if (stop !== undefined) {
    promise?.then(undefined, () => undefined)
    throw stop.thrown
  }
  if (passed && promise === undefined) return undefined
  const called = new Promise<undefined>((resolve, reject) => {
    wake = () => {
      if (stop !== undefined) reject(stop.thrown)
      else if (passed) resolve(undefined)
    }
    wake()
  })
  if (promise === undefined) return called
  return Promise.all([
    called,
    promise.then((value) => {
      if (value !== undefined) throw new ReturnedValue(value)
    }),
  ]).then(() => undefined)
}
