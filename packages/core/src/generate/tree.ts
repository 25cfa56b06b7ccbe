import { AsyncResource } from 'node:async_hooks'
import { runInFrame } from '../context/frame.js'
import type { Frame, TreeState } from '../context/frame.js'
import { HookFailedError, Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { ReceiptCounts } from '../errors/sluice-error.js'
import type { FatalCallback } from '../events/event-hub.js'
import type { GateStop } from '../hooks/answer-kind.js'
import type { Decision } from '../hooks/hook-contexts.js'
import type { HookSet } from '../hooks/hook-set.js'
import { mergeSets } from '../hooks/merge-sets.js'
import type { ObserveControl } from '../hooks/observe.js'
import type { Receipt } from '../hooks/receipt.js'
import { deepFreeze } from '../internal/deep-freeze.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { StopSource } from '../internal/stop-source.js'
import { addUsage, USAGE_NONE } from '../messages/usage.js'
import type { Usage } from '../messages/usage.js'
import type { EnvironmentFields, FailureKind, PendingRecord } from '../store/records.js'
import type { EventSink } from './event-sink.js'
import type { Limits } from './settings.js'
import { runOver } from './run-over.js'
import { fieldsOfStop, tellStop } from './tell-stop.js'
import type { StoppedIds } from './tell-stop.js'
import { ReceiptTally } from './receipt-tally.js'
import type { RuntimeParts } from './runtime-parts.js'
import { TreeBounds } from './tree-bounds.js'
import type { SpentRun, TreeSnapshot } from './tree-snapshot.js'

/** Why a tree was stopped: what its caller gets, and how the record calls it. */
export interface TreeStop {
  readonly error: SluiceError
  readonly kind: FailureKind
  readonly status: 'failed' | 'timeout' | 'aborted'
}

export interface TreeOptions {
  readonly rootExecutionId: string
  readonly caller: unknown
  readonly createdBy: string | null
  readonly tenant: string | null
  readonly appId: string | null
  /** Captured once, when the top-level run starts, and shared by the whole tree (S-14); absent for a plain call. */
  readonly environment?: EnvironmentFields
  readonly hookSet: HookSet
  readonly limits: Limits
  readonly sink?: EventSink
  /** False for a plain call outside any run. */
  readonly recorded: boolean
  /** A plain call's tree around a run that it started: its limits and stops are shared. */
  readonly around?: Tree
}

/**
 * A top-level run and everything nested below it, or a plain call outside any run: its gates, its limits, its sticky stop,
 * the state of its plugins and the counts of its receipts.
 */
export class Tree implements TreeState {
  readonly parts: RuntimeParts
  readonly options: TreeOptions
  readonly limits: Limits
  readonly bounds: TreeBounds
  readonly stops = new StopSource()
  /** Whose observers hear of stops: the set of the tree, and what forks added. */
  heard: HookSet
  readonly state = new Map<string, JsonValue>()
  readonly observing: ObserveControl
  readonly decisions = new Map<string, Decision>()
  /** Digests of the arguments that a human was asked about, by effect. */
  readonly askedDigests = new Map<string, string>()
  /** Pauses of the run that is resumed, by effect: when they expire. */
  readonly expired = new Map<string, number>()
  readonly pending: PendingRecord[] = []
  /** What waited for a human in runs that the resume has not come to yet: a pause before that lists it still. */
  waiting: readonly PendingRecord[] = []
  readonly inFlight = new Set<string>()
  /** Runs of the tree that are open, by execution id: what they used so far is stored at a pause. */
  readonly open = new Map<string, { readonly spent: SpentRun }>()
  /** What open runs had spent at the pause that is resumed. */
  readonly usedBefore = new Map<string, SpentRun>()
  /** Work on the side (observers of a stop) that the end of the tree waits for. */
  readonly background: Promise<unknown>[] = []
  readonly tally = new ReceiptTally()
  /** Thrown by a fatal event callback inside the tree: it leaves every call that does not catch it as it is (E-22). */
  fatal: FatalCallback | undefined
  /** The frame of its root, for what is told of the tree from elsewhere: a shared timer, a signal, another run (CASE-27). */
  frame: Frame | undefined
  stateOpen = false
  over = false
  stop: TreeStop | undefined
  usage: Usage = USAGE_NONE
  seq = 0
  readonly #attempts = new Map<string, number>()
  /** Calls made inside the tree, by handlers and gates, that have not ended. */
  readonly #calls = new Set<Promise<unknown>>()
  #sealed = false
  /** The place that started the tree: observers of a stop that comes from elsewhere are called there. */
  readonly #place: AsyncResource | undefined

  constructor(parts: RuntimeParts, options: TreeOptions) {
    this.parts = parts
    this.options = options
    this.limits = options.limits
    this.heard = options.hookSet
    this.bounds = new TreeBounds(this)
    this.observing = {
      clock: parts.clock,
      deadlines: parts.deadlines,
      logger: parts.logger,
      health: parts.health,
      observerTimeoutMs: parts.timeouts.observerTimeoutMs,
      misses: new Map(),
    }
    if (options.hookSet.observers.onStop.length > 0)
      this.#place = new AsyncResource('SluiceRun', { requireManualDestroy: true })
    this.bounds.arm()
    options.around?.stops.listen(this.#onOuterStop)
    options.sink?.attach?.(this)
  }

  readonly #onOuterStop = (reason: unknown): void =>
    this.end(this.options.around?.stop ?? { error: reason as SluiceError, kind: 'aborted', status: 'aborted' }, true)

  get hookSet(): HookSet {
    return this.options.hookSet
  }

  get rootExecutionId(): string {
    return this.options.rootExecutionId
  }

  /** Ends the tree: the first reason stands, whatever user code catches. Fires `onStop` unless a gate's receipt tells it. */
  end(stop: TreeStop, told = false): void {
    if (this.stop !== undefined || this.#sealed) return
    this.stop = stop
    this.stops.stop(stop.error)
    this.options.around?.end(stop, true)
    if (!told) void tellStop(this, fieldsOfStop(stop), null, null)
  }

  /** Runs `fn` where the tree was started, in the frame of its root. */
  inPlace<Result>(fn: () => Result): Result {
    const inFrame = (): Result => runInFrame(this.frame, fn)
    return this.#place === undefined ? inFrame() : this.#place.runInAsyncScope(inFrame)
  }

  /** Throws the error of the stop, where the tree was stopped. Checked at every chokepoint and after every handler. */
  check(): void {
    if (this.stop !== undefined) throw this.stop.error
  }

  /** A gate that stopped, as an end of the tree. Returns the error that leaves the run. */
  endByGate(stop: GateStop): SluiceError {
    if (stop.answer === 'aborted') return this.stop?.error ?? new SluiceError('RUN_ABORTED', 'The run was aborted.')
    const error =
      Veto.isInstance(stop.error) || HookFailedError.isInstance(stop.error)
        ? stop.error
        : new Veto(stop.error.code, this.#reasonOf(stop), stop.error.details, { by: stop.by })
    this.end({ error, kind: Veto.isInstance(error) ? 'veto' : 'hook', status: 'failed' }, true)
    return this.stop?.error ?? error
  }

  #reasonOf(stop: Exclude<GateStop, { answer: 'aborted' }>): string {
    if (stop.answer !== 'waited') return stop.error.message
    const { maxWaitMs } = this.parts.timeouts
    return `${stop.error.message} This run may wait ${maxWaitMs} ms in all (timeouts.maxWaitMs), so it ends.`
  }

  /** Notes that a run of the tree goes on or begins: what it waits for it says itself. */
  enter(executionId: string, run: { readonly spent: SpentRun }): void {
    this.open.set(executionId, run)
    if (this.waiting.length > 0) this.waiting = this.waiting.filter((entry) => entry.executionId !== executionId)
  }

  addUsage(usage: Usage): void {
    this.usage = addUsage(this.usage, usage)
    this.options.around?.addUsage(usage)
  }

  /** The attempt that an asking of this effect is: 1, or one more than was begun or closed. */
  attemptOf(effectId: string, recorded: number): number {
    return Math.max(this.#attempts.get(effectId) ?? 0, recorded) + 1
  }

  /** Notes that this attempt began or was closed. */
  noteAttempt(effectId: string, attempt: number): void {
    this.#attempts.set(effectId, attempt)
  }

  /** Takes the receipt of a closed effect: counted at once, stored with the next record. */
  addReceipt(receipt: Receipt): void {
    this.tally.add(receipt)
  }

  receiptCounts(): ReceiptCounts {
    return this.tally.counts()
  }

  /** Tells the observers of `onStop` of an answer that stopped something, with its receipt where there is one. */
  tellGateStop(stop: GateStop, receipt: Receipt | null, ids: StoppedIds): Promise<void> | undefined {
    // an asking that ended by the stop of the tree is no stop of its own: that one was told when it happened
    if (stop.answer === 'aborted') return undefined
    if (this.stop !== undefined && receipt !== null) this.tally.keepStop(receipt)
    const answer = stop.answer === 'waited' || stop.answer === 'landed' ? 'vetoed' : stop.answer
    return tellStop(
      this,
      {
        point: stop.by.point,
        plugin: stop.by.plugin,
        answer,
        code: stop.error.code,
        reason: stop.error.message,
        details: stop.error.details ?? null,
      },
      receipt,
      ids,
    )
  }

  /** Notes a call that was made inside the tree: its end waits for it. */
  track<Value>(call: Promise<Value>): Promise<Value> {
    const ended = (): void => void this.#calls.delete(call)
    this.#calls.add(call)
    call.then(ended, ended)
    return call
  }

  /**
   * The run has come to its end: no stop that comes now is one of it, and calls made inside it that nobody awaited are ended,
   * so that what they did stands in its record and nothing of it follows. `sealed` false: it can still be stopped, until
   * {@link seal} (a pause that is being written).
   */
  async windUp(sealed = true): Promise<void> {
    this.over = true
    if (sealed) this.#sealed = true
    if (this.#calls.size === 0) return
    this.stops.stop(runOver(this.rootExecutionId))
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls)
  }

  /** From here on nothing stops the run: how it ends is decided. */
  seal(): void {
    this.#sealed = true
  }

  /** A call on a fork brings gates of its own: their observers hear of stops of this tree from now on. */
  widen(set: HookSet): void {
    this.heard = mergeSets(this.heard, set)
  }

  /** Waits for what runs on the side. */
  async settle(): Promise<void> {
    while (this.background.length > 0) await Promise.all(this.background.splice(0))
  }

  /** Ends all timers of the tree; later calls inside it are refused with `RUN_OVER`. */
  close(): void {
    this.over = true
    this.#sealed = true
    this.stateOpen = false
    this.bounds.disarm()
    this.options.around?.stops.unlisten(this.#onOuterStop)
  }

  snapshot(): TreeSnapshot {
    return {
      seq: this.seq,
      counts: this.tally.snapshot(),
      state: Object.fromEntries(this.state) as JsonObject,
      ...this.bounds.snapshot(),
      usage: this.usage,
      decisions: Object.fromEntries(this.decisions),
      asked: Object.fromEntries(this.askedDigests),
      expired: Object.fromEntries(this.expired),
      // a run below that this pause came before stands as the pause before left it
      runs: Object.fromEntries([...this.usedBefore, ...[...this.open].map(([id, run]) => [id, run.spent] as const)]),
    }
  }

  restore(snapshot: TreeSnapshot): void {
    this.seq = snapshot.seq
    this.tally.restore(snapshot.counts)
    for (const [key, value] of Object.entries(snapshot.state)) this.state.set(key, value)
    this.usage = snapshot.usage
    for (const [effectId, decision] of Object.entries(snapshot.decisions))
      this.decisions.set(effectId, deepFreeze(decision))
    for (const [effectId, asked] of Object.entries(snapshot.asked)) this.askedDigests.set(effectId, asked)
    for (const [effectId, at] of Object.entries(snapshot.expired)) this.expired.set(effectId, at)
    for (const [id, spent] of Object.entries(snapshot.runs)) this.usedBefore.set(id, spent)
    this.bounds.restore(snapshot)
  }
}
