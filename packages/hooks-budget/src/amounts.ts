import { SluiceError } from '@sluice/core'
import type { BudgetErrorCode } from './error-codes.js'
import type { Limit } from './limit.js'
import { parseUsd } from './nano-usd.js'

/** An amount in the unit of its limit: US dollars as a decimal string, or a whole number of tokens. */
export type LimitAmount = string | number

/** Reads an amount in the unit of a limit. @throws AMOUNT_INVALID */
export function readAmount(limit: Pick<Limit, 'unit' | 'id'>, given: LimitAmount): bigint {
  if (limit.unit === 'usd' && typeof given === 'string') {
    const amount = parseUsd(given)
    if (amount !== undefined) return amount
  }
  if (limit.unit === 'tokens' && typeof given === 'number' && Number.isSafeInteger(given) && given >= 0) {
    return BigInt(given)
  }
  const wanted = limit.unit === 'usd' ? "US dollars as a decimal string, such as '0.50'" : 'a whole number of tokens'
  throw fault('AMOUNT_INVALID', `The amount for limit "${limit.id}" must be ${wanted}.`)
}

const MAX_TEXT = 500

/** @throws AMOUNT_INVALID */
export function checkText(value: unknown, name: string): void {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT) return
  throw fault('AMOUNT_INVALID', `"${name}" must be a text of 1 to ${MAX_TEXT} characters.`)
}

/** An error of this package. */
export function fault(code: BudgetErrorCode, message: string): SluiceError {
  return new SluiceError(code, message)
}
