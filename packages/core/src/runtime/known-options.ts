import type { Faults } from '../errors/faults.js'
import { isPlainObject } from '../internal/json.js'

/** Reads a plain object of options: another value, and every key that is not known, is a fault. */
export function knownOptions(
  given: unknown,
  call: string,
  known: readonly string[],
  faults: Faults,
): Readonly<Record<string, unknown>> {
  if (!isPlainObject(given)) {
    faults.add(call, 'takes one plain object of options')
    return {}
  }
  for (const key of Object.keys(given))
    if (!known.includes(key)) faults.add(key, `is not known; known are ${known.join(', ')}`)
  return given
}
