import { dirname } from 'node:path'
import { errnoOf, readFault, writeFault } from './file-fault.js'
import { checksum } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'

/** How far the redo log was acknowledged: segment, and the byte behind its last acknowledged record. */
export interface Acked {
  readonly number: number
  readonly byte: number
}

/** Fixed in length, so that every mark covers the one before; one that is torn does not fit its checksum. */
const FORM = /^(\d{8} \d{15}) ([0-9a-f]{8})\n$/

/**
 * The file that says how far the redo log is acknowledged. It is written after every sync of the log and never synced
 * itself: exact after the end of the process, behind after a power cut, and it costs no time. What lies before it was
 * promised to somebody, so that a redo file that ends earlier has been damaged; only what lies behind may be incomplete.
 */
export class AckMark {
  readonly #file: OpenFile
  /** What was found when the file was opened; `undefined` for a new store, or after a power cut. */
  readonly found: Acked | undefined

  private constructor(file: OpenFile, found: Acked | undefined) {
    this.#file = file
    this.found = found
  }

  static async open(files: StoreFiles, path: string): Promise<AckMark> {
    const found = await readMark(files, path)
    try {
      return new AckMark(await files.open(path, found === undefined ? 'new' : 'change'), found)
    } catch (error) {
      throw writeFault(error, dirname(path))
    }
  }

  /** Says how far; a mark that could not be written only says less. */
  async set({ number, byte }: Acked): Promise<void> {
    const place = `${String(number).padStart(8, '0')} ${String(byte).padStart(15, '0')}`
    try {
      const written = this.#file.write(Buffer.from(`${place} ${checksum(place)}\n`, 'latin1'), 0)
      if (written !== undefined) await written
    } catch {
      // behind, as after a power cut
    }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

async function readMark(files: StoreFiles, path: string): Promise<Acked | undefined> {
  try {
    const match = FORM.exec((await files.readWhole(path)).toString('latin1'))
    const [, place = ''] = match ?? []
    if (match === null || checksum(place) !== match[2]) return undefined
    return { number: Number(place.slice(0, 8)), byte: Number(place.slice(9)) }
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw readFault(error, path)
  }
}
