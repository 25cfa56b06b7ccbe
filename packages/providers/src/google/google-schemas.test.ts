import type { JsonObject } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { createGoogleSchemas } from './google-schemas.js'

const schemas = createGoogleSchemas()

function jsonSchema(schema: z.ZodType): JsonObject {
  return z.toJSONSchema(schema, { target: 'draft-7', io: 'input' }) as JsonObject
}

// `any`: what is on the wire is walked freely by the assertions
function wireOf(schema: z.ZodType): any {
  return schemas.output({ name: 'answer', schema: jsonSchema(schema) }).responseJsonSchema
}

function faultsOf(schema: JsonObject, use: 'tool' | 'output'): unknown {
  try {
    schemas.check(schema, use)
    return []
  } catch (error) {
    if (SluiceError.isInstance(error, 'SCHEMA_UNSUPPORTED')) return error.details?.faults
    throw error
  }
}

/** Every keyword that stands in a schema, but not the names of its properties. */
function keywordsOf(node: any): string[] {
  if (Array.isArray(node)) return node.flatMap(keywordsOf)
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([key, value]) => {
    if (key === 'properties' || key === '$defs') return [key, ...Object.values(value as object).flatMap(keywordsOf)]
    return key === 'enum' || key === 'required' ? [key] : [key, ...keywordsOf(value)]
  })
}

/** What the documentation of `responseJsonSchema` lists. */
const CARRIED = new Set(
  '$id $defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf oneOf properties additionalProperties required'.split(
    ' ',
  ),
)

describe('the answer schema', () => {
  it('CASE-17: has no keyword but those that the protocol carries; the rest stands in descriptions', () => {
    const part = z.object({
      sku: z
        .string()
        .regex(/^[A-Z]+$/)
        .describe('The part'),
      count: z.int().min(1).max(9),
    })
    const wire = wireOf(
      z.object({
        kind: z.literal('order'),
        urgent: z.literal(true).describe('Always'),
        parts: z.array(part).min(1).max(5),
        first: part,
        share: z.number().gt(0).lt(1).multipleOf(0.5),
        at: z.iso.datetime(),
        mail: z.email(),
        by: z.discriminatedUnion('who', [z.object({ who: z.literal('me') }), z.object({ who: z.literal('you') })]),
        note: z.string().nullable().optional(),
      }),
    )
    expect(keywordsOf(wire).filter((keyword) => !CARRIED.has(keyword))).toEqual([])
    expect(wire.properties.kind).toEqual({ type: 'string', enum: ['order'] })
    expect(wire.properties.urgent).toEqual({ type: 'boolean', description: 'Always (one of: true)' })
    expect(wire.properties.parts).toMatchObject({ minItems: 1, maxItems: 5 })
    expect(wire.properties.at).toMatchObject({ format: 'date-time' })
    expect(wire.properties.mail.description).toContain('format: "email"')
    expect(wire.properties.share.description).toMatch(/exclusiveMinimum: 0.*exclusiveMaximum: 1.*multipleOf: 0.5/)
    expect(wire.properties.first.properties.sku.description).toMatch(/^The part \(pattern: /)
    expect(wire.required).not.toContain('note')
  })

  it('CASE-17: carries records and tuples as they are', () => {
    const wire = wireOf(
      z.object({
        bag: z.record(z.string(), z.object({ n: z.number() })),
        pair: z.tuple([z.string(), z.number()]),
        many: z.tuple([z.string()]).rest(z.boolean()),
      }),
    )
    expect(wire.properties.bag).toMatchObject({
      type: 'object',
      additionalProperties: { type: 'object', required: ['n'], additionalProperties: false },
    })
    expect(wire.properties.pair).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }, { type: 'number' }],
      minItems: 2,
      maxItems: 2,
    })
    expect(wire.properties.many).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }],
      items: { type: 'boolean' },
      minItems: 1,
    })
  })

  it('CASE-17: refuses by path what cannot be said: recursion, intersections, keys that nobody describes', () => {
    expect(faultsOf({ type: 'object', properties: { next: { $ref: '#' } } }, 'output')).toEqual([
      { path: '(root)', problem: 'is recursive' },
    ])
    const open = { type: 'object', additionalProperties: true }
    const both = { allOf: [{ type: 'object' }, { type: 'object' }] }
    const inBag = { type: 'object', additionalProperties: { type: 'object', additionalProperties: {} } }
    const properties = { any: open, both, bag: inBag, not: { not: { type: 'string' } } }
    const faults = faultsOf({ type: 'object', properties, additionalProperties: false }, 'output') as any[]
    expect(faults.map(({ path }) => path)).toEqual(['any', 'both', 'bag{}', 'not', 'not'])
  })

  it('is wrapped where its root is no object', () => {
    const list = { type: 'array', items: { type: 'string' } } satisfies JsonObject
    expect(schemas.wrapsOutput(list)).toBe(true)
    expect(schemas.output({ name: 'list', schema: list })).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { value: list }, required: ['value'] },
    })
    expect(schemas.wrapsOutput({ type: 'object', properties: {} })).toBe(false)
  })
})

describe('a tool', () => {
  it('has the schema of its author, and arguments that are no object are refused', () => {
    const inputSchema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { at: { type: 'string', format: 'date-time', pattern: 'x' }, pair: { items: [{ type: 'string' }] } },
      required: ['at'],
    } satisfies JsonObject
    expect(schemas.tool({ name: 'find', description: '', inputSchema })).toEqual({
      name: 'find',
      parametersJsonSchema: {
        type: 'object',
        properties: {
          at: { type: 'string', format: 'date-time', pattern: 'x' },
          pair: { prefixItems: [{ type: 'string' }] },
        },
        required: ['at'],
      },
    })
    expect(faultsOf({ type: 'array' }, 'tool')).toHaveLength(1)
    expect(faultsOf(inputSchema, 'tool')).toEqual([])
  })
})
