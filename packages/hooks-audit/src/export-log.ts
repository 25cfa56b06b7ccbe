import type { AppendLog, JsonObject, JsonValue, LogEntry } from '@sluice/core'
import type { AuditEntry } from './audit-entry.js'
import { auditError } from './audit-error.js'
import { csvHeader, csvRow } from './csv-row.js'
import { readEntry } from './read-entry.js'
import { toLine } from './to-line.js'

/** `jsonl`: the log itself. `cloudevents`: one CloudEvent 1.0 a line. `csv`: what was used and spent, for finance. */
export type AuditExportFormat = 'jsonl' | 'cloudevents' | 'csv'

/** Which entries are exported. */
export interface ExportRange {
  /** The first entry. Default 0. */
  readonly from?: number
  /** The entry behind the last one. Default: to the end. */
  readonly to?: number
}

const PAGE = 500

/**
 * The export of a log, line by line, each with its line break.
 *
 * @throws AUDIT_CHAIN_BROKEN at an entry that is not sound; `jsonl` shows it as it is
 */
export async function* exportLog(
  storage: AppendLog,
  log: string,
  format: AuditExportFormat,
  { from = 0, to = Number.POSITIVE_INFINITY }: ExportRange = {},
): AsyncGenerator<string, void, undefined> {
  if (format === 'csv') yield csvHeader()
  let next = from
  while (next < to) {
    const page = await storage.read(log, { from: next, limit: Math.min(PAGE, to - next) })
    if (page.length === 0) return
    for (const entry of page) {
      const line = lineOf(format, log, entry)
      if (line !== undefined) yield line
    }
    next += page.length
  }
}

function lineOf(format: AuditExportFormat, log: string, { index, value }: LogEntry): string | undefined {
  // the log itself goes out as it is, so that it can be verified elsewhere
  if (format === 'jsonl') return `${toLine(value)}\n`
  const { entry, why } = readEntry(value)
  if (entry === undefined) {
    throw auditError('AUDIT_CHAIN_BROKEN', `Entry ${index} of the log "${log}" is not what was written: ${why}.`, {
      log,
      index,
    })
  }
  return format === 'csv' ? csvRow(entry) : `${toLine(toCloudEvent(entry) as JsonObject)}\n`
}

/**
 * The CloudEvent of an entry: `data` is the entry, `id` its hash, `type` `dev.sluice.audit.<event>.v1`.
 *
 * @see https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/spec.md
 */
export function toCloudEvent(entry: AuditEntry): Readonly<Record<string, JsonValue>> {
  return {
    specversion: '1.0',
    id: entry.hash,
    source: `/sluice/audit/${encodeURIComponent(entry.log)}`,
    type: `dev.sluice.audit.${entry.event}.v1`,
    ...(entry.run === null ? {} : { subject: `run/${entry.run}` }),
    time: new Date(entry.storedAt).toISOString(),
    datacontenttype: 'application/json',
    data: entry as unknown as JsonObject,
  }
}
