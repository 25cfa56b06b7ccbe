import { SluiceError } from '../../errors/sluice-error.js'
import type { MessageRecord, NewMessageRecord } from '../records.js'
import { checkMessageRow } from './check-rows.js'

/** The rows with the numbers behind `count` (S-37). @throws STORE_KEY_INVALID for a row of another session; STORE_VALUE_INVALID */
export function numberRows(sessionId: string, rows: readonly NewMessageRecord[], count: number): MessageRecord[] {
  return rows.map((row, index) => {
    if (row.sessionId !== sessionId) {
      throw new SluiceError('STORE_KEY_INVALID', `Row ${index} belongs to another session; nothing was written.`, {
        hint: 'Append the rows of one session at a time.',
      })
    }
    checkMessageRow(row)
    return numbered(row, count + index + 1)
  })
}

/** Written out: a spread and one more property costs twenty times as much, and this is done for every row. */
function numbered(row: NewMessageRecord, seq: number): MessageRecord {
  return {
    id: row.id,
    sessionId: row.sessionId,
    executionId: row.executionId,
    seq,
    role: row.role,
    content: row.content,
    agentCode: row.agentCode,
    toolName: row.toolName,
    toolCallId: row.toolCallId,
    toolInput: row.toolInput,
    toolOutput: row.toolOutput,
    toolStatus: row.toolStatus,
    errorReference: row.errorReference,
    messageIndex: row.messageIndex,
    round: row.round,
    part: row.part,
    createdAt: row.createdAt,
  }
}
