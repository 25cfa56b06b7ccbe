import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './define-tool.js'
import { validateToolArguments } from './validate-arguments.js'

const tool = defineTool({
  code: 'pay',
  description: 'Pays.',
  input: z.object({ invoice: z.string(), amount: z.number().positive().default(1), note: z.string().optional() }),
  handler: () => 'x',
})

describe('validateToolArguments', () => {
  it('CASE-17: gives what the handler gets: defaults applied, a refused null absent', () => {
    expect(validateToolArguments(tool, { invoice: 'R-1', note: null })).toStrictEqual({
      ok: true,
      value: { invoice: 'R-1', amount: 1 },
    })
  })

  it('CASE-14, G-W9: arguments that do not fit get a short text that names each place', () => {
    const result = validateToolArguments(tool, { amount: -1 })
    expect(result).toMatchObject({ ok: false })
    expect(result).toHaveProperty(
      'fault',
      expect.stringMatching(/^The arguments do not fit the tool: invoice: .+; amount: .+\.$/),
    )
  })

  it('CASE-14, CASE-29: the text is one bounded line, whatever the model sent', () => {
    const open = defineTool({ code: 'a', description: 'A.', input: z.strictObject({}), handler: () => 'x' })
    const result = validateToolArguments(open, { [`\u001b[2J\n${'k'.repeat(100_000)}`]: 1 }) as { fault: string }
    expect(result.fault.length).toBeLessThan(400)
    expect(result.fault).not.toMatch(/[\u0000-\u001f]/)
    const many = defineTool({
      code: 'a',
      description: 'A.',
      input: z.object({ l: z.array(z.string()) }),
      handler: () => 'x',
    })
    const list = validateToolArguments(many, { l: Array.from({ length: 50 }, () => 1) }) as { fault: string }
    expect(list.fault).toContain('and 15 more')
  })
})
