import { AsyncResource } from 'node:async_hooks'
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
  readonly #place: AsyncResource
  /** A length that comes again and again: its timer is kept while nobody waits. */
  readonly #common: boolean
  /** Nobody waits in this queue any more: it can be forgotten. */
  readonly #idle: () => void
  #head: Deadline | undefined
  #tail: Deadline | undefined
  #timer: Timer | undefined

  constructor(clock: Clock, ms: number, common: boolean, place: AsyncResource, idle: () => void) {
    this.#common = common
    this.#clock = clock
    this.#place = place
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
    if (this.#head !== undefined) return
    // nobody waits: the timer of a common length may run out by itself, without keeping the process alive
    if (this.#common) this.#timer?.hold?.(false)
    else {
      this.cancel()
      this.#idle()
    }
  }

  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(ms: number): void {
    // a timer serves many runs: it must not be made, nor fire, in the place of one of them
    this.#timer = this.#place.runInAsyncScope(() => this.#clock.setTimeout(() => this.#fire(), ms))
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
  readonly #place = new AsyncResource('SluiceDeadlines')
  readonly #common: ReadonlySet<number>

  /** `common`: lengths in milliseconds that come again and again, whose timers are worth keeping. */
  constructor(clock: Clock, common: Iterable<number> = []) {
    this.#clock = clock
    this.#common = new Set(common)
  }

  /** Calls `expire` `ms` milliseconds after `from` (a reading of `clock.monotonic()`), unless it is removed before. */
  add(ms: number, from: number, expire: () => void): Deadline {
    let queue = this.#queues.get(ms)
    if (queue === undefined) {
      queue = new DeadlineQueue(this.#clock, ms, this.#common.has(ms), this.#place, () => this.#queues.delete(ms))
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
