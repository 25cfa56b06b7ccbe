import type { Act } from './acts.js'
import type { Surroundings } from './actor.js'
import type { Composition } from './composition.js'

/** What one run keeps while it is played. */
export interface Playing {
  readonly shape: Composition
  readonly around: Surroundings
  root: string
  requests: number
  readonly drawn: Map<string, number>
  readonly asked: string[]
  readonly started: string[]
  /** By plugin. */
  readonly closings: string[][]
  readonly stops: string[][]
  readonly after: string[][]
  readonly events: string[]
}

/** The act of a tap in this asking; the last stands for all that follow. */
export function draw(playing: Playing, id: string, acts: readonly Act[]): Act {
  const drawn = playing.drawn.get(id) ?? 0
  playing.drawn.set(id, drawn + 1)
  return acts[Math.min(drawn, acts.length - 1)] as Act
}

/** What of an effect's id lies below the run. */
export const pathOf = (playing: Playing, effectId: string) => effectId.slice(playing.root.length + 1)
