import type { Ground, View } from './ground.js'

/** Whoever holds cells beyond one unit of work: an open transaction. */
export interface Holder {
  /** Called where `name`, which this holder has, is about to be waited for; throws where waiting would never end. */
  refuseWait(name: string): void
}

const BLOCKED: unique symbol = Symbol('blocked')

/**
 * Cells and kinds of definitions that an open transaction holds, and the line of those who wait for them. Only
 * transactions hold, one at a time; a unit of work waits without holding anything. So nobody waits in a circle.
 */
export class CellLocks {
  readonly #ground: Ground
  readonly #held = new Map<string, Holder>()
  #waiting: (() => void)[] = []

  constructor(ground: Ground) {
    this.#ground = ground
  }

  /** {@link Ground.run} once nobody but `holder` holds any of `names`. */
  async run<Result>(
    names: readonly string[],
    work: (view: View) => Result,
    options: { readonly holder?: Holder; readonly signal?: AbortSignal } = {},
  ): Promise<Result> {
    const { holder, signal } = options
    for (;;) {
      const result = await this.#ground.run(
        (view) => (this.#blockedBy(names, holder) === undefined ? work(view) : BLOCKED),
        signal,
      )
      if (result !== BLOCKED) return result
      const name = this.#blockedBy(names, holder)
      if (name === undefined) continue
      this.#held.get(name)?.refuseWait(name)
      await this.#changed(signal)
    }
  }

  take(names: readonly string[], holder: Holder): void {
    for (const name of names) this.#held.set(name, holder)
  }

  /** Gives back what `holder` holds (of `names`, where given) and lets all who wait try again. */
  release(holder: Holder, names?: readonly string[]): void {
    for (const name of names ?? [...this.#held.keys()]) {
      if (this.#held.get(name) === holder) this.#held.delete(name)
    }
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #blockedBy(names: readonly string[], holder: Holder | undefined): string | undefined {
    if (this.#held.size === 0) return undefined
    return names.find((name) => {
      const other = this.#held.get(name)
      return other !== undefined && other !== holder
    })
  }

  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== wake)
        reject(signal?.reason)
      }
      const wake = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(wake)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }
}
