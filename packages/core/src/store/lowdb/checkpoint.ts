import { dirname } from 'node:path'
import type { JsonObject, JsonValue } from '../../internal/json.js'
import type { CatalogueEntry } from './catalogue.js'
import { chunkEntry, errorEntry, executionEntry, type ListTag, sessionEntry } from './catalogue-entries.js'
import { type ChunkList, chunksOf } from './chunk-list.js'
import { writeDocument } from './document-file.js'
import { damagedFile, errnoOf } from './file-fault.js'
import type { FolderState } from './folder-state.js'
import type { Layer } from './layer.js'
import { SegmentWriter } from './segment-writer.js'
import type { StoreFiles } from './store-files.js'
import type { StorePaths } from './store-paths.js'

/** Bytes of rows after which a checkpoint lets others have their turn. */
const REST_BYTES = 262_144

/** What a checkpoint has put into the files; it counts when the catalogue says so. */
export interface Checkpointed {
  /** What the catalogue has to say about it. */
  readonly entries: readonly CatalogueEntry[]
  /** Makes the new places known. Runs when the catalogue is written. */
  readonly publish: () => void
}

/** What a checkpoint works with. */
export interface CheckpointParts {
  readonly files: StoreFiles
  readonly paths: StorePaths
  readonly state: FolderState
  /** Size of a segment, in bytes, from which on the next one is begun. */
  readonly segmentBytes: number
}

/**
 * Puts a layer into the files it belongs to, and syncs them. Nothing that is finished is touched: documents are replaced
 * whole, everything else is appended behind the bytes that the catalogue knows. So it may fail or be cut off anywhere and
 * simply be made again. `sideBySide` is how many documents are written at once: few leave the disk to those who wait.
 */
export async function checkpoint(parts: CheckpointParts, layer: Layer, sideBySide: number): Promise<Checkpointed> {
  const work = new CheckpointWork(parts)
  await work.rows(layer)
  await work.documents(layer, sideBySide)
  await work.syncFolders()
  return {
    entries: work.entries,
    publish() {
      for (const publish of work.publications) publish()
    },
  }
}

class CheckpointWork {
  readonly entries: CatalogueEntry[] = []
  readonly publications: (() => void)[] = []
  readonly #files: StoreFiles
  readonly #paths: StorePaths
  readonly #state: FolderState
  readonly #segmentBytes: number
  readonly #made = new Set<string>()
  readonly #touched = new Set<string>()

  constructor({ files, paths, state, segmentBytes }: CheckpointParts) {
    this.#files = files
    this.#paths = paths
    this.#state = state
    this.#segmentBytes = segmentBytes
  }

  /** Everything that is no document, in one write to the newest segment. */
  async rows(layer: Layer): Promise<void> {
    const state = this.#state
    const segment = new SegmentWriter(state.segments, this.#segmentBytes)
    const before = segment.end
    let restAt = before + REST_BYTES
    const rest = async () => {
      restAt = segment.end + REST_BYTES
      await new Promise((resolve) => setImmediate(resolve))
    }
    for (const [sessionId, { header, rows }] of layer.sessions) {
      if (segment.end > restAt) await rest()
      if (rows.length > 0) this.#list(segment, state.messageChunks, { tag: 'm', id: sessionId, items: rows })
      if (header === undefined) continue
      const place = segment.add({ h: header as unknown as JsonObject })
      this.entries.push(sessionEntry(state, sessionId, place))
      this.publications.push(() => {
        state.headerPlaces.set(sessionId, place)
        state.headerCache.set(sessionId, header, place.bytes)
      })
    }
    for (const [id, record] of layer.executions) {
      if (segment.end > restAt) await rest()
      const place = segment.add({ x: record as unknown as JsonObject })
      this.entries.push(executionEntry(state, id, place))
      this.publications.push(() => {
        state.executionPlaces.set(id, place)
        state.executionCache.set(id, record, place.bytes)
      })
    }
    for (const [reference, record] of layer.errors) {
      const place = segment.add({ e: record as unknown as JsonObject })
      this.entries.push(errorEntry(reference, place))
      this.publications.push(() => void state.errorPlaces.set(reference, place))
    }
    for (const [id, items] of layer.receipts) {
      if (segment.end > restAt) await rest()
      this.#list(segment, state.receiptChunks, { tag: 'r', id, items })
    }
    for (const [id, items] of layer.logs) {
      if (segment.end > restAt) await rest()
      this.#list(segment, state.logChunks, { tag: 'l', id, items })
      this.publications.push(() => state.tailCache.delete(id))
    }
    if (segment.end > before) await this.#writeSegment(segment)
  }

  async documents(layer: Layer, sideBySide: number): Promise<void> {
    const cells = layer.cells.entries()
    const worker = async () => {
      for (let next = cells.next(); next.done !== true; next = cells.next()) await this.#document(...next.value)
    }
    const results = await Promise.allSettled(Array.from({ length: sideBySide }, worker))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  async syncFolders(): Promise<void> {
    for (const folder of this.#touched) await this.#files.syncFolder(folder)
  }

  #list(segment: SegmentWriter, lists: Map<string, ChunkList>, list: ItemList): void {
    for (const chunk of segment.addItems(list.tag, list.id, list.items)) {
      this.entries.push(chunkEntry(list.tag, list.id, chunk))
      this.publications.push(() => chunksOf(lists, list.id).add(chunk))
    }
  }

  /** Writes behind the bytes that are finished; what an earlier attempt left there goes. */
  async #writeSegment(segment: SegmentWriter): Promise<void> {
    const { number, start, end } = segment
    const path = this.#paths.segment(number)
    await this.#makeFolder(path)
    if (start === 0) this.#touched.add(dirname(path))
    const file = await this.#files.open(path, start === 0 ? 'new' : 'change').catch((error: unknown) => {
      throw start > 0 && errnoOf(error) === 'ENOENT' ? damagedFile(path, { why: 'it is not there' }) : error
    })
    try {
      const size = start === 0 ? 0 : await file.size()
      if (size < start) throw damagedFile(path, { why: `it ends there and should reach byte ${start}`, byte: size })
      await file.write(segment.bytes(), start)
      if (size > end) await file.truncate(end)
      await file.sync()
    } finally {
      await file.close()
    }
    this.entries.push(['g', number, end])
    this.publications.push(() => void this.#state.segments.set(number, end))
  }

  async #document(cell: string, value: JsonValue | undefined): Promise<void> {
    const path = this.#paths.document(cell)
    if (value === undefined) {
      await this.#removeDocument(cell, path)
      return
    }
    await this.#makeFolder(path)
    const bytes = await writeDocument(this.#files, path, cell, value)
    this.#touched.add(dirname(path))
    this.entries.push(['c', cell])
    this.publications.push(() => this.#state.cellCache.set(cell, value, bytes))
  }

  async #removeDocument(cell: string, path: string): Promise<void> {
    try {
      await this.#files.remove(path)
      this.#touched.add(dirname(path))
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error
    }
    this.entries.push(['d', cell])
    this.publications.push(() => this.#state.cellCache.delete(cell))
  }

  async #makeFolder(path: string): Promise<void> {
    const folder = dirname(path)
    if (this.#made.has(folder)) return
    this.#made.add(folder)
    await this.#files.makeFolder(folder)
    // the folder above holds its name, and that one's name may stand in the folder of the store
    this.#touched.add(dirname(folder))
    this.#touched.add(this.#paths.folder)
  }
}

interface ItemList {
  readonly tag: ListTag
  readonly id: string
  readonly items: readonly unknown[]
}
