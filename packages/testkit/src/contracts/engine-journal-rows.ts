import assert from 'node:assert/strict'
import type { JsonValue, StoredJournal } from '@sluice/core'
import { Veto } from '@sluice/core'
import { fakeIds } from '../fake-ids.js'
import { fakeClock } from '../time/fake-clock.js'
import type { ContractRow } from './contract-row.js'
import type { Body, MakeEngine, MakeRow } from './engine-rig.js'
import { failureOf, openEngine, RUN } from './engine-rig.js'

/** Attempts, time, ids and the journal itself. */
export function engineJournalRows(row: MakeRow, makeEngine: MakeEngine): readonly ContractRow[] {
  return [
    row('begin keeps its value, and tells a begun effect from a done one', async ({ record, replay }) => {
      const { journal: begun } = await record(async (steps) => {
        assert.equal(steps.recorded('call'), 'nothing')
        assert.deepEqual(await steps.begin('call', { answers: ['passed'] }), { answers: ['passed'] })
      })
      await replay(begun, async (steps) => {
        assert.equal(steps.recorded('call'), 'begun')
        assert.equal(steps.recorded('other'), 'nothing')
        assert.equal(steps.attemptsBefore('call'), 1)
        assert.deepEqual(await steps.begin<JsonValue>('call', { answers: ['asked again'] }), { answers: ['passed'] })
        await steps.step('call', () => 'done')
      })
      const { journal: done } = await record(async (steps) => {
        await steps.begin('call', null)
        await steps.step('call', () => 'done')
      })
      await replay(done, async (steps) => {
        assert.equal(steps.recorded('call'), 'done')
        assert.equal(steps.attemptsBefore('call'), 0)
        await steps.begin('call', null)
        assert.equal(await steps.step('call', () => 'again'), 'done')
      })
    }),

    row('a closed attempt counts, also after a replay', async ({ record, replay }) => {
      const { journal } = await record(async (steps) => {
        assert.equal(steps.attemptsBefore('call'), 0)
        await steps.close('call')
        assert.equal(steps.attemptsBefore('call'), 1)
        await steps.close('call')
      })
      await replay(journal, async (steps) => {
        assert.equal(steps.attemptsBefore('call'), 2)
        assert.equal(steps.attemptsBefore('other'), 0)
      })
    }),

    row(
      'time and ids are the same in every replay, and the injected ones before',
      async ({ clock, record, replay }) => {
        const body: Body<readonly unknown[]> = async (steps) => [await steps.now(), await steps.id(), await steps.id()]
        const { value, journal } = await record(body)
        const ids = fakeIds(1)
        assert.deepEqual(value, [clock.now(), ids.id(), ids.id()])
        assert.deepEqual(await replay(journal, body), value)
      },
    ),

    row(
      'sleep waits on the injected clock, an abort ends it, and a replay does not wait',
      async ({ clock, record, replay }) => {
        const body: Body<string> = async (steps) => {
          await steps.sleep(60_000)
          return 'slept'
        }
        const started = clock.monotonic()
        const { value, journal } = await clock.settle(record(body))
        assert.equal(value, 'slept')
        assert.ok(clock.monotonic() - started >= 60_000, 'it did not wait')
        const still = { ...fakeClock(), setTimeout: () => assert.fail('the replay waits') }
        assert.equal(await replay(journal, body, still), 'slept')
        const controller = new AbortController()
        const short = record(async (steps) => {
          controller.abort()
          await steps.sleep(60_000, controller.signal)
        })
        await clock.settle(short, 0)
        assert.equal(clock.timers, 0)
      },
    ),

    row(
      'waiting for a signal that never comes ends, and ends the same in a replay',
      async ({ clock, record, replay }) => {
        const body: Body<unknown> = async (steps) => [
          await steps.waitFor('answer', 10),
          await steps.step('after', () => 'after'),
        ]
        const { value, journal } = await clock.settle(record(body))
        assert.deepEqual(value, [undefined, 'after'])
        assert.deepEqual(await replay(journal, body), value)
      },
    ),

    row('a snapshot is JSON: what comes back from text is the same', async ({ engine }) => {
      await engine.run(RUN, async (steps) => {
        await steps.begin('call', { plugin: 'budget' })
        await failureOf(() => steps.step('call', () => Promise.reject(new Veto('NO', 'no'))))
        await steps.branch('inner', async (inner) => inner.step('x', () => ({ a: [1] })))
        await steps.now()
        await steps.id()
        await steps.close('later')
        const snapshot = engine.snapshot(RUN)
        assert.equal(snapshot.version, 1)
        assert.deepEqual(JSON.parse(JSON.stringify(snapshot)), snapshot)
        // what the run goes on to do does not reach a snapshot that was taken
        const text = JSON.stringify(snapshot)
        await steps.step('more', () => 1)
        assert.equal(JSON.stringify(snapshot), text)
      })
    }),

    row('a replayed run can be recorded again, whole', async ({ record, replay }) => {
      const body: Body<readonly unknown[]> = async (steps) => [
        await steps.step('a', () => 'a'),
        await steps.branch('inner', async (inner) => [await inner.step('b', () => 'b'), await inner.id()]),
        await steps.now(),
      ]
      const { value, journal } = await record(body)
      const second = await openEngine(makeEngine)
      let again: StoredJournal | undefined
      const replayed = await second.engine.run(
        RUN,
        async (steps) => {
          const result = await body(steps)
          await steps.step('new', () => 'new')
          again = JSON.parse(JSON.stringify(second.engine.snapshot(RUN))) as StoredJournal
          return result
        },
        journal,
      )
      assert.deepEqual(replayed, value)
      const third = await replay(again as StoredJournal, async (steps) => [
        ...(await body(steps)),
        await steps.step('new', () => assert.fail('it ran again')),
      ])
      assert.deepEqual(third, [...value, 'new'])
    }),

    row('two runs of one engine do not meet; a forgotten one has no journal', async ({ engine }) => {
      const other = `${RUN}-2`
      await Promise.all([
        engine.run(RUN, async (steps) => {
          await steps.step('a', () => 1)
          assert.equal(JSON.stringify(engine.snapshot(RUN)).includes('"b"'), false)
        }),
        engine.run(other, async (steps) => {
          await steps.step('b', () => 2)
          assert.equal(JSON.stringify(engine.snapshot(other)).includes('"a"'), false)
        }),
      ])
      await engine.forget(RUN)
      await engine.forget(RUN)
      assert.ok((await failureOf(() => engine.snapshot(RUN))) instanceof Error)
      await engine.forget(other)
    }),
  ]
}
