import { testkitError } from './testkit-error.js'

/**
 * Refuses names that are not known. What is misspelt would be ignored, and the test would pass for nothing.
 *
 * @throws OPTION_UNKNOWN naming all of them, and those that there are
 */
export function checkNames(of: string, given: unknown, known: readonly string[]): void {
  if (given === null || typeof given !== 'object')
    throw testkitError('OPTION_UNKNOWN', `${of} must be an object, not ${given === null ? 'null' : typeof given}.`)
  const unknown = Object.keys(given).filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  const named = unknown.map((name) => `"${name.slice(0, 100)}"`).join(', ')
  throw testkitError('OPTION_UNKNOWN', `${of} cannot have ${named}; there are ${known.join(', ')}.`)
}
