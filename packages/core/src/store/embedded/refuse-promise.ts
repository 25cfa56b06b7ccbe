import { SluiceError } from '../../errors/sluice-error.js'
import { isThenable } from '../../internal/json.js'

/**
 * Refuses what a callback returned where that is a promise, whose later rejection is then nobody's: the callbacks of a
 * store run while nothing else may, so they cannot wait for anything.
 *
 * @throws STORE_CALLBACK
 */
export function refusePromise(result: unknown, method: string): void {
  if (!isThenable(result)) return
  result.then(undefined, () => undefined)
  throw callbackFault(method, 'returned a promise')
}

export function callbackFault(method: string, what: string): SluiceError {
  return new SluiceError('STORE_CALLBACK', `The callback of ${method} ${what}; nothing was written.`, {
    hint: 'Make it synchronous and pure: read first, then decide in the callback.',
  })
}
