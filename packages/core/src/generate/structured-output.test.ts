import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SluiceError } from '../errors/sluice-error.js'
import { compileValidator } from '../tools/compile-validator.js'
import { outputFormat, readOutput } from './structured-output.js'

const Verdict = compileValidator(
  z.object({
    approve: z.boolean(),
    amount: z.number().max(100),
    note: z.string().optional(),
    lines: z.array(z.object({ text: z.string().min(1), tag: z.string().optional() })).default([]),
  }),
)

function faultOf(text: string | null): SluiceError {
  try {
    const result = readOutput(text, Verdict)
    throw new Error(`accepted ${JSON.stringify(result)}`)
  } catch (error) {
    if (SluiceError.isInstance(error)) return error
    throw error
  }
}

describe('readOutput', () => {
  it('G-47: gives the parsed value with the types of the author', () => {
    expect(readOutput(' {"approve":true,"amount":3}\n', Verdict)).toEqual({
      output: { approve: true, amount: 3, lines: [] },
      dropped: [],
    })
  })

  it('G-47: a text that is not JSON is OUTPUT_INVALID', () => {
    expect(faultOf('approved!').code).toBe('OUTPUT_INVALID')
    expect(faultOf('{"approve":true').message).toContain('ends before')
    expect(faultOf('{"approve":true,"amount":3} Done.').message).toContain('something follows')
    expect(faultOf(null).message).toContain('holds no text')
    expect(faultOf('  ').code).toBe('OUTPUT_INVALID')
  })

  it('is strict: a Markdown fence is refused and named', () => {
    expect(faultOf('```json\n{"approve":true,"amount":3}\n```').message).toContain('Markdown fence')
  })

  it('G-48: a constraint that the wire could not carry is enforced, naming the path', () => {
    const fault = faultOf('{"approve":true,"amount":300,"lines":[{"text":"x"},{"text":""}]}')
    expect(fault.code).toBe('OUTPUT_INVALID')
    expect(fault.details).toEqual({ path: 'amount' })
    expect(fault.message).toContain('amount: ')
    expect(fault.message).toContain('lines[1].text: ')
  })

  it('CASE-17: null for an optional key is absent, nested and inside arrays; for a required one it is refused', () => {
    const text = '{"approve":true,"amount":3,"note":null,"lines":[{"text":"x","tag":null}]}'
    const { output } = readOutput(text, Verdict) as { output: object }
    expect(output).toStrictEqual({ approve: true, amount: 3, lines: [{ text: 'x' }] })
    expect(faultOf('{"approve":null,"amount":3}').details).toEqual({ path: 'approve' })
  })

  it('CASE-22: keys that reach a prototype are taken out and listed', () => {
    const text = '{"approve":true,"amount":3,"lines":[{"text":"x","__proto__":{"admin":true}}],"constructor":{"a":1}}'
    expect(readOutput(text, Verdict)).toStrictEqual({
      output: { approve: true, amount: 3, lines: [{ text: 'x' }] },
      dropped: ['constructor', 'lines.0.__proto__'],
    })
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })

  it('CASE-14: takes no repeated key and nothing deeper or larger than its bounds', () => {
    expect(faultOf('{"approve":true,"approve":false,"amount":3}').message).toContain('"approve" appears twice')
    expect(faultOf(`${'['.repeat(10_000)}${']'.repeat(10_000)}`).message).toContain('nested deeper')
    expect(() => readOutput('{"approve":true,"amount":3}', Verdict, { maxBytes: 10 })).toThrow('too large')
  })

  it('takes any JSON value at the root, not only objects', () => {
    expect(readOutput('[1,2]', compileValidator(z.array(z.number())))).toMatchObject({ output: [1, 2] })
    expect(readOutput('"x"', compileValidator(z.string()))).toMatchObject({ output: 'x' })
  })

  it('is asynchronous where the schema is, and with JSON Schema', async () => {
    const slow = compileValidator(z.object({ a: z.string().refine(async (text) => text !== 'no') }))
    await expect(readOutput('{"a":"yes"}', slow)).resolves.toMatchObject({ output: { a: 'yes' } })
    await expect(readOutput('{"a":"no"}', slow)).rejects.toMatchObject({ code: 'OUTPUT_INVALID' })
    const json = compileValidator({
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1 } },
      required: ['n'],
    })
    await expect(readOutput('{"n":1}', json)).resolves.toMatchObject({ output: { n: 1 } })
    // loaded by now, so the answer comes at once
    expect(() => readOutput('{"n":0}', json)).toThrow('n: must be >= 1')
  })
})

describe('outputFormat', () => {
  it.each([
    [undefined, undefined, 'structured_output'],
    ['Invoice verdict', undefined, 'Invoice_verdict'],
    ['Prüfung (v2): Ergebnis!', undefined, 'Prfung_v2_Ergebnis'],
    ['請求書', undefined, 'structured_output'],
    ['Title', 'my name', 'my_name'],
    ['x'.repeat(80), undefined, 'x'.repeat(64)],
  ])('G-46: title %j and name %j give the format name %s', (title, name, expected) => {
    const schema = compileValidator({ type: 'object', ...(title === undefined ? {} : { title }) })
    expect(outputFormat(schema, name).name).toBe(expected)
  })

  it('G-45: carries the schema as the author wrote it, without $schema', () => {
    const schema = compileValidator({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'object', title: 'T' })
    expect(outputFormat(schema).schema).toEqual({ type: 'object', title: 'T' })
  })
})
