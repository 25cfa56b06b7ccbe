import { createMemoryStore } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { storeRows } from './contracts/store-rows.js'
import { failingStore, type StoreFailure } from './failing-store.js'
import { drain } from './time/drain.js'

const documentsOf = (plan: Parameters<typeof failingStore>[1]) => {
  const store = failingStore(createMemoryStore(), plan)
  return { store, documents: store.documents('plugin:a') }
}

describe('failingStore', () => {
  it('T-11: keeps the whole contract of a store where its plan is empty', async () => {
    for (const row of storeRows(() => failingStore(createMemoryStore(), []))) await row.run()
  })

  it('fails at the chosen call and at no other', async () => {
    const { store, documents } = documentsOf([{ on: 'documents.put', nth: 2, as: 'error' }])
    await documents.put(['a'], 1)
    await expect(documents.put(['b'], 2)).rejects.toMatchObject({ code: 'STORE_FAILED' })
    await documents.put(['c'], 3)
    expect(await documents.getMany([['a'], ['b'], ['c']])).toEqual([1, undefined, 3])
    expect(store.calls).toEqual(['documents.put', 'documents.put', 'documents.put', 'documents.getMany'])
    expect(store.struck).toBe(1)
  })

  it.each<readonly [StoreFailure, string, number | undefined]>([
    ['error', 'STORE_FAILED', undefined],
    ['full', 'STORE_FULL', undefined],
    ['read-only', 'STORE_READ_ONLY', undefined],
    ['unknown', 'STORE_OUTCOME_UNKNOWN', 1],
    ['unknown-lost', 'STORE_OUTCOME_UNKNOWN', undefined],
  ])('as %s it rejects with %s', async (as, code, left) => {
    const { documents } = documentsOf([{ on: 'documents.update', as }])
    await expect(documents.update(['a'], () => 1)).rejects.toMatchObject({ code })
    expect(await documents.get(['a'])).toBe(left)
  })

  it('hangs until it is released, or until the signal of the call fires', async () => {
    const { store, documents } = documentsOf([{ on: 'documents.put', as: 'hang' }])
    const controller = new AbortController()
    const aborted = documents.put(['a'], 1, { signal: controller.signal })
    let written = false
    const waiting = documents.put(['b'], 2).then(() => {
      written = true
    })
    controller.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await drain()
    expect(written).toBe(false)
    store.release()
    await waiting
    expect(await documents.getMany([['a'], ['b']])).toEqual([undefined, 2])
  })

  it('fails for one namespace only, and inside transactions too', async () => {
    const store = failingStore(createMemoryStore(), [{ on: 'documents.put', namespace: 'b', as: 'full' }])
    await store.documents('a').put(['x'], 1)
    await expect(store.documents('b').put(['x'], 1)).rejects.toMatchObject({ code: 'STORE_FULL' })
    await expect(
      store.transaction(async (transaction) => {
        await transaction.documents('a').put(['x'], 2)
        await transaction.documents('b').put(['x'], 2)
      }),
    ).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(await store.documents('a').get(['x'])).toBe(1)
  })

  it('FAILURE_UNKNOWN: refuses a way to fail that it does not know', () => {
    expect(() => failingStore(createMemoryStore(), [{ on: 'close', as: 'sometimes' as StoreFailure }])).toThrow(
      expect.objectContaining({ code: 'FAILURE_UNKNOWN' }),
    )
  })
})
