import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../internal/json.js'
import { runOnce } from './once.js'

/** A transaction: what it wrote is there after a commit only. */
function table() {
  const rows = new Map<string, JsonValue>()
  const begin = () => {
    const written = new Map<string, JsonValue>()
    return {
      get: (key: string) => (written.has(key) ? written : rows).get(key),
      put: (key: string, result: JsonValue) => void written.set(key, result),
      commit: () => written.forEach((result, key) => void rows.set(key, result)),
    }
  }
  return { rows, begin }
}

describe('runOnce', () => {
  it('runs the effect once per key, and gives its result ever after', async () => {
    const { begin } = table()
    let runs = 0
    for (let attempt = 0; attempt < 3; attempt++) {
      const tx = begin()
      expect(await runOnce(tx, 'key', () => ({ number: ++runs }))).toEqual({ number: 1 })
      tx.commit()
    }
    expect(runs).toBe(1)
  })

  it('keeps nothing where the effect fails or its transaction is rolled back', async () => {
    const { rows, begin } = table()
    await expect(runOnce(begin(), 'key', () => Promise.reject(new Error('no')))).rejects.toThrow('no')
    await runOnce(begin(), 'key', () => 1)
    expect(rows.size).toBe(0)
    const tx = begin()
    expect(await runOnce(tx, 'key', () => 2)).toBe(2)
  })

  it('a kept null is a result', async () => {
    const tx = table().begin()
    await runOnce(tx, 'key', () => null)
    expect(await runOnce(tx, 'key', () => 1 as JsonValue)).toBeNull()
  })
})
