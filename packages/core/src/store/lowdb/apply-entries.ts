import type { ExecutionStatus } from '../records.js'
import type { CatalogueEntry } from './catalogue.js'
import type { FolderState } from './folder-state.js'

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
    case 'r':
      addReceiptPlace(state, entry)
      break
    case 's':
      state.sessionFiles.set(id, lineFileOf(entry))
      addSession(state, entry)
      break
    case 'l':
      state.logFiles.set(id, lineFileOf(entry))
      state.addStream(id)
      break
    case 'x':
      addExecution(state, entry)
      break
    default:
      throw new Error(`The catalogue holds a line of the unknown kind '${String(entry[0])}'.`)
  }
}

function lineFileOf(entry: CatalogueEntry) {
  const [, , bytes, count, lineFrom, lineBytes] = entry as [string, string, number, number, number, number]
  return { bytes, count, lineFrom, lineBytes }
}

function addReceiptPlace(state: FolderState, entry: CatalogueEntry): void {
  const [, root, segment, from, bytes] = entry as [string, string, number, number, number]
  const places = state.receiptPlaces.get(root)
  if (places === undefined) state.receiptPlaces.set(root, [{ segment, from, bytes }])
  else places.push({ segment, from, bytes })
}

function addSession(state: FolderState, entry: CatalogueEntry): void {
  const lastActivityAt = entry[8]
  if (typeof lastActivityAt !== 'number') return
  state.sessions.set({
    sessionId: entry[1] as string,
    tenant: entry[6] as string | null,
    createdBy: entry[7] as string | null,
    lastActivityAt,
  })
}

function addExecution(state: FolderState, entry: CatalogueEntry): void {
  const id = entry[1] as string
  state.executionPlaces.set(id, {
    segment: entry[2] as number,
    from: entry[3] as number,
    bytes: entry[4] as number,
  })
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
