import { dirname } from 'node:path'
import type { JsonValue } from '../../internal/json.js'
import { damagedFile, errnoOf, readFault, writeFault } from './file-fault.js'
import { encodeLine, goodLines } from './record-line.js'
import type { OpenFile, StoreFiles } from './store-files.js'
import { writeBeside } from './write-beside.js'

/** One line of the catalogue: a tag and what it says. */
export type CatalogueEntry = readonly JsonValue[]

/** What {@link Catalogue.open} found. */
export interface OpenedCatalogue {
  readonly catalogue: Catalogue
  /** Entries of all finished batches, in order: a later one about the same thing replaces an earlier one. */
  readonly entries: readonly CatalogueEntry[]
  /** Where the first unfinished or unreadable byte lies, if there is one. */
  readonly tornAt: number | undefined
}

const DONE = 'done'

/**
 * What the store holds and where: one line a change, in batches. A batch ends with the number of the last redo segment
 * that is wholly in the files; only then does it count. So a checkpoint takes effect in one moment, and a store whose
 * catalogue was cut is missed by the redo segments that should follow it.
 */
export class Catalogue {
  readonly store: string
  readonly #files: StoreFiles
  readonly #path: string
  #file: OpenFile
  #end: number
  #lines: number
  #applied: number
  /** What may be otherwise on the disk than here, after a write that failed. */
  #unsure: 'nothing' | 'tail' | 'whole'

  private constructor(parts: CatalogueState) {
    this.store = parts.store
    this.#files = parts.files
    this.#path = parts.path
    this.#file = parts.file
    this.#end = parts.end
    this.#lines = parts.lines
    this.#applied = parts.applied
    this.#unsure = parts.unsure
  }

  /** Makes the catalogue of a new store; its rename is the birth of the store. */
  static async create(files: StoreFiles, path: string, store: string): Promise<Catalogue> {
    const bytes = Buffer.from(`${headerOf(store)}${batchOf([], 0)}`)
    try {
      await writeBeside(files, path, bytes)
      await files.syncFolder(dirname(path))
      const file = await files.open(path, 'change')
      return new Catalogue({ files, path, store, file, end: bytes.length, lines: 0, applied: 0, unsure: 'nothing' })
    } catch (error) {
      throw writeFault(error, dirname(path))
    }
  }

  /** `undefined` where there is none. @throws STORE_DAMAGED */
  static async open(files: StoreFiles, path: string): Promise<OpenedCatalogue | undefined> {
    const bytes = await readIfThere(files, path)
    if (bytes === undefined) return undefined
    const lines = goodLines(bytes, 0)
    const header = lines.next().value
    const store = header === undefined ? undefined : storeOf(header.json)
    if (header === undefined || store === undefined) {
      throw damagedFile(path, {
        why: bytes.length === 0 ? 'it is empty' : 'its first line is not that of a catalogue',
        byte: 0,
      })
    }
    const entries: CatalogueEntry[] = []
    let batch: CatalogueEntry[] = []
    let finished: { readonly end: number; readonly applied: number } | undefined
    for (const line of goodLines(bytes, header.to)) {
      const entry = JSON.parse(line.json) as CatalogueEntry
      if (entry[0] !== DONE) {
        batch.push(entry)
        continue
      }
      if (entry[2] !== batch.length) break
      for (const one of batch) entries.push(one)
      batch = []
      finished = { end: line.to, applied: entry[1] as number }
    }
    if (finished === undefined) throw damagedFile(path, { why: 'it holds no finished batch', byte: header.to })
    const torn = finished.end < bytes.length
    const file = await openForChange(files, path)
    const { end, applied } = finished
    const unsure = torn ? 'tail' : 'nothing'
    const catalogue = new Catalogue({ files, path, store, file, end, lines: entries.length, applied, unsure })
    return { catalogue, entries, tornAt: torn ? end : undefined }
  }

  /** Number of the last redo segment that is wholly in the files. */
  get applied(): number {
    return this.#applied
  }

  /** Lines since the catalogue was last written whole. */
  get lines(): number {
    return this.#lines
  }

  /**
   * Takes back what a failed write may have left on the disk. A checkpoint does that before it writes over bytes of which
   * such a batch may speak. `entries` is everything that counts.
   */
  async settle(entries: () => readonly CatalogueEntry[]): Promise<void> {
    if (this.#unsure === 'whole') await this.replace(entries(), this.#applied)
    if (this.#unsure === 'nothing') return
    try {
      await this.#file.truncate(this.#end)
      await this.#file.sync()
      this.#unsure = 'nothing'
    } catch (error) {
      throw writeFault(error, dirname(this.#path))
    }
  }

  /** Appends a batch to a settled catalogue; it counts when the promise is kept. */
  async append(entries: readonly CatalogueEntry[], applied: number): Promise<void> {
    const bytes = Buffer.from(batchOf(entries, applied))
    this.#unsure = 'tail'
    try {
      await this.#file.write(bytes, this.#end)
      await this.#file.sync()
    } catch (error) {
      throw writeFault(error, dirname(this.#path))
    }
    this.#unsure = 'nothing'
    this.#end += bytes.length
    this.#lines += entries.length
    this.#applied = applied
  }

  /** Writes the catalogue whole, without what later lines had replaced. */
  async replace(entries: readonly CatalogueEntry[], applied: number): Promise<void> {
    const bytes = Buffer.from(`${headerOf(this.store)}${batchOf(entries, applied)}`)
    this.#unsure = 'whole'
    try {
      await writeBeside(this.#files, this.#path, bytes)
      await this.#files.syncFolder(dirname(this.#path))
      const file = await this.#files.open(this.#path, 'change')
      const before = this.#file
      this.#file = file
      await before.close().catch(() => undefined)
    } catch (error) {
      throw writeFault(error, dirname(this.#path))
    }
    this.#unsure = 'nothing'
    this.#end = bytes.length
    this.#lines = entries.length
    this.#applied = applied
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}

interface CatalogueState {
  readonly files: StoreFiles
  readonly path: string
  readonly store: string
  readonly file: OpenFile
  readonly end: number
  readonly lines: number
  readonly applied: number
  readonly unsure: 'nothing' | 'tail'
}

function headerOf(store: string): string {
  return encodeLine(JSON.stringify({ sluice: 'catalogue', version: 1, store }))
}

function storeOf(json: string): string | undefined {
  const header = JSON.parse(json) as { sluice?: unknown; version?: unknown; store?: unknown } | null
  const fits = header !== null && header.sluice === 'catalogue' && header.version === 1
  return fits && typeof header.store === 'string' ? header.store : undefined
}

function batchOf(entries: readonly CatalogueEntry[], applied: number): string {
  let text = ''
  for (const entry of entries) text += encodeLine(JSON.stringify(entry))
  return text + encodeLine(JSON.stringify([DONE, applied, entries.length]))
}

async function readIfThere(files: StoreFiles, path: string): Promise<Buffer | undefined> {
  try {
    return await files.readWhole(path)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw readFault(error, path)
  }
}

async function openForChange(files: StoreFiles, path: string): Promise<OpenFile> {
  try {
    return await files.open(path, 'change')
  } catch (error) {
    throw writeFault(error, dirname(path))
  }
}
