import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool } from './define-tool.js'
import { missingContextText } from './missing-context.js'

const tool = (requiresContext: string[]) =>
  defineTool({ code: 'a', description: 'A.', input: z.object({}), requiresContext, handler: () => 'x' })

describe('missingContextText', () => {
  it('R-17: a tool that lacks a required key answers with a clear text that names it', () => {
    expect(missingContextText(tool(['invoice', 'clerk']), { clerk: 'petra' })).toContain('"invoice" to this run')
    expect(missingContextText(tool(['invoice', 'clerk']), {})).toContain('"invoice", "clerk"')
  })

  it('R-17: bound keys, whatever their value, are enough', () => {
    expect(missingContextText(tool(['a', 'b']), { a: '', b: false })).toBeUndefined()
    expect(missingContextText(tool([]), {})).toBeUndefined()
  })

  it('CASE-22: an inherited name is not bound', () => {
    expect(missingContextText(tool(['toString']), {})).toContain('"toString"')
  })
})
