import { SluiceError } from '../../errors/sluice-error.js'
import type { MessageRecord, NewMessageRecord } from '../records.js'
import { checkStrings } from './well-formed.js'

/** The rows with the numbers behind `count` (S-37). @throws STORE_KEY_INVALID for a row of another session; STORE_VALUE_INVALID */
export function numberRows(sessionId: string, rows: readonly NewMessageRecord[], count: number): MessageRecord[] {
  return rows.map((row, index) => {
    if (row.sessionId !== sessionId) {
      throw new SluiceError('STORE_KEY_INVALID', `Row ${index} belongs to another session; nothing was written.`, {
        hint: 'Append the rows of one session at a time.',
      })
    }
    checkStrings(row, `Row ${index} of the message log`)
    return { ...row, seq: count + index + 1 }
  })
}
