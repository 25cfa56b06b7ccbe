import type { Ids } from '../../internal/ids.js'
import type { JsonValue } from '../../internal/json.js'
import { spaceOf } from '../embedded/cell-index.js'
import { DefinitionTable } from '../embedded/definition-table.js'
import type { DefinitionRecord } from '../records.js'
import { Catalogue } from './catalogue.js'
import { damagedFile, writeFault } from './file-fault.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import { applyEntries } from './apply-entries.js'
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
    const redo = await replaySegments(parts, catalogue, tornAt)
    await removeOldSegments(parts, catalogue.applied, redo.number)
    await loadDefinitions(parts)
    return { catalogue, redo }
  } catch (error) {
    await catalogue.close()
    throw error
  }
}

async function createFolder(parts: OpenFolderParts): Promise<OpenedFolder> {
  const { files, paths } = parts
  await refuseLeftovers(parts)
  const store = parts.ids.id()
  const redo = await RedoSegment.create({ files, path: paths.redo(1), number: 1, store })
  const catalogue = await Catalogue.create(files, paths.catalogue, store)
  return { catalogue, redo }
}

/** Folders that hold something only after a checkpoint, and so only beside a catalogue. */
const DATA_FOLDERS = new Set(['sessions', 'logs', 'runs', 'documents', 'agents', 'prompts', 'journals', 'errors'])

/** Without a catalogue there is no store: where its files are there all the same, it is not made anew over them. */
async function refuseLeftovers({ files, paths }: OpenFolderParts): Promise<void> {
  const names = await listFolder(files, paths.folder)
  const left = names.find((name) => DATA_FOLDERS.has(name) || (numberOf(name, 'redo') ?? 0) > 1)
  const first = names.some((name) => numberOf(name, 'redo') === 1) ? await files.readWhole(paths.redo(1)) : undefined
  // header and mark are two lines; every record is one more
  const hasRecords = first !== undefined && first.filter((byte) => byte === 0x0a).length > 2
  if (left === undefined && !hasRecords) return
  throw damagedFile(paths.catalogue, {
    why: `it is not there, and ${left ?? 'a redo file with records'} is`,
    lastGood: 'the files beside it were left as they are',
  })
}

async function replaySegments(
  parts: OpenFolderParts,
  catalogue: Catalogue,
  tornAt: number | undefined,
): Promise<RedoSegment> {
  const { files, paths } = parts
  for (let number = catalogue.applied + 1; ; number++) {
    const path = paths.redo(number)
    const opened = await RedoSegment.open({ files, path, number, store: catalogue.store })
    if (opened === undefined) throw segmentMissing(parts, { path, applied: catalogue.applied, tornAt })
    for (const record of opened.records) await replay(parts, path, record)
    if (!opened.sealed) return opened.segment
    await opened.segment.close()
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
async function removeOldSegments(parts: OpenFolderParts, applied: number, current: number): Promise<void> {
  const { files, paths } = parts
  try {
    for (const name of await files.list(paths.folder)) {
      const number = numberOf(name, 'redo')
      if (number !== undefined && (number <= applied || number > current)) await files.remove(paths.redo(number))
    }
  } catch (error) {
    throw writeFault(error, paths.folder)
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
