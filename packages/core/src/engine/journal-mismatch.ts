import { SluiceError } from '../errors/sluice-error.js'
import type { JsonObject } from '../internal/json.js'

const MISMATCH: unique symbol = Symbol('journal mismatch')

/** A journal that does not fit the code that replays it. Marked: an error of the same code from elsewhere is not taken for it. */
export function journalMismatch(
  message: string,
  options: { readonly hint?: string; readonly details?: JsonObject; readonly cause?: unknown } = {},
): SluiceError {
  const error = new SluiceError('JOURNAL_MISMATCH', message, options)
  Object.defineProperty(error, MISMATCH, { value: true })
  return error
}

/** True for an error of {@link journalMismatch}, and for no other of that code. */
export function isJournalMismatch(error: unknown): boolean {
  return error instanceof SluiceError && Object.hasOwn(error, MISMATCH)
}
