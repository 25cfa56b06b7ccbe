import type { PluginInstance } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import { budget } from '@sluice/hooks-budget'
import { rateLimit } from '@sluice/hooks-rate-limit'
import { MODEL } from './agent/support-agent.js'
import type { Plan } from './desk/plans.js'
import { PLANS, planOf } from './desk/plans.js'

/** The tenant, where it is on this plan. */
const onPlan = (plan: Plan, tenant: string | null): string | null =>
  tenant !== null && planOf(tenant) === plan ? tenant : null

/** Id of the limit in money of a plan. */
export const moneyLimit = (plan: Plan): string => `${plan}-month`

/** Name of the log of a tenant. */
export const logOf = (tenant: string | null): string => (tenant === null ? 'no-tenant' : `tenant-${tenant}`)

/**
 * What stands in front of every run: how often a tenant may ask, what it may spend, and a log of its own. The order in which
 * they are asked does not depend on the order here: rate limit, budget, audit.
 */
export function supportGuards(): readonly PluginInstance[] {
  return [
    rateLimit({
      limits: (['starter', 'business'] as const).map((plan) => ({
        name: `${plan}-runs`,
        count: 'runs' as const,
        key: ({ tenant }: { readonly tenant: string | null }) => onPlan(plan, tenant),
        max: PLANS[plan].runsPerMinute,
        per: 'minute' as const,
      })),
    }),
    budget({
      limits: [
        // no answer is worth more; and a call without a tenant is stopped here, as the limit below cannot place it
        { scope: 'run', usd: '0.10' },
        { id: 'any-tenant', scope: 'tenant', per: 'month', usd: '50' },
        ...(['starter', 'business'] as const).map((plan) => ({
          id: moneyLimit(plan),
          scope: 'key' as const,
          key: ({ tenant }: { readonly tenant: string | null }) => onPlan(plan, tenant) ?? (false as const),
          per: 'month' as const,
          usd: PLANS[plan].usdPerMonth,
        })),
      ],
      prices: { models: { [MODEL]: { input: '3', output: '15' } } },
    }),
    // one log for each tenant: it can be handed over, or verified, without the others
    audit({ log: ({ tenant }) => logOf(tenant) }),
  ]
}
