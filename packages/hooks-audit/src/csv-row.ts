import type { JsonObject, JsonValue } from '@sluice/core'
import type { AuditEntry } from './audit-entry.js'

const COLUMNS = [
  'seq',
  'time',
  'event',
  'tenant',
  'actor',
  'agent',
  'subject',
  'outcome',
  'sent',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'cost_usd',
  'tool_cost_usd',
  'run',
  'effect_id',
  'attempt',
  'hash',
] as const

/** What a spreadsheet takes for the beginning of a formula, also behind white space. */
const FORMULA = /^\s*[=+\-@\uff1d\uff0b\uff0d\uff20|%]/
/** What breaks a line, moves a cursor or turns the direction of a text. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

/** The names of the columns. */
export function csvHeader(): string {
  return row(COLUMNS.map((name) => name))
}

/** The row of a model call or tool call that has ended; `undefined` for every other entry. */
export function csvRow(entry: AuditEntry): string | undefined {
  if (entry.event !== 'model.outcome' && entry.event !== 'tool.outcome') return undefined
  const { data } = entry
  const usage = objectOf(data.usage)
  const toolCost = objectOf(data.toolCost)
  const subject = entry.event === 'model.outcome' ? `${textOf(data.provider)}/${textOf(data.model)}` : data.tool
  const cells: readonly JsonValue[] = [
    entry.seq,
    new Date(entry.storedAt).toISOString(),
    entry.event,
    entry.tenant,
    entry.actor,
    entry.agent,
    subject ?? null,
    data.outcome ?? null,
    data.sent ?? null,
    usage.inputTokens ?? null,
    usage.cacheReadTokens ?? null,
    usage.cacheWriteTokens ?? null,
    usage.outputTokens ?? null,
    usage.reasoningTokens ?? null,
    data.costUsd ?? null,
    toolCost.usd ?? null,
    entry.run,
    entry.effectId,
    entry.attempt,
    entry.hash,
  ]
  return row(cells)
}

/** One record of RFC 4180: every cell quoted, on one line, and none that a spreadsheet would compute. */
function row(cells: readonly JsonValue[]): string {
  return `${cells.map(cell).join(',')}\r\n`
}

function cell(value: JsonValue): string {
  const text = textOf(value)
  const guarded = typeof value !== 'number' && FORMULA.test(text) ? `'${text}` : text
  return `"${guarded.replace(CONTROL, escapeCharacter).replaceAll('"', '""')}"`
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function textOf(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  const { personal } = objectOf(value)
  return typeof personal === 'string' ? `personal:${personal}` : JSON.stringify(value)
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {}
}
