import { dirname } from 'node:path'
import type { JsonValue } from '../../internal/json.js'
import type { AckMark } from './ack-mark.js'
import { damagedFile, errnoOf, readFault, unknownOutcome, writeFault } from './file-fault.js'
import { encodeLine, goodLines } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'

/** What a segment is made of and with. */
export interface RedoParts {
  readonly files: StoreFiles
  readonly path: string
  readonly number: number
  /** Id of the store: a segment of another store is refused. */
  readonly store: string
  readonly mark: AckMark
}

/** What was found in a segment when it was opened. */
export interface OpenedSegment {
  readonly segment: RedoSegment
  /** The changes of its records, in order. */
  readonly records: readonly JsonValue[]
  /** True where its last record says that another segment follows. */
  readonly sealed: boolean
}

/**
 * One file of the redo log: what is acknowledged and not yet in the files that it belongs to. A write is acknowledged when
 * its record is here and synced.
 */
export class RedoSegment {
  readonly number: number
  readonly #folder: string
  readonly #file: OpenFile
  readonly #mark: AckMark
  #end: number
  #unsure = false

  private constructor(parts: RedoParts, file: OpenFile, end: number) {
    this.number = parts.number
    this.#folder = dirname(parts.path)
    this.#mark = parts.mark
    this.#file = file
    this.#end = end
  }

  /** Makes an empty segment whose name and header are on the disk. */
  static async create(parts: RedoParts): Promise<RedoSegment> {
    const folder = dirname(parts.path)
    try {
      const file = await parts.files.open(parts.path, 'new')
      try {
        const header = Buffer.from(headerOf(parts))
        await file.write(header, 0)
        await file.sync()
        await parts.files.syncFolder(folder)
        return new RedoSegment(parts, file, header.length)
      } catch (error) {
        await file.close().catch(() => undefined)
        throw error
      }
    } catch (error) {
      throw writeFault(error, folder)
    }
  }

  /**
   * Opens a segment and cuts what was never acknowledged from its end. `undefined` where it has no whole header, so that
   * nothing was ever acknowledged in it.
   *
   * @throws STORE_DAMAGED
   */
  static async open(parts: RedoParts): Promise<OpenedSegment | undefined> {
    const bytes = await readSegment(parts)
    const [header] = goodLines(bytes, 0)
    if (header === undefined) return undefined
    if (bytes.toString('utf8', 0, header.to) !== headerOf(parts)) {
      throw damagedFile(parts.path, { why: 'it belongs to another store or holds something else', byte: 0 })
    }
    let end = header.to
    let sealed = false
    const records: JsonValue[] = []
    for (const line of goodLines(bytes, end)) {
      const record = JSON.parse(line.json) as JsonValue
      if (isSeal(record)) sealed = true
      else records.push(record)
      end = line.to
      if (sealed) break
    }
    const why = faultOf(parts, { end, sealed, size: bytes.length })
    if (why !== undefined) {
      throw damagedFile(parts.path, {
        why,
        byte: end,
        lastGood: `the ${records.length} records before that byte, on top of catalogue and files`,
      })
    }
    const segment = new RedoSegment(parts, await openForChange(parts), end)
    try {
      if (end < bytes.length) await segment.#cut()
    } catch (error) {
      await segment.close().catch(() => undefined)
      throw error
    }
    return { segment, records, sealed }
  }

  /** Bytes of records. */
  get size(): number {
    return this.#end
  }

  /**
   * Appends records and returns when they are on the disk.
   *
   * @throws STORE_FULL, STORE_READ_ONLY or STORE_FAILED where nothing was written; STORE_OUTCOME_UNKNOWN where the failed
   * write could not be taken back either
   */
  async append(bytes: Buffer): Promise<void> {
    if (this.#unsure) await this.#cut()
    try {
      const written = this.#file.write(bytes, this.#end)
      if (written !== undefined) await written
      await this.#file.sync()
    } catch (error) {
      this.#unsure = true
      await this.#cut().catch(() => {
        throw unknownOutcome(error, this.#folder)
      })
      throw writeFault(error, this.#folder)
    }
    this.#end += bytes.length
    await this.#mark.set({ number: this.number, byte: this.#end })
  }

  /** Says that the segment `next` follows: without that one the store is not whole. */
  async seal(next: number): Promise<void> {
    await this.append(Buffer.from(encodeLine(JSON.stringify({ next }))))
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  /** Takes back what may lie behind the last acknowledged record. */
  async #cut(): Promise<void> {
    try {
      await this.#file.truncate(this.#end)
      await this.#file.sync()
    } catch (error) {
      throw writeFault(error, this.#folder)
    }
    this.#unsure = false
  }
}

function headerOf(parts: RedoParts): string {
  return encodeLine(JSON.stringify({ sluice: 'redo', version: 1, number: parts.number, store: parts.store }))
}

/** What shows that acknowledged records are missing; an incomplete one behind the mark was promised to nobody. */
function faultOf(parts: RedoParts, found: { readonly end: number; readonly sealed: boolean; readonly size: number }) {
  const { found: acked } = parts.mark
  if (acked?.number === parts.number && found.end < acked.byte) {
    return `records up to byte ${acked.byte} were acknowledged`
  }
  if (acked !== undefined && acked.number > parts.number && !found.sealed) return 'another redo file should follow it'
  return found.sealed && found.end < found.size ? 'something follows its last record' : undefined
}

function isSeal(record: JsonValue): boolean {
  return record !== null && typeof record === 'object' && !Array.isArray(record) && Object.hasOwn(record, 'next')
}

async function readSegment(parts: RedoParts): Promise<Buffer> {
  try {
    return await parts.files.readWhole(parts.path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return Buffer.alloc(0)
    throw readFault(error, parts.path)
  }
}

async function openForChange(parts: RedoParts): Promise<OpenFile> {
  try {
    return await parts.files.open(parts.path, 'change')
  } catch (error) {
    throw writeFault(error, dirname(parts.path))
  }
}
