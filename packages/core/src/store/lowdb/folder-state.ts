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
import type { ChunkList } from './chunk-list.js'
import { Layer } from './layer.js'
import type { Place } from './segment-lines.js'

const CACHE_BYTES = 8 * 1024 * 1024

/**
 * What the store knows without looking into a file. Indexes hold everything that is committed, without the values; layers
 * hold the committed values that are not in their files yet; caches hold some of the others. Places say where in the
 * segments the finished values lie; they change when a checkpoint has ended, in the moment in which its layer goes.
 */
export class FolderState {
  readonly index = new CellIndex()
  readonly executions = new ExecutionIndex<ExecutionFields>()
  readonly sessions = new SessionIndex<SessionFields>()
  readonly tables: Record<DefinitionKind, DefinitionTable> = {
    agents: new DefinitionTable(),
    prompts: new DefinitionTable(),
  }
  /** Names of streams by namespace. */
  readonly streams = new Map<string, Set<string>>()

  readonly headerPlaces = new Map<string, Place>()
  readonly executionPlaces = new Map<string, Place>()
  readonly errorPlaces = new Map<string, Place>()
  readonly messageChunks = new Map<string, ChunkList>()
  readonly receiptChunks = new Map<string, ChunkList>()
  readonly logChunks = new Map<string, ChunkList>()
  /** Bytes of every segment that are finished. */
  readonly segments = new Map<number, number>()

  readonly cellCache = new BoundedCache<JsonValue>(CACHE_BYTES)
  readonly headerCache = new BoundedCache<SessionRecord>(CACHE_BYTES)
  readonly executionCache = new BoundedCache<ExecutionRecord>(CACHE_BYTES)
  readonly tailCache = new BoundedCache<LogEntry>(CACHE_BYTES)

  /** Newest first. The second one, if any, is on its way into the files. */
  layers: readonly Layer[] = [new Layer()]
  /** Grows when a checkpoint has ended: what was read from a file before may be older than what is there now. */
  generation = 0

  /** Makes what a layer holds visible: it is in the redo log. */
  commit(layer: Layer): void {
    for (const [cell, value] of layer.cells) {
      if (value === undefined) this.index.delete(cell)
      else this.index.add(cell)
      this.#commitDefinition(cell, value)
    }
    for (const { header } of layer.sessions.values()) {
      if (header !== undefined) this.sessions.set(sessionFields(header))
    }
    for (const record of layer.executions.values()) this.executions.set(executionFields(record))
    for (const stream of layer.logs.keys()) this.addStream(stream)
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

  /** What is not in a file yet of the rows of a session, the receipts of a tree, the entries of a stream; in order. */
  rowsInLayers(sessionId: string): MessageRecord[] {
    return this.layers.toReversed().flatMap((layer) => layer.sessions.get(sessionId)?.rows ?? [])
  }

  receiptsInLayers(rootExecutionId: string): JsonObject[] {
    return this.layers.toReversed().flatMap((layer) => layer.receipts.get(rootExecutionId) ?? [])
  }

  entriesInLayers(stream: string): LogEntry[] {
    return this.layers.toReversed().flatMap((layer) => layer.logs.get(stream) ?? [])
  }

  #commitDefinition(cell: string, value: JsonValue | undefined): void {
    const space = spaceOf(cell)
    if (space !== 'agents' && space !== 'prompts') return
    const table = this.tables[space]
    this.tables[space] =
      value === undefined
        ? table.without(decodeKey(cell)[1] as string)
        : table.with(value as unknown as DefinitionRecord)
  }
}

export function executionFields(record: ExecutionRecord): ExecutionFields {
  return {
    id: record.id,
    rootExecutionId: record.rootExecutionId,
    parentExecutionId: record.parentExecutionId,
    sessionId: record.sessionId,
    tenant: record.tenant,
    createdBy: record.createdBy,
    agentCode: record.agentCode,
    agentId: record.agentId,
    status: record.status,
    startedAt: record.startedAt,
  }
}

export function sessionFields(record: SessionRecord): SessionFields {
  const { sessionId, tenant, createdBy, lastActivityAt } = record
  return { sessionId, tenant, createdBy, lastActivityAt }
}
