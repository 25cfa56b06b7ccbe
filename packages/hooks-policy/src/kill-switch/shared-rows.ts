import type { Clock, DocumentKey, Documents, JsonValue } from '@sluice/core'
import { parseRow } from './switch-row.js'

/** Values by their encoded key, and the store's own time where one of them depends on it. */
export interface RowsRead {
  get(key: DocumentKey): JsonValue | undefined
  /** `undefined` where no row that was read expires. */
  readonly at: number | undefined
}

/** A read that gates wait for together. */
interface Batch {
  readonly keys: Map<string, DocumentKey>
  readonly rows: Promise<RowsRead>
  start(): void
}

/** Text of a key, for maps of one process. */
const textOf = (key: DocumentKey): string => JSON.stringify(key)

/**
 * Reads rows for many gates at once. A gate joins the next read, which begins after it was asked; while one is open all that
 * come wait for the next, and share it. So an answer is never older than its question, and a store that is slow is asked once.
 */
export class SharedRows {
  readonly #documents: Documents
  readonly #clock: Clock
  readonly #timeoutMs: number
  #next: Batch | undefined
  #open = false

  /** `timeoutMs`: how long one read may take before it counts as failed. */
  constructor(documents: Documents, clock: Clock, timeoutMs: number) {
    this.#documents = documents
    this.#clock = clock
    this.#timeoutMs = timeoutMs
  }

  /** The rows of these keys, from a read that begins after this call. Rejects where it fails or is late. */
  read(keys: readonly DocumentKey[]): Promise<RowsRead> {
    const batch = (this.#next ??= this.#batch())
    for (const key of keys) batch.keys.set(textOf(key), key)
    return batch.rows
  }

  #batch(): Batch {
    const keys = new Map<string, DocumentKey>()
    let start = (): void => {}
    const begun = new Promise<void>((resolve) => {
      start = resolve
    })
    const rows = begun.then(() => this.#run([...keys.values()]))
    // a gate that gave up does not leave an unhandled rejection
    rows.catch(() => undefined)
    if (!this.#open) queueMicrotask(() => this.#startNext())
    return { keys, rows, start }
  }

  #startNext(): void {
    if (this.#open || this.#next === undefined) return
    const batch = this.#next
    this.#next = undefined
    this.#open = true
    batch.start()
  }

  async #run(keys: readonly DocumentKey[]): Promise<RowsRead> {
    const abort = new AbortController()
    let late: (error: Error) => void = () => undefined
    const lateness = new Promise<never>((_resolve, reject) => {
      late = reject
    })
    const timer = this.#clock.setTimeout(() => {
      const error = new Error(`The rows of the kill switch were not read within ${this.#timeoutMs} ms.`)
      abort.abort(error)
      late(error)
    }, this.#timeoutMs)
    // every gate that waits has a deadline of its own: this one alone keeps no process alive
    timer.hold?.(false)
    try {
      return await Promise.race([this.#load(keys, abort.signal), lateness])
    } finally {
      timer.cancel()
      this.#open = false
      this.#startNext()
    }
  }

  /** One read; a row that expires needs the store's time, and is read again together with it. */
  async #load(keys: readonly DocumentKey[], signal: AbortSignal): Promise<RowsRead> {
    const values = new Map<string, JsonValue | undefined>()
    const read = await this.#documents.getMany(keys, { signal })
    keys.forEach((key, index) => values.set(textOf(key), read[index]))
    const expiring = keys.filter((_key, index) => expires(read[index]))
    let at: number | undefined
    if (expiring.length > 0) {
      const again = await this.#documents.transact(
        expiring,
        (current, now) => ({ next: current, result: { current: [...current], now } }),
        { signal },
      )
      at = again.now
      expiring.forEach((key, index) => values.set(textOf(key), again.current[index]))
    }
    return { get: (key) => values.get(textOf(key)), at }
  }
}

function expires(value: JsonValue | undefined): boolean {
  const row = parseRow(value)
  return typeof row === 'object' && row.on && row.expiresAt !== null
}
