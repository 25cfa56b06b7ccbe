import type { JsonObject, JsonValue } from '../../internal/json.js'
import { CellIndex, spaceOf } from '../embedded/cell-index.js'
import { decodeKey } from '../embedded/check-key.js'
import { DefinitionTable } from '../embedded/definition-table.js'
import { type ExecutionFields, ExecutionIndex } from '../embedded/execution-index.js'
import type { DefinitionKind } from '../embedded/ground.js'
import { type SessionFields, SessionIndex } from '../embedded/session-index.js'
import type { DefinitionRecord, ExecutionRecord, MessageRecord, SessionRecord } from '../records.js'
import type { LogEntry } from '../store.js'
import { BoundedCache } from './bounded-cache.js'
import { Layer } from './layer.js'

/** Where a record lies: run segment, first byte, bytes with the newline. */
export interface Place {
  readonly segment: number
  readonly from: number
  readonly bytes: number
}

/** What of a line file is finished: bytes, and how many rows or entries are in them. */
export interface LineFile {
  readonly bytes: number
  readonly count: number
  /** First byte and length of the line that is asked for alone: the newest header, or the last entry. 0 bytes: none. */
  readonly lineFrom: number
  readonly lineBytes: number
}

const NOTHING_ON_FILE: LineFile = Object.freeze({ bytes: 0, count: 0, lineFrom: 0, lineBytes: 0 })
const CACHE_BYTES = 8 * 1024 * 1024

/**
 * What the store knows without looking into a file. Indexes hold everything that is committed; layers hold the committed
 * values that are not in their files yet; caches hold some of the others. The places say where in the files the finished
 * values lie, and change when a checkpoint has ended, in the same moment in which its layer goes.
 */
export class FolderState {
  readonly index = new CellIndex()
  readonly executions = new ExecutionIndex<ExecutionFields>()
  readonly sessions = new SessionIndex<SessionFields>()
  readonly tables: Record<DefinitionKind, DefinitionTable> = {
    agents: new DefinitionTable(),
    prompts: new DefinitionTable(),
  }
  /** Streams by namespace. */
  readonly streams = new Map<string, Set<string>>()

  readonly sessionFiles = new Map<string, LineFile>()
  readonly logFiles = new Map<string, LineFile>()
  readonly executionPlaces = new Map<string, Place>()
  readonly receiptPlaces = new Map<string, Place[]>()
  /** Bytes of every run segment that are finished. */
  readonly segments = new Map<number, number>()

  readonly cellCache = new BoundedCache<JsonValue>(CACHE_BYTES)
  readonly headerCache = new BoundedCache<SessionRecord>(CACHE_BYTES)
  readonly executionCache = new BoundedCache<ExecutionRecord>(CACHE_BYTES)
  readonly tailCache = new BoundedCache<LogEntry>(CACHE_BYTES)

  /** Newest first. The second one, if any, is on its way into the files. */
  layers: readonly Layer[] = [new Layer()]
  /** Grows when a checkpoint has ended: what was read from a file before may be older than what is there now. */
  generation = 0

  sessionFile(sessionId: string): LineFile {
    return this.sessionFiles.get(sessionId) ?? NOTHING_ON_FILE
  }

  logFile(stream: string): LineFile {
    return this.logFiles.get(stream) ?? NOTHING_ON_FILE
  }

  /** Makes what a layer holds visible: it is in the redo log. */
  commit(layer: Layer): void {
    for (const [cell, value] of layer.cells) {
      if (value === undefined) this.index.delete(cell)
      else this.index.add(cell)
    }
    this.#commitDefinitions(layer)
    for (const [, part] of layer.sessions) {
      if (part.header !== undefined) this.sessions.set(sessionFields(part.header))
    }
    for (const [, record] of layer.executions) this.executions.set(executionFields(record))
    for (const [stream] of layer.logs) this.addStream(stream)
    ;(this.layers[0] as Layer).absorb(layer)
  }

  addStream(stream: string): void {
    const [namespace = '', name = ''] = decodeKey(stream)
    const names = this.streams.get(namespace)
    if (names === undefined) this.streams.set(namespace, new Set([name]))
    else names.add(name)
  }

  /** Sets the active layer aside for a checkpoint and goes on with an empty one. */
  freeze(): Layer {
    const [active] = this.layers as readonly [Layer]
    this.layers = [new Layer(), active]
    return active
  }

  /** Puts a layer back whose checkpoint failed. */
  thaw(): void {
    const [active, frozen] = this.layers as readonly [Layer, Layer]
    frozen.absorb(active)
    this.layers = [frozen]
  }

  /** Rows of a session, and entries of a stream, that are not in a file, in order. */
  rowsInLayers(sessionId: string): MessageRecord[] {
    return this.layers.toReversed().flatMap((layer) => layer.sessions.get(sessionId)?.rows ?? [])
  }

  entriesInLayers(stream: string): LogEntry[] {
    return this.layers.toReversed().flatMap((layer) => layer.logs.get(stream) ?? [])
  }

  receiptsInLayers(rootExecutionId: string): JsonObject[] {
    return this.layers.toReversed().flatMap((layer) => layer.receipts.get(rootExecutionId) ?? [])
  }

  #commitDefinitions(layer: Layer): void {
    for (const [cell, value] of layer.cells) {
      const space = spaceOf(cell)
      if (space !== 'agents' && space !== 'prompts') continue
      const table = this.tables[space]
      this.tables[space] =
        value === undefined
          ? table.without(decodeKey(cell)[1] as string)
          : table.with(value as unknown as DefinitionRecord)
    }
  }
}

export function executionFields(record: ExecutionRecord): ExecutionFields {
  const {
    id,
    rootExecutionId,
    parentExecutionId,
    sessionId,
    tenant,
    createdBy,
    agentCode,
    agentId,
    status,
    startedAt,
  } = record
  return {
    id,
    rootExecutionId,
    parentExecutionId,
    sessionId,
    tenant,
    createdBy,
    agentCode,
    agentId,
    status,
    startedAt,
  }
}

export function sessionFields(record: SessionRecord): SessionFields {
  const { sessionId, tenant, createdBy, lastActivityAt } = record
  return { sessionId, tenant, createdBy, lastActivityAt }
}
