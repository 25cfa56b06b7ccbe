import type { DeskAtWork, Ended } from '../scenes/desk-at-work.js'
import type { Asking } from '../scenes/desk-at-work.js'
import type { SceneFixture } from '../scenes/scene.js'

/** Several things that happen at one desk, one after another: what a guard does is seen between runs, not in one. */
export interface Story {
  readonly code: string
  readonly title: string
  /** What the provider answers in replayed runs, in the order of the requests. */
  readonly fixtures: readonly SceneFixture[]
  /** The endings in the replay, in their order. Live models may find others. */
  readonly expected: readonly string[]
  play(at: DeskAtWork, tell: Teller): Promise<void>
}

/** Takes down what happens in a story. */
export interface Teller {
  /** Something was done, or was found. */
  note(label: string, ...lines: readonly string[]): void
  /** Something was found that could have come out otherwise: `ending` is one of the endings of the story. */
  found(label: string, ending: string, ...lines: readonly string[]): void
  /** Somebody asks the desk; tells who and what. */
  asks(asking: Asking): Promise<Ended>
  /** A run has come to an end, or to a pause; `lines` say more about it. */
  ended(ended: Ended, ...lines: readonly string[]): Promise<void>
}
