import type { AppendLog, JsonObject, JsonValue } from '@sluice/core'
import type { AuditEntry } from './audit-entry.js'
import { csvHeader, csvRow } from './csv-row.js'
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

/** The export of a log, line by line, each with its line break. */
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
    for (const { value } of page) {
      const line = lineOf(format, value)
      if (line !== undefined) yield line
    }
    next += page.length
  }
}

function lineOf(format: AuditExportFormat, value: JsonValue): string | undefined {
  if (format === 'csv') return csvRow(value as unknown as AuditEntry)
  return `${toLine(format === 'jsonl' ? value : (toCloudEvent(value as unknown as AuditEntry) as JsonObject))}\n`
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
