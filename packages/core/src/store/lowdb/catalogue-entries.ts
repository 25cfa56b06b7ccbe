import type { CatalogueEntry } from './catalogue.js'
import type { Chunk, ChunkList } from './chunk-list.js'
import type { FolderState } from './folder-state.js'
import type { Place } from './segment-lines.js'

/** Tags of lists: message rows, receipts, log entries. */
export type ListTag = 'm' | 'r' | 'l'

export function chunkEntry(tag: ListTag, id: string, { segment, from, bytes, count }: Chunk): CatalogueEntry {
  return [tag, id, segment, from, bytes, count]
}

export function errorEntry(reference: string, { segment, from, bytes }: Place): CatalogueEntry {
  return ['e', reference, segment, from, bytes]
}

/** With what lists of sessions need, as it is now: that is never behind the header at `place`. */
export function sessionEntry(state: FolderState, sessionId: string, place: Place): CatalogueEntry {
  const fields = known(state.sessions.get(sessionId), sessionId)
  const { segment, from, bytes } = place
  return ['h', sessionId, segment, from, bytes, fields.tenant, fields.createdBy, fields.lastActivityAt]
}

/** With what lists of executions need, as it is now: that is never behind the row at `place`. */
export function executionEntry(state: FolderState, id: string, place: Place): CatalogueEntry {
  const fields = known(state.executions.get(id), id)
  return [
    'x',
    id,
    place.segment,
    place.from,
    place.bytes,
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

/** Entries of a catalogue that is written whole: everything that lies in files. */
export function wholeCatalogue(state: FolderState): CatalogueEntry[] {
  const entries: CatalogueEntry[] = []
  for (const cell of state.index.cells()) entries.push(['c', cell])
  for (const [segment, bytes] of state.segments) entries.push(['g', segment, bytes])
  for (const [sessionId, place] of state.headerPlaces) entries.push(sessionEntry(state, sessionId, place))
  for (const [id, place] of state.executionPlaces) entries.push(executionEntry(state, id, place))
  for (const [reference, place] of state.errorPlaces) entries.push(errorEntry(reference, place))
  addLists(entries, 'm', state.messageChunks)
  addLists(entries, 'r', state.receiptChunks)
  addLists(entries, 'l', state.logChunks)
  return entries
}

function addLists(entries: CatalogueEntry[], tag: ListTag, lists: ReadonlyMap<string, ChunkList>): void {
  for (const [id, list] of lists) {
    for (const chunk of list.chunks) entries.push(chunkEntry(tag, id, chunk))
  }
}

function known<Fields>(fields: Fields | undefined, id: string): Fields {
  if (fields === undefined) throw new Error(`'${id}' lies in a file and is in no index.`)
  return fields
}
