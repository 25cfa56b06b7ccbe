import type { StoredJournal } from '../engine/engine.js'
import type { Tree } from '../generate/tree.js'
import type { Asking } from '../hooks/receipt.js'

/** `beforeExecution` of a run, as it was asked up to now: a resumed run is asked again, as the next attempt. */
export interface AskedExecution {
  readonly attempt: number
  /** Milliseconds since the epoch of the first asking. */
  readonly at: number
  readonly askings: readonly Asking[]
}

/** The pause that a run goes on from. Who runs it notes here what became of it. */
export interface Resumed {
  readonly journal: StoredJournal
  execution: AskedExecution
  /** True as long as nothing was run: whatever is thrown then, the run is as paused as before. */
  untouched: boolean
  /** True once a step was run in place of being replayed. */
  live: boolean
  /** Its tree, once it is in flight. */
  tree: Tree | undefined
}
