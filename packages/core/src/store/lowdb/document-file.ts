import type { Adapter } from 'lowdb'
import { Low } from 'lowdb'
import type { JsonValue } from '../../internal/json.js'
import { decodeKey } from '../embedded/check-key.js'
import { damagedFile, errnoOf, readFault } from './file-fault.js'
import { checksum } from './record-line.js'
import type { StoreFiles } from './store-files.js'
import { writeBeside } from './write-beside.js'

/** A document as it lies in its file: which one it is, and its value. */
interface StoredDocument {
  readonly key: readonly string[]
  readonly value: JsonValue
}

/** Behind the data of a file: the checksum of all bytes before it, as the last property of the object. */
const TAIL = /^,"checksum":"([0-9a-f]{8})"\}\n$/
const TAIL_BYTES = 24

/** lowdb's adapter for one document: replaced whole or not at all, and refused where it is not what was written. */
class DocumentAdapter implements Adapter<StoredDocument> {
  readonly #files: StoreFiles
  readonly #path: string
  #bytes = 0

  constructor(files: StoreFiles, path: string) {
    this.#files = files
    this.#path = path
  }

  /** Bytes that were read or written last. */
  get bytes(): number {
    return this.#bytes
  }

  async read(): Promise<StoredDocument> {
    const bytes = await this.#readWhole()
    this.#bytes = bytes.length
    const end = bytes.length - TAIL_BYTES
    const tail = end > 0 ? TAIL.exec(bytes.toString('latin1', end)) : null
    if (tail === null) throw damagedFile(this.#path, { why: bytes.length === 0 ? 'it is empty' : 'its end is missing' })
    if (tail[1] !== checksum(bytes.subarray(0, end))) {
      throw damagedFile(this.#path, { why: 'its checksum does not fit what it holds' })
    }
    return JSON.parse(bytes.toString('utf8')) as StoredDocument
  }

  async write(document: StoredDocument): Promise<void> {
    const data = JSON.stringify({ key: document.key, value: document.value }).slice(0, -1)
    const bytes = Buffer.from(`${data},"checksum":"${checksum(data)}"}\n`)
    await writeBeside(this.#files, this.#path, bytes)
    this.#bytes = bytes.length
  }

  async #readWhole(): Promise<Buffer> {
    try {
      return await this.#files.readWhole(this.#path)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') throw damagedFile(this.#path, { why: 'it is not there' })
      throw readFault(error, this.#path)
    }
  }
}

/** Writes the document of a cell; returns its size in bytes. */
export async function writeDocument(files: StoreFiles, path: string, cell: string, value: JsonValue): Promise<number> {
  const adapter = new DocumentAdapter(files, path)
  await new Low<StoredDocument>(adapter, { key: decodeKey(cell), value }).write()
  return adapter.bytes
}

/** A document that was read, and its size in bytes. */
export interface ReadDocument {
  readonly value: JsonValue
  readonly bytes: number
}

/** Reads the document of a cell. @throws STORE_DAMAGED for a file that is not there, not whole, or of another document */
export async function readDocument(files: StoreFiles, path: string, cell: string): Promise<ReadDocument> {
  const adapter = new DocumentAdapter(files, path)
  const key = decodeKey(cell)
  const low = new Low<StoredDocument>(adapter, { key, value: null })
  await low.read()
  const found = low.data
  if (
    !Array.isArray(found.key) ||
    found.key.length !== key.length ||
    !key.every((part, at) => part === found.key[at])
  ) {
    throw damagedFile(path, { why: 'it holds another document' })
  }
  return { value: found.value, bytes: adapter.bytes }
}
