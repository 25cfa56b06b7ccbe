/**
 * A stop that happens at most once and is heard by any number of listeners: what an AbortController does, without the cost
 * of one where nobody needs a signal. Listeners are called once, in order; one that throws does not silence the others.
 */
export class StopSource {
  #reason: unknown
  #stopped = false
  #listeners: Set<(reason: unknown) => void> | undefined

  get stopped(): boolean {
    return this.#stopped
  }

  /** Why it stopped; `undefined` before. */
  get reason(): unknown {
    return this.#reason
  }

  /** The number of listeners that wait. */
  get listeners(): number {
    return this.#listeners?.size ?? 0
  }

  /** Stops; the first reason stands. Returns whether this call was the first. */
  stop(reason: unknown): boolean {
    if (this.#stopped) return false
    this.#stopped = true
    this.#reason = reason
    const listeners = this.#listeners
    this.#listeners = undefined
    if (listeners !== undefined) {
      for (const listener of listeners) {
        try {
          listener(reason)
        } catch {
          // a listener is ours and does not throw; one that does must not silence the ones behind it
        }
      }
    }
    return true
  }

  /** Calls `listener` at the stop, at once where it has happened already. */
  listen(listener: (reason: unknown) => void): void {
    if (this.#stopped) {
      listener(this.#reason)
      return
    }
    this.#listeners ??= new Set()
    this.#listeners.add(listener)
  }

  unlisten(listener: (reason: unknown) => void): void {
    this.#listeners?.delete(listener)
  }
}
