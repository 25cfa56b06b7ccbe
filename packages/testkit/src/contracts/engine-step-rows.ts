import assert from 'node:assert/strict'
import type { StoredJournal } from '@sluice/core'
import { HookFailedError, ProviderError, Refusal, SluiceError, Veto } from '@sluice/core'
import { deferred } from '../time/deferred.js'
import type { ContractRow } from './contract-row.js'
import type { Body, MakeRow } from './engine-rig.js'
import { failureOf, RUN } from './engine-rig.js'

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

/** Steps, branches, replays of them, and what stops a replay. */
export function engineStepRows(row: MakeRow): readonly ContractRow[] {
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

    row('what the body throws leaves run as it is', async ({ engine }) => {
      const error = new Veto('NO', 'no')
      assert.equal(await failureOf(() => engine.run(RUN, () => Promise.reject(error))), error)
      await engine.forget(RUN)
    }),
  ]
}
