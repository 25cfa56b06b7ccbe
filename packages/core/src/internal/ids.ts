import { randomBytes } from 'node:crypto'

/** Where all identifiers come from. Injected through `createRuntime({ ids })`, so that tests get the same ids every time. */
export interface Ids {
  /** A fresh UUIDv7 (RFC 9562) in lower case with hyphens; within one generator each is greater than the one before. */
  id(): string
  /** A fresh request id: 32 hexadecimal characters in lower case (rule Z-7). */
  requestId(): string
}

const POOL_BYTES = 4096

/** Makes a generator of UUIDv7 and request ids on `now` (milliseconds since the epoch) and the machine's randomness. */
export function createIds(now: () => number = Date.now): Ids {
  let bytes = new Uint8Array(0)
  /** The same bytes in hexadecimal. It is taken in pieces of at most 12: longer ones would keep all of it alive. */
  let text = ''
  let used = 0
  let lastMs = -1
  let sequence = 0
  /** The part of an id that tells the millisecond. */
  let prefix = ''

  function take(count: number): number {
    if (used + count > bytes.length) {
      const pool = randomBytes(POOL_BYTES)
      bytes = pool
      text = pool.toString('hex')
      used = 0
    }
    const from = used
    used += count
    return from
  }

  function begin(ms: number, first: number): void {
    lastMs = ms
    sequence = first
    const time = ms.toString(16).padStart(12, '0')
    prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
  }

  function hex(from: number, count: number): string {
    return text.slice(2 * from, 2 * (from + count))
  }

  return {
    id() {
      const ms = now()
      const from = take(10)
      if (ms > lastMs) begin(ms, ((bytes[from] as number) << 3) & 0x7ff)
      else if (sequence === 0xfff) begin(lastMs + 1, 0)
      else sequence += 1
      const counter = (0x1000 | sequence).toString(16).slice(1)
      const variant = (((bytes[from + 2] as number) & 0x3f) | 0x80).toString(16)
      return `${prefix}${counter}-${variant}${hex(from + 3, 1)}-${hex(from + 4, 6)}`
    },
    requestId() {
      const from = take(16)
      return `${hex(from, 6)}${hex(from + 6, 6)}${hex(from + 12, 4)}`
    },
  }
}
