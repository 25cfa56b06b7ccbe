import type { JsonObject } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import { OPENAI_RESPONSES } from '../behaviour/openai-behaviour.js'
import { strictDialect } from './schema-dialect.js'
import { toStrictSchema } from './strict-schema.js'

const OPENAI = strictDialect(OPENAI_RESPONSES)
const ANTHROPIC_STRICT = strictDialect(ANTHROPIC_MESSAGES)

function jsonSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) as JsonObject
}

const strict = (schema: z.ZodType) => toStrictSchema(jsonSchema(schema), OPENAI)
const paths = (schema: z.ZodType, dialect = OPENAI) =>
  toStrictSchema(jsonSchema(schema), dialect).faults.map((fault) => fault.path)

/** Every object of a schema, to check what strict mode wants of each. */
function objectsOf(schema: unknown): Array<Record<string, unknown>> {
  if (Array.isArray(schema)) return schema.flatMap(objectsOf)
  if (typeof schema !== 'object' || schema === null) return []
  const self = schema as Record<string, unknown>
  return [...(self.properties === undefined ? [] : [self]), ...Object.values(self).flatMap(objectsOf)]
}

describe('toStrictSchema for OpenAI', () => {
  it('CASE-17: optional keys become required and nullable, wherever they are, and are remembered by path', () => {
    const { schema, nullable, faults } = strict(
      z.object({
        name: z.string().describe('Who'),
        nick: z.string().optional().describe('Short name'),
        tags: z.array(z.object({ key: z.string(), value: z.number().optional() })),
        home: z.object({ street: z.string().optional() }).optional(),
        kind: z.enum(['a', 'b']).optional(),
      }),
    )
    expect(faults).toEqual([])
    expect(nullable).toEqual(['nick', 'tags[].value', 'home.street', 'home', 'kind'])
    const properties = schema.properties as Record<string, JsonObject>
    expect(properties.nick).toEqual({ type: ['string', 'null'], description: 'Short name' })
    expect(properties.name).toEqual({ type: 'string', description: 'Who' })
    expect(properties.kind).toEqual({ type: ['string', 'null'], enum: ['a', 'b', null] })
    expect((properties.home as JsonObject).anyOf).toHaveLength(2)
    for (const object of objectsOf(schema)) {
      expect(object.additionalProperties).toBe(false)
      expect(object.required).toEqual(Object.keys(object.properties as object))
    }
  })

  it('CASE-17: a key that is nullable by its author stays so and is not taken for an absent one', () => {
    const { nullable, schema } = strict(
      z.object({ a: z.string().nullable(), b: z.string().nullish(), c: z.literal('x').optional() }),
    )
    expect(nullable).toEqual(['c'])
    const properties = schema.properties as Record<string, JsonObject>
    expect(properties.c).toEqual({ type: ['string', 'null'], enum: ['x', null] })
  })

  it('CASE-17: a default is told in words, because the wire takes none, and its key may be null', () => {
    const { nullable, schema } = strict(z.object({ size: z.number().default(3).describe('How many') }))
    expect(nullable).toEqual(['size'])
    expect(schema.properties).toEqual({
      size: { type: ['number', 'null'], description: 'How many (default: 3)' },
    })
  })

  it('CASE-17: unions are anyOf, inside and told apart by a key; a union at the root travels under a key', () => {
    const one = z.object({ kind: z.literal('one'), left: z.string().optional() })
    const two = z.object({ kind: z.literal('two'), right: z.number() })
    const inside = strict(
      z.object({ item: z.discriminatedUnion('kind', [one, two]), either: z.union([z.string(), z.number()]) }),
    )
    expect(inside.faults).toEqual([])
    expect(inside.wrapped).toBe(false)
    const properties = inside.schema.properties as Record<string, JsonObject>
    expect(properties.item?.anyOf).toHaveLength(2)
    expect(JSON.stringify(properties.item)).not.toContain('oneOf')

    const root = strict(z.union([one, two]))
    expect(root.wrapped).toBe(true)
    expect(root.schema).toMatchObject({ type: 'object', required: ['value'], additionalProperties: false })
    expect(strict(z.array(z.string())).wrapped).toBe(true)
  })

  it('CASE-17: recursive schemas keep their references, also when the root is wrapped', () => {
    interface Node {
      readonly name: string
      readonly children: readonly Node[]
    }
    const node: z.ZodType<Node> = z.object({
      name: z.string(),
      get children() {
        return z.array(node)
      },
    })
    const { schema, faults } = strict(node as z.ZodType)
    expect(faults).toEqual([])
    expect(JSON.stringify(schema)).toContain('"$ref":"#')
    const wrapped = toStrictSchema(
      {
        anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#' } }, { $ref: '#/definitions/leaf' }],
        definitions: { leaf: { type: 'null' } },
      },
      OPENAI,
    )
    expect(wrapped.faults).toEqual([])
    const refs = JSON.stringify(wrapped.schema).match(/"\$ref":"[^"]*"/g)
    expect(refs).toEqual(['"$ref":"#/properties/value"', '"$ref":"#/$defs/leaf"'])
    expect(wrapped.schema.$defs).toEqual({ leaf: { type: 'null' } })
  })

  it('CASE-17: what strict mode cannot express is named with its path, all of it at once', () => {
    const { faults } = strict(
      z.object({
        bag: z.record(z.string(), z.number()),
        pair: z.tuple([z.string(), z.number()]),
        open: z.looseObject({ a: z.string() }),
        any: z.unknown(),
        deep: z.object({ list: z.array(z.record(z.string(), z.string())) }),
      }),
    )
    expect(faults.map((fault) => fault.path)).toEqual(['bag', 'pair', 'open', 'any', 'deep.list[]'])
    expect(faults[0]?.problem).toContain('record')
    expect(faults[1]?.problem).toContain('tuple')
  })

  it('CASE-17: a record over a closed list of keys is an object with these keys', () => {
    const { schema, faults } = strict(z.object({ sizes: z.record(z.enum(['small', 'large']), z.number()) }))
    expect(faults).toEqual([])
    expect((schema.properties as Record<string, JsonObject>).sizes).toMatchObject({
      properties: { small: { type: 'number' }, large: { type: 'number' } },
      required: ['small', 'large'],
      additionalProperties: false,
    })
  })

  it('refuses keywords without a strict form: not, if, dependent schemas, intersections of several', () => {
    for (const keyword of ['not', 'if', 'dependentRequired', 'contains']) {
      const { faults } = toStrictSchema(
        { type: 'object', properties: { a: { type: 'string', [keyword]: {} } } },
        OPENAI,
      )
      expect(faults).toEqual([{ path: 'a', problem: `uses "${keyword}"` }])
    }
    const both = {
      allOf: [
        { type: 'object', properties: {} },
        { type: 'object', properties: {} },
      ],
    }
    expect(toStrictSchema({ type: 'object', properties: { both } }, OPENAI).faults.map(({ path }) => path)).toEqual([
      'both',
    ])
    const one = { allOf: [{ type: 'string' }], description: 'One' }
    expect(
      toStrictSchema({ type: 'object', properties: { one }, required: ['one'] }, OPENAI).schema.properties,
    ).toEqual({
      one: { type: 'string', description: 'One' },
    })
    expect(toStrictSchema({ type: 'object', properties: { a: { $ref: 'other.json' } } }, OPENAI).faults).toHaveLength(1)
  })

  it('keeps the constraints that the wire carries and puts the others into the description', () => {
    const { schema } = strict(
      z.object({
        name: z.string().min(2).max(9).describe('Name'),
        age: z.number().min(1).max(99),
        mail: z.email(),
        at: z.url(),
      }),
    )
    const properties = schema.properties as Record<string, JsonObject>
    expect(properties.name).toEqual({ type: 'string', description: 'Name (minLength: 2, maxLength: 9)' })
    expect(properties.age).toEqual({ type: 'number', minimum: 1, maximum: 99 })
    expect(properties.mail).toMatchObject({ type: 'string', format: 'email' })
    expect(properties.at?.description).toContain('format: "uri"')
  })

  it('holds the bounds of strict mode: depth, properties, enum values', () => {
    let deep: z.ZodType = z.object({ leaf: z.string() })
    for (let level = 0; level < 10; level++) deep = z.object({ inner: deep })
    expect(strict(deep).faults.at(-1)?.problem).toContain('deeper than 10')
    const wide = z.object(Object.fromEntries(Array.from({ length: 5001 }, (_, index) => [`k${index}`, z.string()])))
    expect(strict(wide).faults.at(-1)?.problem).toContain('5000 properties')
    const many = z.object({ one: z.enum(Array.from({ length: 1001 }, (_, index) => `v${index}`)) })
    expect(strict(many).faults.at(-1)?.problem).toContain('1000 enum values')
  })

  it('CASE-22: a property named __proto__ stays a property of the schema and changes no prototype', () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}') as JsonObject
    const converted = toStrictSchema(schema, OPENAI).schema
    expect(Object.keys(converted.properties as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })

  it('leaves the author’s schema as it was', () => {
    const schema = jsonSchema(z.object({ a: z.object({ b: z.string().optional() }).optional() }))
    const before = JSON.stringify(schema)
    toStrictSchema(schema, OPENAI)
    expect(JSON.stringify(schema)).toBe(before)
  })
})

describe('toStrictSchema for Anthropic', () => {
  it('CASE-17: optional keys stay optional, constraints go into the description', () => {
    const { schema, nullable, faults } = toStrictSchema(
      jsonSchema(
        z.object({ a: z.string().optional(), b: z.number().min(1).describe('B'), c: z.array(z.string()).min(2) }),
      ),
      ANTHROPIC_STRICT,
    )
    expect(faults).toEqual([])
    expect(nullable).toEqual([])
    expect(schema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { type: 'number', description: 'B (minimum: 1)' },
        c: { type: 'array', description: '(minItems: 2)', items: { type: 'string' } },
      },
      required: ['b', 'c'],
      additionalProperties: false,
    })
  })

  it('CASE-17: a recursive schema is refused, and so are records and tuples', () => {
    const list = { type: 'object', properties: { next: { $ref: '#' } } } satisfies JsonObject
    expect(toStrictSchema(list, ANTHROPIC_STRICT).faults).toEqual([{ path: '(root)', problem: 'is recursive' }])
    expect(
      paths(z.object({ bag: z.record(z.string(), z.string()), pair: z.tuple([z.string()]) }), ANTHROPIC_STRICT),
    ).toEqual(['bag', 'pair'])
  })
})
