import { dirname, join } from 'node:path'
import type { JsonObject, JsonValue } from '../../internal/json.js'
import type { MessageRecord, SessionRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import type { CatalogueEntry } from './catalogue.js'
import { writeDocument } from './document-file.js'
import { damagedFile, errnoOf } from './file-fault.js'
import type { FolderState, LineFile, Place } from './folder-state.js'
import type { Layer, SessionPart } from './layer.js'
import { encodeLine } from './record-line.js'
import { RunSegment } from './run-segment.js'
import type { StoreFiles } from './store-files.js'
import type { StorePaths } from './store-paths.js'

/** Files that are written side by side: a checkpoint leaves threads for the writes that somebody waits for. */
const SIDE_BY_SIDE = 2

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
}

/**
 * Puts a layer into the files it belongs to, and syncs them. Nothing that is finished is touched: documents are replaced
 * whole, everything else is appended behind the bytes that the catalogue knows. So it may fail or be cut off anywhere and
 * simply be made again.
 */
export async function checkpoint(parts: CheckpointParts, layer: Layer): Promise<Checkpointed> {
  const work = new CheckpointWork(parts)
  await inPairs(layer.cells, ([cell, value]) => work.document(cell, value))
  await inPairs(layer.sessions, ([sessionId, part]) => work.session(sessionId, part))
  await inPairs(layer.logs, ([stream, entries]) => work.log(stream, entries))
  await work.runs(layer)
  await work.syncFolders()
  return {
    entries: work.entries,
    publish() {
      for (const publish of work.publications) publish()
    },
  }
}

/** Entries of a catalogue that is written whole: everything that lies in files. */
export function wholeCatalogue(state: FolderState): CatalogueEntry[] {
  const entries: CatalogueEntry[] = []
  for (const cell of state.index.cells()) entries.push(['c', cell])
  for (const [sessionId, file] of state.sessionFiles) entries.push(sessionEntry(state, sessionId, file))
  for (const [stream, file] of state.logFiles) entries.push(['l', stream, ...numbersOf(file)])
  for (const [segment, bytes] of state.segments) entries.push(['g', segment, bytes])
  for (const [id, place] of state.executionPlaces) entries.push(executionEntry(state, id, place))
  for (const [root, places] of state.receiptPlaces) {
    for (const { segment, from, bytes } of places) entries.push(['r', root, segment, from, bytes])
  }
  return entries
}

class CheckpointWork {
  readonly entries: CatalogueEntry[] = []
  readonly publications: (() => void)[] = []
  readonly #files: StoreFiles
  readonly #paths: StorePaths
  readonly #state: FolderState
  readonly #made = new Set<string>()
  readonly #touched = new Set<string>()

  constructor({ files, paths, state }: CheckpointParts) {
    this.#files = files
    this.#paths = paths
    this.#state = state
  }

