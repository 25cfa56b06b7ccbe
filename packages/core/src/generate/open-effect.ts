import type { GateStop } from '../hooks/answer-kind.js'
import type { GateReceipt } from '../hooks/receipt.js'
import type { Timer } from '../internal/clock.js'
import type { Deadline } from '../internal/deadlines.js'
import { isThenable } from '../internal/json.js'
import type { MaybePromise } from '../internal/json.js'
import { LazySignal } from '../internal/lazy-signal.js'
import type { CallScope } from './call-scope.js'
import { askPoint } from './effect.js'
import type { Effect } from './effect.js'
import { InFlightGateContext } from './effect-contexts.js'

/**
 * How an open effect came to its end. `abandoned`: it was told to stop and did not within the grace. `not_started`: the run
 * had been stopped between its gates and its start.
 */
export type Settled<Value> =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'not_started' }

export interface OpenOptions {
  readonly kind: 'model_call' | 'tool_call'
  readonly provider: string | null
  readonly model: string | null
  readonly toolCode: string | null
  readonly timeoutMs: number | undefined
}

/** The stop that `whileInFlight` gave to an effect, kept for its receipt. */
export interface WatchResult {
  stop: GateStop | undefined
}

/**
 * Starts an effect and waits for its end: its own, its timeout, or the grace after the stop of the run. What comes later is
 * dropped. Synchronous where `start` is.
 */
export function runOpen<Value>(
  call: CallScope,
  effect: Effect,
  options: OpenOptions,
  watch: WatchResult,
  start: (open: LazySignal) => MaybePromise<Value>,
): MaybePromise<Settled<Value>> {
  if (call.run.stops.stopped) return { kind: 'not_started' }
  const open = new LazySignal()
  effect.begunAt = call.clock.monotonic()
  let returned: MaybePromise<Value>
  try {
    returned = start(open)
  } catch (error) {
    return { kind: 'error', error }
  }
  if (!isThenable(returned)) return { kind: 'value', value: returned }
  return new OpenWait<Value>(call, effect, options, watch, open).wait(Promise.resolve(returned))
}

class OpenWait<Value> {
  readonly #call: CallScope
  readonly #effect: Effect
  readonly #options: OpenOptions
  readonly #watch: WatchResult
  readonly #open: LazySignal
  #resolve!: (settled: Settled<Value>) => void
  #done = false
  #grace: Deadline | undefined
  #timeout: Deadline | undefined
  #timer: Timer | undefined
  /** The asking of `whileInFlight` that has not ended yet. */
  #asking: Promise<void> | undefined
  readonly #onStop = (reason: unknown): void => {
    this.#open.abort(reason)
    const { deadlines, timeouts } = this.#call.parts
    this.#grace ??= deadlines.add(timeouts.abortGraceMs, this.#call.clock.monotonic(), () =>
      this.#finish({ kind: 'abandoned' }),
    )
  }

  constructor(call: CallScope, effect: Effect, options: OpenOptions, watch: WatchResult, open: LazySignal) {
    this.#call = call
    this.#effect = effect
    this.#options = options
    this.#watch = watch
    this.#open = open
  }

  wait(promise: Promise<Value>): Promise<Settled<Value>> {
    return new Promise((resolve) => {
      this.#resolve = resolve
      this.#call.tree.inFlight.add(this.#effect.facts.effectId)
      promise.then(
        (value) => this.#finish({ kind: 'value', value }),
        (error: unknown) => this.#finish({ kind: 'error', error }),
      )
      const { timeoutMs } = this.#options
      if (timeoutMs !== undefined) {
        this.#timeout = this.#call.parts.deadlines.add(timeoutMs, this.#effect.begunAt, () => {
          this.#open.abort(new DOMException(`timed out after ${timeoutMs} ms`, 'TimeoutError'))
          this.#finish({ kind: 'timeout' })
        })
      }
      if (this.#call.hookSet.gates.whileInFlight.length > 0) this.#watchLater()
      this.#call.run.stops.listen(this.#onStop)
    })
  }

  #finish(settled: Settled<Value>): void {
    if (this.#done) return
    this.#done = true
    const { deadlines } = this.#call.parts
    if (this.#grace !== undefined) deadlines.remove(this.#grace)
    if (this.#timeout !== undefined) deadlines.remove(this.#timeout)
    this.#timer?.cancel()
    this.#call.run.stops.unlisten(this.#onStop)
    if (settled.kind !== 'abandoned') this.#call.tree.inFlight.delete(this.#effect.facts.effectId)
    // a checkpoint waits for gates that were asked; their deadline bounds it, and a stop ends it
    if (this.#asking === undefined) this.#resolve(settled)
    else void this.#asking.then(() => this.#resolve(settled))
  }

  #watchLater(): void {
    const ask = (): void => {
      this.#asking = this.#ask().then(() => {
        this.#asking = undefined
      })
    }
    this.#timer = this.#call.clock.setTimeout(ask, this.#call.parts.timeouts.watchMs)
  }

  async #ask(): Promise<void> {
    if (this.#done) return
    const gates: GateReceipt[] = []
    const at = this.#call.clock.now()
    const elapsed = this.#call.clock.monotonic() - this.#effect.begunAt
    let stop: GateStop | undefined
    try {
      stop = await askPoint(
        this.#call,
        this.#effect,
        'whileInFlight',
        this.#call.hookSet.gates.whileInFlight,
        gates,
        (state) =>
          new InFlightGateContext(
            this.#effect.facts,
            state,
            {
              effect: this.#options.kind,
              provider: this.#options.provider,
              model: this.#options.model,
              toolCode: this.#options.toolCode,
            },
            elapsed,
          ),
      )
    } catch (error) {
      // reached from a gate of the same point: the call ends with it
      this.#open.abort(error)
      this.#finish({ kind: 'error', error })
      return
    }
    this.#keep({ at, gates })
    if (stop === undefined) {
      if (!this.#done) this.#watchLater()
    } else if (stop.answer !== 'aborted' && this.#call.tree.stop === undefined) {
      this.#watch.stop = stop
      this.#call.tree.endByGate(stop)
    }
  }

  /** The receipt keeps the first and the last asking, and their number. */
  #keep(asking: { at: number; gates: GateReceipt[] }): void {
    this.#effect.inFlightAskings += 1
    if (this.#effect.inFlightAskings > 2) this.#effect.askings.pop()
    this.#effect.askings.push(asking)
  }
}
