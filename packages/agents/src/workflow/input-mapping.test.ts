import type { JsonObject, JsonValue } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FaultList } from './fault-list.js'
import { mapInput, parseMapping } from './input-mapping.js'
import { resolvePath } from './path.js'
import { toText } from './template.js'

const ROOTS = ['input', 'steps']

function map(mapping: unknown, state: { [root: string]: JsonValue } = {}) {
  const faults = new FaultList()
  const parsed = parseMapping('input_mapping', mapping, ROOTS, faults)
  const warned: string[] = []
  if (faults.list.length > 0) return { faults: faults.list }
  const reader = {
    resolve: (path: never) => resolvePath(path, state),
    warn: (path: { text: string }) => warned.push(path.text),
  }
  try {
    return { input: mapInput(parsed, reader, (parameter, path) => new Error(`${parameter} <- ${path.text}`)), warned }
  } catch (error) {
    return { missing: (error as Error).message }
  }
}

const STATE = {
  input: { text: 'abc', n: 1.5, yes: true, none: null, list: [1, 'a'], braces: '{$.steps.secret} {$.input.text}' },
  steps: { secret: 'hidden', deep: { list: [{ name: 'x' }] } },
}

describe('input_mapping', () => {
  // cites: W-9, W-12, W-13, W-14, W-16, W-17, W-18, W-19, CASE-30
  it.each([
    ['W-12: a constant', 'plain', { p: 'plain' }],
    ['W-12: braces that are no reference', '{"a": {"b": 1}} {x} {$x}', { p: '{"a": {"b": 1}} {x} {$x}' }],
    [
      'CASE-30: a literal reference, in its one spelling',
      '{{$.input.text} {$.input.text}',
      { p: '{$.input.text} abc' },
    ],
    ['a number', 5, { p: 5 }],
    ['a truth value', false, { p: false }],
    ['W-17: a whole reference to a text', '{$.input.text}', { p: 'abc' }],
    ['W-17: a whole reference to a number', '{$.input.n}', { p: 1.5 }],
    ['W-17: a whole reference to a truth value', '{$.input.yes}', { p: true }],
    ['W-17: a whole reference to a list', '{$.input.list}', { p: [1, 'a'] }],
    ['W-17: a whole reference to an object', '{$.steps.deep}', { p: { list: [{ name: 'x' }] } }],
    ['W-16: a whole reference to null', '{$.input.none}', { p: null }],
    [
      'W-17: values inside a text',
      '{$.input.text}/{$.input.n}/{$.input.yes}/{$.input.list}',
      { p: 'abc/1.5/true/[1,"a"]' },
    ],
    ['W-12: null inside a text', '<{$.input.none}>', { p: '<>' }],
    ['W-9: an element', '{$.steps.deep.list[0].name}', { p: 'x' }],
    ['W-13: the extended form', { path: '{$.input.text}' }, { p: 'abc' }],
    ['W-13: the extended form, with a bare path', { path: '$.input.text' }, { p: 'abc' }],
    ['W-14: optional, and there', { path: '{$.input.text}', optional: true }, { p: 'abc' }],
    ['W-14: optional, and not there', { path: '{$.input.x}', optional: true }, {}],
    ['W-14: a default, and there', { path: '{$.input.text}', default: 'd' }, { p: 'abc' }],
    ['W-14: a default, and not there', { path: '{$.input.x}', default: [1] }, { p: [1] }],
    ['W-14: the default stands above optional', { path: '{$.input.x}', default: null, optional: true }, { p: null }],
    ['W-16: null without a default is a value', { path: '{$.input.none}', optional: true }, { p: null }],
    ['W-16: null takes the default', { path: '{$.input.none}', default: 'd' }, { p: 'd' }],
    ['W-19: the alias', { expression: '{$.input.n}', is_plsql_expression: false }, { p: 1.5 }],
    ['W-19: the alias with a template', { expression: 'n={$.input.n}' }, { p: 'n=1.5' }],
    ['W-18: what a value holds is not looked at again', '{$.input.braces}!', { p: '{$.steps.secret} {$.input.text}!' }],
  ] as [string, unknown, JsonObject][])('%s', (_name, source, input) => {
    expect(map({ p: source }, STATE)).toEqual({ input, warned: [] })
  })

  it('W-W2: one parameter says nothing about the next', () => {
    expect(map({ a: { path: '{$.input.x}', optional: true }, b: '{$.input.y}' }, STATE)).toEqual({
      missing: 'b <- input.y',
    })
  })

  it.each([
    ['a whole reference', '{$.input.x}'],
    ['a path without more', { path: '{$.steps.deep.x}' }],
    ['a path that is not optional', { path: '{$.steps.deep.list[1].name}', optional: false }],
  ])('W-14, W-15, W-W3: %s that leads nowhere is missing', (_name, source) => {
    expect(map({ p: source }, STATE)).toEqual({ missing: expect.stringMatching(/^p <- /) })
  })

  it('W-15: a reference inside a text that leads nowhere leaves nothing, and is told', () => {
    expect(map({ p: 'a{$.input.x}b{$.input.text}' }, STATE)).toEqual({ input: { p: 'ababc' }, warned: ['input.x'] })
  })

  // cites: W-12, W-13, W-19, CASE-22
  it.each([
    ['no object', 7, 'must be an object of parameters'],
    ['a list', { p: ['a'] }, 'must be a text, a number'],
    ['null', { p: null }, 'must be a text, a number'],
    ['an object without a path', { p: {} }, 'must be one reference'],
    ['an unknown key', { p: { path: '{$.input.a}', optionl: true } }, 'the unknown key "optionl"'],
    ['a path that is a template', { p: { path: 'a {$.input.a}' } }, 'must be one reference and nothing else'],
    ['optional that is no truth value', { p: { path: '{$.input.a}', optional: 'yes' } }, 'must be true or false'],
    ['a reference without an end', { p: 'a {$.input.a' }, 'at character 3 without a closing brace'],
    ['an unknown root', { p: '{$.chat_history}' }, 'begins with "chat_history"'],
    ['W-19: code of a database', { p: { expression: '1', is_plsql_expression: true } }, 'is code of a database'],
    ['CASE-22: __proto__ as parameter', JSON.parse('{"__proto__": "a"}'), 'is no name of a parameter'],
    ['CASE-22: constructor as parameter', { constructor: 'a' }, 'is no name of a parameter'],
    ['CASE-22: __proto__ in a path', { p: '{$.input.__proto__.x}' }, 'has the segment "__proto__"'],
  ])('is refused with %s', (_name, mapping, why) => {
    expect(map(mapping)).toEqual({ faults: [expect.stringContaining(why)] })
  })

  it('tells all faults at once', () => {
    expect(map({ a: '{$.x}', b: '{$.y} {$.z}', c: null }).faults).toHaveLength(4)
  })

  it('W-18, CASE-30: a template is scanned once, whatever the values hold and whatever their order', () => {
    const hostile = fc.string({
      unit: fc.constantFrom('{', '}', '$', '.', '{$.input.a}', '{$.input.b}', '{{$.', 'x'),
      maxLength: 20,
    })
    fc.assert(
      fc.property(
        hostile,
        hostile,
        fc.array(fc.constantFrom('a', 'b', ' - '), { minLength: 2, maxLength: 8 }),
        (a, b, parts) => {
          const values: Record<string, string> = { a, b }
          const text = ['<', ...parts.map((part) => (part === ' - ' ? part : `{$.input.${part}}`)), '>'].join('')
          const expected = ['<', ...parts.map((part) => values[part] ?? part), '>'].join('')
          expect(map({ p: text }, { input: { a, b } })).toEqual({ input: { p: expected }, warned: [] })
          expect(map({ p: text }, { input: { b, a } })).toEqual({ input: { p: expected }, warned: [] })
        },
      ),
    )
  })

  it('W-17: a whole reference gives the value itself, and a text its JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const value = given as JsonValue
        const state = { input: { v: value } }
        expect(map({ p: '{$.input.v}' }, state)).toEqual({ input: { p: value }, warned: [] })
        expect(map({ p: '={$.input.v}' }, state)).toEqual({ input: { p: `=${toText(value)}` }, warned: [] })
      }),
    )
  })

  it('W-W8: a value of a megabyte is a value like any other', () => {
    const large = 'ä'.repeat(500_000)
    expect(map({ p: '{$.input.v}!' }, { input: { v: large } })).toEqual({ input: { p: `${large}!` }, warned: [] })
  })
})
