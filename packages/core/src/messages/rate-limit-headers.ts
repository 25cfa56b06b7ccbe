/** Rate-limit figures from response headers, as the provider sent them (lower-case names). */
export type RateLimitHeaders = Readonly<Record<string, string>>