  async document(cell: string, value: JsonValue | undefined): Promise<void> {
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

  async session(sessionId: string, part: SessionPart): Promise<void> {
    const file = this.#state.sessionFile(sessionId)
    const lines = part.rows.map((row: MessageRecord) => encodeLine(JSON.stringify({ m: row })))
    const header = part.header === undefined ? '' : encodeLine(JSON.stringify({ h: part.header }))
    const first = encodeLine(JSON.stringify({ sluice: 'session', sessionId }))
    const next = await this.#append(this.#paths.session(sessionId), { file, first, lines, alone: header })
    this.entries.push(sessionEntry(this.#state, sessionId, next))
    this.publications.push(() => {
      this.#state.sessionFiles.set(sessionId, next)
      if (part.header !== undefined) {
        this.#state.headerCache.set(sessionId, part.header as SessionRecord, next.lineBytes)
      }
    })
  }

  async log(stream: string, entries: readonly LogEntry[]): Promise<void> {
    const file = this.#state.logFile(stream)
    const lines = entries.map((entry) => encodeLine(JSON.stringify({ e: entry })))
    const alone = lines.pop() as string
    const first = encodeLine(JSON.stringify({ sluice: 'log', stream }))
    const appended = await this.#append(this.#paths.log(stream), { file, first, lines, alone })
    const next = { ...appended, count: appended.count + 1 }
    this.entries.push(['l', stream, ...numbersOf(next)])
    this.publications.push(() => {
      this.#state.logFiles.set(stream, next)
      this.#state.tailCache.set(stream, entries.at(-1) as LogEntry, next.lineBytes)
    })
  }

  async runs(layer: Layer): Promise<void> {
    if (layer.executions.size + layer.receipts.size === 0) return
    const segment = RunSegment.next(this.#state)
    for (const [id, record] of layer.executions) {
      const place = segment.add({ x: record } as unknown as JsonObject)
      this.entries.push(executionEntry(this.#state, id, place))
      this.publications.push(() => {
        this.#state.executionPlaces.set(id, place)
        this.#state.executionCache.set(id, record, place.bytes)
      })
    }
    for (const [root, receipts] of layer.receipts) {
      const place = segment.add({ root, r: receipts })
      this.entries.push(['r', root, place.segment, place.from, place.bytes])
      this.publications.push(() => {
        const places = this.#state.receiptPlaces.get(root)
        if (places === undefined) this.#state.receiptPlaces.set(root, [place])
        else places.push(place)
      })
    }
    const path = this.#paths.runs(segment.number)
    await this.#makeFolder(path)
    await this.#writeBehind(path, segment.start, segment.bytes())
    this.entries.push(['g', segment.number, segment.end])
    this.publications.push(() => void this.#state.segments.set(segment.number, segment.end))
  }

  async syncFolders(): Promise<void> {
    await inPairs(this.#touched, (folder) => this.#files.syncFolder(folder))
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

  async #append(path: string, parts: AppendParts): Promise<LineFile> {
    const { file, lines, alone } = parts
    const head = file.bytes === 0 ? parts.first : ''
    const bytes = Buffer.from(head + lines.join('') + alone)
    await this.#makeFolder(path)
    await this.#writeBehind(path, file.bytes, bytes)
    const end = file.bytes + bytes.length
    const aloneBytes = Buffer.byteLength(alone)
    return {
      bytes: end,
      count: file.count + lines.length,
      lineFrom: alone === '' ? file.lineFrom : end - aloneBytes,
      lineBytes: alone === '' ? file.lineBytes : aloneBytes,
    }
  }

  /** Writes behind the `from` bytes that are finished; what an earlier attempt left there goes. */
  async #writeBehind(path: string, from: number, bytes: Buffer): Promise<void> {
    if (from === 0) this.#touched.add(dirname(path))
    const file = await this.#files.open(path, from === 0 ? 'new' : 'change').catch((error: unknown) => {
      throw from > 0 && errnoOf(error) === 'ENOENT' ? damagedFile(path, { why: 'it is not there' }) : error
    })
    try {
      const size = from === 0 ? 0 : await file.size()
      if (size < from) throw damagedFile(path, { why: `it ends there and should reach byte ${from}`, byte: size })
      await file.write(bytes, from)
      if (size > from + bytes.length) await file.truncate(from + bytes.length)
      await file.sync()
    } finally {
      await file.close()
    }
  }

  async #makeFolder(path: string): Promise<void> {
    const folder = dirname(path)
    if (this.#made.has(folder)) return
    this.#made.add(folder)
    await this.#files.makeFolder(folder)
    // the folder above holds its name, and that one's name stands in the folder of the store
    this.#touched.add(join(folder, '..'))
    this.#touched.add(this.#paths.folder)
  }
}

interface AppendParts {
  readonly file: LineFile
  /** Line at the beginning of a new file. */
  readonly first: string
  readonly lines: readonly string[]
  /** Last line, which is later read alone; may be empty. */
  readonly alone: string
}

function sessionEntry(state: FolderState, sessionId: string, file: LineFile): CatalogueEntry {
  const fields = state.sessions.get(sessionId)
  const known = fields === undefined ? [] : [fields.tenant, fields.createdBy, fields.lastActivityAt]
  return ['s', sessionId, ...numbersOf(file), ...known]
}

function executionEntry(state: FolderState, id: string, { segment, from, bytes }: Place): CatalogueEntry {
  const fields = state.executions.get(id)
  if (fields === undefined) throw new Error(`Execution ${id} is in a layer and not in the index.`)
  return [
    'x',
    id,
    segment,
    from,
    bytes,
    fields.rootExecutionId,
    fields.parentExecutionId,
    fields.sessionId,
    fields.tenant,
    fields.createdBy,
    fields.agentCode,
    fields.agentId,
    fields.status,
    fields.startedAt,
  ]
}

function numbersOf(file: LineFile): number[] {
  return [file.bytes, file.count, file.lineFrom, file.lineBytes]
}

async function inPairs<Item>(items: Iterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.iterator]()
  const worker = async () => {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) await work(next.value)
  }
  const workers = Array.from({ length: SIDE_BY_SIDE }, worker)
  const results = await Promise.allSettled(workers)
  for (const result of results) if (result.status === 'rejected') throw result.reason
}
