import type { ModelProvider, Runtime, RuntimeOptions, Store } from '@sluice/core'
import { createRuntime } from '@sluice/core'
import type { Verification } from '@sluice/hooks-audit'
import { audit } from '@sluice/hooks-audit'
import type { LimitStatus } from '@sluice/hooks-budget'
import { budget } from '@sluice/hooks-budget'
import { supportAgent } from './agent/support-agent.js'
import type { SupportResources } from './agent/support-resources.js'
import type { OrderBook } from './desk/orders.js'
import { planOf } from './desk/plans.js'
import { logOf, moneyLimit, supportGuards } from './guards.js'

/** What the desk is made of. */
export interface SupportDeskParts extends Pick<RuntimeOptions, 'clock' | 'ids' | 'logger'> {
  readonly provider: ModelProvider
  readonly store: Store
  /** Orders by tenant. */
  readonly orders: ReadonlyMap<string, OrderBook>
}

/** Who asks. */
export interface Customer {
  readonly tenant: string
  readonly user: string
}

/** A desk that answers the customers of several tenants. */
export interface SupportDesk {
  readonly runtime: Runtime
  /** @throws Veto where a guard stops the run: RATE_LIMIT_EXCEEDED, BUDGET_EXHAUSTED */
  ask(customer: Customer, question: string): Promise<string>
  /** What a tenant has spent of its plan this month. */
  spent(tenant: string): Promise<LimitStatus>
  /** Adds to the month of a tenant, once for each `key`. `usd` is a decimal string. */
  topUp(
    tenant: string,
    usd: string,
    by: { readonly key: string; readonly who: string; readonly why: string },
  ): Promise<LimitStatus>
  /** Verifies the log of a tenant. */
  verify(tenant: string): Promise<Verification>
  close(): Promise<void>
}

/** Opens the desk. The store is the caller's own, to be closed after it. */
export async function openSupportDesk({ provider, store, orders, ...rest }: SupportDeskParts): Promise<SupportDesk> {
  const runtime = await createRuntime({
    ...rest,
    store,
    providers: [provider],
    agents: [supportAgent],
    plugins: supportGuards(),
  })
  const spent = async (tenant: string): Promise<LimitStatus> => {
    const rows = await runtime.plugin(budget).status({ tenant })
    const row = rows.find(({ limit }) => limit === moneyLimit(planOf(tenant)))
    if (row === undefined) throw new Error(`There is no limit for the plan of ${tenant}.`)
    return row
  }
  return {
    runtime,
    spent,
    async ask({ tenant, user }, question) {
      const book = orders.get(tenant)
      if (book === undefined) throw new Error(`There is no tenant ${tenant}.`)
      const run = await runtime.execute({
        agent: supportAgent,
        input: { question },
        caller: { tenant, user, audience: 'authenticated' },
        resources: { orders: book } satisfies SupportResources,
      })
      return run.text ?? ''
    },
    topUp: (tenant, amount, by) =>
      runtime.plugin(budget).topUp({ limit: moneyLimit(planOf(tenant)), scope: { tenant }, amount, ...by }),
    verify: (tenant) => runtime.plugin(audit).verify({ log: logOf(tenant) }),
    close: () => runtime.close(),
  }
}
