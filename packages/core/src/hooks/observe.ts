import type { Clock } from '../internal/clock.js'
import type { Deadlines } from '../internal/deadlines.js'
import { isThenable } from '../internal/json.js'
import type { LazySignal } from '../internal/lazy-signal.js'
import type { Logger } from '../internal/logger.js'
import { callWithCallback } from './call-with-callback.js'
import type { CompiledTap } from './hook-set.js'

/** What went wrong in observers, callbacks and loggers of a runtime: readable through `runtime.health()`. */
export interface ObserverHealth {
  /** Errors that were swallowed. */
  errors: number
  /** Observers that missed their deadline. */
  late: number
  lastError: { readonly source: string; readonly point: string; readonly message: string; readonly at: number } | null
}

/** What the dispatch of observers needs. `misses` counts per tree and plugin; absent: late ones are always awaited. */
export interface ObserveControl {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly logger: Logger
  readonly health: ObserverHealth
  readonly observerTimeoutMs: number
  readonly misses: Map<string, number>
}

/** After so many misses in a run an observer is no longer awaited. */
const MISSES_ALLOWED = 3
const promiseThen = Promise.prototype.then

/**
 * Tells the observers of one point. They are started in order and awaited together under one deadline; whatever goes wrong
 * in one is logged and counted. Returns a promise only where something has to be awaited; it never rejects. `always`: a
 * closing observer is awaited also after it was late before. `late`: the signal of the context; it fires where one of them
 * missed its deadline, when the run waits for none of them any more.
 */
export function observe(
  control: ObserveControl,
  taps: readonly CompiledTap[],
  context: object,
  always: boolean,
  late?: LazySignal,
): Promise<void> | undefined {
  let pending: Pending[] | undefined
  for (let index = 0; index < taps.length; index++) {
    const tap = taps[index] as CompiledTap
    try {
      const returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, context) : tap.fn(context as never)
      if (returned !== undefined && isThenable(returned)) {
        pending ??= []
        pending.push({ tap, promise: Promise.resolve(returned), waiting: false })
      }
    } catch (error) {
      noteObserverError(control, tap.plugin, tap.point, error)
    }
  }
  return pending === undefined ? undefined : awaitTogether(control, pending, always, late)
}

/** An observer that was started and has not settled. */
interface Pending {
  readonly tap: CompiledTap
  readonly promise: Promise<unknown>
  /** Whether the run waits for it. */
  waiting: boolean
}

function awaitTogether(
  control: ObserveControl,
  pending: readonly Pending[],
  always: boolean,
  late: LazySignal | undefined,
): Promise<void> {
  return new Promise((resolve) => {
    let left = 0
    let missed = false
    for (let index = 0; index < pending.length; index++) {
      const entry = pending[index] as Pending
      const { tap } = entry
      if (always || control.misses.size === 0 || (control.misses.get(tap.plugin) ?? 0) < MISSES_ALLOWED) {
        entry.waiting = true
        left += 1
      }
    }
    const now = control.clock.monotonic()
    const deadline = control.deadlines.add(control.observerTimeoutMs, now, () => {
      for (const entry of pending) if (entry.waiting) miss(entry, control.observerTimeoutMs)
    })
    const done = (entry: Pending): void => {
      if (!entry.waiting) return
      entry.waiting = false
      if (--left > 0) return
      control.deadlines.remove(deadline)
      if (missed) late?.abort(new DOMException('the observer missed its deadline and goes on alone', 'TimeoutError'))
      resolve()
    }
    const miss = (entry: Pending, timeoutMs: number): void => {
      const { tap } = entry
      missed = true
      control.health.late += 1
      control.misses.set(tap.plugin, (control.misses.get(tap.plugin) ?? 0) + 1)
      warn(
        control.logger,
        { plugin: tap.plugin, point: tap.point, timeoutMs },
        'an observer missed its deadline and goes on alone',
      )
      done(entry)
    }
    // a tap's own shorter deadline is its own: it cuts nobody else short
    for (const entry of pending) {
      const { timeoutMs } = entry.tap
      if (!entry.waiting || timeoutMs >= control.observerTimeoutMs) continue
      const own = control.deadlines.add(timeoutMs, now, () => {
        if (entry.waiting) miss(entry, timeoutMs)
      })
      const settled = (): void => control.deadlines.remove(own)
      entry.promise.then(settled, settled)
    }
    for (let index = 0; index < pending.length; index++) {
      const entry = pending[index] as Pending
      void promiseThen.call(
        entry.promise,
        () => done(entry),
        (error: unknown) => {
          noteObserverError(control, entry.tap.plugin, entry.tap.point, error)
          done(entry)
        },
      )
    }
    if (left === 0) {
      control.deadlines.remove(deadline)
      resolve()
    }
  })
}

/** Logs and counts an error of an observer, a callback or another best-effort part. */
export function noteObserverError(
  control: Pick<ObserveControl, 'clock' | 'health' | 'logger'>,
  source: string,
  point: string,
  error: unknown,
): void {
  control.health.errors += 1
  const message = describeError(error)
  control.health.lastError = { source, point, message, at: control.clock.now() }
  warn(control.logger, { source, point, error: message, stack: stackOf(error) }, 'an observer failed; the run goes on')
}

function warn(logger: Logger, fields: Readonly<Record<string, unknown>>, text: string): void {
  try {
    logger.warn(fields, text)
  } catch {
    // a logger that throws is ignored
  }
}

/** The message of anything that can be thrown; never throws. */
export function describeError(error: unknown): string {
  try {
    return error instanceof Error ? error.message : typeof error === 'string' ? error : String(error)
  } catch {
    return 'an error that cannot be shown'
  }
}

function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? error.stack : undefined
  } catch {
    return undefined
  }
}
