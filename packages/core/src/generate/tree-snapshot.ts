import type { Decision } from '../hooks/hook-contexts.js'
import type { JsonObject } from '../internal/json.js'
import type { Usage } from '../messages/usage.js'
import type { InnerCall } from './call-list.js'
import type { TallySnapshot } from './receipt-tally.js'

/** Figures of a tree that a pause stores beside the journal. */
export interface TreeSnapshot {
  readonly seq: number
  readonly counts: TallySnapshot
  readonly state: JsonObject
  readonly waitedMs: number
  readonly elapsedMs: number
  readonly modelCalls: number
  readonly toolCalls: number
  readonly usage: Usage
  /**
   * Answers that were given before this pause and whose effects have not run yet, digests of the arguments that they are about,
   * and when earlier pauses expire; by effect.
   */
  readonly decisions: Readonly<Record<string, Decision>>
  readonly asked: Readonly<Record<string, string>>
  readonly expired: Readonly<Record<string, number>>
  /** What the runs that were open at the pause had spent, by execution id. */
  readonly runs: Readonly<Record<string, SpentRun>>
}

/** What an open run has spent itself, and the tool calls that were made inside its handlers and gates. */
export interface SpentRun {
  readonly usage: Usage
  /** Time that counts for its own timeout, in milliseconds; absent where it has none. */
  readonly elapsedMs?: number
  readonly inner?: readonly InnerCall[]
}
