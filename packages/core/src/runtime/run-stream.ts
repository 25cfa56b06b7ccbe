import { SluiceError } from '../errors/sluice-error.js'
import type { RunEvent } from '../events/run-event.js'
import { FatalCallback } from '../events/event-hub.js'
import type { EventSink } from '../generate/event-sink.js'
import type { Clock, Timer } from '../internal/clock.js'
import type { Run } from './run-result.js'

/** A run whose events can be read as they happen. It starts at once; iterating ends after `run_ended` or `run_paused`. */
export interface RunStream<Output = unknown> extends AsyncIterable<RunEvent> {
  /** As `execute`: the run, or its error. Handled when nobody awaits it. */
  readonly run: Promise<Run<Output>>
}

interface Reader {
  resolve(result: IteratorResult<RunEvent>): void
  reject(error: unknown): void
}

export interface StreamParts {
  readonly clock: Clock
  readonly live: boolean
  /** Events that may wait. */
  readonly bound: number
  readonly idleMs: number
  /** Ends the run as aborted. */
  abort(message: string): void
}

/**
 * The events of one run between the loop and one consumer. What waits is bounded: beyond it deltas are joined no more, and the
 * run ends as aborted; so it does where the consumer has stopped reading for `idleMs` while something waits.
 */
export class EventQueue implements EventSink, AsyncIterator<RunEvent> {
  readonly live: boolean
  readonly #parts: StreamParts
  readonly #waiting: RunEvent[] = []
  #readers: Reader[] = []
  #idle: Timer | undefined
  #closed = false
  #left = false
  /** Somebody has begun to read; before, nobody is late. */
  taken = false
  /** Set by a fatal callback: the one thing that the iteration throws. */
  #fatal: FatalCallback | undefined

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.live = parts.live
  }

  emit(event: RunEvent): void {
    if (this.#closed || this.#left) return
    const reader = this.#readers.shift()
    if (reader !== undefined) {
      reader.resolve({ done: false, value: event })
      return
    }
    this.#waiting.push(event)
    const last = event.type === 'run_ended' || event.type === 'run_paused'
    if (this.#waiting.length > this.#parts.bound && !last) {
      this.#giveUp(`${this.#waiting.length} events of a stream wait to be read; at most ${this.#parts.bound} may.`)
      return
    }
    if (this.taken) this.#armIdle()
  }

  /** The run is over: what waits can still be read, then the iteration ends. */
  close(error?: unknown): void {
    if (this.#closed) return
    this.#closed = true
    this.#idle?.cancel()
    if (error instanceof FatalCallback) this.#fatal = error
    for (const reader of this.#readers.splice(0)) this.#end(reader)
  }

  async next(): Promise<IteratorResult<RunEvent>> {
    this.#idle?.cancel()
    this.#idle = undefined
    const event = this.#waiting.shift()
    if (event !== undefined) {
      if (this.#waiting.length > 0 && !this.#closed) this.#armIdle()
      return { done: false, value: event }
    }
    return new Promise((resolve, reject) => {
      const reader: Reader = { resolve, reject }
      if (this.#closed || this.#left) this.#end(reader)
      else this.#readers.push(reader)
    })
  }

  /** There is nothing more to read; the error of a fatal callback is thrown once. */
  #end(reader: Reader): void {
    const fatal = this.#fatal
    this.#fatal = undefined
    if (fatal === undefined) reader.resolve({ done: true, value: undefined })
    else reader.reject(fatal.error)
  }

  /** The consumer leaves early: the run goes on, and nothing is kept for it any more. */
  async return(): Promise<IteratorResult<RunEvent>> {
    this.#left = true
    this.#waiting.length = 0
    this.#idle?.cancel()
    this.#idle = undefined
    return { done: true, value: undefined }
  }

  #armIdle(): void {
    this.#idle ??= this.#parts.clock.setTimeout(
      () => this.#giveUp(`The consumer of a stream has not read for ${this.#parts.idleMs} ms.`),
      this.#parts.idleMs,
    )
  }

  #giveUp(message: string): void {
    this.#left = true
    this.#waiting.length = 0
    this.#idle?.cancel()
    this.#idle = undefined
    this.#parts.abort(message)
  }
}

/** Refuses a second iteration: a stream is read once. */
export function iterateOnce(queue: EventQueue): () => AsyncIterator<RunEvent> {
  let taken = false
  return () => {
    if (taken)
      throw new SluiceError('INVALID_CONFIG', 'This stream is being read already.', {
        reason: 'stream.read_twice',
        hint: 'Read a stream once; collect its events where several need them.',
      })
    taken = true
    queue.taken = true
    return queue
  }
}
