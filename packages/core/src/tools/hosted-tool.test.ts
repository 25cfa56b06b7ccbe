import { describe, expect, it } from 'vitest'
import { SluiceError } from '../errors/sluice-error.js'
import { hostedTool, isHostedTool } from './hosted-tool.js'

const base = {
  code: 'web_search',
  provider: 'anthropic',
  configuration: { type: 'web_search_20250305', name: 'web_search' },
}

describe('hostedTool', () => {
  it('declares a tool of the provider: untrusted and `send` unless it says otherwise, labelled, frozen', () => {
    const hosted = hostedTool(base)
    expect(hosted).toMatchObject({
      kind: 'hosted',
      code: 'web_search',
      provider: 'anthropic',
      labels: [{ kind: 'hosted', source: 'web_search' }],
      offered: { code: 'web_search', configuration: base.configuration },
      info: { code: 'web_search', effect: 'send', untrusted: true, maxUses: null, cost: null },
    })
    expect(isHostedTool(hosted)).toBe(true)
    expect(() => Object.assign(hosted.offered.configuration, { type: 'other' })).toThrow(TypeError)
  })

  it('carries effect, cost and bound to the gates', () => {
    const hosted = hostedTool({ ...base, effect: 'read', untrusted: false, maxUses: 3, cost: { usd: '0.01' } })
    expect(hosted.info).toEqual({
      code: 'web_search',
      effect: 'read',
      untrusted: false,
      maxUses: 3,
      cost: { usd: '0.01' },
    })
    expect(hosted.labels).toEqual([])
  })

  it('keeps a copy of the configuration (CASE-27)', () => {
    const configuration = { type: 'x', filters: ['a'] }
    const hosted = hostedTool({ ...base, configuration })
    configuration.filters.push('b')
    expect(hosted.offered.configuration).toEqual({ type: 'x', filters: ['a'] })
  })

  it('tells all faults at once', () => {
    try {
      hostedTool({ code: '', provider: 'a/b', maxUses: 0, configuration: [], effect: 'x', uses: 3 } as never)
      throw new Error('accepted')
    } catch (error) {
      if (!SluiceError.isInstance(error, 'INVALID_CONFIG')) throw error
      for (const place of ['code', 'provider', 'maxUses', 'configuration', 'effect', 'uses'])
        expect(error.message).toContain(`\n- ${place}: `)
    }
  })
})
