/** What a tenant pays for. */
export type Plan = 'starter' | 'business'

const BUSINESS: ReadonlySet<string> = new Set(['acme'])

/** The plan of a tenant. Who is not known to be on the large plan is on the small one: a new tenant is never without limits. */
export const planOf = (tenant: string): Plan => (BUSINESS.has(tenant) ? 'business' : 'starter')

/** What each plan may use. Money is in US dollars. */
export const PLANS = {
  starter: { usdPerMonth: '0.04', runsPerMinute: 4 },
  business: { usdPerMonth: '5', runsPerMinute: 60 },
} as const
