import type { JsonObject } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { toLooseSchema, toolRootFaults } from './tool-schema.js'

const OPENAI = { tuples: 'anyOf', spelledOut: true } as const
const ANTHROPIC = { tuples: 'prefixItems', spelledOut: false } as const

describe('toLooseSchema', () => {
  it('CASE-17: leaves out the draft and keeps everything else, data under the same words included', () => {
    const schema = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: {
        items: { type: 'string', enum: ['$schema'], default: 'x' },
        bag: { type: 'object', additionalProperties: true },
      },
    }
    expect(toLooseSchema(schema, ANTHROPIC)).toEqual({ type: 'object', properties: schema.properties })
  })

  it('CASE-17: a tuple is written as each protocol reads it', () => {
    const draft7 = {
      type: 'object',
      properties: { pair: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 2 } },
    }
    expect(toLooseSchema(draft7, ANTHROPIC).properties).toEqual({
      pair: { type: 'array', minItems: 2, prefixItems: [{ type: 'string' }, { type: 'number' }] },
    })
    expect(toLooseSchema(draft7, OPENAI).properties).toEqual({
      pair: { type: 'array', minItems: 2, items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    })
    const draft2020 = {
      type: 'object',
      properties: { pair: { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'null' } } },
    }
    expect(toLooseSchema(draft2020, OPENAI).properties).toEqual({
      pair: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
    })
  })

  it('spells out properties and items where the protocol insists, and always at the root', () => {
    const schema = { type: 'object', properties: { list: { type: 'array' }, any: { type: 'object' } } }
    expect(toLooseSchema(schema, OPENAI).properties).toEqual({
      list: { type: 'array', items: {} },
      any: { type: 'object', properties: {} },
    })
    expect(toLooseSchema({ type: 'object' }, ANTHROPIC)).toEqual({ type: 'object', properties: {} })
  })
})

describe('toolRootFaults', () => {
  it('CASE-17: arguments are an object: a union, a list or a value at the root is refused', () => {
    expect(toolRootFaults({ type: 'object', properties: {} })).toEqual([])
    const schemas: readonly JsonObject[] = [
      { type: 'array' },
      { oneOf: [{ type: 'object' }] },
      { type: 'object', anyOf: [] },
      { $ref: '#/$defs/a' },
    ]
    for (const schema of schemas) {
      expect(toolRootFaults(schema)).toEqual([expect.objectContaining({ path: '(root)' })])
    }
  })
})
