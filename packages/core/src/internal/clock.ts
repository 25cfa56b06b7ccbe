import { performance } from 'node:perf_hooks'

/** A running timer of a {@link Clock}. */
export interface Timer {
  /** Ends the timer; calling it again does nothing. */
  cancel(): void
  /** Whether the timer keeps the process alive while it waits; it does unless this says otherwise. */
  hold?(alive: boolean): void
}

/**
 * Where all time comes from: the wall clock, elapsed time and timers. Injected through `createRuntime({ clock })`, so
 * that tests move time by hand.
 */
export interface Clock {
  /** Wall-clock time in milliseconds since the Unix epoch. */
  now(): number
  /** Elapsed milliseconds since some fixed moment; never goes back. Used for durations and deadlines. */
  monotonic(): number
  /**
   * Calls `fire` once after `ms` milliseconds, in the place of the caller: whoever moves a clock by hand, `fire` sees the
   * AsyncLocalStorage that was in force when the timer was armed, as it does with the platform's timers.
   */
  setTimeout(fire: () => void, ms: number): Timer
}

/** The longest delay that the platform's timers take: 2^31 - 1 ms; longer waits are made of several. */
const LONGEST_TIMER_MS = 2_147_483_647

class SystemTimer implements Timer {
  #handle: NodeJS.Timeout | undefined

  constructor(fire: () => void, ms: number) {
    this.#arm(fire, ms)
  }

  #arm(fire: () => void, ms: number): void {
    this.#handle =
      ms > LONGEST_TIMER_MS
        ? setTimeout(() => this.#arm(fire, ms - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
        : setTimeout(fire, ms)
  }

  hold(alive: boolean): void {
    if (alive) this.#handle?.ref()
    else this.#handle?.unref()
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }
}

/** The clock of the machine. */
export const systemClock: Clock = Object.freeze({
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (fire: () => void, ms: number) => new SystemTimer(fire, ms),
})

/** A promise that is kept after `ms` milliseconds of `clock`, or at once when `signal` fires (it never rejects). */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) {
      resolve()
      return
    }
    const done = () => {
      timer.cancel()
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = clock.setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
}
