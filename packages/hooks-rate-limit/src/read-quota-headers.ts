import type { RateLimitHeaders } from '@sluice/core'

/** What one family of headers says: how much is left, and for how long that holds. */
export interface QuotaReport {
  readonly limit: number | null
  readonly left: number
  readonly resetMs: number
}

/** What a provider said of its own limits. */
export interface QuotaReports {
  readonly requests?: QuotaReport
  readonly tokens?: QuotaReport
}

/** Header names of limit, what is left, and when it is full again, in order of preference. */
const REQUESTS = [
  ['x-ratelimit-limit-requests', 'x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  [
    'anthropic-ratelimit-requests-limit',
    'anthropic-ratelimit-requests-remaining',
    'anthropic-ratelimit-requests-reset',
  ],
  ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
] as const
const TOKENS = [
  ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
  ['anthropic-ratelimit-tokens-limit', 'anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
] as const

const LONGEST_HEADER = 100

/**
 * Reads rate-limit headers; `at` is the store's time, against which absolute times are measured. What cannot be read says
 * nothing.
 *
 * @see https://platform.openai.com/docs/guides/rate-limits (headers, durations such as `6m0s`)
 * @see https://docs.anthropic.com/en/api/rate-limits (headers, RFC 3339 times)
 */
export function readQuotaHeaders(headers: RateLimitHeaders, at: number): QuotaReports {
  const requests = firstOf(REQUESTS, headers, at)
  const tokens = firstOf(TOKENS, headers, at)
  return { ...(requests === undefined ? {} : { requests }), ...(tokens === undefined ? {} : { tokens }) }
}

/** True where the headers have something to say. */
export function hasQuota(headers: RateLimitHeaders | null): headers is RateLimitHeaders {
  if (headers === null) return false
  const { requests, tokens } = readQuotaHeaders(headers, 0)
  return requests !== undefined || tokens !== undefined
}

function firstOf(
  families: readonly (readonly [string, string, string])[],
  headers: RateLimitHeaders,
  at: number,
): QuotaReport | undefined {
  for (const [limitName, leftName, resetName] of families) {
    const left = count(headers, leftName)
    const resetMs = untilReset(text(headers, resetName), at)
    if (left !== undefined && resetMs !== undefined) return { limit: count(headers, limitName) ?? null, left, resetMs }
  }
  return undefined
}

function text(headers: RateLimitHeaders, name: string): string | undefined {
  const value: unknown = Object.hasOwn(headers, name) ? headers[name] : undefined
  return typeof value === 'string' && value.length <= LONGEST_HEADER ? value.trim() : undefined
}

function count(headers: RateLimitHeaders, name: string): number | undefined {
  const value = text(headers, name)
  return value !== undefined && /^\d{1,15}$/.test(value) ? Number(value) : undefined
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h|d)){1,5}$/
const DATE = /^\d{4}-\d\d-\d\dT/
/** Above this a plain number is no duration in seconds but a time: seconds, or from the second one on milliseconds, since 1970. */
const EPOCH_S = 1e9
const EPOCH_MS = 1e11

function untilReset(value: string | undefined, at: number): number | undefined {
  if (value === undefined) return undefined
  if (DURATION.test(value)) {
    let ms = 0
    for (const [, number, unit] of value.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g))
      ms += Number(number) * (UNITS[unit as string] ?? 0)
    return ms
  }
  if (/^\d{1,15}(\.\d{1,9})?$/.test(value)) {
    const number = Number(value)
    if (number >= EPOCH_MS) return Math.max(0, number - at)
    return number >= EPOCH_S ? Math.max(0, number * 1_000 - at) : number * 1_000
  }
  const time = DATE.test(value) ? Date.parse(value) : Number.NaN
  return Number.isFinite(time) ? Math.max(0, time - at) : undefined
}
