import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SluiceError } from '../errors/sluice-error.js'
import { defineTool, isToolDefinition } from './define-tool.js'

const input = z.object({ invoice: z.string().describe('Number of the invoice.') })
const base = { code: 'get_invoice', description: 'Reads an invoice.', input, handler: () => 'x' }

/** The faults of a definition, through the error that a user sees. */
function faultsOf(options: object): string {
  try {
    defineTool(options as never)
  } catch (error) {
    if (SluiceError.isInstance(error, 'INVALID_CONFIG') && error.reason === 'tool.definition') return error.message
    throw error
  }
  throw new Error('accepted')
}

describe('defineTool', () => {
  it('gives a frozen definition with the defaults of a tool that says nothing', () => {
    const tool = defineTool(base)
    expect(tool).toMatchObject({
      kind: 'tool',
      code: 'get_invoice',
      effect: 'send',
      repeat: 'never',
      untrusted: false,
      cost: null,
      timeoutMs: null,
      tags: [],
      requiresContext: [],
      agent: null,
      labels: [],
    })
    expect(isToolDefinition(tool)).toBe(true)
    expect(isToolDefinition({ ...base })).toBe(false)
    expect(() => Object.assign(tool, { effect: 'read' })).toThrow(TypeError)
    expect(() => (tool.tags as string[]).push('x')).toThrow(TypeError)
    expect(Object.isFrozen(tool.offered.inputSchema.properties)).toBe(true)
  })

  it.each([
    ['read', undefined, 'safe'],
    ['write', undefined, 'never'],
    ['send', undefined, 'never'],
    ['write', 'by-key', 'by-key'],
    ['read', 'never', 'never'],
  ] as const)('effect %s and repeat %s mean repeat %s', (effect, repeat, expected) => {
    expect(defineTool({ ...base, effect, ...(repeat === undefined ? {} : { repeat }) }).repeat).toBe(expected)
  })

  it('CASE-17: offers name, description and the JSON Schema with the descriptions of properties', () => {
    const tool = defineTool(base)
    expect(tool.offered).toEqual({
      name: 'get_invoice',
      description: 'Reads an invoice.',
      inputSchema: {
        type: 'object',
        properties: { invoice: { type: 'string', description: 'Number of the invoice.' } },
        required: ['invoice'],
      },
    })
    expect(tool.offered).toBe(tool.offered)
  })

  it('the digest changes with code, description, schema, effect and agent, and with nothing else', () => {
    const digest = defineTool(base).definitionDigest
    expect(digest).toMatch(/^[0-9a-f]{64}$/)
    expect(defineTool({ ...base, handler: () => 'y', tags: ['t'], untrusted: true }).definitionDigest).toBe(digest)
    const { handler: _, ...rest } = base
    const changed = [
      { ...base, code: 'b' },
      { ...base, description: 'Other.' },
      { ...base, input: z.object({ invoice: z.string() }) },
      { ...base, effect: 'read' as const },
    ].map((options) => defineTool(options).definitionDigest)
    changed.push(defineTool({ ...rest, agent: 'clerk' }).definitionDigest)
    expect(new Set([digest, ...changed]).size).toBe(6)
  })

  it('tells gates what it is, in one frozen object', () => {
    const tool = defineTool({ ...base, effect: 'write', untrusted: true, cost: { usd: '0.01' } })
    expect(tool.info).toEqual({
      effect: 'write',
      untrusted: true,
      cost: { usd: '0.01' },
      definitionDigest: tool.definitionDigest,
      agent: null,
    })
    expect(tool.info).toBe(tool.info)
    expect(Object.isFrozen(tool.info) && Object.isFrozen(tool.info.cost)).toBe(true)
    expect(tool.labels).toEqual([{ kind: 'tool', source: 'get_invoice' }])
  })

  it('what happens to the options afterwards changes nothing (CASE-27)', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const options = { ...base, input: schema, tags: ['one'], cost: { usd: '1' } }
    const tool = defineTool(options)
    schema.properties.a.type = 'number'
    options.tags.push('two')
    options.cost.usd = '2'
    expect(tool.offered.inputSchema).toEqual({ type: 'object', properties: { a: { type: 'string' } } })
    expect([tool.tags, tool.cost]).toEqual([['one'], { usd: '1' }])
  })

  it('tells all faults of one definition at once', () => {
    const message = faultsOf({
      code: 'get invoice!',
      effect: 'delete',
      repeat: 'always',
      untrusted: 'yes',
      cost: { usd: 0.01 },
      timeoutMs: Number.POSITIVE_INFINITY,
      tags: 'ap',
      requiresContext: [''],
      authorize: true,
      timeout: 5,
      input: z.object({ when: z.date(), list: z.array(z.object({ big: z.bigint() })) }),
    })
    const places = [
      'code',
      'description',
      'effect',
      'repeat',
      'untrusted',
      'cost',
      'timeoutMs',
      'tags',
      'requiresContext',
    ]
    for (const place of [...places, 'authorize', 'timeout', 'handler']) expect(message).toContain(`\n- ${place}: `)
    expect(message).toContain('input/properties/when: Date cannot be represented')
    expect(message).toContain('input/properties/list/items/properties/big: BigInt cannot be represented')
  })

  it.each(['', 'a b', 'ä', 'x'.repeat(65), 'a/b', '__proto__\n', 7])('refuses the code %j', (code) => {
    expect(faultsOf({ ...base, code })).toContain('- code: ')
  })

  it.each([
    { usd: '-1' },
    { usd: '1e3' },
    { usd: '01' },
    { usd: '0.0000000001' },
    { usd: '1', eur: '1' },
    '1',
    { usd: '' },
  ])('refuses the cost %j', (cost) => {
    expect(faultsOf({ ...base, cost })).toContain('- cost: ')
  })

  it.each([0, -1, Number.NaN, '5'])('refuses the timeout %j', (timeoutMs) => {
    expect(faultsOf({ ...base, timeoutMs })).toContain('- timeoutMs: ')
  })

  it('refuses a handler beside an agent, neither, and what is no function', () => {
    const { handler: _, ...rest } = base
    expect(faultsOf({ ...base, agent: 'x' })).toContain('not both')
    expect(faultsOf(rest)).toContain('not neither')
    expect(faultsOf({ ...base, handler: 'x' })).toContain('must be a function')
    expect(faultsOf({ ...rest, agent: '' })).toContain('code of an agent')
  })

  it.each([undefined, null, 'x', []])('refuses %j in place of options', (options) => {
    expect(() => defineTool(options as never)).toThrow('one plain object')
  })

  it.each([
    ['zod', z.object({ _ctx: z.string() })],
    ['JSON Schema', { type: 'object', properties: { _ctx: {} } }],
    ['a union', z.union([z.object({ a: z.string() }), z.object({ _ctx: z.string() })])],
    ['a reference', { $ref: '#/definitions/x', definitions: { x: { type: 'object', properties: { _ctx: {} } } } }],
  ])('R-12: a schema that declares `_ctx` is refused (%s)', (_kind, schema) => {
    expect(faultsOf({ ...base, input: schema })).toContain('- input._ctx: is reserved')
  })

  it('R-12: `_ctx` below the top is a name like any other', () => {
    expect(defineTool({ ...base, input: z.object({ a: z.object({ _ctx: z.string() }) }) }).code).toBe('get_invoice')
  })

  it.each(['__proto__', 'constructor', 'prototype'])(
    'CASE-22: a schema that declares %s is refused, at any level',
    (name) => {
      const schema = JSON.parse(
        `{"type":"object","properties":{"a":{"type":"array","items":{"properties":{"${name}":{}}}}}}`,
      )
      expect(faultsOf({ ...base, input: schema })).toContain(`- input ${name}: `)
    },
  )

  it.each([
    ['a text', z.string()],
    ['a list', z.array(z.string())],
    ['anything', z.unknown()],
    ['a union with a text', z.union([z.object({ a: z.string() }), z.string()])],
    ['an empty JSON Schema', {}],
    ['no schema', undefined],
    [
      'a schema library without JSON Schema',
      { '~standard': { version: 1, vendor: 'other', validate: () => ({ value: 1 }) } },
    ],
  ])('refuses arguments that are %s', (_what, schema) => {
    expect(faultsOf({ ...base, input: schema })).toContain('- input: ')
  })

  it('CASE-17: takes a union of objects, a recursive object and a refined object at the root', () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node).optional()
      },
    })
    const union = z.discriminatedUnion('kind', [z.object({ kind: z.literal('a') }), z.object({ kind: z.literal('b') })])
    const refined = z.object({ a: z.string() }).refine(() => true)
    for (const schema of [
      node,
      union,
      refined,
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })),
    ])
      expect(defineTool({ ...base, input: schema }).code).toBe('get_invoice')
  })
})
