import type { JsonValue } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createConditionParser } from './condition.js'
import { celFormOf } from './original-condition.js'
import { resolvePath } from './path.js'

const parse = createConditionParser()
const ROOTS = ['input', 'steps']

function holds(text: string, steps: JsonValue = {}): boolean {
  const condition = parse(text, ROOTS)
  if ('faults' in condition) throw new Error(condition.faults.join('\n'))
  return condition.holds((path) => resolvePath(path, { steps }))
}
function faultsOf(text: unknown): readonly string[] {
  const condition = parse(text, ROOTS)
  if ('faults' in condition) return condition.faults
  throw new Error('a fault was expected')
}

describe('conditions', () => {
  it.each([
    ['{$.steps.score} >= 8', { score: 8 }, true],
    ['{$.steps.score} >= 8', { score: 7.5 }, false],
    ['{$.steps.score} + 1 > 8', { score: 7.5 }, true],
    ['{$.steps.score} / 2 == 2.5', { score: 5 }, true],
    ['2 * {$.steps.score} - 1 == 9', { score: 5 }, true],
    ['10 % {$.steps.score} == 0', { score: 5 }, true],
    ["{$.steps.kind} == 'question'", { kind: 'question' }, true],
    ["{$.steps.kind} in ['a', 'b']", { kind: 'b' }, true],
    ['{$.steps.done}', { done: true }, true],
    ['!{$.steps.done}', { done: true }, false],
    ["{$.steps.list}.exists(x, x.name == 'b')", { list: [{ name: 'a' }, { name: 'b' }] }, true],
    ['size({$.steps.list}) == 2', { list: [1, 2] }, true],
    ["{$.steps.a}.trim().lowerAscii().startsWith('y')", { a: ' Yes' }, true],
    ['{$.steps.a} == {$.steps.b}', { a: { x: [1] }, b: { x: [1] } }, true],
    ['{$.steps.a} == null', { a: null }, true],
    ['{$.steps.a}.b == 1', { a: { b: 1 } }, true],
    ["{$.steps.a} == 1 // and nothing else: '", { a: 1 }, true],
    ["r'\\d' == '\\\\d' && {$.steps.a} == 1", { a: 1 }, true],
    ["'''it's''' == \"it's\" && {$.steps.a} == 1", { a: 1 }, true],
  ] as [string, JsonValue, boolean][])('%s', (text, steps, result) => {
    expect(holds(text, steps)).toBe(result)
  })

  it.each([
    ['{$.steps.x} > 1', false],
    ['!({$.steps.x} > 1)', false],
    ['{$.steps.x} == null', false],
    ['{$.steps.x} != 1', false],
    ['{$.steps.x}.deeper == 1', false],
    ['{$.steps.here}.deeper == 1', false],
    ['{$.steps.list}[3] == 1', false],
    ['{$.steps.x} > 1 || {$.steps.here} == 1', true],
    ['{$.steps.here} == 1 || {$.steps.x} > 1', true],
    ['{$.steps.x} > 1 && {$.steps.here} == 2', false],
    ['{$.steps.x} > 1 && {$.steps.here} == 1', false],
    ['{$.steps.x} > 1 ? true : true', false],
    ['has({$.steps.x})', false],
    ['!has({$.steps.x}) || {$.steps.x} == null', true],
    ['has({$.steps.here})', true],
    ['has({$.steps.none})', true],
  ])('W-32, W-W4, W-40: a path without a value: %s is %s', (text, result) => {
    expect(holds(text, { here: 1, none: null, list: [1] })).toBe(result)
  })

  // cites: W-39, W-42
  it.each([
    ['{$.steps.a} > 3', { a: 'five' }, 'no such overload'],
    ["{$.steps.a} > 'a'", { a: 5 }, 'no such overload'],
    ['{$.steps.a}', { a: 'true' }, 'its result is a text'],
    ['{$.steps.a}', { a: 1 }, 'its result is a number'],
    ['{$.steps.a}', { a: null }, 'its result is null'],
    ['{$.steps.a}', { a: [] }, 'its result is a list'],
    ['int({$.steps.a}) > 1', { a: 'x' }, 'cannot convert'],
    ['{$.steps.a} && true', { a: 'true' }, 'requires bool'],
  ] as [string, JsonValue, string][])(
    'WORKFLOW_CONDITION_FAILED, W-39, W-42: %s with %j is neither true nor false',
    (text, steps, why) => {
      try {
        holds(text, steps)
      } catch (error) {
        if (!SluiceError.isInstance(error, 'WORKFLOW_CONDITION_FAILED')) throw error
        expect(error.message).toContain(why)
        expect(error.details).toMatchObject({ condition: text })
        return
      }
      throw new Error('a failure was expected')
    },
  )

  it.each([
    ['{$.steps.a} >', 'character 14: unexpected token: EOF'],
    ['({$.steps.a} == 1', 'character 18: expected RPAREN'],
    ['{$.steps.abc} == 1 &&& true', 'character 22: unexpected character: &'],
    ["'a' < 1", 'character 1: no such overload'],
    ['input.x == 1', 'character 1: Unknown variable: input; a value of the state is written {$.steps.name}'],
    ['{$.input.x} && other', 'character 16: Unknown variable: other'],
    ['state.p0 == {$.input.x}', 'character 1: Unknown variable: state'],
    ['now() > 1', 'no matching overload'],
    ['size({$.steps.a})', 'gives int, where true or false is wanted'],
    ['{$.foo} == 1', 'at character 1 that begins with "foo"'],
    ['{$.steps.a == 1', 'at character 1 without a closing brace'],
    ['{$.steps.a}.{$.steps.b} == 1', 'at character 13 behind a dot'],
    ['{$.steps.a}1 == 2', 'unexpected'],
    ["'{$.steps.a}x' == 'ax'", 'inside quotes at character 2'],
    ["{$.steps.a}.matches('(a+)+$')", '`matches` is not to be had'],
    ["[1].exists(x, 'a'.matches({$.steps.a}))", '`matches` is not to be had'],
    ['', 'must be a condition'],
    [7, 'must be a condition'],
  ])('W-42: %s is refused, with the place', (text, why) => {
    expect(faultsOf(text).join('\n')).toContain(why)
  })

  it('W-42: one that is too long or too deep is refused', () => {
    expect(faultsOf('1'.repeat(10_001))).toEqual(['is longer than 10000 characters'])
    expect(faultsOf(`${'('.repeat(200)}true${')'.repeat(200)}`)[0]).toContain('maxDepth')
    expect(faultsOf(Array(2_000).fill('1<2').join('&&'))[0]).toContain('maxAstNodes')
  })

  it.each([
    ["{$.steps.a} = 'x'", '{$.steps.a} == "x"'],
    ['{$.steps.a} <> 1', '{$.steps.a} != 1'],
    ['{$.steps.a} > 1 AND {$.steps.b} < 2', '{$.steps.a} > 1 && {$.steps.b} < 2'],
    [
      'not {$.steps.a} = 1 or ({$.steps.b} >= 2 and {$.steps.c})',
      '!({$.steps.a} == 1) || ({$.steps.b} >= 2 && {$.steps.c})',
    ],
    ['{$.steps.a} is null', '(!has({$.steps.a}) || {$.steps.a} == null)'],
    ['{$.steps.a} is not null', '(has({$.steps.a}) && {$.steps.a} != null)'],
    ["{$.steps.a} like 'x%'", '{$.steps.a}.startsWith("x")'],
    ["{$.steps.a} not like '%x'", '!({$.steps.a}.endsWith("x"))'],
    ["{$.steps.a} like '%x%'", '{$.steps.a}.contains("x")'],
    ["{$.steps.a} in ('x', 2)", '{$.steps.a} in ["x", 2]'],
    ['{$.steps.a} not between 1 and 2', '!(({$.steps.a} >= 1 && {$.steps.a} <= 2))'],
    ["lower({$.steps.a}) = 'it''s'", '{$.steps.a}.lowerAscii() == "it\'s"'],
    ["'{$.steps.a}' = 'good'", '{$.steps.a} == "good"'],
    ["'<{$.steps.a}>' = '<b>'", '("<" + string({$.steps.a}) + ">") == "<b>"'],
  ])('W-37, W-38, W-41: the original %s is refused, and told in CEL', (text, cel) => {
    expect(faultsOf(text).at(-1)).toBe(`is written in CEL as: ${cel}`)
    expect('faults' in parse(cel, ROOTS)).toBe(false)
  })

  it.each([
    ["{$.steps.a} like 'a_c'", "`x like 'a%'` is `x.startsWith('a')`"],
    ["substr({$.steps.a}, 1) = 'x' and true", '`=` is `==`; `and` is `&&`'],
  ])('W-38: where the whole cannot be told, its spellings are: %s', (text, told) => {
    expect(faultsOf(text).at(-1)).toContain(told)
  })

  it('W-38: every condition of the grammar of the original has a CEL form that can be read', () => {
    const reference = fc.constantFrom('{$.steps.a}', '{$.input.b.c[0]}')
    const value = fc.oneof(
      reference,
      fc.integer({ min: -99, max: 99 }).map(String),
      fc
        .string({ maxLength: 6 })
        .filter((text) => !text.includes('{$.'))
        .map((text) => `'${text.replaceAll("'", "''")}'`),
      reference.map((text) => `lower(${text})`),
      reference.map((text) => `'x ${text}'`),
    )
    const comparison = fc.oneof(
      fc.tuple(reference, fc.constantFrom('=', '<>', '!='), value).map((parts) => parts.join(' ')),
      fc.tuple(reference, fc.constantFrom('<', '>=', '>'), fc.constant('3')).map((parts) => parts.join(' ')),
      reference.map((text) => `${text} is not null`),
      reference.map((text) => `${text} not like '%a'`),
      fc.tuple(reference, value, value).map(([left, ...list]) => `${left} in (${list.join(', ')})`),
      reference.map((text) => `${text} between 1 and 5`),
    )
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small', withCrossShrink: true },
        comparison,
        fc.tuple(tie('expression'), fc.constantFrom('and', 'OR'), tie('expression')).map((parts) => parts.join(' ')),
        tie('expression').map((text) => `not (${text})`),
      ),
    }))
    fc.assert(
      fc.property(expression, (text) => {
        const cel = celFormOf(text)
        expect(cel).toBeDefined()
        expect(parse(cel, ROOTS)).not.toHaveProperty('faults')
      }),
    )
  })

  it('W-W1, W-18: no text of a value changes what a condition means', () => {
    const evil = fc.oneof(
      fc.string(),
      fc.constantFrom(
        "' || true || '",
        '"] || true',
        '{$.steps.secret}',
        'true',
        '\\',
        '${1}',
        'state.p1',
        ') || (true',
      ),
    )
    fc.assert(
      fc.property(evil, fc.string(), (given, other) => {
        const state = { given, other }
        expect(holds('{$.steps.given} == {$.steps.other}', state)).toBe(given === other)
        expect(holds("{$.steps.given} == 'safe'", state)).toBe(given === 'safe')
        expect(holds('size({$.steps.given}) == 0', state)).toBe(given === '')
      }),
    )
  })

  it('CASE-22: fields of values are read as own ones only', () => {
    expect(holds('has({$.steps.a}.constructor)', { a: {} })).toBe(false)
    expect(holds("{$.steps.a}['__proto__'] == null", { a: {} })).toBe(false)
    expect(holds('{$.steps.a}.toString == 1', { a: {} })).toBe(false)
  })

  it('W-W8: texts of a megabyte can be compared', () => {
    const large = 'x'.repeat(1_000_000)
    expect(holds("{$.steps.a}.endsWith('x') && size({$.steps.a}) == 1000000", { a: large })).toBe(true)
  })

  it('takes a place in the condition of a character behind references', () => {
    expect(faultsOf('{$.steps.a} == 1 || {$.steps.long_name} =')[0]).toMatch(/^character 41: /)
  })
})
