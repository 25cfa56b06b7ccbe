import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'
import type { ExecutionRecord } from '../records.js'
import { callbackFault } from './refuse-promise.js'
import { checkStrings } from './well-formed.js'

/** @throws STORE_CALLBACK for a change that is none, or that moves the row to another id; STORE_VALUE_INVALID */
export function checkExecutionChange(current: ExecutionRecord, fields: Partial<ExecutionRecord>): void {
  if (fields === null || typeof fields !== 'object') {
    throw callbackFault('transition', `returned ${String(fields)}, which is no change`)
  }
  if (fields.id !== undefined && fields.id !== current.id) {
    throw callbackFault('transition', 'returned another id')
  }
  checkStrings(fields, 'The change of an execution')
}

export function duplicateExecution(id: string): SluiceError {
  return new SluiceError('DUPLICATE_NAME', `Execution '${escapeControl(id, 200)}' exists; nothing was written.`, {
    hint: 'Draw a fresh id for every run.',
  })
}

export function noExecution(id: string): SluiceError {
  return new SluiceError('NOT_FOUND', `There is no execution '${escapeControl(id, 200)}'; nothing was written.`, {
    hint: 'Insert it first.',
  })
}
