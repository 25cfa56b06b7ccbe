import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Veto } from '../errors/answers.js'
import { SluiceError } from '../errors/sluice-error.js'
import { compileValidator } from './compile-validator.js'
import type { SchemaSource } from './schema.js'
import { toJsonSchema } from './schema.js'

/** What a value becomes: the validated value, or the paths that were refused. */
async function check(source: SchemaSource, value: unknown): Promise<{ value: unknown } | { refused: string[] }> {
  const result = await compileValidator(source).validate(value)
  return result.ok ? { value: result.value } : { refused: result.issues.map((issue) => issue.path) }
}

const inner = z.object({ a: z.string().optional(), b: z.string().nullable(), c: z.string().nullish() })
const node = z.object({
  name: z.string(),
  note: z.string().optional(),
  get children() {
    return z.array(node).optional()
  },
})
const either = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('card'), number: z.string(), name: z.string().optional() }),
  z.object({ kind: z.literal('cash'), name: z.string().nullable() }),
])

// value sent, value that the handler gets
const accepted: readonly (readonly [string, SchemaSource, unknown, unknown])[] = [
  ['optional, absent', z.object({ a: z.string().optional() }), {}, {}],
  ['optional, null', z.object({ a: z.string().optional() }), { a: null }, {}],
  ['optional, present', z.object({ a: z.string().optional() }), { a: 'x' }, { a: 'x' }],
  ['nullable, null', z.object({ a: z.string().nullable() }), { a: null }, { a: null }],
  ['optional and nullable, null', z.object({ a: z.string().nullish() }), { a: null }, { a: null }],
  ['optional and nullable, absent', z.object({ a: z.string().nullish() }), {}, {}],
  ['default, absent', z.object({ a: z.string().default('d') }), {}, { a: 'd' }],
  ['default, null', z.object({ a: z.string().default('d') }), { a: null }, { a: 'd' }],
  ['nested, null', z.object({ o: inner }), { o: { a: null, b: null, c: null } }, { o: { b: null, c: null } }],
  ['inside a list, null', z.object({ l: z.array(inner) }), { l: [{ a: null, b: 'x' }] }, { l: [{ b: 'x' }] }],
  ['an optional object, null', z.object({ o: inner.optional() }), { o: null }, {}],
  ['an optional list, null', z.object({ l: z.array(z.string()).optional() }), { l: null }, {}],
  ['a discriminated union, null', either, { kind: 'card', number: '1', name: null }, { kind: 'card', number: '1' }],
  ['a discriminated union, nullable', either, { kind: 'cash', name: null }, { kind: 'cash', name: null }],
  ['a union below an optional key', z.object({ u: z.union([z.string(), z.number()]).optional() }), { u: null }, {}],
  [
    'a union of other forms below an optional key',
    z.object({ u: z.union([z.object({ x: z.string() }), z.string().min(2)]).optional() }),
    { u: null },
    {},
  ],
  ['JSON Schema, allOf', { properties: { a: { allOf: [{ minLength: 1 }, { type: 'string' }] } } }, { a: null }, {}],
  ['a union at the root', z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]), { b: 1 }, { b: 1 }],
  [
    'a recursive schema, null',
    node,
    { name: 'r', note: null, children: [{ name: 'c', note: null, children: null }] },
    { name: 'r', children: [{ name: 'c' }] },
  ],
  [
    'a record',
    z.object({ r: z.record(z.string(), inner) }),
    { r: { k: { a: null, b: 'x' } } },
    { r: { k: { b: 'x' } } },
  ],
  [
    'a tuple',
    z.object({ t: z.tuple([z.string(), inner]) }),
    { t: ['x', { a: null, b: 'y' }] },
    { t: ['x', { b: 'y' }] },
  ],
  ['a literal', z.object({ v: z.literal('one').optional() }), { v: null }, {}],
  ['an enumeration', z.object({ v: z.enum(['a', 'b']).optional() }), { v: null }, {}],
  ['a transform', z.object({ n: z.string().transform(Number).optional() }), { n: null }, {}],
  ['a transform, present', z.object({ n: z.string().transform(Number) }), { n: '4' }, { n: 4 }],
  [
    'a refinement',
    z.object({
      a: z
        .string()
        .refine((t) => t !== 'no')
        .optional(),
    }),
    { a: null },
    {},
  ],
  [
    'an intersection',
    z.intersection(z.object({ a: z.string().optional() }), z.object({ b: z.string() })),
    { a: null, b: 'x' },
    { b: 'x' },
  ],
  ['an unknown', z.object({ a: z.unknown().optional() }), { a: null }, { a: null }],
  ['JSON Schema, optional null', { type: 'object', properties: { a: { type: 'string' } } }, { a: null }, {}],
  [
    'JSON Schema, many nulls',
    { type: 'object', properties: { a: { type: 'string' }, b: { enum: ['x'] }, c: { const: 1 } } },
    { a: null, b: null, c: null },
    {},
  ],
  [
    'JSON Schema, nullable',
    { type: 'object', properties: { a: { type: ['string', 'null'] } } },
    { a: null },
    { a: null },
  ],
]

