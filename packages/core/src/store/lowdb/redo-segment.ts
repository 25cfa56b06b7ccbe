import { dirname } from 'node:path'
import type { JsonValue } from '../../internal/json.js'
import { damagedFile, errnoOf, readFault, unknownOutcome, writeFault } from './file-fault.js'
import { encodeLine, goodLines } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'

const ACKED_DIGITS = 15

/** What a segment is made of and with. */
export interface RedoParts {
  readonly files: StoreFiles
  readonly path: string
  readonly number: number
  /** Id of the store: a segment of another store is refused. */
  readonly store: string
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
 * its record is here and synced. Behind the header stands how far that is: it is written after every sync and not synced
 * itself, so it may lag after a power cut and is exact after the end of the process. A record before that mark was
 * acknowledged and must be whole; only behind it an incomplete one is a write that nobody was promised.
 */
export class RedoSegment {
  readonly number: number
  readonly #folder: string
  readonly #file: OpenFile
  readonly #ackedAt: number
  #end: number
  #unsure = false

  private constructor(parts: RedoParts, file: OpenFile, ackedAt: number, end: number) {
    this.number = parts.number
    this.#folder = dirname(parts.path)
    this.#file = file
    this.#ackedAt = ackedAt
    this.#end = end
  }

  /** Makes an empty segment whose name and header are on the disk. */
  static async create(parts: RedoParts): Promise<RedoSegment> {
    const folder = dirname(parts.path)
    try {
      const file = await parts.files.open(parts.path, 'new')
      try {
        const header = headerOf(parts)
        const end = header.length + ackedLine(0).length
        await file.write(Buffer.from(`${header}${ackedLine(end)}`), 0)
        await file.sync()
        await parts.files.syncFolder(folder)
        return new RedoSegment(parts, file, header.length, end)
      } catch (error) {
        await file.close()
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
    const header = headerOf(parts)
    const ackedLength = ackedLine(0).length
    const [first] = goodLines(bytes, 0)
    if (first === undefined || bytes.length < first.to + ackedLength) return undefined
    if (bytes.toString('utf8', 0, first.to) !== header) {
      throw damagedFile(parts.path, { why: 'it belongs to another store or holds something else', byte: 0 })
    }
    const acked = parseAcked(bytes.toString('latin1', first.to, first.to + ackedLength))
    if (acked === undefined)
      throw damagedFile(parts.path, { why: 'the mark behind its header is no number', byte: first.to })
    let end = first.to + ackedLength
    let sealed = false
    const records: JsonValue[] = []
    for (const line of goodLines(bytes, end)) {
      const record = JSON.parse(line.json) as JsonValue
      if (isSeal(record)) sealed = true
      else records.push(record)
      end = line.to
      if (sealed) break
    }
    if (end < acked || (sealed && end < bytes.length)) {
      throw damagedFile(parts.path, {
        why: end < acked ? `records up to byte ${acked} were acknowledged` : 'something follows its last record',
        byte: end,
        lastGood: `the ${records.length} records before that byte, on top of catalogue and files`,
      })
    }
    const file = await openForChange(parts)
    const segment = new RedoSegment(parts, file, first.to, end)
    if (end < bytes.length) await segment.#cut()
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
    await this.#markAcked()
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

  async #markAcked(): Promise<void> {
    try {
      const written = this.#file.write(Buffer.from(ackedLine(this.#end), 'latin1'), this.#ackedAt)
      if (written !== undefined) await written
    } catch {
      // a mark that lags only means that less is known of the end of this file
    }
  }
}

function headerOf(parts: RedoParts): string {
  return encodeLine(JSON.stringify({ sluice: 'redo', version: 1, number: parts.number, store: parts.store }))
}

function ackedLine(byte: number): string {
  return `acked ${String(byte).padStart(ACKED_DIGITS, '0')}\n`
}

function parseAcked(line: string): number | undefined {
  const match = /^acked (\d{15})\n$/.exec(line)
  return match === null ? undefined : Number(match[1])
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
