import { definePlugin, Stage } from '@sluice/core'
import type { BudgetApi } from './budget-api.js'
import { createBudgetApi } from './budget-api.js'
import { budgetOptions, toLimits } from './budget-options.js'
import type { ParsedBudgetOptions } from './budget-options.js'
import { checkLimitsVersion } from './limits-version.js'
import { Ledger } from './ledger.js'
import { createModelCallGuard } from './model-call-guard.js'
import { withOverrides } from './override-prices.js'
import type { PriceSource } from './price-source.js'
import { tablePrices } from './table-prices.js'
import { createTeller } from './teller.js'
import { createToolCallGuard } from './tool-call-guard.js'

/**
 * Limits what agents spend, in money and in tokens: holds the most that a call can cost before it is sent, in all limits that
 * concern it or in none, books what it did cost after it, and stops what does not fit. `runtime.plugin(budget)` gives
 * {@link BudgetApi}.
 *
 * @example
 * budget({ limits: [{ scope: 'run', usd: '0.50' }, { scope: 'user', per: 'day', usd: '10' }] })
 *
 * @throws INVALID_CONFIG, LIMITS_DIFFER when the plugin is applied
 */
export const budget = definePlugin<typeof budgetOptions, BudgetApi>({
  name: 'hooks-budget',
  hookApi: 1,
  version: '0.1.0',
  options: budgetOptions,
  async apply(hooks, host) {
    const { options } = host
    const limits = toLimits(options)
    const documents = host.storage.documents
    const prices = pricesOf(options)
    await checkLimitsVersion(documents, options)
    if (limits.some((limit) => limit.unit === 'usd')) await prices.load?.()
    const ledger = new Ledger(documents, options.holdLifeMs)
    const parts = { ledger, limits, prices, clock: host.clock, tell: createTeller(host.logger, options.onEvent) }

    const model = createModelCallGuard(parts)
    hooks.beforeModelCall.tapPromise({ name: 'hold', stage: Stage.reserve }, model.hold)
    hooks.afterModelCall.tapPromise('settle', model.settle)
    const tool = createToolCallGuard(parts)
    // the last gate before a tool
    hooks.inspectToolInput.tapPromise({ name: 'hold', stage: Stage.reserve }, tool.hold)
    hooks.afterToolCall.tapPromise('settle', tool.settle)

    return {
      api: createBudgetApi({
        documents,
        limits,
        ids: host.ids,
        holdLifeMs: options.holdLifeMs,
        tell: parts.tell,
      }),
    }
  },
})

function pricesOf(options: ParsedBudgetOptions): PriceSource {
  const { models, multipliers, providers, source } = options.prices
  const overrides = {
    models: new Map(Object.entries(models)),
    multipliers: new Map(Object.entries(multipliers)),
    providers: new Map(Object.entries(providers)),
  }
  return withOverrides(overrides, source ?? tablePrices())
}
