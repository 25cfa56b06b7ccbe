import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frozenJson } from './frozen-json.js'

const throughText = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

function isDeepFrozen(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true
  return Object.isFrozen(value) && Reflect.ownKeys(value).every((key) => isDeepFrozen(Reflect.get(value, key)))
}

describe('frozenJson', () => {
  it('gives what a trip through JSON text gives, frozen all the way, and leaves the original alone', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const before = JSON.stringify(value)
        const copy = frozenJson(value)
        expect(copy).toEqual(throughText(value))
        expect(isDeepFrozen(copy)).toBe(true)
        expect(JSON.stringify(value)).toBe(before)
        expect(isDeepFrozen(value)).toBe(value === null || typeof value !== 'object')
      }),
    )
  })

  it('CASE-22: what JSON cannot hold is left out or becomes what JSON makes of it', () => {
    const odd = {
      missing: undefined,
      run: () => 1,
      mark: Symbol('x'),
      list: [undefined, () => 1, Number.NaN, Number.POSITIVE_INFINITY, -0],
      at: new Date(0),
      map: new Map([[1, 2]]),
      nested: { missing: undefined, deep: [{ missing: undefined }] },
    }
    const copy = frozenJson(odd)
    expect(copy).toEqual(throughText(odd))
    expect(Object.keys(copy)).toEqual(['list', 'at', 'map', 'nested'])
    expect(Object.is(copy.list[4], 0)).toBe(true)
    expect(isDeepFrozen(copy)).toBe(true)
  })

  it('CASE-22: a key __proto__ stays an own key', () => {
    const copy = frozenJson(JSON.parse('{"__proto__":{"polluted":[1]},"a":1}') as object)
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"polluted":[1]},"a":1}')
    expect(isDeepFrozen(copy)).toBe(true)
  })

  it('throws where JSON throws', () => {
    expect(() => frozenJson({ amount: 1n })).toThrow(TypeError)
  })
})
