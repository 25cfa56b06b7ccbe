import type { JsonValue } from '../../internal/json.js'
import type { ExecutionRecord, NewMessageRecord } from '../records.js'
import { allWellFormed, checkStrings, isWellFormed } from './well-formed.js'

/**
 * The rows that every run writes, checked column by column: going through a row by name costs a fraction of going through
 * it by `for ... in`. What these say yes to is exactly what {@link checkStrings} says yes to; where they say no, that one
 * finds the place. A column that is added to a row is added here (the contract suite of stores tries each).
 */

type Column = JsonValue | undefined
type Text = string | null | undefined

/** @throws STORE_VALUE_INVALID */
export function checkMessageRow(row: NewMessageRecord): void {
  if (
    text(row.id) &&
    text(row.sessionId) &&
    text(row.executionId) &&
    text(row.role) &&
    text(row.content) &&
    text(row.agentCode) &&
    text(row.toolName) &&
    text(row.toolCallId) &&
    text(row.toolInput) &&
    text(row.toolOutput) &&
    text(row.toolStatus) &&
    text(row.errorReference) &&
    json(row.part)
  )
    return
  checkStrings(row, 'A row of the message log')
}

/** @throws STORE_VALUE_INVALID */
export function checkExecution(record: ExecutionRecord): void {
  if (identified(record) && placed(record) && worked(record)) return
  checkStrings(record, 'The execution')
}

function identified(record: ExecutionRecord): boolean {
  return (
    text(record.id) &&
    text(record.rootExecutionId) &&
    text(record.parentExecutionId) &&
    text(record.outerExecutionId) &&
    text(record.agentId) &&
    text(record.agentCode) &&
    text(record.agentType) &&
    text(record.sessionId) &&
    text(record.hooksOrigin) &&
    json(record.plugins as unknown as Column)
  )
}

function placed(record: ExecutionRecord): boolean {
  return (
    text(record.createdBy) &&
    text(record.tenant) &&
    text(record.audience) &&
    text(record.appUser) &&
    text(record.appId) &&
    text(record.appSessionId) &&
    text(record.appPageId) &&
    text(record.ipAddress) &&
    text(record.host) &&
    text(record.osUser) &&
    text(record.module) &&
    text(record.action) &&
    text(record.clientIdentifier) &&
    json(record.envContext)
  )
}

function worked(record: ExecutionRecord): boolean {
  return (
    text(record.status) &&
    text(record.failureKind) &&
    text(record.finishReason) &&
    text(record.followUp) &&
    json(record.input) &&
    json(record.output) &&
    json(record.currentState) &&
    json(record.usage as unknown as Column) &&
    json(record.runContext) &&
    json(record.labels as unknown as Column) &&
    json(record.error as unknown as Column) &&
    json(record.pending as unknown as Column) &&
    json(record.decisions as unknown as Column) &&
    json(record.inFlight)
  )
}

function text(value: Text): boolean {
  return typeof value === 'string' ? isWellFormed(value) : value === null || value === undefined
}

function json(value: Column): boolean {
  if (typeof value !== 'object') return typeof value !== 'string' || isWellFormed(value)
  if (value === null) return true
  return allWellFormed(value)
}
