import type { Clock } from '../internal/clock.js'
import type { Deadlines } from '../internal/deadlines.js'
import { isThenable } from '../internal/json.js'
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
 * closing observer is awaited also after it was late before.
 */
export function observe(
  control: ObserveControl,
  taps: readonly CompiledTap[],
  context: object,
  always: boolean,
): Promise<void> | undefined {
  let pending: { tap: CompiledTap; promise: Promise<unknown> }[] | undefined
  for (const tap of taps) {
    try {
      const returned = tap.kind === 'tapAsync' ? callWithCallback(tap.fn, context) : tap.fn(context as never)
      if (returned !== undefined && isThenable(returned)) {
        pending ??= []
        pending.push({ tap, promise: Promise.resolve(returned) })
      }
    } catch (error) {
      noteObserverError(control, tap.plugin, tap.point, error)
    }
  }
  return pending === undefined ? undefined : awaitTogether(control, pending, always)
}

function awaitTogether(
  control: ObserveControl,
  pending: readonly { tap: CompiledTap; promise: Promise<unknown> }[],
  always: boolean,
): Promise<void> {
  return new Promise((resolve) => {
    const waiting = new Set<CompiledTap>()
    let timeoutMs = control.observerTimeoutMs
    for (const { tap } of pending) {
      if (always || (control.misses.get(tap.plugin) ?? 0) < MISSES_ALLOWED) waiting.add(tap)
      if (tap.timeoutMs < timeoutMs) timeoutMs = tap.timeoutMs
    }
    const deadline = control.deadlines.add(timeoutMs, control.clock.monotonic(), () => {
      for (const tap of waiting) {
        control.health.late += 1
        control.misses.set(tap.plugin, (control.misses.get(tap.plugin) ?? 0) + 1)
        warn(
          control.logger,
          { plugin: tap.plugin, point: tap.point, timeoutMs },
          'an observer missed its deadline and goes on alone',
        )
      }
      waiting.clear()
      resolve()
    })
    const done = (tap: CompiledTap): void => {
      if (waiting.delete(tap) && waiting.size === 0) {
        control.deadlines.remove(deadline)
        resolve()
      }
    }
    for (const { tap, promise } of pending) {
      void promiseThen.call(
        promise,
        () => done(tap),
        (error: unknown) => {
          noteObserverError(control, tap.plugin, tap.point, error)
          done(tap)
        },
      )
    }
    if (waiting.size === 0) {
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
