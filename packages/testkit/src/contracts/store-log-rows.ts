import assert from 'node:assert/strict'
import type { JsonValue } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { plain, refused, rejectsWith, upTo } from './store-rig.js'

/** The append-only log of a namespace. */
export function storeLogRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('a log keeps entries in order, numbered from 0 without gaps', async (store) => {
      const log = store.log('plugin:a')
      assert.equal(await log.tail('s'), undefined)
      assert.deepEqual(await log.read('s'), [])
      assert.deepEqual(await log.streams(), [])
      const first = await log.append('s', (tail) => {
        assert.equal(tail, undefined)
        return ['one', { two: 2 }]
      })
      assert.deepEqual(
        first.map(({ index, value }) => [index, plain(value)]),
        [
          [0, 'one'],
          [1, { two: 2 }],
        ],
      )
      const second = await log.append('s', (tail, at) => {
        assert.equal(tail?.index, 1)
        assert.deepEqual(plain(tail?.value), { two: 2 })
        assert.ok(Number.isFinite(at))
        return [at]
      })
      assert.equal(second[0]?.value, second[0]?.at)
      assert.deepEqual(plain(await log.read('s')), plain([...first, ...second]))
      assert.deepEqual(plain(await log.tail('s')), plain(second[0]))
    }),

    row('a log is read from any place, any number of entries', async (store) => {
      const log = store.log('plugin:a')
      await log.append('s', () => upTo(30))
      await log.append('s', () => upTo(30).map((index) => index + 30))
      const read = async (options: { from?: number; limit?: number }) =>
        (await log.read('s', options)).map(({ index, value }) => {
          assert.equal(index, value)
          return index
        })
      assert.deepEqual(await read({}), upTo(60))
      assert.deepEqual(await read({ from: 58 }), [58, 59])
      assert.deepEqual(await read({ from: 28, limit: 4 }), [28, 29, 30, 31])
      assert.deepEqual(await read({ limit: 2 }), [0, 1])
      assert.deepEqual(await read({ from: 60 }), [])
      assert.deepEqual(await read({ limit: 0 }), [])
      await refused('INVALID_CONFIG', () => log.read('s', { from: -1 }))
      await refused('INVALID_CONFIG', () => log.read('s', { limit: Number.NaN }))
    }),

    row('streams and namespaces never meet, whatever their names', async (store) => {
      const names = ['s', 'S', 's/t', '../s', '__proto__', 's\0', 's\0\0t']
      for (const name of names) await store.log('a').append(name, () => [name])
      await store.log('b').append('s', () => ['other namespace'])
      for (const name of names) {
        const entries = await store.log('a').read(name)
        assert.deepEqual(
          entries.map(({ index, value }) => [index, value]),
          [[0, name]],
        )
      }
      assert.deepEqual(await store.log('a').streams(), names.toSorted())
      assert.deepEqual(await store.log('b').streams(), ['s'])
    }),

    row('an append of nothing writes nothing', async (store) => {
      const log = store.log('plugin:a')
      assert.deepEqual(await log.append('s', () => []), [])
      assert.deepEqual(await log.streams(), [])
    }),

    row('CASE-19: 25 appends at once, of several entries each, are each there once and together', async (store) => {
      const log = store.log('plugin:a')
      await Promise.all(upTo(25).map((caller) => log.append('s', () => [`${caller} a`, `${caller} b`])))
      const entries = await log.read('s')
      assert.deepEqual(
        entries.map(({ index }) => index),
        upTo(50),
      )
      const values = entries.map(({ value }) => value as string)
      for (const caller of upTo(25)) {
        const at = values.indexOf(`${caller} a`)
        assert.equal(values[at + 1], `${caller} b`)
        assert.equal(values.lastIndexOf(`${caller} a`), at)
      }
    }),

    row('a chain over the tail holds when 20 callers append at once', async (store) => {
      const log = store.log('plugin:a')
      await Promise.all(upTo(20).map(() => log.append('s', (tail) => [((tail?.value as number | undefined) ?? 0) + 1])))
      assert.deepEqual(
        (await log.read('s')).map(({ value }) => value),
        upTo(20).map((index) => index + 1),
      )
    }),

    row('a callback that throws, or returns a promise or no list, writes nothing', async (store) => {
      const log = store.log('plugin:a')
      const reason = new Error('no')
      await rejectsWith(reason, () =>
        log.append('s', () => {
          throw reason
        }),
      )
      await refused('STORE_CALLBACK', () => log.append('s', (async () => [1]) as unknown as () => JsonValue[]))
      await refused('STORE_CALLBACK', () => log.append('s', () => [Promise.resolve(1)] as unknown as JsonValue[]))
      await refused('STORE_CALLBACK', () => log.append('s', () => 'abc' as unknown as JsonValue[]))
      await refused('STORE_VALUE_INVALID', () => log.append('s', () => [1, Number.NaN]))
      assert.deepEqual(await log.read('s'), [])
    }),

    row('LIMIT_EXCEEDED: an entry holds 64 KiB of JSON and no more', async (store) => {
      const log = store.log('plugin:a')
      const largest = 'x'.repeat(65_536 - 2)
      await log.append('s', () => [largest])
      await refused('LIMIT_EXCEEDED', () => log.append('s', () => ['small', `${largest}x`]))
      await refused('LIMIT_EXCEEDED', () => log.append('s', () => ['ü'.repeat(40_000)]))
      assert.deepEqual(
        (await log.read('s')).map(({ value }) => value),
        [largest],
      )
    }),

    row('an entry is a snapshot', async (store) => {
      const log = store.log('plugin:a')
      const value = { list: [1] }
      await log.append('s', () => [value])
      value.list.push(2)
      assert.deepEqual(plain((await log.tail('s'))?.value), { list: [1] })
    }),

    row('a call on a log whose signal has fired rejects with its reason and writes nothing', async (store) => {
      const log = store.log('plugin:a')
      const reason = new Error('enough')
      const call = { signal: AbortSignal.abort(reason) }
      await rejectsWith(reason, () => log.append('s', () => [1], call))
      await rejectsWith(reason, () => log.read('s', call))
      await rejectsWith(reason, () => log.tail('s', call))
      await rejectsWith(reason, () => log.streams(call))
      assert.deepEqual(await log.read('s'), [])
    }),
  ]
}
