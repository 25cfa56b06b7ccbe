import type { Clock } from '../internal/clock.js'

/** The time that a run has taken over all its parts between pauses: the pauses themselves do not count. */
export class RunTimer {
  readonly #clock: Clock
  readonly #before: number
  readonly #startedAt: number
  #stoppedAt: number | undefined

  constructor(clock: Clock, before: number) {
    this.#clock = clock
    this.#before = before
    this.#startedAt = clock.monotonic()
  }

  get elapsedMs(): number {
    return this.#before + (this.#stoppedAt ?? this.#clock.monotonic()) - this.#startedAt
  }

  /** The run waits or has ended, while others beside it may go on. */
  stop(): void {
    this.#stoppedAt ??= this.#clock.monotonic()
  }
}
