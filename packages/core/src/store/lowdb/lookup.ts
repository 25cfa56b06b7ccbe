import type { JsonValue } from '../../internal/json.js'
import type { ExecutionRecord, SessionRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import type { BoundedCache } from './bounded-cache.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import type { Layer } from './layer.js'

/** A value that lies in a file only, and how it is read. */
interface Want {
  readonly name: string
  readonly load: () => Promise<unknown>
}

/** Thrown by a look-up where a value has to be read from a file first; the look-up is then made again. */
export class NotLoaded extends Error {
  readonly wants: readonly Want[]

  constructor(wants: readonly Want[]) {
    super('A value has to be read from a file first.')
    this.wants = wants
  }
}

/** Values that were read for one caller, and the generation of the files in which they were found. */
export interface Loaded {
  readonly generation: number
  readonly values: ReadonlyMap<string, unknown>
}

/** Reads what was missing, and keeps what was read before as long as the files are the same. */
export async function loadMissing(state: FolderState, missing: NotLoaded, before?: Loaded): Promise<Loaded> {
  const { generation } = state
  const found = await Promise.all(missing.wants.map(async ({ name, load }) => [name, await load()] as const))
  const kept = before !== undefined && before.generation === generation ? before.values : []
  return { generation, values: new Map([...kept, ...found]) }
}

/**
 * Values as they are now, from the newest layer down to the caches. Where one lies in a file only, the look-up throws
 * {@link NotLoaded}. With `batch`, the writes of a batch that is not in the redo log yet are seen as well.
 */
export class Lookup {
  readonly #state: FolderState
  readonly #reader: FileReader
  readonly #batch: Layer | undefined
  /** What was read for the caller whose turn it is. */
  loaded: Loaded | undefined

  constructor(state: FolderState, reader: FileReader, batch?: Layer) {
    this.#state = state
    this.#reader = reader
    this.#batch = batch
  }

  cells(cells: readonly string[]): (JsonValue | undefined)[] {
    const wants: Want[] = []
    const values = cells.map((cell) => this.#cell(cell, wants))
    if (wants.length > 0) throw new NotLoaded(wants)
    return values
  }

  headers(sessionIds: readonly string[]): (SessionRecord | undefined)[] {
    const wants: Want[] = []
    const headers = sessionIds.map((sessionId) => this.#header(sessionId, wants))
    if (wants.length > 0) throw new NotLoaded(wants)
    return headers
  }

  executions(ids: readonly string[]): (ExecutionRecord | undefined)[] {
    const wants: Want[] = []
    const rows = ids.map((id) => this.#execution(id, wants))
    if (wants.length > 0) throw new NotLoaded(wants)
    return rows
  }

  /** The last entry of a stream. */
  tail(stream: string): LogEntry | undefined {
    for (const layer of this.#layers()) {
      const entry = layer.logs.get(stream)?.at(-1)
      if (entry !== undefined) return entry
    }
    const list = this.#state.logChunks.get(stream)
    const last = list?.last
    if (list === undefined || last === undefined) return undefined
    const wants: Want[] = []
    const load = () => this.#reader.tail(stream, last, list.count)
    const tail = this.#fromCache(this.#state.tailCache, stream, { name: `l${stream}`, load }, wants)
    if (wants.length > 0) throw new NotLoaded(wants)
    return tail
  }

  /** How many rows a session has. */
  count(sessionId: string): number {
    let count = this.#state.messageChunks.get(sessionId)?.count ?? 0
    for (const layer of this.#layers()) count += layer.sessions.get(sessionId)?.rows.length ?? 0
    return count
  }

  #cell(cell: string, wants: Want[]): JsonValue | undefined {
    for (const layer of this.#layers()) {
      if (layer.cells.has(cell)) return layer.cells.get(cell)
    }
    if (!this.#state.index.has(cell)) return undefined
    const load = () => this.#reader.document(cell)
    return this.#fromCache(this.#state.cellCache, cell, { name: `c${cell}`, load }, wants)
  }

  #header(sessionId: string, wants: Want[]): SessionRecord | undefined {
    for (const layer of this.#layers()) {
      const header = layer.sessions.get(sessionId)?.header
      if (header !== undefined) return header
    }
    const place = this.#state.headerPlaces.get(sessionId)
    if (place === undefined) return undefined
    const load = () => this.#reader.header(sessionId, place)
    return this.#fromCache(this.#state.headerCache, sessionId, { name: `s${sessionId}`, load }, wants)
  }

  #execution(id: string, wants: Want[]): ExecutionRecord | undefined {
    for (const layer of this.#layers()) {
      const record = layer.executions.get(id)
      if (record !== undefined) return record
    }
    const place = this.#state.executionPlaces.get(id)
    if (place === undefined) return undefined
    const load = () => this.#reader.execution(id, place)
    return this.#fromCache(this.#state.executionCache, id, { name: `x${id}`, load }, wants)
  }

  #fromCache<Value>(cache: BoundedCache<Value>, key: string, want: Want, wants: Want[]): Value | undefined {
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const { loaded } = this
    if (loaded?.generation === this.#state.generation && loaded.values.has(want.name)) {
      return loaded.values.get(want.name) as Value
    }
    wants.push(want)
    return undefined
  }

  #layers(): readonly Layer[] {
    return this.#batch === undefined ? this.#state.layers : [this.#batch, ...this.#state.layers]
  }
}

/** What `look` returns once everything it asks for is in memory; all of it as it is at that one moment. */
export async function resolveLookup<Result>(
  state: FolderState,
  reader: FileReader,
  look: (lookup: Lookup) => Result,
): Promise<Result> {
  const lookup = new Lookup(state, reader)
  for (;;) {
    try {
      return look(lookup)
    } catch (error) {
      if (!(error instanceof NotLoaded)) throw error
      lookup.loaded = await loadMissing(state, error, lookup.loaded)
    }
  }
}
