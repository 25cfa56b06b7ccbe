import { damagedFile, errnoOf, readFault } from './file-fault.js'
import { decodeLine } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'

const CHUNK_BYTES = 262_144

/** A line and where it begins. */
export interface VisitedLine {
  readonly json: string
  readonly from: number
}

/**
 * Walks through the lines of `path` between two bytes, `to` being the end of a line that is finished, until `visit`
 * returns false. Reads a piece at a time.
 *
 * @throws STORE_DAMAGED where a line before `to` is missing, cut or does not fit its checksum
 */
export async function visitLines(
  files: StoreFiles,
  path: string,
  range: { readonly from: number; readonly to: number },
  visit: (line: VisitedLine) => boolean,
): Promise<void> {
  await withFile(files, path, async (file) => {
    let at = range.from
    let rest: Buffer = Buffer.alloc(0)
    while (at + rest.length < range.to) {
      const from = at + rest.length
      const piece = await file.read(from, Math.min(CHUNK_BYTES, range.to - from))
      if (piece.length === 0) throw missing(path, from, range.to)
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      let start = 0
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, start)) {
        const json = decodeLine(rest.subarray(start, end))
        if (json === undefined) throw unfit(path, at + start)
        if (!visit({ json, from: at + start })) return
        start = end + 1
      }
      at += start
      rest = rest.subarray(start)
    }
    if (rest.length > 0) throw unfit(path, at)
  })
}

/** One finished line. @throws STORE_DAMAGED */
export async function readLine(
  files: StoreFiles,
  path: string,
  place: { readonly from: number; readonly bytes: number },
): Promise<string> {
  return withFile(files, path, async (file) => {
    const line = await file.read(place.from, place.bytes)
    if (line.length < place.bytes) throw missing(path, place.from + line.length, place.from + place.bytes)
    const json = line.at(-1) === 0x0a ? decodeLine(line.subarray(0, -1)) : undefined
    if (json === undefined) throw unfit(path, place.from)
    return json
  })
}

async function withFile<Result>(
  files: StoreFiles,
  path: string,
  work: (file: OpenFile) => Promise<Result>,
): Promise<Result> {
  try {
    const file = await files.open(path, 'read')
    try {
      return await work(file)
    } finally {
      await file.close()
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw damagedFile(path, { why: 'it is not there' })
    throw readFault(error, path)
  }
}

function missing(path: string, byte: number, end: number): Error {
  return damagedFile(path, { why: `it ends there and should reach byte ${end}`, byte, lastGood: 'the lines before' })
}

function unfit(path: string, byte: number): Error {
  return damagedFile(path, {
    why: 'the line does not fit its checksum or its end is missing',
    byte,
    lastGood: 'the lines before',
  })
}
