import type { JsonObject, JsonValue } from '../../internal/json.js'
import { deepFreeze } from '../../internal/deep-freeze.js'
import type { ExecutionRecord } from '../records.js'
import { type Change, entriesOf } from './change.js'
import { damagedFile } from './file-fault.js'
import type { FileReader } from './file-reader.js'
import type { FolderState } from './folder-state.js'
import { Layer } from './layer.js'
import { resolveLookup } from './lookup.js'

/** Makes the changes of one record of the redo log again. @throws STORE_DAMAGED where they do not follow what is there */
export async function replay(
  parts: { readonly state: FolderState; readonly reader: FileReader },
  path: string,
  record: JsonValue,
): Promise<void> {
  const layer = new Layer()
  for (const change of record as unknown as readonly Change[]) {
    if (change[0] === 'u') {
      layer.executions.set(change[1], await changedExecution(parts, path, change[1], change[2]))
    } else {
      applyChange(parts.state, path, layer, change)
    }
  }
  parts.state.commit(layer)
}

function applyChange(
  state: FolderState,
  path: string,
  layer: Layer,
  change: Exclude<Change, readonly ['u', ...unknown[]]>,
) {
  switch (change[0]) {
    case 'c':
      layer.cells.set(change[1], change.length === 2 ? undefined : deepFreeze(change[2]))
      break
    case 'x':
      layer.executions.set(change[1].id, change[1])
      break
    case 's':
      layer.setHeader(change[1])
      break
    case 'm': {
      const [, sessionId, rows] = change
      const count =
        (state.messageChunks.get(sessionId)?.count ?? 0) + (state.layers[0]?.sessions.get(sessionId)?.rows.length ?? 0)
      if (rows[0]?.seq !== count + 1) throw gap(path, `message ${rows[0]?.seq} follows message ${count}`)
      layer.addRows(sessionId, rows)
      break
    }
    case 'e':
      layer.errors.set(change[1].reference, change[1])
      break
    case 'r':
      layer.addReceipts(change[1], change[2] as readonly JsonObject[])
      break
    case 'l': {
      const [, stream, first, at, values] = change
      const last = state.layers[0]?.logs.get(stream)?.at(-1)?.index ?? (state.logChunks.get(stream)?.count ?? 0) - 1
      if (first !== last + 1) throw gap(path, `log entry ${first} follows entry ${last}`)
      layer.addEntries(stream, entriesOf(first, at, deepFreeze(values)))
      break
    }
    default:
      throw gap(path, `it holds a change of the unknown kind '${String((change as readonly unknown[])[0])}'`)
  }
}

async function changedExecution(
  parts: { readonly state: FolderState; readonly reader: FileReader },
  path: string,
  id: string,
  fields: Partial<ExecutionRecord>,
): Promise<ExecutionRecord> {
  const [current] = await resolveLookup(parts.state, parts.reader, (lookup) => lookup.executions([id]))
  if (current === undefined) throw gap(path, `it changes execution ${id}, which is not there`)
  return { ...current, ...fields }
}

function gap(path: string, why: string): Error {
  return damagedFile(path, { why, lastGood: 'the records before that one' })
}
