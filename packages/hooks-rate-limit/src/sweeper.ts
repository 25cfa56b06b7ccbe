import type { PluginHost, Timer } from '@sluice/core'
import { sweepPage } from './sweep.js'

/** Clears away by itself, and never in the way of a call: nothing waits for it. */
export interface Sweeper {
  /** Something was written: what is over a while from now is to be cleared away. Arms a timer, and calls no store. */
  later(): void
  /** Clears all away now, and returns how many documents went. */
  all(): Promise<number>
  /** Arms no timer any more. */
  dispose(): void
}

type SweptHost = Pick<PluginHost, 'storage' | 'clock' | 'logger'>

const SWEEP_AFTER_MS = 60_000
/** How soon it goes on where one turn did not come to the end. */
const GO_ON_AFTER_MS = 1_000
const PAGES_AT_ONCE = 100

/** @see Sweeper */
export function createSweeper({ storage, clock, logger }: SweptHost): Sweeper {
  let timer: Timer | undefined
  let disposed = false
  let after: string | null = null
  const arm = (ms: number): void => {
    if (disposed || timer !== undefined) return
    timer = clock.setTimeout(() => {
      timer = undefined
      void turn()
    }, ms)
    // it keeps no process alive
    timer.hold?.(false)
  }
  const turn = async (): Promise<void> => {
    try {
      for (let page = 0; page < PAGES_AT_ONCE && !disposed; page++) {
        after = (await sweepPage(storage.documents, after, clock.now())).next
        if (after === null) return
      }
      arm(GO_ON_AFTER_MS)
    } catch (error) {
      after = null
      logger.warn({ error: String(error) }, 'rate limits whose time is over could not be cleared away')
    }
  }
  return {
    later: () => arm(SWEEP_AFTER_MS),
    async all() {
      let deleted = 0
      let next: string | null = null
      do {
        const page: Awaited<ReturnType<typeof sweepPage>> = await sweepPage(storage.documents, next, clock.now())
        deleted += page.deleted
        next = page.next
      } while (next !== null)
      return deleted
    },
    dispose() {
      disposed = true
      timer?.cancel()
    },
  }
}
