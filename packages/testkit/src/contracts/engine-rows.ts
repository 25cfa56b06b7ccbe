import assert from 'node:assert/strict'
import type { Clock, Engine, Ids, JsonValue, Steps, StoredJournal } from '@sluice/core'
import { HookFailedError, ProviderError, Refusal, SluiceError, Veto } from '@sluice/core'
import { fakeIds } from '../fake-ids.js'
import { deferred } from '../time/deferred.js'
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

type Body<Value> = (steps: Steps) => Promise<Value>

/** A run, its journal as JSON text would keep it, and a way to replay that on a fresh engine with another clock and other ids. */
interface Rig {
  readonly clock: FakeClock
  readonly engine: Engine
  /** Runs `body` and takes the journal at its end, in flight as at a pause. */
  record<Value>(body: Body<Value>): Promise<{ readonly value: Value; readonly journal: StoredJournal }>
  replay<Value>(journal: StoredJournal, body: Body<Value>, clock?: Clock): Promise<Value>
}

const RUN = '01940000-0000-7000-8000-0000000000aa'

async function rig(makeEngine: MakeEngine): Promise<Rig> {
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

async function failureOf(work: () => unknown): Promise<unknown> {
  try {
    await work()
  } catch (error) {
    return error
  }
  return assert.fail('it did not fail')
}

function counting(): { (name: string): () => string; readonly calls: string[] } {
  const calls: string[] = []
  return Object.assign(
    (name: string) => () => {
      calls.push(name)
      return `${name} done`
    },
    { calls },
  )
}

/** The rules that every engine keeps (design 4.8). `describeEngine` runs them under vitest. */
export function engineRows(makeEngine: MakeEngine): readonly ContractRow[] {
  const row = (title: string, check: (rig: Rig) => Promise<void>): ContractRow => ({
    title,
    run: async () => check(await rig(makeEngine)),
  })

  return [
    row('steps run once, in order, and give what they returned', async ({ engine }) => {
      const count = counting()
      const value = await engine.run(RUN, async (steps) => [
        await steps.step('a', count('a')),
        await steps.step('b', async () => count('b')()),
      ])
      assert.deepEqual(value, ['a done', 'b done'])
      assert.deepEqual(count.calls, ['a', 'b'])
    }),

    row('a replay gives recorded results and runs only what is new', async ({ record, replay }) => {
      const count = counting()
      const { journal } = await record(async (steps) => {
        await steps.step('a', count('a'))
        await steps.step('data', () => ({ list: [1, 'two', null], nested: { yes: true } }))
        await steps.step('nothing', () => undefined)
      })
      const again = counting()
      const values = await replay(journal, async (steps) => [
        await steps.step('a', again('a')),
        await steps.step<unknown>('data', again('data')),
        await steps.step<unknown>('nothing', again('nothing')),
        await steps.step('new', again('new')),
      ])
      assert.deepEqual(values, ['a done', { list: [1, 'two', null], nested: { yes: true } }, undefined, 'new done'])
      assert.deepEqual(again.calls, ['new'])
    }),

    row('a replay gives recorded errors as themselves', async ({ record, replay }) => {
      const by = { plugin: 'budget', point: 'beforeModelCall' }
      const thrown: readonly unknown[] = [
        new Veto('BUDGET_EXCEEDED', 'The budget is spent.', { limit: '0.50' }, { by }),
        new ProviderError('PROVIDER_RATE_LIMITED', 'slow down', {
          provider: 'openai',
          model: 'm',
          status: 429,
          retryAfterMs: 1500,
          requestId: 'req_1',
          sent: 'yes',
        }),
        new HookFailedError(by, 'threw', 'it failed', 'the cause'),
        new Refusal('NOT_NOW', 'Ask again tomorrow.'),
        new SluiceError('TOOL_FAILED', 'it broke', { details: { reference: 'ERR-1' } }),
        new TypeError('a bug'),
        'a string',
      ]
      const { journal } = await record(async (steps) => {
        for (const [index, error] of thrown.entries()) {
          const given = await failureOf(() => steps.step(`fails ${index}`, () => Promise.reject(error)))
          assert.equal(given, error)
        }
      })
      const seen: unknown[] = []
      await replay(journal, async (steps) => {
        for (const index of thrown.keys()) {
          seen.push(await failureOf(() => steps.step(`fails ${index}`, () => assert.fail('it ran again'))))
        }
      })
      const [veto, provider, hook, refusal, sluice, plain, text] = seen
      assert.ok(Veto.isInstance(veto, 'BUDGET_EXCEEDED'), 'the Veto did not come back as a Veto')
      assert.deepEqual([veto.message, veto.details, veto.by], ['The budget is spent.', { limit: '0.50' }, by])
      assert.ok(
        ProviderError.isInstance(provider, 'PROVIDER_RATE_LIMITED'),
        'the ProviderError did not come back as one',
      )
      assert.deepEqual(
        [
          provider.provider,
          provider.model,
          provider.status,
          provider.retryAfterMs,
          provider.requestId,
          provider.sent,
          provider.retryable,
        ],
        ['openai', 'm', 429, 1500, 'req_1', 'yes', true],
      )
      assert.ok(HookFailedError.isInstance(hook), 'the HookFailedError did not come back as one')
      assert.deepEqual([hook.by, hook.failure, hook.message], [by, 'threw', 'it failed'])
      assert.ok(Refusal.isInstance(refusal, 'NOT_NOW') && refusal.text === 'Ask again tomorrow.', 'the Refusal changed')
      assert.ok(SluiceError.isInstance(sluice, 'TOOL_FAILED'), 'the SluiceError did not come back as one')
      assert.deepEqual(sluice.details, { reference: 'ERR-1' })
      assert.ok(plain instanceof Error && plain.name === 'TypeError' && plain.message === 'a bug', 'the Error changed')
      assert.equal(text, 'a string')
    }),

    row(
      'a replay that meets another name or kind stops with JOURNAL_MISMATCH and runs nothing',
      async ({ record, replay }) => {
        const { journal } = await record(async (steps) => {
          await steps.step('a', () => 1)
          await steps.branch('inner', async (inner) => inner.step('b', () => 2))
        })
        const bodies: readonly Body<unknown>[] = [
          (steps) => steps.step('other', () => assert.fail('it ran')),
          async (steps) => steps.begin('a', null),
          (steps) => steps.branch('a', () => assert.fail('it ran')),
          async (steps) => {
            await steps.step('a', () => assert.fail('it ran'))
            return steps.branch('inner', async (inner) => inner.step('c', () => assert.fail('it ran')))
          },
          async (steps) => steps.now(),
          (steps) => steps.sleep(1),
        ]
        for (const body of bodies) {
          const error = await failureOf(() => replay(journal, body))
          assert.ok(
            SluiceError.isInstance(error, 'JOURNAL_MISMATCH'),
            `expected JOURNAL_MISMATCH, got ${String(error)}`,
          )
        }
      },
    ),

    row('a journal of another version is refused with JOURNAL_MISMATCH', async ({ replay }) => {
      const journal = { version: 2, entries: [] } as unknown as StoredJournal
      const error = await failureOf(() => replay(journal, async () => assert.fail('it ran')))
      assert.ok(SluiceError.isInstance(error, 'JOURNAL_MISMATCH'), `expected JOURNAL_MISMATCH, got ${String(error)}`)
    }),

    row('branches run side by side, each with steps and a path of its own', async ({ record, replay }) => {
      const gate = deferred()
      const order: string[] = []
      const body =
        (first: Promise<void> | undefined): Body<readonly string[]> =>
        (steps) =>
          Promise.all([
            steps.branch('left', async (left) => {
              await left.step('wait', async () => {
                await first
              })
              order.push(left.path)
              return left.step('name', () => `${left.path}!`)
            }),
            steps.branch('right', async (right) => {
              const name = await right.step('name', () => `${right.path}!`)
              order.push(right.path)
              gate.resolve()
              return right.branch('deep', async (deep) => deep.step('name', () => `${name} ${deep.path}`))
            }),
          ])
      const { value, journal } = await record(body(gate.promise))
      assert.deepEqual(value, ['left!', 'right! right/deep'])
      assert.deepEqual(order, ['right', 'left'])
      assert.deepEqual(await replay(journal, body(undefined)), value)
    }),

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
      const second = await rig(makeEngine)
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

    row('what the body throws leaves run as it is', async ({ engine }) => {
      const error = new Veto('NO', 'no')
      assert.equal(await failureOf(() => engine.run(RUN, () => Promise.reject(error))), error)
      await engine.forget(RUN)
    }),
  ]
}
