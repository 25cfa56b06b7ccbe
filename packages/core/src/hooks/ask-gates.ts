import { AsyncResource } from 'node:async_hooks'
import type { Clock } from '../internal/clock.js'
import type { Deadline, Deadlines } from '../internal/deadlines.js'
import { isThenable } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import type { StopSource } from '../internal/stop-source.js'
import { readAnswer, ReturnedValue, SHADOW_ANSWER, timedOut } from './answer-kind.js'
import type { GateStop } from './answer-kind.js'
import type { AskingState } from './asking-context.js'
import { callWithCallback } from './call-with-callback.js'
import type { AskPoint } from './hook-points.js'
import type { CompiledTap } from './hook-set.js'
import { passedRow, row } from './gate-rows.js'
import type { GateReceipt } from './receipt.js'
import { Stage } from './stage.js'

/** What the dispatcher needs from its tree. */
export interface AskControl {
  readonly clock: Clock
  readonly deadlines: Deadlines
  /** The tree's stop: ends an asking at once. */
  readonly stops: StopSource
  readonly logger: Logger
}

/** Stands for a tap that has to be waited for. */
const WAIT: unique symbol = Symbol('wait')
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
  if (stops.stopped) {
    // the tree had been stopped before: nobody is asked
    for (const tap of taps) gates.push(row(point, tap, 'not_asked', 0))
    return aborted(taps[0] as CompiledTap)
  }
  // most taps pass at once, and no asking has to be kept for them
  let before = clock.monotonic()
  for (let index = 0; index < taps.length; index++) {
    const tap = taps[index] as CompiledTap
    if (tap.stage >= Stage.record) state.show(gates)
    let returned: unknown
    let thrown: { readonly value: unknown } | undefined
    try {
      returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, context) : tap.fn(context as never)
    } catch (value) {
      thrown = { value }
    }
    if (returned === undefined && thrown === undefined) {
      const now = clock.monotonic()
      if (!stops.stopped && now - before <= tap.timeoutMs) {
        gates.push(passedRow(point, tap, now - before))
        before = now
        continue
      }
    }
    const asking = new RunningAsking(control, point, taps, context, state, gates)
    const stop = asking.carryOn(index, before, returned, thrown)
    return stop === WAIT ? asking.wait() : stop
  }
  return undefined
}

/** One asking of one point: goes on by itself over synchronous taps, and waits for the others one at a time. */
class RunningAsking {
  readonly #control: AskControl
  readonly #point: AskPoint
  readonly #taps: readonly CompiledTap[]
  readonly #context: object
  readonly #state: AskingState
  readonly #gates: GateReceipt[]
  /** The tap that is being asked, when it was called, and what it promised. */
  #index = 0
  #before = 0
  #returned: PromiseLike<unknown> | undefined
  /** Number of the wait; what comes for an earlier one is late. */
  #turn = 0
  #deadline: Deadline | undefined
  /** True while taps are called: a stop inside one is seen when it returns. */
  #calling = false
  #resolve!: (stop: GateStop | undefined) => void
  #onStop: (() => void) | undefined

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

