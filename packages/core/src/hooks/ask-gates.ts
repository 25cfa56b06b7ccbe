import type { Clock } from '../internal/clock.js'
import type { Deadline, Deadlines } from '../internal/deadlines.js'
import { isThenable } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { StopSource } from '../internal/stop-source.js'
import { readAnswer, ReturnedValue, SHADOW_ANSWER, stopCode, timedOut } from './answer-kind.js'
import type { GateStop } from './answer-kind.js'
import type { AskingState } from './asking-context.js'
import { callWithCallback } from './call-with-callback.js'
import type { AskPoint } from './hook-points.js'
import type { CompiledTap } from './hook-set.js'
import type { GateAnswer, GateReceipt } from './receipt.js'
import { Stage } from './stage.js'

/** What the dispatcher needs from its tree. */
export interface AskControl {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** The tree's stop: ends an asking at once. */
  readonly stops: StopSource
  readonly logger: Logger
}

const promiseThen = Promise.prototype.then

/**
 * Asks the gates of one point, one after another, and awaits each whatever way it was tapped. Appends one row per gate to
 * `gates`, `not_asked` ones included. Settles with `undefined` where all passed in time, synchronously where none of them
 * was asynchronous; it never rejects.
 */
export function askGates(
  control: AskControl,
  point: AskPoint,
  taps: readonly CompiledTap[],
  context: object,
  state: AskingState,
  gates: GateReceipt[],
): GateStop | undefined | Promise<GateStop | undefined> {
  if (taps.length === 0) return undefined
  const { clock, stops } = control
  let before = clock.monotonic()
  for (let index = 0; index < taps.length; index++) {
    const tap = taps[index] as CompiledTap
    if (stops.stopped)
      return finish(
        point,
        taps,
        index,
        gates,
        0,
        { answer: 'aborted', error: undefined, by: tap.origin },
        state,
        stops.reason,
      )
    if (tap.stage >= Stage.record && state.answers === undefined) state.answers = Object.freeze([...gates])
    let returned: unknown
    let stop: GateStop | undefined
    try {
      returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, context) : tap.fn(context as never)
    } catch (thrown) {
      stop = readAnswer(point, tap.origin, thrown)
    }
    if (returned !== undefined) {
      if (isThenable(returned))
        return new PendingAsking(control, point, taps, context, state, gates).start(index, returned, before)
      stop = readAnswer(point, tap.origin, new ReturnedValue(returned))
    }
    const after = clock.monotonic()
    if (after - before > tap.timeoutMs) stop = timedOut(point, tap.origin, tap.timeoutMs)
    if (stop !== undefined && !tap.shadow)
      return finish(point, taps, index, gates, after - before, stop, state, stop.error)
    gates.push(row(point, tap, stop === undefined ? 'passed' : SHADOW_ANSWER, after - before, stop))
    before = after
  }
  return stops.stopped ? abortedAtTheEnd(taps, gates) : undefined
}

/** All gates passed, but the tree was stopped meanwhile: the last row stands as aborted. */
function abortedAtTheEnd(taps: readonly CompiledTap[], gates: GateReceipt[]): GateStop {
  const tap = taps[taps.length - 1] as CompiledTap
  const last = gates.pop() as GateReceipt
  gates.push({ ...last, answer: 'aborted' })
  return { answer: 'aborted', error: undefined, by: tap.origin }
}

function row(point: AskPoint, tap: CompiledTap, answer: GateAnswer, ms: number, stop?: GateStop): GateReceipt {
  const code = stop === undefined ? undefined : stopCode(stop)
  return code === undefined
    ? { plugin: tap.plugin, point, stage: tap.stage, answer, ms }
    : { plugin: tap.plugin, point, stage: tap.stage, answer, code, ms }
}

/** Writes the row of the gate that stopped and `not_asked` for the ones behind it. */
function finish(
  point: AskPoint,
  taps: readonly CompiledTap[],
  index: number,
  gates: GateReceipt[],
  ms: number,
  stop: GateStop,
  state: AskingState,
  reason: unknown,
): GateStop {
  gates.push(row(point, taps[index] as CompiledTap, stop.answer, ms, stop))
  for (let behind = index + 1; behind < taps.length; behind++)
    gates.push(row(point, taps[behind] as CompiledTap, 'not_asked', 0))
  state.end(reason)
  return stop
}

/** An asking that waits for a gate: ended by its answer, its deadline or the tree's stop, whichever comes first. */
class PendingAsking {
  readonly #control: AskControl
  readonly #point: AskPoint
  readonly #taps: readonly CompiledTap[]
  readonly #context: object
  readonly #state: AskingState
  readonly #gates: GateReceipt[]
  #resolve!: (stop: GateStop | undefined) => void
  /** Number of the wait; what comes for an earlier one is late. */
  #turn = 0
  #index = 0
  #before = 0
  #deadline: Deadline | undefined
  readonly #onStop = (reason: unknown): void =>
    this.#end({ answer: 'aborted', error: undefined, by: (this.#taps[this.#index] as CompiledTap).origin }, reason)

