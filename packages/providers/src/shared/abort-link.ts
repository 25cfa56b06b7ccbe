/**
 * Ties one request to the caller's signal. The SDK gets a signal of its own: what it leaves hanging on that one goes with
 * it, so the caller's signal may live as long as the process. What waits here ends at once when the caller aborts, also
 * where a `fetch` of the user does not listen.
 */
export class AbortLink {
  readonly #outer: AbortSignal
  readonly #controller = new AbortController()
  #refuse: ((reason: unknown) => void) | undefined

  constructor(outer: AbortSignal) {
    this.#outer = outer
    outer.addEventListener('abort', this.#onAbort, { once: true })
  }

  /** Fires when the caller's does. */
  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The result of `work`, or the caller's reason as soon as the caller aborts. */
  race<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      // it may have fired while nothing waited here
      if (this.#outer.aborted) reject(this.#outer.reason)
      this.#refuse = reject
      work.then(resolve, (thrown: unknown) => reject(this.#outer.aborted ? this.#outer.reason : thrown))
    })
  }

  /** As `race`, and lets the caller's signal go at the end. */
  async settle<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await this.race(work)
    } finally {
      this.release()
    }
  }

  /** Lets the caller's signal go. */
  release(): void {
    this.#outer.removeEventListener('abort', this.#onAbort)
  }

  readonly #onAbort = (): void => {
    this.#controller.abort()
    this.#refuse?.(this.#outer.reason)
  }
}
