import { AsyncResource } from 'node:async_hooks'

/** An AbortSignal that is made when it is first read. Its listeners are called in the place of who read it first. */
export class LazySignal {
  #controller: AbortController | undefined
  #place: AsyncResource | undefined
  #aborted = false
  #reason: unknown

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#aborted) this.#controller.abort(this.#reason)
      // who aborts may be a deadline or a caller that belongs to another run
      else this.#place = new AsyncResource('SluiceSignal', { requireManualDestroy: true })
    }
    return this.#controller.signal
  }

  /** Fires the signal, now or when it is first read; the first reason stands. */
  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.#reason = reason
    this.#place?.runInAsyncScope(() => this.#controller?.abort(reason))
  }
}
