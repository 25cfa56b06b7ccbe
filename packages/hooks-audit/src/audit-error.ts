import type { JsonObject } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { AuditErrorCode } from './audit-error-codes.js'
import { AUDIT_ERROR_CODES } from './audit-error-codes.js'

/** An error of this package, with what to do about it. */
export function auditError(code: AuditErrorCode, message: string, details?: JsonObject, cause?: unknown): SluiceError {
  return new SluiceError(code, message, {
    hint: AUDIT_ERROR_CODES[code].remedy,
    ...(details === undefined ? {} : { details }),
    ...(cause === undefined ? {} : { cause }),
  })
}
