import assert from 'node:assert/strict'
import type { JsonValue } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { numberIn, plain, refused, rejectsWith, upTo } from './store-rig.js'

type Next = readonly (JsonValue | undefined)[]

/** `transact` and `update`: one atomic step, isolated from every other that shares a key. */
export function storeTransactRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('transact reads all keys, writes all results, and gives the result to its caller', async (store) => {
      const documents = store.documents('plugin:a')
      await documents.put(['a'], 1)
      await documents.put(['b'], 2)
      const keys = [['a'], ['b'], ['c'], ['d']]
      const result = await documents.transact(keys, (current, at) => {
        assert.deepEqual(current, [1, 2, undefined, undefined])
        assert.ok(Number.isFinite(at))
        return { next: [10, undefined, { made: true }, undefined], result: { sum: 3 } }
      })
      assert.deepEqual(result, { sum: 3 })
      assert.deepEqual(plain(await documents.getMany([['a'], ['c']])), [10, { made: true }])
      assert.deepEqual(
        (await documents.list([])).items.map(({ key }) => key.join()),
        ['a', 'c'],
      )
    }),

    row('update gives the next value, and `undefined` deletes', async (store) => {
      const documents = store.documents('plugin:a')
      assert.equal(await documents.update(['n'], (current) => numberIn(current) + 1), 1)
      assert.equal(await documents.update(['n'], (current) => numberIn(current) + 1), 2)
      assert.equal(await documents.update(['n'], () => undefined), undefined)
      assert.equal(await documents.get(['n']), undefined)
    }),

    row('what a callback throws comes back as itself, and nothing is written', async (store) => {
      const documents = store.documents('plugin:a')
      const reason = new Error('no')
      await documents.put(['a'], 1)
      const fail = () => {
        throw reason
      }
      await rejectsWith(reason, () => documents.transact([['a'], ['b']], fail))
      await rejectsWith(reason, () => documents.update(['a'], fail))
      assert.deepEqual(await documents.getMany([['a'], ['b']]), [1, undefined])
    }),

    row('STORE_CALLBACK: a promise as result is refused, and nothing is written', async (store) => {
      const documents = store.documents('plugin:a')
      const late = (async () => ({ next: [2], result: 0 })) as unknown as () => { next: Next; result: number }
      const failing = (async () => {
        throw new Error('nobody hears of this')
      }) as unknown as () => { next: Next; result: number }
      await refused('STORE_CALLBACK', () => documents.transact([['a']], late))
      await refused('STORE_CALLBACK', () => documents.transact([['a']], failing))
      await refused('STORE_CALLBACK', () => documents.update(['a'], late as unknown as () => JsonValue))
      await refused('STORE_CALLBACK', () =>
        documents.transact([['a']], () => ({ next: [2], result: Promise.resolve(1) })),
      )
      assert.equal(await documents.get(['a']), undefined)
    }),

    row('STORE_CALLBACK: a result that does not fit the keys is refused, and nothing is written', async (store) => {
      const documents = store.documents('plugin:a')
      for (const wrong of [undefined, null, 1, {}, { next: [] }, { next: [1, 2, 3] }, { next: 'ab' }]) {
        await refused('STORE_CALLBACK', () =>
          documents.transact([['a'], ['b']], () => wrong as unknown as { next: Next; result: number }),
        )
      }
      await refused('STORE_KEY_INVALID', () => documents.transact([['a'], ['a']], () => ({ next: [1, 2], result: 0 })))
      assert.deepEqual((await documents.list([])).items, [])
    }),

    row('one bad value of several writes none of them', async (store) => {
      const documents = store.documents('plugin:a')
      const next = [1, Number.NaN] as JsonValue[]
      await refused('STORE_VALUE_INVALID', () =>
        documents.transact([['a'], ['b']], () => ({ next, result: undefined })),
      )
      assert.deepEqual((await documents.list([])).items, [])
    }),

    row('CASE-19: 20 callers update one document at once, each exactly once', async (store) => {
      const documents = store.documents('plugin:a')
      const results = await Promise.all(upTo(20).map(() => documents.update(['n'], (current) => numberIn(current) + 1)))
      assert.deepEqual(
        results.map(numberIn).sort((left, right) => left - right),
        upTo(20).map((index) => index + 1),
      )
      assert.equal(await documents.get(['n']), 20)
    }),

    row('CASE-19: 20 callers move between shared documents at once, and no reader sees half a move', async (store) => {
      const documents = store.documents('plugin:a')
      const keys = upTo(4).map((index) => ['account', String(index)])
      await documents.transact(keys, () => ({ next: [100, 100, 100, 100], result: undefined }))
      const moves = upTo(20).map((index) => {
        const pair = [keys[index % 4] as string[], keys[(index + 1 + (index % 3)) % 4] as string[]]
        return documents.transact(pair, ([from, to]) => ({
          next: [numberIn(from) - index, numberIn(to) + index],
          result: undefined,
        }))
      })
      const looks = upTo(20).map(async () => {
        const values = await documents.getMany(keys)
        assert.equal(
          values.map(numberIn).reduce((sum, value) => sum + value),
          400,
        )
      })
      await Promise.all([...moves, ...looks])
      const expected = [100, 100, 100, 100]
      for (const index of upTo(20)) {
        expected[index % 4] = (expected[index % 4] as number) - index
        const to = (index + 1 + (index % 3)) % 4
        expected[to] = (expected[to] as number) + index
      }
      assert.deepEqual(await documents.getMany(keys), expected)
    }),

    row('the time that callbacks get never goes back for one key', async (store) => {
      const documents = store.documents('plugin:a')
      const times: number[] = []
      for (const _ of upTo(5)) {
        await documents.transact([['x']], (_current, at) => {
          times.push(at)
          return { next: [at], result: undefined }
        })
      }
      assert.deepEqual(
        times,
        times.toSorted((left, right) => left - right),
      )
    }),

    row('keys of different namespaces are not shared: a value is written where it belongs', async (store) => {
      const [one, other] = [store.documents('one'), store.documents('other')]
      await Promise.all([
        ...upTo(10).map(() => one.update(['n'], (current) => numberIn(current) + 1)),
        ...upTo(10).map(() => other.update(['n'], (current) => numberIn(current) + 2)),
      ])
      assert.deepEqual([await one.get(['n']), await other.get(['n'])], [10, 20])
    }),
  ]
}
