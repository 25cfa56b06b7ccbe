import type { Act, Via } from './acts.js'

export type Point =
  | 'beforeExecution'
  | 'beforeModelCall'
  | 'whileInFlight'
  | 'inspectReply'
  | 'beforeToolCall'
  | 'inspectToolInput'

/** One tap of a gate: what it does in its first asking, its second ...; the last stands for all that follow. */
export interface GateTap {
  readonly point: Point
  readonly via: Via
  readonly stage: number
  /** Milliseconds. */
  readonly timeoutMs: number
  readonly acts: readonly Act[]
}

/** How the observers of a plugin behave: all of them, at every point. */
export type Watching = 'well' | 'throws' | 'rejects' | 'hangs' | 'slowly' | 'gives-false' | 'calls-back-twice'

export interface PluginShape {
  readonly shadow: boolean
  readonly gates: readonly GateTap[]
  readonly watching: Watching
}

export interface CallShape {
  readonly effect: 'read' | 'write' | 'send'
  /** What `authorize` of the tool does; empty: it has none. */
  readonly authorize: readonly Act[]
  /** Milliseconds that the handler takes; 0: it returns at once. */
  readonly ms: number
  readonly ends: 'ok' | 'refuses' | 'vetoes' | 'throws'
}

/** Plugins and the run that they meet: a round of tool calls, then an answer. */
export interface Composition {
  readonly plugins: readonly PluginShape[]
  readonly calls: readonly CallShape[]
  /** Milliseconds of the first reply, and of those after it. */
  readonly replyMs: readonly [first: number, later: number]
  /** Whether provider and handlers end when their signal fires. */
  readonly honoursSignal: boolean
  readonly maxWaitMs: 0 | 1000
  readonly stream: boolean
}

/** Times of the run. They are chosen so that no two moments fall together: gates take tens, effects end on 3, deadlines on 7. */
export const TIMES = Object.freeze({
  watchMs: 1000,
  gateFreshMs: 995.5,
  observerTimeoutMs: 310,
  slowObserverMs: 40,
  lateByMs: 400,
  blockMs: 10,
  abortGraceMs: 5_000,
  authorizeTimeoutMs: 5_007,
  sideReplyMs: 13,
})
