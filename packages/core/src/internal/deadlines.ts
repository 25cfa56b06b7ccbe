import type { Clock, Timer } from './clock.js'

/** A deadline that waits in its queue. */
export interface Deadline {
  readonly at: number
  readonly queue: DeadlineQueue
  expire: (() => void) | undefined
  previous: Deadline | undefined
  next: Deadline | undefined
}

/** Deadlines of one length, in the order in which they fall due: one timer serves them all. */
class DeadlineQueue {
  readonly #clock: Clock
  readonly #ms: number
  /** Nobody waits in this queue any more: it can be forgotten. */
  readonly #idle: () => void
  #head: Deadline | undefined
  #tail: Deadline | undefined
  #timer: Timer | undefined

  constructor(clock: Clock, ms: number, idle: () => void) {
    this.#clock = clock
    this.#ms = ms
    this.#idle = idle
  }

  add(from: number, expire: () => void): Deadline {
    const deadline: Deadline = { at: from + this.#ms, queue: this, expire, previous: this.#tail, next: undefined }
    if (this.#tail === undefined) this.#head = deadline
    else this.#tail.next = deadline
    this.#tail = deadline
    if (this.#timer === undefined) this.#arm(Math.max(0, deadline.at - this.#clock.monotonic()))
    else if (this.#head === deadline) this.#timer.hold?.(true)
    return deadline
  }

  remove(deadline: Deadline): void {
    if (deadline.expire === undefined) return
    deadline.expire = undefined
    if (deadline.previous === undefined) this.#head = deadline.next
    else deadline.previous.next = deadline.next
    if (deadline.next === undefined) this.#tail = deadline.previous
    else deadline.next.previous = deadline.previous
    // nobody waits: the timer may run out by itself, without keeping the process alive
    if (this.#head === undefined) this.#timer?.hold?.(false)
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.setTimeout(() => this.#fire(), ms)
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.monotonic()
    while (this.#head !== undefined && this.#head.at <= now) {
      const due = this.#head
      const expire = due.expire
      this.remove(due)
      expire?.()
    }
    if (this.#head === undefined) this.#idle()
    else if (this.#timer === undefined) this.#arm(Math.max(1, Math.ceil(this.#head.at - now)))
  }
}

/**
 * Deadlines by the thousand on a handful of timers. A deadline that is met costs no timer of its own; a timer keeps the
 * process alive only while somebody waits for it.
 */
export class Deadlines {
  readonly #clock: Clock
  readonly #queues = new Map<number, DeadlineQueue>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `expire` `ms` milliseconds after `from` (a reading of `clock.monotonic()`), unless it is removed before. */
  add(ms: number, from: number, expire: () => void): Deadline {
    let queue = this.#queues.get(ms)
    if (queue === undefined) {
      queue = new DeadlineQueue(this.#clock, ms, () => this.#queues.delete(ms))
      this.#queues.set(ms, queue)
    }
    return queue.add(from, expire)
  }

  remove(deadline: Deadline): void {
    deadline.queue.remove(deadline)
  }

  /** Ends all timers; deadlines that still wait never fall due. */
  close(): void {
    for (const queue of this.#queues.values()) queue.cancel()
    this.#queues.clear()
  }
}
