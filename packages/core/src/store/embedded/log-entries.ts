import { SluiceError } from '../../errors/sluice-error.js'
import type { JsonValue } from '../../internal/json.js'
import type { LogEntry } from '../store.js'
import { callbackFault, refusePromise } from './refuse-promise.js'
import { snapshotJson } from './snapshot-json.js'

/** Largest entry of a log, in bytes of JSON. */
const MAX_ENTRY_BYTES = 65_536

/**
 * The entries that a callback of `append` returned, with their places behind `tail`.
 *
 * @throws STORE_CALLBACK for anything but a list; STORE_VALUE_INVALID; LIMIT_EXCEEDED for an entry above 64 KiB
 */
export function nextEntries(values: readonly JsonValue[], tail: LogEntry | undefined, at: number): LogEntry[] {
  refusePromise(values, 'append')
  if (!Array.isArray(values)) throw callbackFault('append', 'returned no list of entries')
  const first = tail === undefined ? 0 : tail.index + 1
  return values.map((value: JsonValue, offset) => {
    refusePromise(value, 'append')
    const kept = snapshotJson(value, `Entry ${offset}`)
    checkSize(kept, offset)
    return Object.freeze({ index: first + offset, at, value: kept })
  })
}

function checkSize(value: JsonValue, offset: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value))
  if (bytes <= MAX_ENTRY_BYTES) return
  throw new SluiceError(
    'LIMIT_EXCEEDED',
    `Entry ${offset} has ${bytes} bytes of JSON; a log entry holds at most ${MAX_ENTRY_BYTES}. Nothing was written.`,
    { details: { bytes, max: MAX_ENTRY_BYTES }, hint: 'Store the large part as a document and its key in the log.' },
  )
}
