import type { JsonObject, JsonValue, MaybePromise } from '../internal/json.js'
import type {
  DefinitionRecord,
  ExecutionRecord,
  ExecutionStatus,
  MessageRecord,
  NewMessageRecord,
  SessionRecord,
  ToolErrorRecord,
} from './records.js'

/** One page of a list. `next` is given back as `after` for the page behind it; `null` on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/**
 * How a list is paged. `limit` is at most 1 000 (`LIMIT_EXCEEDED`); default 100. A limit or place that is none is refused with
 * `INVALID_CONFIG`, `reason` `store.page`.
 */
export interface PageRequest {
  readonly limit?: number
  readonly after?: string
}

/** Options of every store call. A call that is ended by its signal before it began wrote nothing. */
export interface StoreCall {
  readonly signal?: AbortSignal
}

/** A document key: 1 to 16 strings of 1 to 1 000 UTF-16 units; two different lists never meet. */
export type DocumentKey = readonly string[]

/** Key-value documents of one namespace, for plugins and for the core's own small state. */
export interface Documents {
  /** The document, or `undefined`. */
  get(key: DocumentKey, call?: StoreCall): Promise<JsonValue | undefined>
  /** All documents of the keys, in their order, read at one point. */
  getMany(keys: readonly DocumentKey[], call?: StoreCall): Promise<(JsonValue | undefined)[]>
  put(key: DocumentKey, value: JsonValue, call?: StoreCall): Promise<void>
  /** True where there was one. */
  delete(key: DocumentKey, call?: StoreCall): Promise<boolean>
  /** Documents whose key begins with `prefix` (whole strings), in key order. */
  list(
    prefix: DocumentKey,
    page?: PageRequest & StoreCall,
  ): Promise<Page<{ readonly key: DocumentKey; readonly value: JsonValue }>>
  /**
   * Reads all keys at one point and writes all results or none, isolated from every other `transact` that shares a key.
   * `change` is synchronous and pure and may be called again; a promise as its result is refused with `STORE_CALLBACK`.
   * `at` is the store's own time in milliseconds, read after the locks are held. It returns the next values in key order:
   * `undefined` deletes, the same value (by identity) writes nothing; and may carry a `result` for the caller.
   */
  transact<Result>(
    keys: readonly DocumentKey[],
    change: (
      current: readonly (JsonValue | undefined)[],
      at: number,
    ) => { readonly next: readonly (JsonValue | undefined)[]; readonly result: Result },
    call?: StoreCall,
  ): Promise<Result>
  /** {@link Documents.transact} of one key. */
  update(
    key: DocumentKey,
    change: (current: JsonValue | undefined, at: number) => JsonValue | undefined,
    call?: StoreCall,
  ): Promise<JsonValue | undefined>
}

/** One entry of a log: `index` is its place in the stream, from 0, without gaps. */
export interface LogEntry {
  readonly index: number
  readonly at: number
  readonly value: JsonValue
}

/** Append-only, ordered streams of one namespace. An entry holds at most 64 KiB of JSON. */
export interface AppendLog {
  /**
   * Appends what `entries` returns in one atomic step; `tail` is the last entry so far. The callback is synchronous and pure
   * and may be called again. Returns the entries as they were appended.
   */
  append(
    stream: string,
    entries: (tail: LogEntry | undefined, at: number) => readonly JsonValue[],
    call?: StoreCall,
  ): Promise<readonly LogEntry[]>
  /** Entries from `from` (an index) on, in order. */
  read(
    stream: string,
    options?: { readonly from?: number; readonly limit?: number } & StoreCall,
  ): Promise<readonly LogEntry[]>
  tail(stream: string, call?: StoreCall): Promise<LogEntry | undefined>
  streams(call?: StoreCall): Promise<readonly string[]>
}

/**
 * Versions of agents or prompt profiles. At most one version of an agent is active when a write, or the transaction that it
 * belongs to, ends: a second one is refused with `DUPLICATE_NAME`. Prompt profiles may have several (P-3).
 */
export interface DefinitionRepository {
  /** Refuses a second record of the same id, or of the same code and version, with `DUPLICATE_NAME`. */
  insert(record: DefinitionRecord): Promise<void>
  /** Replaces the record of this id; `NOT_FOUND` where there is none. */
  replace(record: DefinitionRecord): Promise<void>
  get(id: string): Promise<DefinitionRecord | undefined>
  /** All versions of a code, lowest first. */
  versions(code: string): Promise<readonly DefinitionRecord[]>
  /** All records, by code and version. */
  list(page?: PageRequest & { readonly status?: DefinitionRecord['status'] }): Promise<Page<DefinitionRecord>>
  /** True where there was one. An agent to which an execution refers is refused with `HAS_HISTORY`. */
  delete(id: string): Promise<boolean>
}

/** Filter of executions; newest first. */
export interface ExecutionFilter extends PageRequest {
  readonly tenant?: string | null
  readonly createdBy?: string
  readonly sessionId?: string
  readonly agentCode?: string
  readonly agentId?: string
  readonly rootExecutionId?: string
  readonly status?: ExecutionStatus
  /** Milliseconds since the epoch, inclusive. */
  readonly startedFrom?: number
  readonly startedTo?: number
  /** Only top-level runs, only nested ones, or both (default). */
  readonly level?: 'top' | 'nested'
}

