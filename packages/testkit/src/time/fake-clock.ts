import { AsyncResource } from 'node:async_hooks'
import type { Clock, Timer } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import { drain } from './drain.js'

/** Options of {@link fakeClock}. */
export interface FakeClockOptions {
  /** Wall-clock time at the start, milliseconds since the epoch. @default 2026-01-01T00:00:00Z */
  readonly now?: number
}

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Timers that somebody waits for: armed, not cancelled, and not let go with `hold(false)`. On a real clock they keep the process alive. */
  readonly timers: number
  /** Milliseconds from now until the next timer is due; `undefined` without one. */
  readonly nextTimerMs: number | undefined
  /**
   * Moves time by `ms` milliseconds and fires the timers that fall due, by due time, then in the order in which they were
   * armed; those armed meanwhile fire too when they are due. Synchronous: no promise is given a turn. What a timer throws
   * leaves `advance`, with time at that timer.
   */
  advance(ms: number): void
  /** As {@link FakeClock.advance}, and lets promises and I/O have their turns before, between and after the timers. */
  tick(ms?: number): Promise<void>
  /**
   * Moves time from timer to timer until `promise` settles, and returns its result. `CLOCK_STUCK` when no timer is left,
   * or when more than `maxMs` milliseconds would be needed (default one day).
   */
  settle<Value>(promise: PromiseLike<Value>, maxMs?: number): Promise<Value>
  /** Moves time by `ms` milliseconds and fires nothing, as code does that never returns the thread. */
  block(ms: number): void
  /** Sets the wall clock to `now` without elapsed time and without firing anything, as when a machine's clock is put right. */
  setNow(now: number): void
}

interface ArmedTimer extends Timer {
  readonly dueAt: number
  readonly fire: () => void
  held: boolean
}

const DAY_MS = 86_400_000

/**
 * Makes a {@link FakeClock}: `createRuntime({ clock: fakeClock() })`.
 *
 * @throws CLOCK_INVALID for a time that is not finite or runs backwards
 */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  let elapsed = 0
  let offset = finite(options.now ?? Date.UTC(2026, 0, 1), 'now')
  // in the order of arming; due times are compared with `<`, so that the earlier armed of two equal ones comes first
  const armed = new Set<ArmedTimer>()

  function next(until: number): ArmedTimer | undefined {
    let first: ArmedTimer | undefined
    for (const timer of armed) {
      if (timer.dueAt <= until && (first === undefined || timer.dueAt < first.dueAt)) first = timer
    }
    return first
  }

  function fireNext(until: number): boolean {
    const timer = next(until)
    if (timer === undefined) return false
    armed.delete(timer)
    elapsed = Math.max(elapsed, timer.dueAt)
    timer.fire()
    return true
  }

  return {
    now: () => offset + elapsed,
    monotonic: () => elapsed,
    setTimeout(fire, ms) {
      if (Number.isNaN(ms)) throw testkitError('CLOCK_INVALID', 'A timer was armed with NaN milliseconds.')
      const timer: ArmedTimer = {
        dueAt: elapsed + Math.max(0, ms),
        // as the platform's timers do: whoever moves the clock, it fires in the place of who armed it
        fire: AsyncResource.bind(fire),
        held: true,
        cancel: () => void armed.delete(timer),
        hold: (alive) => {
          timer.held = alive
        },
      }
      armed.add(timer)
      return timer
    },
    get timers() {
      let held = 0
      for (const timer of armed) if (timer.held) held += 1
      return held
    },
    get nextTimerMs() {
      const timer = next(Number.MAX_VALUE)
      return timer === undefined ? undefined : timer.dueAt - elapsed
    },
    advance(ms) {
      const until = elapsed + forward(ms)
      while (fireNext(until)) {}
      elapsed = Math.max(elapsed, until)
    },
    async tick(ms = 0) {
      const until = elapsed + forward(ms)
      await drain()
      while (fireNext(until)) await drain()
      elapsed = Math.max(elapsed, until)
      await drain()
    },
    async settle(promise, maxMs = DAY_MS) {
      const until = elapsed + forward(maxMs)
      let settled = false
      const mark = () => {
        settled = true
      }
      promise.then(mark, mark)
      for (;;) {
        await drain()
        if (settled) return promise
        if (!fireNext(until)) {
          throw testkitError('CLOCK_STUCK', `The promise has not settled; ${armed.size} timers are armed.`, {
            timers: armed.size,
            elapsedMs: elapsed,
          })
        }
      }
    },
    block(ms) {
      elapsed += forward(ms)
    },
    setNow(now) {
      offset = finite(now, 'now') - elapsed
    },
  }
}

function finite(ms: number, name: string): number {
  if (!Number.isFinite(ms)) throw testkitError('CLOCK_INVALID', `\`${name}\` is ${ms}; give finite milliseconds.`)
  return ms
}

function forward(ms: number): number {
  if (finite(ms, 'ms') < 0) throw testkitError('CLOCK_INVALID', `Time was to move by ${ms} ms; it only moves forward.`)
  return ms
}
