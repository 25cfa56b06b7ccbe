import { describe, expect, it } from 'vitest'
import { appliesTo } from './applies-to.js'

describe('appliesTo', () => {
  const guarded = { agent: 'ap_desk', tool: 'ap_approve_invoice' } as const

  it('B-1, B-W5: is true only for the guarded tool of the guarded agent', () => {
    const applies = appliesTo({ ...guarded, standalone: 'exclude' })
    expect(applies({ agentCode: 'ap_desk', toolCode: 'ap_approve_invoice' })).toBe(true)
    expect(applies({ agentCode: 'ap_desk', toolCode: 'ap_get_invoice' })).toBe(false)
    expect(applies({ agentCode: 'other', toolCode: 'ap_approve_invoice' })).toBe(false)
  })

  it('B-8, B-W5: a call outside any agent is guarded or exempt as it was said, never by accident', () => {
    const call = { agentCode: null, toolCode: 'ap_approve_invoice' }
    expect(appliesTo({ ...guarded, standalone: 'include' })(call)).toBe(true)
    expect(appliesTo({ ...guarded, standalone: 'exclude' })(call)).toBe(false)
    expect(appliesTo({ ...guarded, standalone: 'include' })({ agentCode: null, toolCode: 'other' })).toBe(false)
  })

  it('B-W5: refuses to leave open what happens to calls outside any agent', () => {
    expect(() => appliesTo({ tool: 'x' } as never)).toThrowError(
      expect.objectContaining({ code: 'INVALID_CONFIG', reason: 'applies_to.standalone' }),
    )
  })

  it('takes lists, and everything where nothing is named', () => {
    expect(appliesTo({ agent: ['a', 'b'], standalone: 'exclude' })({ agentCode: 'b' })).toBe(true)
    expect(appliesTo({ standalone: 'exclude' })({ agentCode: 'anyone', toolCode: 'any' })).toBe(true)
  })
})
