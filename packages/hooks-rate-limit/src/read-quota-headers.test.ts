import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasQuota, readQuotaHeaders } from './read-quota-headers.js'

const AT = Date.UTC(2026, 0, 1)

describe('the headers of a provider', () => {
  it('in the dialect of OpenAI: what is left, and durations', () => {
    const headers = {
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
      'x-ratelimit-reset-requests': '1s',
      'x-ratelimit-limit-tokens': '150000',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '6m0s',
    }
    expect(readQuotaHeaders(headers, AT)).toEqual({
      requests: { limit: 60, left: 59, resetMs: 1_000 },
      tokens: { limit: 150_000, left: 149_984, resetMs: 360_000 },
    })
  })

  it('in the dialect of Anthropic: times, measured against the store', () => {
    const headers = {
      'anthropic-ratelimit-requests-limit': '50',
      'anthropic-ratelimit-requests-remaining': '0',
      'anthropic-ratelimit-requests-reset': '2026-01-01T00:00:30Z',
      'anthropic-ratelimit-tokens-remaining': '10',
      'anthropic-ratelimit-tokens-reset': '2025-12-31T23:59:59Z',
    }
    expect(readQuotaHeaders(headers, AT)).toEqual({
      requests: { limit: 50, left: 0, resetMs: 30_000 },
      tokens: { limit: null, left: 10, resetMs: 0 },
    })
  })

  it.each([
    ['12ms', 12],
    ['1.5s', 1_500],
    ['1h2m3s', 3_723_000],
    ['1d', 86_400_000],
    ['7', 7_000],
    [String(AT / 1_000 + 9), 9_000],
    [String(AT + 9), 9],
  ])('a reset of %s is %i ms away', (reset, ms) => {
    const headers = { 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': reset }
    expect(readQuotaHeaders(headers, AT).requests?.resetMs).toBe(ms)
  })

  it('what cannot be read says nothing, whatever stands there', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 200 }), (left, reset) => {
        const headers = { 'x-ratelimit-remaining': left, 'x-ratelimit-reset': reset }
        const { requests } = readQuotaHeaders(headers, AT)
        if (requests === undefined) return
        expect(Number.isSafeInteger(requests.left)).toBe(true)
        expect(requests.resetMs).toBeGreaterThanOrEqual(0)
        expect(Number.isFinite(requests.resetMs)).toBe(true)
      }),
    )
    expect(hasQuota(null)).toBe(false)
    expect(hasQuota({ 'retry-after': '3' })).toBe(false)
    expect(hasQuota(JSON.parse('{"__proto__":{"x-ratelimit-remaining":"0","x-ratelimit-reset":"1"}}'))).toBe(false)
  })
})
