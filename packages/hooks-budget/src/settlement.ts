import type { AfterModelCallContext, AfterToolCallContext, JsonObject, Usage } from '@sluice/core'
import { totalInput } from '@sluice/core'
import type { AttemptRecord } from './attempt.js'
import type { Resolution } from './ledger.js'
import { costOf, dearest } from './model-price.js'
import type { ModelPrice } from './model-price.js'
import { priceFromJson } from './model-price-json.js'

/** The price of the model that answered, where it is another one than was asked for. */
export type AnsweredPrice = ModelPrice | 'unpriced' | undefined

/**
 * What a model call is booked with: nothing where it was not sent; what it cost where a whole reply with its usage came; else
 * what was held, marked unknown: it may have been billed. When another model answered, the dearer of the two prices counts,
 * and where that one has no price the record says so. Hosted tools do not report their uses: they are booked as held.
 */
export function settleModelCall(
  context: AfterModelCallContext,
  attempt: AttemptRecord,
  answered: AnsweredPrice,
): Resolution {
  const common: JsonObject = { outcome: context.outcome, sent: context.sent, answeredModel: context.answeredModel }
  if (context.sent === 'no') return { kind: 'released', booked: common }
  const { usage } = context
  const whole = context.outcome === 'ok' || context.finishReason !== null
  const seen: JsonObject = { ...common, usage: usage === null ? null : { ...usage } }
  if (usage === null || !whole || !isCounted(usage)) {
    return { kind: 'unknown', booked: { ...seen, estimated: true } }
  }
  const tokens = BigInt(totalInput(usage) ?? 0) + BigInt(usage.outputTokens ?? 0)
  const price = attempt.held?.price
  if (price === null || price === undefined) {
    return { kind: 'settled', amounts: { usd: null, tokens }, booked: { ...seen, estimated: false } }
  }
  const asked = costOf(priceFromJson(price as JsonObject), usage) as bigint
  const other = answered === undefined || answered === 'unpriced' ? 0n : (costOf(answered, usage) ?? 0n)
  const hosted = BigInt((attempt.held?.hosted as string | undefined) ?? '0')
  const usd = dearest(asked, other) + hosted
  const booked: JsonObject = {
    ...seen,
    nanoUsd: usd.toString(),
    estimated: hosted > 0n,
    ...(answered === undefined ? {} : { answeredPrice: answered === 'unpriced' ? null : { ...answered.provenance } }),
  }
  return { kind: 'settled', amounts: { usd, tokens }, booked }
}

/** What a tool call is booked with: its cost where its handler has started, nothing where it has not. */
export function settleToolCall(context: AfterToolCallContext): Resolution {
  const booked: JsonObject = { outcome: context.outcome, sent: context.sent }
  if (context.sent === 'no') return { kind: 'released', booked }
  if (context.sent === 'unknown') return { kind: 'unknown', booked: { ...booked, estimated: true } }
  return { kind: 'settled', amounts: { usd: null, tokens: 0n }, booked: { ...booked, estimated: false } }
}

/** True for a usage that says how much there was: input and output, as numbers that can be so. */
function isCounted(usage: Usage): boolean {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, unreportedCalls } = usage
  const parts = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0, reasoningTokens ?? 0]
  const isCount = (count: number | null) => count !== null && Number.isSafeInteger(count) && count >= 0
  return unreportedCalls === 0 && [inputTokens, outputTokens, ...parts].every(isCount)
}
