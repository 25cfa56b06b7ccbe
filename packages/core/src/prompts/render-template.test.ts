import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import { seeded } from '../tools/testing/seeded.js'
import { promptValues } from './prompt-values.js'
import { placeholdersOf, renderTemplate } from './render-template.js'

function faultOf(template: string, values: Record<string, unknown>): SluiceError {
  try {
    renderTemplate(template, values)
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
  throw new Error('rendered')
}

describe('renderTemplate', () => {
  it('P-11: a placeholder is letters, digits and underscores in braces, of any case, any number of times', () => {
    expect(renderTemplate('{name}, {NAME} and {Name_2}!', { name: 'Petra', name_2: 'Jo' })).toBe('Petra, Petra and Jo!')
    expect(placeholdersOf('{b} {a} {B} {a_1} {7}')).toEqual(['b', 'a', 'a_1', '7'])
  })

  it('P-12: the first placeholder without a value is named, and all of them are in the details', () => {
    const fault = faultOf('{known} {first} {second} {first}', { known: 1, surplus: 2 })
    expect(fault.code).toBe('MISSING_PLACEHOLDER')
    expect(fault.message).toContain('Placeholder {first} (and {second}) has no value.')
    expect(fault.details).toEqual({ placeholder: '{first}', missing: ['{first}', '{second}'] })
    expect(fault.message).toContain("Values were given for 'known', 'surplus'.")
    const absent = faultOf('{a}', { a: undefined })
    expect(absent.code).toBe('MISSING_PLACEHOLDER')
    expect(absent.message).toContain('Values were given for nothing.')
  })

  it.each([
    ['text', 'as {it} is', 'as {it} is'],
    ['an empty text', '', ''],
    ['a whole number', 12, '12'],
    ['a large number', 1e21, '1000000000000000000000'],
    ['a large number with digits', 1.234e25, '12340000000000000000000000'],
    ['a small number', 1.5e-7, '0.00000015'],
    ['a negative small number', -1e-10, '-0.0000000001'],
    ['minus zero', -0, '0'],
    ['a bigint', 12345678901234567890n, '12345678901234567890'],
    ['true', true, 'true'],
    ['false', false, 'false'],
    ['null', null, ''],
    ['an object', { a: [1, '{b}'] }, '{"a":[1,"{b}"]}'],
    ['a list', [1, null], '[1,null]'],
  ])('P-13, CASE-30: the value %s is written as text', (_what, value, text) => {
    expect(renderTemplate('<{v}>', { v: value, it: 'WRONG', b: 'WRONG' })).toBe(`<${text}>`)
  })

  it.each([
    ['not a number', Number.NaN],
    ['an infinite number', Number.POSITIVE_INFINITY],
    ['a function', () => 1],
    ['a symbol', Symbol('x')],
    ['a bigint inside', { a: 1n }],
  ])('P-13: %s is refused by name', (_what, value) => {
    expect(faultOf('{v}', { v: value })).toMatchObject({ code: 'INVALID_CONFIG', reason: 'prompt.value' })
  })

  it('P-14, CASE-30: a value is never looked at again, whatever it holds', () => {
    const values = { a: '{b}', b: '{secret}', self: '{self}', secret: 'S3CRET', money: '$& $1 $$ \\1 \\n' }
    expect(renderTemplate('{a} {b} {self} {money}', values)).toBe('{b} {secret} {self} $& $1 $$ \\1 \\n')
    expect(renderTemplate('{a}{b}', { a: '{', b: 'secret}', secret: 'S3CRET' })).toBe('{secret}')
  })

  it.each([
    ['{{name}}', '{name}'],
    ['{{{name}}}', '{Petra}'],
    ['a }} b {{ c', 'a } b { c'],
    ['{{"name": "{name}"}}', '{"name": "Petra"}'],
    ['{{"a": {{"b": 1}}}}', '{"a": {"b": 1}}'],
    ['{{"a": {"b": 1}}}', '{"a": {"b": 1}}'],
    ['{{{{', '{{'],
    ['}}}}', '}}'],
  ])('P-16, CASE-30: the literal braces of %j render as %j', (template, text) => {
    expect(renderTemplate(template, { name: 'Petra' })).toBe(text)
  })

  it.each([
    '{"answer": "yes", "lines": [{"n": 1}]}',
    '{"a":{"b":{"c":{}}}}',
    'function f() { return { a: {} } }',
    '{}{ }{a b}{ä}{a-b}',
    'a { that stays open',
    'a } that closes nothing',
    '${x y}',
  ])('P-16, CASE-30: braces that hold no name stay as they are: %j', (template) => {
    expect(renderTemplate(template, {})).toBe(template)
    expect(placeholdersOf(template)).toEqual([])
  })

  it('CASE-30: a placeholder inside a JSON example is one, and an escaped one there is not', () => {
    expect(renderTemplate('{"q": "{question}", "form": "{{name}}", "o": {"p": 1}}', { question: 'Why?' })).toBe(
      '{"q": "Why?", "form": "{name}", "o": {"p": 1}}',
    )
  })

  it('P-16: an escaped name inside nested braces leaves their ends as they are', () => {
    expect(renderTemplate('{"a": {"b": "{{x}}"}}', {})).toBe('{"a": {"b": "{x}"}}')
  })

  it('CASE-22: names of prototypes are names like any other, and have no value of their own', () => {
    expect(renderTemplate('{constructor} {toString}', { constructor: 'a', toString: 'b' })).toBe('a b')
    for (const name of ['constructor', '__proto__', 'toString', 'hasOwnProperty'])
      expect(faultOf(`{${name}}`, {}).code).toBe('MISSING_PLACEHOLDER')
    const own = JSON.parse('{"__proto__":"x"}') as Record<string, unknown>
    expect(renderTemplate('{__proto__}', own)).toBe('x')
  })

  it('P-11: of two parameters that differ in case only, the exact spelling counts; else they have to agree', () => {
    expect(renderTemplate('{Name}', { name: 'a', Name: 'b' })).toBe('b')
    expect(faultOf('{NAME}', { name: 'a', Name: 'b' })).toMatchObject({ reason: 'prompt.ambiguous_parameter' })
    expect(renderTemplate('{NAME}', { name: 'a', Name: 'a' })).toBe('a')
    expect(renderTemplate('{other}', { name: 'a', Name: 'b', other: 'c' })).toBe('c')
  })

  it('P-14: takes time in proportion to the template', () => {
    const shapes = ['{'.repeat(1_000_000), '{a'.repeat(500_000), '{"a":'.repeat(200_000) + '}'.repeat(200_000)]
    for (const template of shapes) {
      const start = performance.now()
      placeholdersOf(template)
      expect(performance.now() - start).toBeLessThan(2_000)
    }
  })

  it('P-14, CASE-30: in 5 000 made-up templates rendering is one pass and does not depend on the order of values', () => {
    const names = ['a', 'b', 'c_1', 'secret']
    let placeholders = 0
    for (let seed = 1; seed <= 5_000; seed++) {
      const random = seeded(seed)
      const chunks = Array.from({ length: random.number(12) }, () =>
        random.pick([...names.map((name) => `{${name}}`), '{{', '}}', '{"x": 1}', ' ', 'text', '\\', '$&']),
      )
      const template = chunks.join('')
      const entries = names.map(
        (name) => [name, random.pick(['{a}', '{secret}', '}}', '{{', '{', '', 'x', random.text(6)])] as const,
      )
      const rendered = renderTemplate(template, Object.fromEntries(entries))
      expect(renderTemplate(template, Object.fromEntries([...entries].reverse())), template).toBe(rendered)
      // with marks in place of values, each mark stands where its value stood: nothing else was touched
      const marks = Object.fromEntries(names.map((name, index) => [name, String.fromCharCode(0xe000 + index)]))
      let expected = renderTemplate(template, marks)
      entries.forEach(([, value], index) => {
        expected = expected.split(String.fromCharCode(0xe000 + index)).join(value)
      })
      expect(rendered, template).toBe(expected)
      placeholders += placeholdersOf(template).length
    }
    expect(placeholders).toBeGreaterThan(5_000)
  })
})

describe('promptValues', () => {
  it('P-15: a bound key wins over a parameter of the same name, of any case, and the replacement can be told', () => {
    const values = promptValues({ Clerk: 'mallory', question: 'Why?', same: 'x' }, { clerk: 'petra', same: 'x' })
    expect([values.get('clerk'), values.get('CLERK'), values.get('question')]).toEqual(['petra', 'petra', 'Why?'])
    expect(['clerk', 'question', 'same', 'nothing'].map((name) => values.replaced(name))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('P-12, P-W3: there may be no parameters at all', () => {
    expect(promptValues(undefined, { a: 1 }).get('a')).toBe(1)
    expect(promptValues(undefined).get('a')).toBeUndefined()
  })
})
