import assert from 'node:assert/strict'
import type { DocumentKey, Documents, JsonValue } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { numberIn, plain, refused, rejectsWith, upTo } from './store-rig.js'

/** Documents: what goes in comes out, one by one and in lists. */
export function storeDocumentRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('a document is there after put, gone after delete, and absent before', async (store) => {
      const documents = store.documents('plugin:a')
      assert.equal(await documents.get(['x']), undefined)
      assert.equal(await documents.delete(['x']), false)
      await documents.put(['x'], { n: 1, list: [null, true, 'text', 1.5], nested: { deep: [] } })
      assert.deepEqual(plain(await documents.get(['x'])), {
        n: 1,
        list: [null, true, 'text', 1.5],
        nested: { deep: [] },
      })
      await documents.put(['x'], null)
      assert.equal(await documents.get(['x']), null)
      assert.equal(await documents.delete(['x']), true)
      assert.equal(await documents.get(['x']), undefined)
    }),

    row('a document is a snapshot: changing what was put, or what was read, changes nothing', async (store) => {
      const documents = store.documents('plugin:a')
      const value = { list: [1] }
      await documents.put(['x'], value)
      value.list.push(2)
      assert.deepEqual(plain(await documents.get(['x'])), { list: [1] })
      const read = (await documents.get(['x'])) as { list: number[] }
      try {
        read.list.push(3)
      } catch {
        // a frozen value is as good
      }
      assert.deepEqual(plain(await documents.get(['x'])), { list: [1] })
    }),

    row('getMany gives all documents in the order of the keys', async (store) => {
      const documents = store.documents('plugin:a')
      await documents.put(['b'], 2)
      await documents.put(['a'], 1)
      assert.deepEqual(await documents.getMany([['a'], ['none'], ['b'], ['a']]), [1, undefined, 2, 1])
      assert.deepEqual(await documents.getMany([]), [])
    }),

    row('namespaces never meet, whatever their names', async (store) => {
      const names = ['a', 'a:b', 'a/b', 'documents', 'agents', 'journals', '__proto__', 'A']
      await Promise.all(names.map((name, index) => store.documents(name).put(['x'], index)))
      for (const [index, name] of names.entries()) assert.equal(await store.documents(name).get(['x']), index)
      assert.equal(await store.documents('b').get(['x']), undefined)
    }),

    row('a key is a list of strings, and two different lists never meet', async (store) => {
      const keys: DocumentKey[] = [
        ['a', 'b'],
        ['a/b'],
        ['ab'],
        ['a\0b'],
        ['a', '\0b'],
        ['a\0', 'b'],
        ['a\0\0b'],
        ['a', 'b', 'c'],
        ['a', 'b\0c'],
        ['["a","b"]'],
        ['a,b'],
      ]
      const documents = store.documents('plugin:a')
      for (const [index, key] of keys.entries()) await documents.put(key, index)
      for (const [index, key] of keys.entries()) assert.equal(await documents.get(key), index, JSON.stringify(key))
      assert.equal((await documents.list([])).items.length, keys.length)
    }),

    row('list gives the documents below a prefix of whole strings, in key order', async (store) => {
      const documents = store.documents('plugin:a')
      for (const key of [['b', '2'], ['a'], ['b', '10'], ['b'], ['bb', '1'], ['b', '1', 'x']]) {
        await documents.put(key, key.join('-'))
      }
      const below = await documents.list(['b'])
      assert.deepEqual(plain(below.items), [
        { key: ['b'], value: 'b' },
        { key: ['b', '1', 'x'], value: 'b-1-x' },
        { key: ['b', '10'], value: 'b-10' },
        { key: ['b', '2'], value: 'b-2' },
      ])
      assert.equal(below.next, null)
      assert.deepEqual((await documents.list(['none'])).items, [])
      const all = (await documents.list([])).items.map(({ key }) => key.join('-'))
      assert.deepEqual(all, ['a', 'b', 'b-1-x', 'b-10', 'b-2', 'bb-1'])
    }),

    row('pages of a list follow one another without gap or repetition, also while documents change', async (store) => {
      const documents = store.documents('plugin:a')
      for (const index of upTo(25)) await documents.put(['k', String(index).padStart(3, '0')], index)
      const seen = await pagesOf(documents, ['k'], 10)
      assert.deepEqual(
        seen.map((page) => page.length),
        [10, 10, 5],
      )
      assert.deepEqual(seen.flat(), upTo(25))
      const first = await documents.list(['k'], { limit: 10 })
      await documents.delete(['k', '009'])
      await documents.put(['k', '0095'], 'new')
      const second = await documents.list(['k'], { limit: 1, after: first.next as string })
      assert.deepEqual(plain(second.items), [{ key: ['k', '0095'], value: 'new' }])
    }),

    row('S-30: a page has at most 1 000 items and 100 by default; other sizes are refused', async (store) => {
      const documents = store.documents('plugin:a')
      await documents.transact(
        upTo(101).map((index) => [String(index)]),
        (current) => ({ next: current.map(() => 1), result: undefined }),
      )
      assert.equal((await documents.list([])).items.length, 100)
      assert.equal((await documents.list([], { limit: 1_000 })).items.length, 101)
      await refused('LIMIT_EXCEEDED', () => documents.list([], { limit: 1_001 }))
      for (const limit of [0, -1, 1.5, Number.NaN]) {
        await refused('INVALID_CONFIG', () => documents.list([], { limit }))
      }
    }),

    row('STORE_KEY_INVALID: other keys and namespaces are refused, and nothing is written', async (store) => {
      const documents = store.documents('plugin:a')
      const bad: unknown[] = [
        [],
        [''],
        ['x', ''],
        ['\ud800'],
        ['x'.repeat(1_001)],
        Array.from({ length: 17 }, () => 'x'),
        [1],
        ['x', null],
        'x',
      ]
      for (const key of bad as DocumentKey[]) {
        await refused('STORE_KEY_INVALID', () => documents.put(key, 1))
        await refused('STORE_KEY_INVALID', () => documents.get(key))
        await refused('STORE_KEY_INVALID', () => documents.delete(key))
        await refused('STORE_KEY_INVALID', () => documents.update(key, () => 1))
      }
      await documents.put(
        Array.from({ length: 16 }, () => 'x'),
        1,
      )
      await documents.put(['y'.repeat(1_000)], 2)
      assert.equal((await documents.list([])).items.length, 2)
      for (const name of ['', '\udc00', 'x'.repeat(1_001)]) {
        await refused('STORE_KEY_INVALID', async () => store.documents(name).put(['x'], 1))
        await refused('STORE_KEY_INVALID', async () => store.log(name).append('x', () => [1]))
      }
    }),

    row('STORE_VALUE_INVALID: what is no JSON data is refused, and what was there stays', async (store) => {
      const documents = store.documents('plugin:a')
      await documents.put(['x'], 'before')
      const circle: { self?: unknown } = {}
      circle.self = circle
      const bad: unknown[] = [
        undefined,
        Number.NaN,
        Number.POSITIVE_INFINITY,
        1n,
        Symbol('x'),
        () => 1,
        new Date(0),
        new Map(),
        circle,
        [undefined],
        { a: { b: Number.NaN } },
        Object.defineProperty({}, 'x', { get: () => 1, enumerable: true }),
      ]
      for (const value of bad) {
        await refused('STORE_VALUE_INVALID', () => documents.put(['x'], value as JsonValue))
        if (value === undefined) continue
        await refused('STORE_VALUE_INVALID', () => documents.update(['x'], () => value as JsonValue))
      }
      assert.equal(await documents.get(['x']), 'before')
    }),

    row('a call whose signal has fired rejects with its reason and writes nothing', async (store) => {
      const documents = store.documents('plugin:a')
      const reason = new Error('enough')
      const call = { signal: AbortSignal.abort(reason) }
      await documents.put(['x'], 1)
      await rejectsWith(reason, () => documents.put(['x'], 2, call))
      await rejectsWith(reason, () => documents.delete(['x'], call))
      await rejectsWith(reason, () => documents.get(['x'], call))
      await rejectsWith(reason, () => documents.getMany([['x']], call))
      await rejectsWith(reason, () => documents.list([], call))
      await rejectsWith(reason, () => documents.update(['x'], () => 2, call))
      await rejectsWith(reason, () => documents.transact([['x']], () => ({ next: [2], result: 0 }), call))
      assert.equal(await documents.get(['x']), 1)
    }),

    row('a signal that fires during a call leaves all of the write or none', async (store) => {
      const documents = store.documents('plugin:a')
      for (const index of upTo(20)) {
        const controller = new AbortController()
        const reason = new Error(`enough ${index}`)
        const writing = documents.transact(
          [
            ['left', String(index)],
            ['right', String(index)],
          ],
          () => ({ next: [index, index], result: 'written' }),
          { signal: controller.signal },
        )
        controller.abort(reason)
        const outcome = await writing.then(
          (result) => result,
          (error: unknown) => error,
        )
        const [left, right] = await documents.getMany([
          ['left', String(index)],
          ['right', String(index)],
        ])
        assert.equal(left, right)
        assert.equal(outcome, left === undefined ? reason : 'written')
      }
    }),

    row('CASE-22: `__proto__` and the like are keys and properties like others', async (store) => {
      const documents = store.documents('plugin:a')
      for (const name of ['__proto__', 'constructor', 'prototype', 'toString']) {
        const value = JSON.parse(`{"${name}":{"polluted":true},"list":[{"${name}":1}]}`) as JsonValue
        await documents.put([name], value)
        await documents.put(['below', name], value)
        const read = (await documents.get([name])) as Record<string, JsonValue>
        assert.ok(Object.hasOwn(read, name), name)
        assert.equal(JSON.stringify(read), JSON.stringify(value))
        assert.equal(Object.getPrototypeOf(read), Object.prototype)
      }
      assert.equal((await documents.list(['below'])).items.length, 4)
      assert.equal(numberIn(await documents.get(['hasOwnProperty'])), 0)
      assert.equal(({} as { polluted?: unknown }).polluted, undefined)
      assert.deepEqual(Object.keys(Object.prototype), [])
    }),
  ]
}

async function pagesOf(documents: Documents, prefix: DocumentKey, limit: number): Promise<JsonValue[][]> {
  const pages: JsonValue[][] = []
  let after: string | undefined
  do {
    const page = await documents.list(prefix, { limit, ...(after === undefined ? {} : { after }) })
    pages.push(page.items.map(({ value }) => value))
    after = page.next ?? undefined
  } while (after !== undefined)
  return pages
}
