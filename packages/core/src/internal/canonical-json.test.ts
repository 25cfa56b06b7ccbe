import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.js'
import { digest } from './digest.js'

describe('canonicalJson', () => {
  it('writes equal data as equal text, whatever the order of keys', () => {
    const one = canonicalJson({ b: [1, { d: null, c: true }], a: 'x' })
    const other = canonicalJson({ a: 'x', b: [1, { c: true, d: null }] })
    expect(one).toBe('{"a":"x","b":[1,{"c":true,"d":null}]}')
    expect(other).toBe(one)
  })

  it('orders keys by UTF-16 units, as RFC 8785 asks', () => {
    const text = canonicalJson({
      '\u20ac': 1,
      '\r': 2,
      '\ufb33': 3,
      x1: 4,
      '\ud83d\ude00': 5,
      '\u0080': 6,
      '\u00f6': 7,
    })
    const keys = Object.keys(JSON.parse(text) as object)
    expect(keys).toEqual(['\r', 'x1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'])
  })

  it('prints numbers as ECMAScript does', () => {
    expect(canonicalJson([333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe(
      '[333333333.3333333,1e+30,4.5,0.002,1e-27,0]',
    )
  })

  it('CASE-22: takes own keys only, `__proto__` among them', () => {
    const parsed = JSON.parse('{"z":1,"__proto__":{"admin":true}}') as never
    expect(canonicalJson(parsed)).toBe('{"__proto__":{"admin":true},"z":1}')
  })

  it('leaves out a key whose value is undefined', () => {
    expect(canonicalJson({ a: undefined, b: 1 } as never)).toBe('{"b":1}')
    expect(canonicalJson({ a: undefined } as never)).toBe('{}')
  })

  it.each([
    ['NaN', { a: Number.NaN }],
    ['an infinite number', [Number.POSITIVE_INFINITY]],
    ['a bigint', { a: 1n }],
    ['a function', { a: () => 1 }],
    ['undefined in a list', [undefined]],
    ['a Date', { a: new Date(0) }],
  ])('refuses %s', (_what, value) => {
    expect(() => canonicalJson(value as never)).toThrow(TypeError)
  })
})

describe('digest', () => {
  it('is SHA-256 in hexadecimal, of the text itself or of the canonical JSON', () => {
    expect(digest('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
    expect(digest({ b: 1, a: 2 })).toBe(digest({ a: 2, b: 1 }))
    expect(digest({ b: 1, a: 2 })).toBe(digest('{"a":2,"b":1}'))
    expect(digest([])).not.toBe(digest({}))
  })
})
