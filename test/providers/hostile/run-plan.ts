import { seededRandom } from '../recorded/seeded-random.js'
import { WIRED } from '../wire/adapters.js'
import type { Fault } from './faults.js'
import { FAULTS } from './faults.js'

/** What one run meets. */
export interface RunPlan {
  readonly run: number
  /** Place of its adapter in `WIRED`. */
  readonly adapter: number
  readonly streamed: boolean
  /** Rounds with a tool call that go well before the fault. */
  readonly goodRounds: number
  readonly fault: Fault
}

const SLOW = FAULTS.find(({ name }) => name === 'slow bytes') as Fault

/** The plan of a run: the same for the same seed, whoever asks and in whatever order. */
export function planOf(seed: number, run: number): RunPlan {
  const random = seededRandom(seed + run)
  const turn = Math.floor(run / FAULTS.length)
  const place = run % FAULTS.length
  const fault = FAULTS[place] as Fault
  return {
    run,
    // each fault meets protocols in turn, so that all of them are seen
    adapter: (turn + place * 3 + seed) % WIRED.length,
    streamed: (Math.floor(turn / 2) + place) % 2 === 0,
    goodRounds: random(4) === 0 ? 1 : 0,
    fault: fault.heavy === true && turn % 2 === 1 ? SLOW : fault,
  }
}
