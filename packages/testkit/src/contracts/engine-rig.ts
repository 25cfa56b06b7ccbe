import assert from 'node:assert/strict'
import type { Clock, Engine, Ids, Steps, StoredJournal } from '@sluice/core'
import { fakeIds } from '../fake-ids.js'
import type { FakeClock } from '../time/fake-clock.js'
import { fakeClock } from '../time/fake-clock.js'
import type { ContractRow } from './contract-row.js'

/** What a contract suite gives to an engine. */
export interface EngineParts {
  readonly clock: Clock
  readonly ids: Ids
}

/** Makes a fresh engine. A journal that one engine gave is replayed on another one that this made. */
export type MakeEngine = (parts: EngineParts) => Engine | Promise<Engine>

/** The body of a run. */
export type Body<Value> = (steps: Steps) => Promise<Value>

/** A run, its journal as JSON text would keep it, and a way to replay that on a fresh engine with another clock and other ids. */
export interface EngineRig {
  readonly clock: FakeClock
  readonly engine: Engine
  /** Runs `body` and takes the journal at its end, in flight as at a pause. */
  record<Value>(body: Body<Value>): Promise<{ readonly value: Value; readonly journal: StoredJournal }>
  replay<Value>(journal: StoredJournal, body: Body<Value>, clock?: Clock): Promise<Value>
}

/** Id of the run that the rows play. */
export const RUN = '01940000-0000-7000-8000-0000000000aa'

export async function openEngine(makeEngine: MakeEngine): Promise<EngineRig> {
  const clock = fakeClock()
  const engine = await makeEngine({ clock, ids: fakeIds(1) })
  return {
    clock,
    engine,
    async record(body) {
      let journal: StoredJournal | undefined
      const value = await engine.run(RUN, async (steps) => {
        const result = await body(steps)
        journal = JSON.parse(JSON.stringify(engine.snapshot(RUN))) as StoredJournal
        return result
      })
      await engine.forget(RUN)
      return { value, journal: journal as StoredJournal }
    },
    async replay(journal, body, replayClock = fakeClock({ now: 1 })) {
      const other = await makeEngine({ clock: replayClock, ids: fakeIds(2) })
      return other.run(RUN, body, journal)
    },
  }
}

/** What `work` throws. */
export async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return assert.fail('it did not fail')
}

/** Makes a row that is checked on a fresh engine. */
export type MakeRow = (title: string, check: (rig: EngineRig) => Promise<void>) => ContractRow

/** @see MakeRow */
export function rowsOf(makeEngine: MakeEngine): MakeRow {
  return (title, check) => ({ title, run: async () => check(await openEngine(makeEngine)) })
}
