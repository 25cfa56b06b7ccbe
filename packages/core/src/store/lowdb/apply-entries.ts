import type { ExecutionStatus } from '../records.js'
import type { CatalogueEntry } from './catalogue.js'
import { type Chunk, chunksOf } from './chunk-list.js'
import type { FolderState } from './folder-state.js'
import type { Place } from './segment-lines.js'

/** Fills the state with what the catalogue says, line by line: a later line about the same thing replaces an earlier one. */
export function applyEntries(state: FolderState, entries: readonly CatalogueEntry[]): void {
  for (const entry of entries) applyEntry(state, entry)
}

function applyEntry(state: FolderState, entry: CatalogueEntry): void {
  const id = entry[1] as string
  switch (entry[0]) {
    case 'c':
      state.index.add(id)
      break
    case 'd':
      state.index.delete(id)
      break
    case 'g':
      state.segments.set(entry[1] as number, entry[2] as number)
      break
    case 'm':
      chunksOf(state.messageChunks, id).add(chunkOf(entry))
      break
    case 'r':
      chunksOf(state.receiptChunks, id).add(chunkOf(entry))
      break
    case 'l':
      chunksOf(state.logChunks, id).add(chunkOf(entry))
      state.addStream(id)
      break
    case 'e':
      state.errorPlaces.set(id, placeOf(entry))
      break
    case 'h':
      addSession(state, id, entry)
      break
    case 'x':
      addExecution(state, id, entry)
      break
    default:
      throw new Error(`The catalogue holds a line of the unknown kind '${String(entry[0])}'.`)
  }
}

function placeOf(entry: CatalogueEntry): Place {
  return { segment: entry[2] as number, from: entry[3] as number, bytes: entry[4] as number }
}

function chunkOf(entry: CatalogueEntry): Chunk {
  return { ...placeOf(entry), count: entry[5] as number }
}

function addSession(state: FolderState, sessionId: string, entry: CatalogueEntry): void {
  state.headerPlaces.set(sessionId, placeOf(entry))
  state.sessions.set({
    sessionId,
    tenant: entry[5] as string | null,
    createdBy: entry[6] as string | null,
    lastActivityAt: entry[7] as number,
  })
}

function addExecution(state: FolderState, id: string, entry: CatalogueEntry): void {
  state.executionPlaces.set(id, placeOf(entry))
  state.executions.set({
    id,
    rootExecutionId: entry[5] as string,
    parentExecutionId: entry[6] as string | null,
    sessionId: entry[7] as string,
    tenant: entry[8] as string | null,
    createdBy: entry[9] as string | null,
    agentCode: entry[10] as string,
    agentId: entry[11] as string,
    status: entry[12] as ExecutionStatus,
    startedAt: entry[13] as number,
  })
}
