import type { JsonValue } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parsePath, resolvePath } from './path.js'

const ROOTS = ['input', 'steps']
const read = (text: string, state: { [root: string]: JsonValue }) => {
  const path = parsePath(text, ROOTS)
  if (typeof path === 'string') throw new Error(path)
  return resolvePath(path, state)
}

describe('paths', () => {
  const state = { input: { a: { b: [1, { c: 'x' }, [2]] }, none: null, 'two words': 3, text: 'abc' }, steps: {} }

  // cites: W-8, W-9
  it.each([
    ['input.a.b[0]', 1],
    ['input.a.b[1].c', 'x'],
    ['input.a.b[2][0]', 2],
    ['input.none', null],
    ['input.two words', 3],
    ['steps', {}],
  ] as [string, JsonValue][])('W-8, W-9: %s leads to its value, with elements counted from zero', (text, value) => {
    expect(read(text, state)).toEqual({ found: true, value })
  })

  // cites: W-10, CASE-22
  it.each([
    ['a field that is not there', 'input.x'],
    ['an element behind the end', 'input.a.b[9]'],
    ['the length of a list', 'input.a.b.length'],
    ['an element written as a field', 'input.a.b.0'],
    ['a field of a text', 'input.text.length'],
    ['a character of a text', 'input.text[0]'],
    ['a field of null', 'input.none.x'],
    ['what every object inherits', 'input.toString'],
    ['what every list inherits', 'input.a.b.map'],
  ])('W-10, CASE-22: %s is nothing', (_name, text) => {
    expect(read(text, state)).toEqual({ found: false })
  })

  it('W-10: reads a key that a prototype has too, where the data has it as its own', () => {
    expect(read('input.toString', { input: { toString: 'mine' } })).toEqual({ found: true, value: 'mine' })
  })

  it.each([
    ['', 'is empty'],
    ['[0]', 'is empty'],
    ['foo.a', 'begins with "foo"'],
    ['input.', 'cannot be read at'],
    ['input..a', 'cannot be read at'],
    ['input[x]', 'cannot be read at'],
    ['input.a[', 'cannot be read at'],
    ['input.a[1]b', 'cannot be read at'],
    ['input. a', 'has blanks around'],
    ['input.a\u001b[2J', 'cannot be read at'],
    ['input.a\u0007', 'has a control character'],
    ['input.__proto__.x', 'has the segment "__proto__"'],
    ['input.constructor', 'has the segment "constructor"'],
    ['steps.a.prototype', 'has the segment "prototype"'],
    [`input.${'a'.repeat(1_001)}`, 'is longer than'],
  ])('CASE-22, W-42: %s is refused, and it is said why', (text, why) => {
    expect(parsePath(text, ROOTS)).toEqual(expect.stringContaining(why))
  })

  const key = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 12 })
    .filter((text) => !/[.[\]{}]|\p{Cc}/u.test(text) && text.trim() === text)
    .filter((text) => !['__proto__', 'constructor', 'prototype'].includes(text))

  it('W-9, W-10: whatever is put at a path of own fields and elements is found there, and a fresh object stays empty', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(key, fc.nat(3)), { maxLength: 6 }), fc.jsonValue(), (segments, leaf) => {
        const value = leaf as JsonValue
        const nested = segments.reduceRight<JsonValue>(
          (inner, segment) =>
            typeof segment === 'number'
              ? [...Array.from({ length: segment }, () => null), inner]
              : Object.fromEntries([[segment, inner]]),
          value,
        )
        const text = `input${segments.map((segment) => (typeof segment === 'number' ? `[${segment}]` : `.${segment}`)).join('')}`
        expect(read(text, { input: nested })).toEqual({ found: true, value })
        expect(Object.keys({})).toEqual([])
      }),
    )
  })

  it('CASE-22: no text makes it throw or reach beyond own data', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'.[]_{}0a', '__proto__', 'constructor', 'input', 'length') }),
        (text) => {
          const path = parsePath(`input${text}`, ROOTS)
          if (typeof path === 'string') return
          const found = resolvePath(path, { input: { a: ['x'] } })
          if (found.found) expect(['object', 'string']).toContain(typeof found.value)
          else expect(found).toEqual({ found: false })
        },
      ),
    )
  })
})