/** Rows of runs: independent writes that survive a rollback of anything (S-6). */
export interface ExecutionRepository {
  insert(record: ExecutionRecord): Promise<void>
  /** Changes the given fields; `NOT_FOUND` where there is no such row. */
  update(id: string, change: Partial<ExecutionRecord>): Promise<void>
  /** Changes the row with `change`, or leaves it where that returns `undefined`; atomic. Returns the row as it then is. */
  transition(
    id: string,
    change: (current: ExecutionRecord) => Partial<ExecutionRecord> | undefined,
  ): Promise<ExecutionRecord | undefined>
  get(id: string): Promise<ExecutionRecord | undefined>
  list(filter?: ExecutionFilter): Promise<Page<ExecutionRecord>>
}

/** Filter of sessions; newest activity first. */
export interface SessionFilter extends PageRequest {
  readonly tenant?: string | null
  readonly createdBy?: string
}

/** Headers of sessions. */
export interface SessionRepository {
  get(sessionId: string): Promise<SessionRecord | undefined>
  /** Atomic: writes what `change` returns for the current header (`undefined`: leaves it). Returns the header as it then is. */
  update(
    sessionId: string,
    change: (current: SessionRecord | undefined) => SessionRecord | undefined,
  ): Promise<SessionRecord | undefined>
  list(filter?: SessionFilter): Promise<Page<SessionRecord>>
  /**
   * Takes the turn of this session for `holder`; waits in line when `wait` is true, else refuses with `SESSION_BUSY` while
   * another holds it. Returns what gives it back. `signal` ends the waiting with its reason.
   */
  acquire(
    sessionId: string,
    holder: string,
    options: { readonly wait: boolean; readonly signal?: AbortSignal },
  ): Promise<() => MaybePromise<void>>
}

/** The message log of sessions: append-only. */
export interface MessageRepository {
  /** Appends rows with the next numbers of the session, all or none; returns the number of rows of the session after it. */
  append(sessionId: string, rows: readonly NewMessageRecord[]): Promise<number>
  /** Rows in `seq` order. */
  list(
    sessionId: string,
    options?: { readonly afterSeq?: number; readonly limit?: number },
  ): Promise<readonly MessageRecord[]>
  count(sessionId: string): Promise<number>
}

/** The error log behind error references: independent writes. */
export interface ToolErrorRepository {
  /** Keeps the record; where the reference is taken, the store gives it the next free suffix. Returns the reference. */
  insert(record: ToolErrorRecord): Promise<string>
  get(reference: string): Promise<ToolErrorRecord | undefined>
}

/** Receipts of effects: independent writes. A receipt is stored as JSON (`Receipt` of the hooks room). */
export interface ReceiptRepository {
  append(rootExecutionId: string, receipts: readonly JsonObject[]): Promise<void>
  list(rootExecutionId: string): Promise<readonly JsonObject[]>
}

/** Journals of paused runs, one per root execution. */
export interface JournalRepository {
  put(rootExecutionId: string, journal: JsonObject): Promise<void>
  get(rootExecutionId: string): Promise<JsonObject | undefined>
  delete(rootExecutionId: string): Promise<void>
}

/** What one unit of `store.transaction` may touch: definitions and documents. */
export interface StoreTransaction {
  readonly agents: DefinitionRepository
  readonly prompts: DefinitionRepository
  documents(namespace: string): Documents
}

/**
 * Where Sluice keeps everything. An acknowledged write is durable and atomic. When a call fails it says whether nothing was
 * written (`STORE_FAILED` and the named faults) or it cannot be known (`STORE_OUTCOME_UNKNOWN`). Held to one contract suite,
 * `describeStore` of the testkit. Strings must be well-formed UTF-16 (no unpaired surrogates): others are refused with
 * `STORE_VALUE_INVALID`; U+0000 is kept as it is.
 */
export interface Store {
  /** `memory`, `lowdb` ... as `explain` shows it. */
  readonly kind: string
  readonly agents: DefinitionRepository
  readonly prompts: DefinitionRepository
  readonly executions: ExecutionRepository
  readonly sessions: SessionRepository
  readonly messages: MessageRepository
  readonly toolErrors: ToolErrorRepository
  readonly receipts: ReceiptRepository
  readonly journals: JournalRepository
  /** Documents of a namespace; different namespaces never meet. */
  documents(namespace: string): Documents
  log(namespace: string): AppendLog
  /**
   * Groups writes of definitions and documents: all of them at its return, none on a throw. What it has read or written
   * others cannot change before it ends; they wait. A transaction inside `fn`, or a write beside it that would wait for the
   * transaction itself, is refused with `INVALID_CONFIG`, `reason` `store.transaction`.
   */
  transaction<Result>(fn: (transaction: StoreTransaction) => Promise<Result>): Promise<Result>
  /** Runs left behind by processes that are gone: status `running` with a dead owner. Called once at start. */
  orphans(): Promise<readonly ExecutionRecord[]>
  /** Resolves when every acknowledged write is durable, then refuses further calls with `STORE_CLOSED`. */
  close(): Promise<void>
}
