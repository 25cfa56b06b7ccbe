import type { JsonObject } from '../../internal/json.js'
import { damagedFile, errnoOf, readFault } from './file-fault.js'
import { decodeLine } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'

/** Where a line lies: segment, first byte, bytes with the newline. */
export interface Place {
  readonly segment: number
  readonly from: number
  readonly bytes: number
}

/** Reads finished lines of one segment file, in the order of `places`. @throws STORE_DAMAGED where one is not as it was */
export async function readLines(files: StoreFiles, path: string, places: readonly Place[]): Promise<JsonObject[]> {
  try {
    const file = await files.open(path, 'read')
    try {
      const lines: JsonObject[] = []
      for (const place of places) lines.push(await readOne(file, path, place))
      return lines
    } finally {
      await file.close()
    }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') throw damagedFile(path, { why: 'it is not there' })
    throw readFault(error, path)
  }
}

async function readOne(file: OpenFile, path: string, { from, bytes }: Place): Promise<JsonObject> {
  const line = await file.read(from, bytes)
  const json = line.length === bytes && line.at(-1) === 0x0a ? decodeLine(line.subarray(0, -1)) : undefined
  if (json === undefined) {
    const why = line.length < bytes ? 'a line is cut' : 'a line does not fit its checksum'
    throw damagedFile(path, { why, byte: from, lastGood: 'the other lines of the file' })
  }
  return JSON.parse(json) as JsonObject
}
