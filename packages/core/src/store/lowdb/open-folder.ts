import type { Ids } from '../../internal/ids.js'
import type { JsonValue } from '../../internal/json.js'
import { spaceOf } from '../embedded/cell-index.js'
import { DefinitionTable } from '../embedded/definition-table.js'
import type { DefinitionRecord } from '../records.js'
import type { AckMark } from './ack-mark.js'
import { applyEntries } from './apply-entries.js'
import { Catalogue } from './catalogue.js'
import { damagedFile, errnoOf, readFault, writeFault } from './file-fault.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import { RedoSegment } from './redo-segment.js'
import { replay } from './replay.js'
import type { StoreFiles } from './store-files.js'
import { numberOf, type StorePaths } from './store-paths.js'

/** What a folder is opened with. */
export interface OpenFolderParts {
  readonly files: StoreFiles
  readonly paths: StorePaths
  readonly state: FolderState
  readonly reader: FileReader
  readonly ids: Ids
  readonly mark: AckMark
}

/** An open folder: `state` holds everything that was ever acknowledged. */
export interface OpenedFolder {
  readonly catalogue: Catalogue
  /** Goes on where the last process stopped. */
  readonly redo: RedoSegment
}

/** Opens the store in a folder that this process has locked, or makes one where there is none. @throws STORE_DAMAGED */
export async function openFolder(parts: OpenFolderParts): Promise<OpenedFolder> {
  const { files, paths } = parts
  const opened = await Catalogue.open(files, paths.catalogue)
  if (opened === undefined) return createFolder(parts)
  const { catalogue, entries, tornAt } = opened
  try {
    applyEntries(parts.state, entries)
    await checkSegments(parts)
    const redo = await replaySegments(parts, catalogue, tornAt)
    try {
      await removeOldSegments(parts, catalogue.applied, redo.number)
      await loadDefinitions(parts)
    } catch (error) {
      await redo.close().catch(() => undefined)
      throw error
    }
    return { catalogue, redo }
  } catch (error) {
    await catalogue.close().catch(() => undefined)
    throw error
  }
}

async function createFolder(parts: OpenFolderParts): Promise<OpenedFolder> {
  const { files, paths, mark } = parts
  await refuseLeftovers(parts)
  const store = parts.ids.id()
  const redo = await RedoSegment.create({ files, path: paths.redo(1), number: 1, store, mark })
  try {
    return { catalogue: await Catalogue.create(files, paths.catalogue, store), redo }
  } catch (error) {
    await redo.close().catch(() => undefined)
    throw error
  }
}

/** Folders that hold something only after a checkpoint, and so only beside a catalogue. */
const DATA_FOLDERS = new Set(['segments', 'documents', 'agents', 'prompts', 'journals'])

/** Without a catalogue there is no store: where its files are there all the same, it is not made anew over them. */
async function refuseLeftovers({ files, paths }: OpenFolderParts): Promise<void> {
  const names = await listFolder(files, paths.folder)
  const left = names.find((name) => DATA_FOLDERS.has(name) || (numberOf(name, 'redo') ?? 0) > 1)
  const isUsed = names.some((name) => numberOf(name, 'redo') === 1) && (await hasRecords(files, paths.redo(1)))
  if (left === undefined && !isUsed) return
  throw damagedFile(paths.catalogue, {
    why: `it is not there, and ${left ?? 'a redo file with records'} is`,
    lastGood: 'the files beside it were left as they are',
  })
}

/** Segments reach as far as the catalogue says. Their lines are checked when they are read. */
async function checkSegments({ files, paths, state }: OpenFolderParts): Promise<void> {
  for (const [number, bytes] of state.segments) {
    const path = paths.segment(number)
    const size = await sizeOf(files, path)
    if (size === undefined) throw damagedFile(path, { why: 'it is not there' })
    if (size < bytes) {
      throw damagedFile(path, {
        why: `it ends there and should reach byte ${bytes}`,
        byte: size,
        lastGood: 'its lines before that byte',
      })
    }
  }
}

async function sizeOf(files: StoreFiles, path: string): Promise<number | undefined> {
  try {
    return (await files.describe(path)).size
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw readFault(error, path)
  }
}

async function replaySegments(
  parts: OpenFolderParts,
  catalogue: Catalogue,
  tornAt: number | undefined,
): Promise<RedoSegment> {
  const { files, paths, mark } = parts
  for (let number = catalogue.applied + 1; ; number++) {
    const path = paths.redo(number)
    const opened = await RedoSegment.open({ files, path, number, store: catalogue.store, mark })
    if (opened === undefined) throw segmentMissing(parts, { path, applied: catalogue.applied, tornAt })
    try {
      for (const record of opened.records) await replay(parts, path, record)
    } catch (error) {
      await opened.segment.close().catch(() => undefined)
      throw error
    }
    if (!opened.sealed) return opened.segment
    await opened.segment.close().catch(() => undefined)
  }
}

interface MissingSegment {
  readonly path: string
  readonly applied: number
  readonly tornAt: number | undefined
}

function segmentMissing({ paths }: OpenFolderParts, { path, applied, tornAt }: MissingSegment): Error {
  if (tornAt !== undefined) {
    return damagedFile(paths.catalogue, {
      why: `its end is missing or unreadable, and ${path}, which would make up for it, is not there`,
      byte: tornAt,
      lastGood: `the batches before that byte, up to redo file ${applied}`,
    })
  }
  return damagedFile(path, {
    why: 'it is missing, empty or without its first line, or the end of catalogue.jsonl is missing',
    lastGood: `what catalogue.jsonl lists, up to redo file ${applied}`,
  })
}

/** Removes segments that are wholly in the files, and one that was made when the process ended and never used. */
async function removeOldSegments({ files, paths }: OpenFolderParts, applied: number, current: number): Promise<void> {
  for (const name of await listFolder(files, paths.folder)) {
    const number = numberOf(name, 'redo')
    if (number === undefined || (number > applied && number <= current)) continue
    const path = paths.redo(number)
    if (number > current && (await hasRecords(files, path))) {
      throw damagedFile(paths.redo(current), { why: `its end is missing, because ${path} follows it` })
    }
    await files.remove(path).catch((error: unknown) => {
      throw writeFault(error, paths.folder)
    })
  }
}

/** The header of a redo file is one line; every record is one more. */
async function hasRecords(files: StoreFiles, path: string): Promise<boolean> {
  try {
    return (await files.readWhole(path)).filter((byte) => byte === 0x0a).length > 1
  } catch (error) {
    throw readFault(error, path)
  }
}

async function loadDefinitions({ state, reader }: OpenFolderParts): Promise<void> {
  for (const kind of ['agents', 'prompts'] as const) {
    const records: DefinitionRecord[] = []
    for (const cell of state.index.cells()) {
      if (spaceOf(cell) !== kind) continue
      const value: JsonValue | undefined = state.layers[0]?.cells.get(cell) ?? (await reader.document(cell))
      records.push(value as unknown as DefinitionRecord)
    }
    state.tables[kind] = new DefinitionTable(records)
  }
}

async function listFolder(files: StoreFiles, folder: string): Promise<string[]> {
  try {
    return await files.list(folder)
  } catch (error) {
    throw writeFault(error, folder)
  }
}
