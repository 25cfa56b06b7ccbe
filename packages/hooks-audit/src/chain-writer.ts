import type { AppendLog, JsonValue } from '@sluice/core'
import type { AuditDraft, AuditEntry } from './audit-entry.js'
import { auditError } from './audit-error.js'
import type { LogKeys } from './next-entries.js'
import { nextEntries } from './next-entries.js'
import { canonicalText } from './canonical-text.js'

/** Largest entry as canonical JSON, in bytes, with room for its place, its hash and two codes: a log takes 64 KiB. */
export const MAX_ENTRY_BYTES = 63_000
/** Entries of one step; what waits beyond it goes into the next one. */
const MAX_STEP = 64
/** Entries that wait at most, while a store does not answer, and their bytes. */
const MAX_WAITING = 10_000
const MAX_WAITING_BYTES = 64 * 1024 * 1024

interface Waiting {
  readonly draft: AuditDraft
  readonly bytes: number
  readonly signal: AbortSignal | undefined
  readonly resolve: (entry: AuditEntry) => void
  readonly reject: (error: unknown) => void
}

/** Writes the entries of one log, one step at a time: whatever waits meanwhile is written in the next step, in order. */
export class ChainWriter {
  readonly #storage: AppendLog
  readonly #log: string
  readonly #keys: LogKeys
  #waiting: Waiting[] = []
  #waitingBytes = 0
  #busy = false
  readonly #onIdle: (() => void) | undefined

  /** @param onIdle called whenever nothing waits any more */
  constructor(storage: AppendLog, log: string, keys: LogKeys, onIdle?: () => void) {
    this.#onIdle = onIdle
    this.#storage = storage
    this.#log = log
    this.#keys = keys
  }

  /**
   * Resolves with the entry when it is durable. One whose `signal` has fired before its step begins is not written, and
   * rejects with the signal's reason.
   *
   * @throws AUDIT_ENTRY_TOO_LARGE, AUDIT_NOT_WRITTEN, AUDIT_LOG_FOREIGN, AUDIT_KEY_UNKNOWN, and what the store throws
   */
  write(draft: AuditDraft, signal?: AbortSignal): Promise<AuditEntry> {
    const bytes = Buffer.byteLength(canonicalText(draft as unknown as JsonValue))
    if (bytes > MAX_ENTRY_BYTES) {
      return Promise.reject(
        auditError('AUDIT_ENTRY_TOO_LARGE', `An entry "${draft.event}" of the log "${this.#log}" has ${bytes} bytes.`, {
          log: this.#log,
          bytes,
          max: MAX_ENTRY_BYTES,
        }),
      )
    }
    const waiting = this.#waiting.length
    if (waiting >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      return Promise.reject(
        auditError('AUDIT_NOT_WRITTEN', `${waiting} entries wait for the log "${this.#log}" already.`, {
          log: this.#log,
          waiting,
        }),
      )
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ draft, bytes, signal, resolve, reject })
      this.#waitingBytes += bytes
      if (!this.#busy) {
        this.#busy = true
        // what is handed in during the same turn belongs to the same step
        queueMicrotask(() => void this.#drain())
      }
    })
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      const taken = this.#waiting.splice(0, MAX_STEP)
      for (const { bytes } of taken) this.#waitingBytes -= bytes
      const step = taken.filter((entry) => !isGone(entry))
      if (step.length > 0) await this.#writeStep(step)
    }
    this.#busy = false
    this.#onIdle?.()
  }

  async #writeStep(step: readonly Waiting[]): Promise<void> {
    try {
      const drafts = step.map((entry) => entry.draft)
      const appended = await this.#storage.append(
        this.#log,
        (tail, at) => nextEntries(this.#log, tail, at, drafts, this.#keys) as unknown as readonly JsonValue[],
      )
      // an entry about the key may stand before them
      const first = appended.length - step.length
      for (const [index, entry] of step.entries())
        entry.resolve(appended[first + index]?.value as unknown as AuditEntry)
    } catch (error) {
      for (const entry of step) entry.reject(error)
    }
  }
}

/** Its gate has ended without it: the effect will not happen, and an intent would tell of nothing. */
function isGone({ signal, reject }: Waiting): boolean {
  if (signal?.aborted !== true) return false
  reject(signal.reason)
  return true
}