  constructor(
    control: AskControl,
    point: AskPoint,
    taps: readonly CompiledTap[],
    context: object,
    state: AskingState,
    gates: GateReceipt[],
  ) {
    this.#control = control
    this.#point = point
    this.#taps = taps
    this.#context = context
    this.#state = state
    this.#gates = gates
  }

  start(index: number, returned: PromiseLike<unknown>, before: number): Promise<GateStop | undefined> {
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#wait(index, returned, before)
      // from here on the stop of the tree ends the asking; it may have happened inside the tap itself
      this.#control.stops.listen(this.#onStop)
    })
  }

  #wait(index: number, returned: PromiseLike<unknown>, before: number): void {
    const turn = ++this.#turn
    const tap = this.#taps[index] as CompiledTap
    this.#index = index
    this.#before = before
    this.#deadline = this.#control.deadlines.add(tap.timeoutMs, before, () => this.#late(turn))
    void promiseThen.call(
      Promise.resolve(returned),
      (value) =>
        this.#settled(
          turn,
          value === undefined ? undefined : readAnswer(this.#point, tap.origin, new ReturnedValue(value)),
        ),
      (thrown: unknown) => this.#settled(turn, readAnswer(this.#point, tap.origin, thrown)),
    )
  }

  #late(turn: number): void {
    if (turn !== this.#turn) return
    const tap = this.#taps[this.#index] as CompiledTap
    this.#answered(timedOut(this.#point, tap.origin, tap.timeoutMs))
  }

  #settled(turn: number, stop: GateStop | undefined): void {
    if (turn !== this.#turn) {
      // asked before its deadline, answered after it: nothing changes any more
      logLate(this.#control.logger, this.#point, stop)
      return
    }
    const tap = this.#taps[this.#index] as CompiledTap
    const late = this.#control.clock.monotonic() - this.#before > tap.timeoutMs
    this.#answered(late ? timedOut(this.#point, tap.origin, tap.timeoutMs) : stop)
  }

  #answered(stop: GateStop | undefined): void {
    const tap = this.#taps[this.#index] as CompiledTap
    this.#clearDeadline()
    const now = this.#control.clock.monotonic()
    if (stop !== undefined && !tap.shadow) {
      this.#end(stop, stop.error, now)
      return
    }
    this.#turn++
    this.#gates.push(row(this.#point, tap, stop === undefined ? 'passed' : SHADOW_ANSWER, now - this.#before, stop))
    this.#next(this.#index + 1, now)
  }

  /** The same loop as above, on the way after a gate that was waited for. */
  #next(from: number, start: number): void {
    const { clock, stops } = this.#control
    let before = start
    for (let index = from; index < this.#taps.length; index++) {
      const tap = this.#taps[index] as CompiledTap
      this.#index = index
      this.#before = before
      if (tap.stage >= Stage.record && this.#state.answers === undefined)
        this.#state.answers = Object.freeze([...this.#gates])
      let returned: unknown
      let stop: GateStop | undefined
      const turn = ++this.#turn
      try {
        returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, this.#context) : tap.fn(this.#context as never)
      } catch (thrown) {
        stop = readAnswer(this.#point, tap.origin, thrown)
      }
      if (returned !== undefined && !isThenable(returned))
        stop = readAnswer(this.#point, tap.origin, new ReturnedValue(returned))
      if (turn !== this.#turn) {
        // the tree was stopped inside the tap: the asking is over; what the tap still answers must not go unhandled
        if (isThenable(returned)) void promiseThen.call(Promise.resolve(returned), undefined, () => undefined)
        return
      }
      if (returned !== undefined && stop === undefined) {
        this.#wait(index, returned as PromiseLike<unknown>, before)
        return
      }
      const after = clock.monotonic()
      if (after - before > tap.timeoutMs) stop = timedOut(this.#point, tap.origin, tap.timeoutMs)
      if (stop !== undefined && !tap.shadow) {
        this.#end(stop, stop.error, after)
        return
      }
      this.#gates.push(row(this.#point, tap, stop === undefined ? 'passed' : SHADOW_ANSWER, after - before, stop))
      before = after
    }
    this.#turn++
    stops.unlisten(this.#onStop)
    this.#resolve(stops.stopped ? abortedAtTheEnd(this.#taps, this.#gates) : undefined)
  }

  #end(stop: GateStop, reason: unknown, now = this.#control.clock.monotonic()): void {
    this.#turn++
    this.#clearDeadline()
    this.#control.stops.unlisten(this.#onStop)
    this.#resolve(
      finish(this.#point, this.#taps, this.#index, this.#gates, now - this.#before, stop, this.#state, reason),
    )
  }

  #clearDeadline(): void {
    if (this.#deadline === undefined) return
    this.#control.deadlines.remove(this.#deadline)
    this.#deadline = undefined
  }
}

function logLate(logger: Logger, point: AskPoint, stop: GateStop | undefined): void {
  try {
    logger.warn(
      { point, plugin: stop?.by.plugin, answer: stop?.answer ?? 'passed', code: stop?.error?.code },
      'a gate answered after the asking had ended; the answer changes nothing',
    )
  } catch {
    // a logger that throws is ignored
  }
}
