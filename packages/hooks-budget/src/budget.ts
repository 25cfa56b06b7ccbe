import { definePlugin, Stage } from '@sluice/core'
import type { PluginHost } from '@sluice/core'
import type { BudgetApi } from './budget-api.js'
import { createBudgetApi } from './budget-api.js'
import type { BudgetEvent } from './bucket-step.js'
import { budgetOptions, toLimits } from './budget-options.js'
import type { ParsedBudgetOptions } from './budget-options.js'
import { checkLimitsVersion } from './limits-version.js'
import { Ledger } from './ledger.js'
import { createModelCallGuard } from './model-call-guard.js'
import { withOverrides } from './override-prices.js'
import type { PriceSource } from './price-source.js'
import { tablePrices } from './table-prices.js'
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
    const parts = { ledger, limits, prices, clock: host.clock, tell: teller(host) }

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
        ledger,
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

/** Tells `onEvent`, and the log of what somebody should look at. */
function teller(host: PluginHost<ParsedBudgetOptions>): (events: readonly BudgetEvent[]) => void {
  return (events) => {
    for (const event of events) {
      if (event.type !== 'threshold') {
        const { limit, effectId, attempt, held } = event
        const said =
          event.type === 'overrun' ? 'A charge was larger than its hold.' : 'A hold was not resolved in time.'
        host.logger.warn({ event: event.type, limit, effectId, attempt, held: held.toString() }, said)
      }
      try {
        host.options.onEvent?.(event)
      } catch (error) {
        host.logger.error(
          { event: event.type, error: error instanceof Error ? error.name : typeof error },
          'onEvent threw.',
        )
      }
    }
  }
}