const refused: readonly (readonly [string, SchemaSource, unknown, string])[] = [
  ['a required key, null', z.object({ a: z.string() }), { a: null }, 'a'],
  ['a required key, absent', z.object({ a: z.string() }), {}, 'a'],
  ['null as a list item', z.object({ l: z.array(z.string()) }), { l: [null] }, 'l[0]'],
  ['null in a record', z.object({ r: z.record(z.string(), z.string()) }), { r: { k: null } }, 'r.k'],
  ['null in a tuple', z.object({ t: z.tuple([z.string()]) }), { t: [null] }, 't[0]'],
  ['a wrong type beside a null', z.object({ a: z.string().optional(), b: z.number() }), { a: null, b: 'x' }, 'b'],
  ['an extra key of a strict object', z.strictObject({ a: z.string().optional() }), { x: null }, ''],
  ['a constraint', z.object({ n: z.number().max(3) }), { n: 4 }, 'n'],
  ['a format', z.object({ d: z.iso.date() }), { d: 'soon' }, 'd'],
  ['a value outside an enumeration', z.object({ e: z.enum(['a']) }), { e: 'b' }, 'e'],
  [
    'JSON Schema, null for a required key',
    { properties: { a: { type: 'string' } }, required: ['a'] },
    { a: null },
    'a',
  ],
  ['JSON Schema, a required key', { type: 'object', properties: { a: {} }, required: ['a'] }, {}, ''],
  [
    'JSON Schema, a nested type',
    { properties: { l: { type: 'array', items: { type: 'number' } } } },
    { l: [1, 'x'] },
    'l[1]',
  ],
]