  get #tap(): CompiledTap {
    return this.#taps[this.#index] as CompiledTap
  }

  /** Takes over at a tap that was called at `before` and did not pass at once. */
  carryOn(
    index: number,
    before: number,
    returned: unknown,
    thrown: { readonly value: unknown } | undefined,
  ): GateStop | undefined | typeof WAIT {
    this.#index = index
    this.#before = before
    this.#calling = true
    const ends = this.#met(returned, thrown)
    return ends === undefined ? this.#goOn(index + 1, this.#before) : ends
  }

  /** Ends with the answer of the tap that is waited for, its deadline or the tree's stop, whichever comes first. */
  wait(): Promise<GateStop | undefined> {
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#onStop = () => {
        if (!this.#calling) this.#end(this.#settle(aborted(this.#tap), this.#control.clock.monotonic()))
      }
      this.#control.stops.listen(this.#onStop)
      this.#await()
    })
  }

  /** Calls taps from `from` on, until one stops or has to be waited for. */
  #goOn(from: number, start: number): GateStop | undefined | typeof WAIT {
    this.#calling = true
    this.#before = start
    for (let index = from; index < this.#taps.length; index++) {
      const tap = this.#taps[index] as CompiledTap
      this.#index = index
      if (tap.stage >= Stage.record) this.#state.show(this.#gates)
      let returned: unknown
      let thrown: { readonly value: unknown } | undefined
      try {
        returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, this.#context) : tap.fn(this.#context as never)
      } catch (value) {
        thrown = { value }
      }
      const ends = this.#met(returned, thrown)
      if (ends !== undefined) return ends
    }
    return undefined
  }

  /** What a tap gave or threw: `undefined` where the next one is to be asked. */
  #met(returned: unknown, thrown: { readonly value: unknown } | undefined): GateStop | undefined | typeof WAIT {
    const { clock, stops } = this.#control
    const tap = this.#tap
    let stop: GateStop | undefined
    if (thrown !== undefined) stop = readAnswer(this.#point, tap.origin, thrown.value)
    else if (returned !== undefined) {
      // a native promise is one, whatever its own `then` says
      if (isThenable(returned) || returned instanceof Promise) {
        this.#returned = returned
        if (!stops.stopped) {
          this.#calling = false
          return WAIT
        }
        this.#hear(returned, LATE, tap)
      } else stop = readAnswer(this.#point, tap.origin, new ReturnedValue(returned))
    }
    const now = clock.monotonic()
    // the tree was stopped inside the tap: that ends the asking, whatever the tap says
    if (stops.stopped) stop = aborted(tap)
    else if (now - this.#before > tap.timeoutMs) stop = timedOut(this.#point, tap.origin, tap.timeoutMs)
    const ends = this.#settle(stop, now)
    if (ends === undefined) this.#before = now
    return ends
  }

  #await(): void {
    const turn = ++this.#turn
    const tap = this.#tap
    const { clock, deadlines } = this.#control
    const returned = this.#returned as PromiseLike<unknown>
    const late = (): void => {
      if (turn === this.#turn) this.#answered(timedOut(this.#point, tap.origin, tap.timeoutMs), clock.monotonic())
    }
    // a tap that kept the thread beyond its deadline is stopped when it returns, whatever it still promises
    if (clock.monotonic() - this.#before > tap.timeoutMs) {
      this.#hear(returned, LATE, tap)
      late()
      return
    }
    // a deadline is shared by many runs; behind a shadowed tap, the next ones are called in our own place
    this.#deadline = deadlines.add(tap.timeoutMs, this.#before, tap.shadow ? AsyncResource.bind(late) : late)
    this.#hear(returned, turn, tap)
  }

  /** Listens to what a tap promised. Reading a promise may run foreign code; whatever that throws is a failure too. */
  #hear(returned: PromiseLike<unknown>, turn: number, tap: CompiledTap): void {
    const fail = (thrown: unknown): void => this.#heard(turn, tap, readAnswer(this.#point, tap.origin, thrown))
    const settle = (value: unknown): void => {
      if (value === undefined) this.#heard(turn, tap, undefined)
      else fail(new ReturnedValue(value))
    }
    try {
      void promiseThen.call(Promise.resolve(returned), settle, fail)
    } catch (thrown) {
      fail(thrown)
    }
  }

  #heard(turn: number, tap: CompiledTap, stop: GateStop | undefined): void {
    if (turn !== this.#turn) {
      // asked before its deadline, answered after it: nothing changes any more
      logLate(this.#control.logger, this.#point, tap, stop)
      return
    }
    const now = this.#control.clock.monotonic()
    const late = now - this.#before > tap.timeoutMs
    this.#answered(late ? timedOut(this.#point, tap.origin, tap.timeoutMs) : stop, now)
  }

  #answered(stop: GateStop | undefined, now: number): void {
    this.#turn++
    this.#clearDeadline()
    const ends = this.#settle(stop, now) ?? this.#goOn(this.#index + 1, now)
    if (ends === WAIT) this.#await()
    else this.#end(ends)
  }

  /** Writes the row of the tap that answered; where it stopped, also those behind it, which are not asked. */
  #settle(stop: GateStop | undefined, now: number): GateStop | undefined {
    const tap = this.#tap
    const ms = now - this.#before
    if (stop === undefined || (tap.shadow && stop.answer !== 'aborted')) {
      this.#gates.push(
        stop === undefined ? passedRow(this.#point, tap, ms) : row(this.#point, tap, SHADOW_ANSWER, ms, stop),
      )
      return undefined
    }
    this.#gates.push(row(this.#point, tap, stop.answer, ms, stop))
    for (let behind = this.#index + 1; behind < this.#taps.length; behind++)
      this.#gates.push(row(this.#point, this.#taps[behind] as CompiledTap, 'not_asked', 0))
    this.#state.abort(stop.answer === 'aborted' ? this.#control.stops.reason : stop.error)
    return stop
  }

  #end(stop: GateStop | undefined): void {
    this.#turn++
    this.#clearDeadline()
    if (this.#onStop !== undefined) this.#control.stops.unlisten(this.#onStop)
    this.#resolve(stop)
  }

  #clearDeadline(): void {
    if (this.#deadline === undefined) return
    this.#control.deadlines.remove(this.#deadline)
    this.#deadline = undefined
  }
}

/** A turn that never comes: what is heard for it is logged as late. */
const LATE = -1

function aborted(tap: CompiledTap): GateStop {
  return { answer: 'aborted', error: undefined, by: tap.origin }
}

function logLate(logger: Logger, point: AskPoint, tap: CompiledTap, stop: GateStop | undefined): void {
  try {
    logger.warn(
      { point, plugin: tap.plugin, answer: stop?.answer ?? 'passed', code: stop?.error?.code },
      'a gate answered after the asking had ended; the answer changes nothing',
    )
  } catch {
    // a logger that throws is ignored
  }
}
