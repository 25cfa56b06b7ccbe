export { rateLimit } from './rate-limit.js'
export type { LimitStatus, RateLimitApi } from './rate-limit-api.js'
export type { LimitOptions, ProviderQuotaOptions, RateCount, RateLimitOptions, RateSpan } from './rate-limit-options.js'
export type { RateScope, RateSubject } from './rate-subject.js'
