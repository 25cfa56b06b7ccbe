import type { JsonObject, JsonValue } from '../../internal/json.js'
import { deepFreeze } from '../../internal/deep-freeze.js'
import type { ExecutionRecord, MessageRecord, SessionRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import { BoundedCache } from './bounded-cache.js'
import { readDocument } from './document-file.js'
import { damagedFile } from './file-fault.js'
import type { FolderState, LineFile, Place } from './folder-state.js'
import { readLine, visitLines } from './line-file.js'
import type { StoreFiles } from './store-files.js'
import type { StorePaths } from './store-paths.js'

/** Where in a line file the item with a number begins: remembered on the way, so that a later page starts near it. */
type Mark = readonly [number: number, from: number]

const MARK_EVERY_BYTES = 65_536
const MARKS_BYTES = 1024 * 1024
const MARK_BYTES = 32

/** Which items of a line file are read: those with a number from `first` on, `limit` at most. */
export interface ItemRange {
  readonly first: number
  readonly limit: number
}

/** Reads what is finished in the files of the store, and checks that it is what was written. */
export class FileReader {
  readonly #files: StoreFiles
  readonly #paths: StorePaths
  readonly #state: FolderState
  readonly #marks = new BoundedCache<Mark[]>(MARKS_BYTES)

  constructor(files: StoreFiles, paths: StorePaths, state: FolderState) {
    this.#files = files
    this.#paths = paths
    this.#state = state
  }

  /** The value of a document; `undefined` where it was changed or deleted while it was read, so that it is looked up again. */
  async document(cell: string): Promise<JsonValue | undefined> {
    const { generation } = this.#state
    try {
      const { value, bytes } = await readDocument(this.#files, this.#paths.document(cell), cell)
      deepFreeze(value)
      if (generation === this.#state.generation) this.#state.cellCache.set(cell, value, bytes)
      return value
    } catch (error) {
      const changed = generation !== this.#state.generation || this.#state.layers.some((layer) => layer.cells.has(cell))
      if (changed) return undefined
      throw error
    }
  }

  async header(sessionId: string, file: LineFile): Promise<SessionRecord> {
    const { generation } = this.#state
    const path = this.#paths.session(sessionId)
    const line = await this.#line(path, { from: file.lineFrom, bytes: file.lineBytes })
    const header = line.h as SessionRecord | undefined
    if (header?.sessionId !== sessionId) throw otherContent(path, file.lineFrom)
    if (generation === this.#state.generation) this.#state.headerCache.set(sessionId, header, file.lineBytes)
    return header
  }

  async execution(id: string, place: Place): Promise<ExecutionRecord> {
    const { generation } = this.#state
    const path = this.#paths.runs(place.segment)
    const line = await this.#line(path, place)
    const record = line.x as ExecutionRecord | undefined
    if (record?.id !== id) throw otherContent(path, place.from)
    if (generation === this.#state.generation) this.#state.executionCache.set(id, record, place.bytes)
    return record
  }

  async receipts(rootExecutionId: string, places: readonly Place[]): Promise<JsonObject[]> {
    const found: JsonObject[] = []
    for (const place of places) {
      const path = this.#paths.runs(place.segment)
      const line = await this.#line(path, place)
      if (line.root !== rootExecutionId) throw otherContent(path, place.from)
      for (const receipt of line.r as readonly JsonObject[]) found.push(receipt)
    }
    return found
  }

  async tail(stream: string, file: LineFile): Promise<LogEntry> {
    const { generation } = this.#state
    const path = this.#paths.log(stream)
    const line = await this.#line(path, { from: file.lineFrom, bytes: file.lineBytes })
    const entry = deepFreeze(line.e as unknown as LogEntry)
    if (entry?.index !== file.count - 1) throw otherContent(path, file.lineFrom)
    if (generation === this.#state.generation) this.#state.tailCache.set(stream, entry, file.lineBytes)
    return entry
  }

  /** Rows of a session that are in its file. */
  async rows(sessionId: string, file: LineFile, range: ItemRange): Promise<MessageRecord[]> {
    return this.#items<MessageRecord>(this.#paths.session(sessionId), file, range, {
      tag: 'm',
      fits: (row, number) => row.seq === number + 1 && row.sessionId === sessionId,
    })
  }

  /** Entries of a stream that are in its file. */
  async entries(stream: string, file: LineFile, range: ItemRange): Promise<LogEntry[]> {
    const entries = await this.#items<LogEntry>(this.#paths.log(stream), file, range, {
      tag: 'e',
      fits: (entry, number) => entry.index === number,
    })
    return entries.map((entry) => deepFreeze(entry))
  }

  async #items<Item>(path: string, file: LineFile, range: ItemRange, kind: ItemKind<Item>): Promise<Item[]> {
    const last = Math.min(file.count, range.first + range.limit)
    if (range.first >= last) return []
    const marks = this.#marks.get(path) ?? []
    const begin = `{"${kind.tag}":`
    let [number, from] = marks.findLast(([marked]) => marked <= range.first) ?? [0, 0]
    const items: Item[] = []
    await visitLines(this.#files, path, { from, to: file.bytes }, (line) => {
      if (!line.json.startsWith(begin)) return true
      if (line.from - from >= MARK_EVERY_BYTES) {
        from = line.from
        if (from > (marks.at(-1)?.[1] ?? 0)) marks.push([number, from])
      }
      if (number >= range.first) {
        const item = (JSON.parse(line.json) as Record<string, Item>)[kind.tag] as Item
        if (!kind.fits(item, number)) throw otherContent(path, line.from)
        items.push(item)
      }
      number += 1
      return number < last
    })
    if (number < last) throw damagedFile(path, { why: `it holds ${number} of ${file.count} items`, byte: file.bytes })
    if (marks.length > 0) this.#marks.set(path, marks, marks.length * MARK_BYTES)
    return items
  }

  async #line(path: string, place: { readonly from: number; readonly bytes: number }): Promise<JsonObject> {
    return JSON.parse(await readLine(this.#files, path, place)) as JsonObject
  }
}

interface ItemKind<Item> {
  readonly tag: string
  /** True where the item is the one with this number, counted from 0. */
  readonly fits: (item: Item, number: number) => boolean
}

function otherContent(path: string, byte: number): Error {
  return damagedFile(path, { why: 'it holds something else than the catalogue says', byte, lastGood: 'unknown' })
}
