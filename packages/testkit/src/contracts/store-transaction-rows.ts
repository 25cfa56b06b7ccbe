import assert from 'node:assert/strict'
import type { SessionRecord, StoreTransaction } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { drain } from '../time/drain.js'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import {
  definitionRow,
  executionRow,
  messageRow,
  numberIn,
  plain,
  refused,
  rejectsWith,
  sessionRow,
  toolErrorRow,
  upTo,
} from './store-rig.js'

/** `store.transaction`: all at its return, none on a throw, and what is independent of it. */
export function storeTransactionRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('a transaction writes documents and definitions together, and gives its result', async (store) => {
      await store.documents('a').put(['old'], 1)
      const result = await store.transaction(async (transaction) => {
        await transaction.agents.insert(definitionRow('d1', 'desk'))
        await transaction.prompts.insert(definitionRow('p1', 'desk'))
        await transaction.documents('a').put(['new'], { made: true })
        await transaction.documents('b').update(['n'], (current) => numberIn(current) + 1)
        assert.equal(await transaction.documents('a').delete(['old']), true)
        return 'result'
      })
      assert.equal(result, 'result')
      assert.notEqual(await store.agents.get('d1'), undefined)
      assert.notEqual(await store.prompts.get('p1'), undefined)
      assert.deepEqual(plain(await store.documents('a').list([])), {
        items: [{ key: ['new'], value: { made: true } }],
        next: null,
      })
      assert.equal(await store.documents('b').get(['n']), 1)
    }),

    row('a transaction that throws writes nothing, and what it threw comes back as itself', async (store) => {
      await store.documents('a').put(['x'], 1)
      await store.agents.insert(definitionRow('d1', 'desk'))
      const reason = new Error('no')
      await rejectsWith(reason, () =>
        store.transaction(async (transaction) => {
          await transaction.documents('a').put(['x'], 2)
          await transaction.documents('a').put(['y'], 2)
          await transaction.agents.replace(definitionRow('d1', 'desk', { status: 'archived' }))
          await transaction.agents.insert(definitionRow('d2', 'desk', { version: 2 }))
          await transaction.prompts.insert(definitionRow('p1', 'desk'))
          throw reason
        }),
      )
      assert.deepEqual(await store.documents('a').getMany([['x'], ['y']]), [1, undefined])
      assert.equal((await store.agents.get('d1'))?.status, 'draft')
      assert.equal((await store.agents.versions('desk')).length, 1)
      assert.equal(await store.prompts.get('p1'), undefined)
    }),

    row('a transaction that fails at one step may go on, and then writes the others', async (store) => {
      await store.agents.insert(definitionRow('d1', 'desk'))
      await store.transaction(async (transaction) => {
        await refused('DUPLICATE_NAME', () => transaction.agents.insert(definitionRow('d1', 'desk')))
        const reason = new Error('no')
        await rejectsWith(reason, () =>
          transaction.documents('a').update(['x'], () => {
            throw reason
          }),
        )
        await transaction.documents('a').put(['y'], 1)
      })
      assert.deepEqual(await store.documents('a').getMany([['x'], ['y']]), [undefined, 1])
    }),

    row('a transaction sees its own writes; nobody else does before it has ended', async (store) => {
      const outside = store.documents('a')
      await outside.put(['k', '1'], 'old')
      await outside.put(['k', '3'], 'old')
      await store.transaction(async (transaction) => {
        const inside = transaction.documents('a')
        await inside.put(['k', '2'], 'new')
        await inside.put(['k', '3'], 'new')
        await inside.delete(['k', '1'])
        await transaction.agents.insert(definitionRow('d1', 'desk'))
        assert.deepEqual(
          await inside.getMany([
            ['k', '1'],
            ['k', '2'],
            ['k', '3'],
          ]),
          [undefined, 'new', 'new'],
        )
        assert.deepEqual(
          (await inside.list(['k'])).items.map(({ key, value }) => [key[1], value]),
          [
            ['2', 'new'],
            ['3', 'new'],
          ],
        )
        assert.deepEqual(
          (await inside.list(['k'], { limit: 1 })).items.map(({ key }) => key[1]),
          ['2'],
        )
        assert.equal((await transaction.agents.versions('desk')).length, 1)
        assert.deepEqual(
          (await outside.list(['k'])).items.map(({ key, value }) => [key[1], value]),
          [
            ['1', 'old'],
            ['3', 'old'],
          ],
        )
        assert.equal(await store.agents.get('d1'), undefined)
      })
      assert.deepEqual(
        await outside.getMany([
          ['k', '1'],
          ['k', '2'],
          ['k', '3'],
        ]),
        [undefined, 'new', 'new'],
      )
    }),

    row(
      'S-6, S-36, T-75: rows of runs, messages, errors, headers, receipts and logs survive a rollback',
      async (store) => {
        await store.sessions.update('s', () => sessionRow('s'))
        const reason = new Error('rolled back')
        let reference = ''
        await rejectsWith(reason, () =>
          store.transaction(async (transaction) => {
            await transaction.documents('a').put(['x'], 1)
            await store.executions.insert(executionRow('run-1'))
            await store.executions.update('run-1', { status: 'failed' })
            await store.messages.append('s', [messageRow('s', 'kept')])
            reference = await store.toolErrors.insert(toolErrorRow('ERR-1'))
            await store.sessions.update('s', (current) => ({
              ...(current as SessionRecord),
              title: 'kept',
              feedbackRating: 'up',
            }))
            await store.receipts.append('run-1', [{ kept: true }])
            await store.log('a').append('s', () => ['kept'])
            throw reason
          }),
        )
        assert.equal(await store.documents('a').get(['x']), undefined)
        assert.equal((await store.executions.get('run-1'))?.status, 'failed')
        assert.equal(await store.messages.count('s'), 1)
        assert.equal((await store.toolErrors.get(reference))?.message, 'table missing')
        assert.equal((await store.sessions.get('s'))?.title, 'kept')
        assert.deepEqual(plain(await store.receipts.list('run-1')), [{ kept: true }])
        assert.equal((await store.log('a').tail('s'))?.value, 'kept')
      },
    ),

    row('CASE-19: 20 transactions and 20 updates of one document at once are each applied once', async (store) => {
      const add = (transaction: Pick<StoreTransaction, 'documents'>) =>
        transaction.documents('a').update(['n'], (current) => numberIn(current) + 1)
      const reading = async (transaction: StoreTransaction) => {
        const before = numberIn(await transaction.documents('a').get(['n']))
        await drain()
        await transaction.documents('a').put(['n'], before + 1)
      }
      await Promise.all([
        ...upTo(10).map(() => store.transaction(add)),
        ...upTo(20).map(() => add(store)),
        ...upTo(10).map(() => store.transaction(reading)),
      ])
      assert.equal(await store.documents('a').get(['n']), 40)
    }),

    row('transactions that touch the same documents in another order both end', async (store) => {
      const swap = (first: string, second: string) => async (transaction: StoreTransaction) => {
        const documents = transaction.documents('a')
        await documents.update([first], (current) => numberIn(current) + 1)
        await drain()
        await documents.update([second], (current) => numberIn(current) + 1)
      }
      await Promise.all([store.transaction(swap('x', 'y')), store.transaction(swap('y', 'x'))])
      assert.deepEqual(await store.documents('a').getMany([['x'], ['y']]), [2, 2])
    }),

    row('of two transactions that insert one version, one is refused', async (store) => {
      const outcomes = await Promise.allSettled(
        ['d1', 'd2'].map((id) =>
          store.transaction(async (transaction) => {
            const versions = await transaction.agents.versions('desk')
            await drain()
            await transaction.agents.insert(definitionRow(id, 'desk', { version: 1 }))
            return versions.length
          }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
      assert.equal((await store.agents.versions('desk')).length, 1)
    }),

    row('a transaction inside a transaction is refused, and the outer one stays whole', async (store) => {
      await store.transaction(async (transaction) => {
        await transaction.documents('a').put(['x'], 1)
        await refused('INVALID_CONFIG', () => store.transaction(async () => 'inner'))
      })
      assert.equal(await store.documents('a').get(['x']), 1)
    }),

    row(
      'S-36: a write beside a transaction that holds the same document is refused, and hangs nobody',
      async (store) => {
        await store.transaction(async (transaction) => {
          await transaction.documents('a').put(['x'], 'inside')
          try {
            await store.documents('a').put(['x'], 'beside')
            assert.fail('it was not refused')
          } catch (error) {
            assert.ok(SluiceError.isInstance(error), String(error))
          }
          await store.documents('a').put(['y'], 'beside')
        })
        assert.deepEqual(await store.documents('a').getMany([['x'], ['y']]), ['inside', 'beside'])
      },
    ),

    row('a transaction that has ended takes no more writes', async (store) => {
      let kept: StoreTransaction | undefined
      await store.transaction(async (transaction) => {
        kept = transaction
      })
      const over = kept as StoreTransaction
      await refused('INVALID_CONFIG', () => over.documents('a').put(['x'], 1))
      await refused('INVALID_CONFIG', () => over.agents.insert(definitionRow('d1', 'desk')))
      assert.equal(await store.documents('a').get(['x']), undefined)
    }),
  ]
}
