import { deepFreeze } from '../../internal/deep-freeze.js'
import type { JsonObject, JsonValue } from '../../internal/json.js'
import type { ExecutionRecord, MessageRecord, SessionRecord, ToolErrorRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import type { BoundedCache } from './bounded-cache.js'
import type { Chunk, ChunkList } from './chunk-list.js'
import { readDocument } from './document-file.js'
import { damagedFile } from './file-fault.js'
import type { FolderState } from './folder-state.js'
import { type Place, readLines } from './segment-lines.js'
import type { StoreFiles } from './store-files.js'
import type { StorePaths } from './store-paths.js'

/** Which items of a list are read: those with a number from `first` on, counted from 0, `limit` at most. */
export interface ItemRange {
  readonly first: number
  readonly limit: number
}

/** Reads what is finished in the files of the store, and checks that it is what was written. */
export class FileReader {
  readonly #files: StoreFiles
  readonly #paths: StorePaths
  readonly #state: FolderState

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

  async header(sessionId: string, place: Place): Promise<SessionRecord> {
    return this.#record(this.#state.headerCache, sessionId, place, (line) => {
      const header = line.h as unknown as SessionRecord | undefined
      return header?.sessionId === sessionId ? header : undefined
    })
  }

  async execution(id: string, place: Place): Promise<ExecutionRecord> {
    return this.#record(this.#state.executionCache, id, place, (line) => {
      const record = line.x as unknown as ExecutionRecord | undefined
      return record?.id === id ? record : undefined
    })
  }

  async toolError(reference: string, place: Place): Promise<ToolErrorRecord> {
    return this.#record(undefined, reference, place, (line) => {
      const record = line.e as unknown as ToolErrorRecord | undefined
      return record?.reference === reference ? record : undefined
    })
  }

  /** The last of `count` entries of a stream. */
  async tail(stream: string, chunk: Chunk, count: number): Promise<LogEntry> {
    return this.#record(this.#state.tailCache, stream, chunk, (line) => {
      const entry = (line.items as unknown as readonly LogEntry[] | undefined)?.at(-1)
      return line.l === stream && entry?.index === count - 1 ? deepFreeze(entry) : undefined
    })
  }

  async rows(sessionId: string, range: ItemRange): Promise<MessageRecord[]> {
    const rows = await this.#items('m', sessionId, this.#state.messageChunks.get(sessionId), range)
    return rows as unknown as MessageRecord[]
  }

  async receipts(rootExecutionId: string): Promise<JsonObject[]> {
    const list = this.#state.receiptChunks.get(rootExecutionId)
    const receipts = await this.#items('r', rootExecutionId, list, { first: 0, limit: Number.MAX_SAFE_INTEGER })
    return receipts as JsonObject[]
  }

  async entries(stream: string, range: ItemRange): Promise<LogEntry[]> {
    const entries = await this.#items('l', stream, this.#state.logChunks.get(stream), range)
    return entries.map((entry) => deepFreeze(entry as unknown as LogEntry))
  }

  async #items(tag: string, id: string, list: ChunkList | undefined, range: ItemRange): Promise<JsonValue[]> {
    if (list === undefined || range.first >= list.count || range.limit === 0) return []
    const { chunks, from } = list.range(range.first, range.limit)
    const items: JsonValue[] = []
    for (const group of bySegment(chunks)) {
      const path = this.#paths.segment((group[0] as Chunk).segment)
      const lines = await readLines(this.#files, path, group)
      lines.forEach((line, index) => {
        const chunk = group[index] as Chunk
        const found = line.items as readonly JsonValue[] | undefined
        if (line[tag] !== id || found?.length !== chunk.count) throw otherContent(path, chunk)
        for (const item of found) items.push(item)
      })
    }
    const start = range.first - from
    return items.slice(start, start + range.limit)
  }

  async #record<Value>(
    cache: BoundedCache<Value> | undefined,
    key: string,
    place: Place,
    fit: (line: JsonObject) => Value | undefined,
  ): Promise<Value> {
    const { generation } = this.#state
    const path = this.#paths.segment(place.segment)
    const [line] = await readLines(this.#files, path, [place])
    const value = fit(line as JsonObject)
    if (value === undefined) throw otherContent(path, place)
    if (generation === this.#state.generation) cache?.set(key, value, place.bytes)
    return value
  }
}

/** Neighbours that lie in the same segment, in order. */
function bySegment(chunks: readonly Chunk[]): Chunk[][] {
  const groups: Chunk[][] = []
  for (const chunk of chunks) {
    const group = groups.at(-1)
    if (group !== undefined && group[0]?.segment === chunk.segment) group.push(chunk)
    else groups.push([chunk])
  }
  return groups
}

function otherContent(path: string, { from }: Place): Error {
  return damagedFile(path, {
    why: 'a line holds something else than the catalogue says',
    byte: from,
    lastGood: 'the other lines of the file',
  })
}
