/** A door that a test opens by hand. */
export interface Latch {
  readonly opened: boolean
  /** How many are waiting now. */
  readonly waiting: number
  /** Lets everybody through, those who wait and those who come later. */
  open(): void
  /** Resolves when the latch is open; rejects with the reason of `signal` when that fires first. */
  wait(signal?: AbortSignal): Promise<void>
  /** Resolves when `count` calls of {@link Latch.wait} (default 1) have arrived, counted from the start. */
  reached(count?: number): Promise<void>
}

/** Makes a closed {@link Latch}: hold a gate, a handler or a scripted reply with it, and open it when the test has looked. */
export function latch(): Latch {
  let opened = false
  let arrivals = 0
  const inside = new Set<() => void>()
  const watchers = new Set<{ readonly count: number; readonly resolve: () => void }>()

  return {
    get opened() {
      return opened
    },
    get waiting() {
      return inside.size
    },
    open() {
      opened = true
      for (const pass of inside) pass()
      inside.clear()
    },
    wait(signal) {
      arrivals += 1
      for (const watcher of watchers) {
        if (watcher.count > arrivals) continue
        watchers.delete(watcher)
        watcher.resolve()
      }
      if (signal?.aborted === true) return Promise.reject(signal.reason)
      if (opened) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const pass = () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        }
        const leave = () => {
          inside.delete(pass)
          reject(signal?.reason)
        }
        inside.add(pass)
        signal?.addEventListener('abort', leave, { once: true })
      })
    },
    reached(count = 1) {
      if (arrivals >= count) return Promise.resolve()
      return new Promise((resolve) => {
        watchers.add({ count, resolve })
      })
    },
  }
}
