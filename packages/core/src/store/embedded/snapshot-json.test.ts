import { describe, expect, it } from 'vitest'
import { snapshotJson } from './snapshot-json.js'

describe('snapshotJson', () => {
  it('copies and freezes all the way down', () => {
    const value = { list: [{ n: 1 }], empty: {} }
    const copy = snapshotJson(value, 'It') as typeof value
    expect(copy).toEqual(value)
    expect(copy.list[0]).not.toBe(value.list[0])
    for (const item of [copy, copy.list, copy.list[0], copy.empty]) expect(Object.isFrozen(item)).toBe(true)
  })

  it('is what JSON text would give: absent keys, zero without a sign', () => {
    expect(snapshotJson({ a: undefined, b: -0 }, 'It')).toEqual({ b: 0 })
    expect(Object.keys(snapshotJson({ a: undefined, b: 1 }, 'It') as object)).toEqual(['b'])
    expect(Object.is((snapshotJson([-0], 'It') as number[])[0], 0)).toBe(true)
  })

  it('CASE-22: `__proto__` stays a key of its own', () => {
    const copy = snapshotJson(JSON.parse('{"__proto__":{"polluted":1}}'), 'It') as object
    expect(Object.keys(copy)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect((copy as { polluted?: number }).polluted).toBeUndefined()
  })

  it.each<readonly [string, unknown, string]>([
    ['a number that is none', { a: [1, { b: Number.NaN }] }, "at '$.a[1].b': NaN"],
    ['an unpaired surrogate', ['ok', '\udc00'], "at '$[1]': a string with an unpaired surrogate"],
    ['a class of its own', { when: new Date(0) }, "at '$.when': an object with a class of its own"],
    ['a function', { run: () => 1 }, "at '$.run': a value of type function"],
    ['a symbol as key', { [Symbol('x')]: 1 }, "at '$': a symbol as key"],
    ['a hole', [1, , 2], "at '$[1]': a hole"],
  ])('STORE_VALUE_INVALID: %s is refused with its place', (_, value, message) => {
    expect(() => snapshotJson(value, 'The document')).toThrow(
      expect.objectContaining({ code: 'STORE_VALUE_INVALID', message: expect.stringContaining(message) }),
    )
  })

  it('STORE_VALUE_INVALID: a circle ends', () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    expect(() => snapshotJson(circle, 'It')).toThrow(expect.objectContaining({ code: 'STORE_VALUE_INVALID' }))
  })
})
