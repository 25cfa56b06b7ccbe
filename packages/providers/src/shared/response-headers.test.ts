import { describe, expect, it } from 'vitest'
import { rateLimitHeaders, requestIdOf, retryAfterMs } from './response-headers.js'

describe('retryAfterMs', () => {
  it.each([
    [{ 'retry-after': '2' }, 2000],
    [{ 'retry-after': '0.25' }, 250],
    [{ 'retry-after-ms': '1500' }, 1500],
    [{ 'retry-after-ms': '0', 'retry-after': '1' }, 1000],
    [{ 'retry-after-ms': '4000', 'retry-after': '1' }, 4000],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Mon, 30 Nov 2026 10:00:30 GMT', date: 'Mon, 30 Nov 2026 10:00:00 GMT' }, 30_000],
    [{ 'retry-after': 'Mon, 30 Nov 2026 09:00:00 GMT', date: 'Mon, 30 Nov 2026 10:00:00 GMT' }, 0],
    [{ 'retry-after': 'Mon, 30 Nov 2026 10:00:30 GMT' }, undefined],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'retry-after': '-5' }, undefined],
    [{ 'retry-after': '1e999' }, undefined],
    [{}, undefined],
  ])('reads %j as %s ms', (headers, expected) => {
    expect(retryAfterMs(new Headers(headers as Record<string, string>))).toBe(expected)
  })
})

describe('rateLimitHeaders', () => {
  it('keeps the rate-limit figures of all dialects, in lower case, and nothing else', () => {
    const headers = new Headers({
      'X-RateLimit-Remaining-Tokens': '149',
      'anthropic-ratelimit-requests-limit': '50',
      'RateLimit-Reset': '7',
      'Retry-After': '3',
      'set-cookie': 'secret=1',
      'content-type': 'application/json',
    })
    expect(rateLimitHeaders(headers)).toEqual({
      'x-ratelimit-remaining-tokens': '149',
      'anthropic-ratelimit-requests-limit': '50',
      'ratelimit-reset': '7',
      'retry-after': '3',
    })
    expect(rateLimitHeaders(new Headers({ 'content-type': 'text/html' }))).toBeUndefined()
  })
})

describe('requestIdOf', () => {
  it('reads the header of either vendor', () => {
    expect(requestIdOf(new Headers({ 'x-request-id': 'a' }))).toBe('a')
    expect(requestIdOf(new Headers({ 'request-id': 'b' }))).toBe('b')
    expect(requestIdOf(new Headers())).toBeUndefined()
  })
})
