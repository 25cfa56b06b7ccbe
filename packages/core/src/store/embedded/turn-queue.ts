import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'

interface Waiter {
  readonly holder: string
  readonly grant: (release: () => void) => void
  readonly refuse: (reason: unknown) => void
}

interface Turn {
  holder: string
  /** How often the holder has taken the turn without giving it back. */
  count: number
  readonly line: Waiter[]
}

/** The turns of sessions inside one process: one holder at a time, the others in the order in which they came. */
export class TurnQueue {
  readonly #turns = new Map<string, Turn>()
  #closed: SluiceError | undefined

  /**
   * Takes the turn of a session; a holder that has it already takes it once more.
   *
   * @throws SESSION_BUSY where another has it and `wait` is false; the reason of the signal; the reason of the closing
   */
  acquire(
    sessionId: string,
    holder: string,
    options: { readonly wait: boolean; readonly signal?: AbortSignal },
  ): Promise<() => void> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed)
    if (options.signal?.aborted === true) return Promise.reject(options.signal.reason)
    const turn = this.#turns.get(sessionId)
    if (turn === undefined) {
      const taken: Turn = { holder, count: 1, line: [] }
      this.#turns.set(sessionId, taken)
      return Promise.resolve(this.#release(sessionId, taken))
    }
    if (turn.holder === holder) {
      turn.count += 1
      return Promise.resolve(this.#release(sessionId, turn))
    }
    if (!options.wait) return Promise.reject(busy(sessionId, turn.holder))
    return this.#wait(turn, holder, options.signal)
  }

  /** Refuses everybody who waits, and all who come later, with `reason`. */
  close(reason: SluiceError): void {
    this.#closed = reason
    for (const turn of this.#turns.values()) {
      for (const waiter of turn.line.splice(0)) waiter.refuse(reason)
    }
  }

  #wait(turn: Turn, holder: string, signal: AbortSignal | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        turn.line.splice(turn.line.indexOf(waiter), 1)
        reject(signal?.reason)
      }
      const waiter: Waiter = {
        holder,
        grant: (release) => {
          signal?.removeEventListener('abort', leave)
          resolve(release)
        },
        refuse: (reason) => {
          signal?.removeEventListener('abort', leave)
          reject(reason)
        },
      }
      turn.line.push(waiter)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #release(sessionId: string, turn: Turn): () => void {
    let released = false
    return () => {
      if (released) return
      released = true
      turn.count -= 1
      if (turn.count > 0) return
      const next = turn.line.shift()
      if (next === undefined) {
        this.#turns.delete(sessionId)
        return
      }
      turn.holder = next.holder
      turn.count = 1
      next.grant(this.#release(sessionId, turn))
    }
  }
}

function busy(sessionId: string, holder: string): SluiceError {
  return new SluiceError(
    'SESSION_BUSY',
    `Session '${escapeControl(sessionId, 200)}' is taken by execution '${escapeControl(holder, 200)}'.`,
    { hint: 'Wait for it, resume or cancel it, or set `sameSession: "queue"`.' },
  )
}