describe('compileValidator', () => {
  it.each(accepted)('CASE-17: accepts %s', async (_what, source, sent, expected) => {
    const before = structuredClone(sent)
    expect(await check(source, sent)).toStrictEqual({ value: expected })
    expect(sent).toStrictEqual(before)
  })

  it.each(refused)('CASE-17: refuses %s', async (_what, source, sent, path) => {
    expect(await check(source, sent)).toEqual({ refused: [path] })
  })

  it.each([
    ['date', z.object({ v: z.date() })],
    ['bigint', z.object({ v: z.bigint() })],
    ['map', z.object({ v: z.map(z.string(), z.string()) })],
    ['custom', z.object({ v: z.custom(() => true) })],
    ['undefined', z.object({ v: z.undefined() })],
    ['coerced date', z.object({ v: z.coerce.date() })],
  ])('CASE-17: a %s cannot be expressed and is refused with its path when the schema is taken', (_kind, source) => {
    try {
      compileValidator(source)
      throw new Error('accepted')
    } catch (error) {
      expect(SluiceError.isInstance(error, 'SCHEMA_UNSUPPORTED') && error.message).toContain('/properties/v: ')
    }
  })

  it('is synchronous where the schema is, and a promise where it is not', () => {
    const sync = compileValidator(z.object({ a: z.string() }))
    expect(sync.validate({ a: 'x' })).toEqual({ ok: true, value: { a: 'x' } })
    const slow = compileValidator(z.object({ a: z.string().refine(async () => true) }))
    expect(slow.validate({ a: 'x' })).toBeInstanceOf(Promise)
  })

  it('CASE-17: a null for an optional key is absent in an asynchronous schema too', async () => {
    const slow = z.object({ a: z.string().refine(async () => true), b: z.string().optional() })
    expect(await check(slow, { a: 'x', b: null })).toStrictEqual({ value: { a: 'x' } })
  })

  it('JSON Schema is synchronous once it is ready', async () => {
    const compiled = compileValidator({ type: 'object', properties: { a: { type: 'string' } } })
    await compiled.ready()
    expect(compiled.validate({ a: 1 })).toEqual({ ok: false, issues: [{ path: 'a', message: 'must be string' }] })
    expect(compiled.ready()).toBeUndefined()
  })

  it.each([
    ['an unknown type', { type: 'strin' }],
    ['a keyword with a wrong value', { type: 'object', properties: { a: { minimum: 'x' } } }],
    ['a pattern that is none', { properties: { a: { pattern: '(' } } }],
    ['a reference to nothing', { $ref: '#/nowhere' }],
  ])('a JSON Schema with %s is INVALID_CONFIG when it is made ready, and admits nothing', async (_what, schema) => {
    const compiled = compileValidator(schema as never)
    await expect(Promise.resolve(compiled.ready())).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      reason: 'schema.invalid',
    })
    expect(await compiled.validate({})).toMatchObject({ ok: false, cause: { code: 'INVALID_CONFIG' } })
  })

  it('reads JSON Schema as draft 7 where `$schema` says so, else as draft 2020-12', async () => {
    const items = [{ type: 'string' }, { type: 'number' }]
    const seven = { $schema: 'http://json-schema.org/draft-07/schema#', type: 'array', items, additionalItems: false }
    const twenty = { type: 'array', prefixItems: items, items: false }
    for (const source of [seven, twenty]) {
      expect(await check(source, ['x', 1])).toEqual({ value: ['x', 1] })
      expect(await check(source, ['x', 1, 2])).toMatchObject({ refused: [''] })
    }
    const wrong = compileValidator({ type: 'array', items } as never)
    await expect(Promise.resolve(wrong.ready())).rejects.toThrow('for draft 7 say so in `$schema`')
  })

  it('JSON Schema may refer to itself and to its definitions', async () => {
    const tree = {
      type: 'object',
      properties: { tag: { $ref: '#/definitions/tag' }, kids: { type: 'array', items: { $ref: '#' } } },
      definitions: { tag: { type: 'string' } },
    }
    expect(await check(tree, { kids: [{ tag: null, kids: [] }] })).toStrictEqual({ value: { kids: [{ kids: [] }] } })
    expect(await check(tree, { kids: [{ tag: 1 }] })).toEqual({ refused: ['kids[0].tag'] })
  })

  it('two schemas with one `$id` do not meet', async () => {
    expect(await check({ $id: 'https://example.org/one', type: 'string' }, 'a')).toEqual({ value: 'a' })
    expect(await check({ $id: 'https://example.org/one', type: 'number' }, 1)).toEqual({ value: 1 })
  })

  it('a schema that throws admits nothing and hands its error on; a Veto passes through', async () => {
    const broken = z.object({
      a: z.string().transform(() => {
        throw new Error('table AP_SECRETS is missing')
      }),
    })
    const result = await compileValidator(broken).validate({ a: 'x' })
    expect(result).toMatchObject({ ok: false, cause: { message: 'table AP_SECRETS is missing' } })
    expect(JSON.stringify(!result.ok && result.issues)).not.toContain('AP_SECRETS')
    const veto = z.object({
      a: z.string().transform(() => {
        throw new Veto('NO', 'no')
      }),
    })
    await expect(compileValidator(veto).validate({ a: 'x' })).rejects.toThrow(Veto)
  })

  it('of a union, the branch that came closest tells what is wrong', async () => {
    const union = z.object({ u: z.union([z.string(), z.object({ deep: z.object({ n: z.number() }) })]) })
    expect(await check(union, { u: { deep: { n: 'x' } } })).toEqual({ refused: ['u.deep.n'] })
  })

  it('CASE-22: a value or schema with keys that reach a prototype changes nothing', async () => {
    const sent = JSON.parse('{"__proto__":{"admin":true},"a":null}')
    await check(z.object({ a: z.string().optional() }), sent)
    await check({ type: 'object', properties: { a: { type: 'string' } } }, sent)
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

describe('toJsonSchema', () => {
  it('CASE-17: gives the input side, without $schema, frozen, with descriptions', () => {
    const schema = toJsonSchema(
      z.object({ n: z.string().transform(Number).describe('A number.'), d: z.string().default('x') }),
    )
    expect(schema).toEqual({
      type: 'object',
      properties: { n: { type: 'string', description: 'A number.' }, d: { type: 'string', default: 'x' } },
      required: ['n'],
    })
    expect(Object.isFrozen(schema) && Object.isFrozen(schema.properties)).toBe(true)
  })

  it('takes a JSON Schema as it is', () => {
    const source = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', 'x-order': ['a'] }
    expect(toJsonSchema(source)).toEqual({ type: 'object', 'x-order': ['a'] })
  })
})
