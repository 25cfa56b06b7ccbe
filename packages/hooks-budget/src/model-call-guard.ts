import { Land } from '@sluice/core'
import type { AfterModelCallContext, BeforeModelCallContext, JsonObject } from '@sluice/core'
import { attemptClosed, exhausted, holdDiffers } from './budget-veto.js'
import { boundsAfter, boundsFor, factsOf } from './guard-parts.js'
import type { GuardParts } from './guard-parts.js'
import type { Ask } from './ledger.js'
import { priceToJson } from './model-price-json.js'
import { findPrice, quoteCall } from './quote.js'
import type { Quote } from './quote.js'
import { settleModelCall } from './settlement.js'
import type { AnsweredPrice } from './settlement.js'

/** Holds before a model call and settles after it. */
export function createModelCallGuard(parts: GuardParts) {
  const { ledger, limits, prices, clock, tell } = parts

  async function hold(context: BeforeModelCallContext): Promise<void> {
    const { effectId, attempt } = context
    const bounds = boundsFor(limits, factsOf(context))
    if (bounds.length === 0) return
    const money = bounds.some((bound) => bound.limit.unit === 'usd')
    const quote = await quoteCall(context, prices, { money, at: clock.now() })
    const asks = bounds.map((bound): Ask => {
      const amountFor =
        bound.limit.unit === 'usd' ? quote.usdFor : (outputTokens: bigint) => quote.inputTokens + outputTokens
      return { ...bound, amountFor }
    })
    const outputTokens = BigInt(context.maxOutputTokens)
    const held = describeQuote(context, quote)
    const request = { effectId, attempt, asks, outputTokens, kind: context.landing ? 'landing' : 'call', held } as const
    const { answer, events } = await ledger.hold(request, { signal: context.signal })
    tell(events)
    if (answer.kind === 'closed') throw attemptClosed(effectId, attempt)
    if (answer.kind === 'differs') throw holdDiffers(effectId, attempt)
    if (answer.kind === 'land') throw new Land('BUDGET_LANDING', { maxOutputTokens: answer.maxOutputTokens })
    if (answer.kind === 'refused') {
      throw exhausted(`The call to "${context.provider}/${context.model}"`, answer.shortage, answer.fits)
    }
  }

  async function settle(context: AfterModelCallContext): Promise<void> {
    const bounds = boundsAfter(limits, factsOf(context))
    if (bounds === undefined) return
    const answered = await answeredPrice(context)
    const { events } = await ledger.close(context, bounds, limits, (attempt) =>
      settleModelCall(context, attempt, answered),
    )
    tell(events)
  }

  async function answeredPrice(context: AfterModelCallContext): Promise<AnsweredPrice> {
    const { provider, model, answeredModel } = context
    if (answeredModel === null || answeredModel === model) return undefined
    if (!limits.some((limit) => limit.unit === 'usd')) return undefined
    try {
      const answer = await findPrice(prices, { provider, model: answeredModel, at: clock.now() })
      return answer.known ? answer.price : 'unpriced'
    } catch {
      return 'unpriced'
    }
  }

  return { hold, settle }
}

function describeQuote(context: BeforeModelCallContext, quote: Quote): JsonObject {
  return {
    kind: 'model_call',
    model: `${context.provider}/${context.model}`,
    inputTokensAtMost: Number(quote.inputTokens),
    maxOutputTokens: context.maxOutputTokens,
    price: quote.price === undefined ? null : priceToJson(quote.price),
    hosted: quote.hosted.toString(),
    rootExecutionId: context.rootExecutionId,
    executionId: context.executionId,
    agentCode: context.agentCode,
  }
}
