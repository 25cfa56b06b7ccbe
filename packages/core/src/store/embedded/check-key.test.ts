import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cellOf, checkId, decodeKey, encodeKey, keyOf } from './check-key.js'
import { compareText } from './sorted-list.js'

// parts in which the separator and its escape are as frequent as can be
const part = fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a', 'b', '/'), minLength: 1, maxLength: 5 })
const key = fc.array(part, { minLength: 1, maxLength: 4 })

function compareLists(left: readonly string[], right: readonly string[]): number {
  for (let index = 0; index < Math.min(left.length, right.length); index++) {
    const order = compareText(left[index] as string, right[index] as string)
    if (order !== 0) return order
  }
  return left.length - right.length
}

describe('keys', () => {
  it('two different lists never meet, and a list comes back as it was', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(decodeKey(encodeKey(left))).toEqual(left)
        expect(encodeKey(left) === encodeKey(right)).toBe(JSON.stringify(left) === JSON.stringify(right))
      }),
      { numRuns: 2_000 },
    )
  })

  it('texts sort as the lists do, part by part', () => {
    fc.assert(
      fc.property(key, key, (left, right) => {
        expect(Math.sign(compareText(encodeKey(left), encodeKey(right)))).toBe(Math.sign(compareLists(left, right)))
      }),
      { numRuns: 2_000 },
    )
  })

  it('a document keeps its key without its space', () => {
    expect(keyOf(cellOf('documents:a\0b', ['x', 'y\0']))).toEqual(['x', 'y\0'])
  })

  it('STORE_KEY_INVALID: says what is wrong with an id, and shows it on one line', () => {
    const faultOf = (id: unknown) => {
      try {
        return checkId(id, 'A session id')
      } catch (error) {
        return (error as Error).message.split('\n')[0]
      }
    }
    expect(faultOf('')).toBe('A session id is empty.')
    expect(faultOf('x'.repeat(4_000))).toBe('A session id is 4000 UTF-16 units long; at most 1000 are allowed.')
    expect(faultOf('a\n\ud800')).toBe("A session id holds an unpaired surrogate ('a\\n\\ud800').")
    expect(faultOf(null)).toBe('A session id is not a string (null).')
    expect(faultOf(7)).toBe('A session id is not a string (number).')
    expect(faultOf('../x')).toBe('../x')
  })
})
