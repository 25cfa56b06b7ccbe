import { crc32 } from 'node:zlib'

const CHECKSUM_DIGITS = 8

/** Checksum of a text in 8 hexadecimal digits (CRC-32 of its UTF-8 bytes). */
export function checksum(data: string | Buffer): string {
  return crc32(data).toString(16).padStart(CHECKSUM_DIGITS, '0')
}

/** One record of a line file: checksum, space, JSON, newline. JSON text holds no newline of its own. */
export function encodeLine(json: string): string {
  return `${checksum(json)} ${json}\n`
}

/** The JSON text of a line without its newline; `undefined` where the checksum does not fit. */
export function decodeLine(line: Buffer): string | undefined {
  if (line.length <= CHECKSUM_DIGITS + 1 || line[CHECKSUM_DIGITS] !== 0x20) return undefined
  const json = line.subarray(CHECKSUM_DIGITS + 1)
  return line.toString('latin1', 0, CHECKSUM_DIGITS) === checksum(json) ? json.toString('utf8') : undefined
}

/** A line as it lies in a file. */
export interface PlacedLine {
  readonly json: string
  /** Byte of its beginning, and of what follows it. */
  readonly from: number
  readonly to: number
}

/** The good lines of `bytes` from `from` on, up to the first that is incomplete or does not fit its checksum. */
export function* goodLines(bytes: Buffer, from: number): Generator<PlacedLine> {
  let start = from
  for (;;) {
    const end = bytes.indexOf(0x0a, start)
    if (end < 0) return
    const json = decodeLine(bytes.subarray(start, end))
    if (json === undefined) return
    yield { json, from: start, to: end + 1 }
    start = end + 1
  }
}
