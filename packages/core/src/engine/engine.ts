import type { JsonValue, MaybePromise } from '../internal/json.js'

/** One entry of a stored journal. `value` and `error` are JSON through the codec of this room. */
export interface StoredEntry {
  readonly name: string
  readonly kind: 'step' | 'begin' | 'branch' | 'sleep' | 'wait' | 'now' | 'id' | 'closed'
  readonly value?: JsonValue
  readonly error?: JsonValue
  readonly entries?: readonly StoredEntry[]
}

/** The journal of a run as it is stored at a pause: everything a replay needs. */
export interface StoredJournal {
  readonly version: 1
  readonly entries: readonly StoredEntry[]
}

/** What a journal already knows about the next name of a path. */
export type Recorded = 'nothing' | 'begun' | 'done'

/**
 * The seam through which every effect of a run goes. A step is known by its path of names; the steps of one `Steps` run
 * one after another, concurrency only through {@link Steps.branch}. A step that the journal holds is not run again: its
 * recorded result or error comes back. A replay that meets another name than was recorded fails with `JOURNAL_MISMATCH`
 * and runs nothing.
 */
export interface Steps {
  /** Names from the root to here, joined by `/`; empty at the root. */
  readonly path: string
  /**
   * What the journal still holds for an effect of this name: its begin, or its result. For a branch: what it holds of the
   * step `call` inside it. Runs and records nothing.
   */
  recorded(name: string): Recorded
  /** Runs `fn` and records what it returned or threw; both must be JSON through the codec, where an error comes back as itself. */
  step<Value>(name: string, fn: () => MaybePromise<Value>): Promise<Value>
  /**
   * Records that the effect `name` is about to start, together with `value` (its gate answers), before the step of the same
   * name. On a replay the recorded value comes back.
   */
  begin<Value extends JsonValue>(name: string, value: Value): MaybePromise<Value>
  /** How often an attempt of `name` at this position was begun without a result, or closed at a pause. */
  attemptsBefore(name: string): number
  /** Records that the attempt of `name` was closed without having run; its next asking is the next attempt. */
  close(name: string): MaybePromise<void>
  /** Runs `fn` with steps of its own below `name`; branches of one `Steps` may run side by side. */
  branch<Value>(name: string, fn: (steps: Steps) => Promise<Value>): Promise<Value>
  /** The recorded result (or error) of the step `call` of a branch that the journal holds complete; nothing inside it is run. */
  replay<Value>(name: string): Promise<Value>
  /** Waits for a value sent under `signal`; `undefined` after `timeoutMs`. The inline engine answers `undefined` at once. */
  waitFor(signal: string, timeoutMs?: number): Promise<JsonValue | undefined>
  /** Waits `ms` milliseconds of the injected clock; a replay does not wait. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Milliseconds since the epoch, the same in every replay. */
  now(): MaybePromise<number>
  /** A fresh UUIDv7, the same in every replay. */
  id(): MaybePromise<string>
}

/** Runs the bodies of runs and keeps their journals. */
export interface Engine {
  readonly id: string
  /** True where a run is continued by another process; live `resources` are refused there. */
  readonly durable: boolean
  /** Runs `body`; with `journal`, replays it first. */
  run<Value>(executionId: string, body: (steps: Steps) => Promise<Value>, journal?: StoredJournal): Promise<Value>
  /** The journal of a run in flight, as it is stored at a pause. */
  snapshot(executionId: string): StoredJournal
  /** Drops what is kept of a run that has ended. */
  forget(executionId: string): MaybePromise<void>
}
