import type { RateLimitHeaders } from '@sluice/core'

/** The part of `Headers` that is read here. */
export interface ResponseHeaders extends Iterable<[string, string]> {
  get(name: string): string | null
}

const RATE_LIMIT = /^(x-ratelimit-|anthropic-ratelimit-|ratelimit|retry-after)/

/** The rate-limit figures among the headers, names in lower case; `undefined` where there are none. */
export function rateLimitHeaders(headers: ResponseHeaders): RateLimitHeaders | undefined {
  let found: Record<string, string> | undefined
  for (const [name, value] of headers) {
    if (!RATE_LIMIT.test(name)) continue
    found ??= {}
    found[name] = value
  }
  return found
}

/** The id under which the provider can find this request: OpenAI and compatible servers, then Anthropic, then OCI. */
export function requestIdOf(headers: ResponseHeaders): string | undefined {
  return headers.get('x-request-id') ?? headers.get('request-id') ?? headers.get('opc-request-id') ?? undefined
}

/**
 * How long the provider asks to wait, in milliseconds: `retry-after-ms`, else `retry-after` in seconds or as a date. A
 * date is measured against the response's own `date`, so that no clock of this machine is needed; without one it says
 * nothing. Of two answers (Azure sends `retry-after-ms: 0` beside `retry-after: 1`) the longer wait is taken.
 */
export function retryAfterMs(headers: ResponseHeaders): number | undefined {
  const precise = decimal(headers.get('retry-after-ms'))
  const coarse = headers.get('retry-after')
  const seconds = decimal(coarse)
  const waits = [precise, seconds === undefined ? untilDate(coarse, headers.get('date')) : Math.round(seconds * 1000)]
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

function decimal(text: string | null): number | undefined {
  if (text === null || !/^\s*\d{1,15}(\.\d+)?\s*$/.test(text)) return undefined
  return Number(text)
}

function untilDate(text: string | null, sentAt: string | null): number | undefined {
  if (text === null || sentAt === null) return undefined
  const wait = Date.parse(text) - Date.parse(sentAt)
  return Number.isFinite(wait) ? Math.max(0, wait) : undefined
}
