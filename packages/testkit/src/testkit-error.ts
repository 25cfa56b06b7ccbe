import type { JsonObject } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { TestkitErrorCode } from './error-codes.js'
import { TESTKIT_ERROR_CODES } from './error-codes.js'

/** Makes an error of this package: what happened, then what to do about it from the table of codes. */
export function testkitError(
  code: TestkitErrorCode,
  message: string,
  details?: JsonObject,
  cause?: unknown,
): SluiceError<TestkitErrorCode> {
  return new SluiceError(code, message, {
    hint: TESTKIT_ERROR_CODES[code].remedy,
    ...(details === undefined ? {} : { details }),
    ...(cause === undefined ? {} : { cause }),
  })
}
