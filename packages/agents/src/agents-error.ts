import type { SluiceErrorOptions } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { AgentsErrorCode } from './error-codes.js'

/** An error of this package: a `SluiceError` with a code of its table. */
export function agentsError<Code extends AgentsErrorCode>(
  code: Code,
  message: string,
  options: SluiceErrorOptions = {},
): SluiceError<Code> {
  return new SluiceError(code, message, options)
}
