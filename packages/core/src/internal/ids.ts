import { randomBytes } from 'node:crypto'

/** Where all identifiers come from. Injected through `createRuntime({ ids })`, so that tests get the same ids every time. */
export interface Ids {
  /** A fresh UUIDv7 (RFC 9562) in lower case with hyphens; within one generator each is greater than the one before. */
  id(): string
  /** A fresh request id: 32 hexadecimal characters in lower case (rule Z-7). */
  requestId(): string
}

const HEX: readonly string[] = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
const POOL_BYTES = 4096

function hex(bytes: Uint8Array, from: number, to: number): string {
  let text = ''
  for (let index = from; index < to; index++) text += HEX[bytes[index] as number]
  return text
}

/** Makes a generator of UUIDv7 and request ids on `now` (milliseconds since the epoch) and the machine's randomness. */
export function createIds(now: () => number = Date.now): Ids {
  let pool = new Uint8Array(0)
  let used = 0
  let lastMs = 0
  let sequence = 0

  function take(count: number): number {
    if (used + count > pool.length) {
      pool = randomBytes(POOL_BYTES)
      used = 0
    }
    const from = used
    used += count
    return from
  }

  return {
    id() {
      const ms = Math.max(now(), lastMs)
      const from = take(10)
      if (ms === lastMs) {
        sequence += 1
        if (sequence > 0xfff) {
          lastMs = ms + 1
          sequence = 0
        }
      } else {
        lastMs = ms
        sequence = ((pool[from] as number) << 3) & 0x7ff
      }
      const time = lastMs.toString(16).padStart(12, '0')
      const variant = HEX[((pool[from + 2] as number) & 0x3f) | 0x80] as string
      return `${time.slice(0, 8)}-${time.slice(8)}-7${sequence.toString(16).padStart(3, '0')}-${variant}${hex(pool, from + 3, from + 4)}-${hex(pool, from + 4, from + 10)}`
    },
    requestId() {
      const from = take(16)
      return hex(pool, from, from + 16)
    },
  }
}
