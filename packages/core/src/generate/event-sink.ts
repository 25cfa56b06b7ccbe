import type { RunEvent } from '../events/run-event.js'
import type { Tree } from './tree.js'

/** What receives the events of a tree besides the callback: a stream. */
export interface EventSink {
  /** Deltas go out as they arrive, before the reply is checked. */
  readonly live: boolean
  emit(event: RunEvent): void
  /** Fires when nobody reads any more: a nested run ends with it. */
  readonly unread?: AbortSignal
  /** Called with the tree that it listens to. */
  attach?(tree: Tree): void
}
