import type { AfterModelCallContext, AfterToolCallContext, JsonObject, Usage } from '@sluice/core'
import { totalInput } from '@sluice/core'
import type { AttemptRecord } from './attempt.js'
import type { Unit } from './limit.js'
import { costOf, dearest } from './model-price.js'
import type { ModelPrice } from './model-price.js'
import { priceFromJson } from './model-price-json.js'
import type { Resolution } from './resolve-attempt.js'

/** The price of the model that answered, where it is another one than was asked for. */
export type AnsweredPrice = ModelPrice | 'unpriced' | undefined

/**
 * What a model call is booked with: nothing where it was not sent; what it cost where a whole reply with its usage came; else
 * what was held, marked unknown: it may have been billed. What a reply reported that did not come whole (a stream that broke,
 * an abort) is the least that it can have cost, never what it did cost: only where that alone is above the hold it is booked,
 * as an estimate. When another model answered, the dearer of the two prices counts, and where that one has no price the
 * record says so. Hosted tools do not report their uses: they are booked as held.
 */
export function settleModelCall(
  context: AfterModelCallContext,
  attempt: AttemptRecord,
  answered: AnsweredPrice,
): Resolution {
  const common: JsonObject = { outcome: context.outcome, sent: context.sent, answeredModel: context.answeredModel }
  if (context.sent === 'no') return { kind: 'released', booked: common }
  const { usage } = context
  const seen: JsonObject = { ...common, usage: usage === null ? null : usageToJson(usage) }
  const unknown: Resolution = { kind: 'unknown', booked: { ...seen, estimated: true } }
  if (usage === null || !isCounted(usage)) return unknown
  const { amounts, booked } = chargeOf(usage, attempt, answered)
  if (context.outcome === 'ok' || context.finishReason !== null) {
    return { kind: 'settled', amounts, booked: { ...seen, ...booked } }
  }
  const usd = atLeast(attempt, 'usd', amounts.usd)
  const tokens = atLeast(attempt, 'tokens', amounts.tokens)
  if (!usd.isAbove && !tokens.isAbove) return unknown
  const least = { usd: usd.amount, tokens: tokens.amount }
  return { kind: 'settled', amounts: least, booked: { ...seen, ...booked, estimated: true } }
}

/** What a usage costs: nano-USD, where a limit in money holds for the attempt, and tokens. */
function chargeOf(usage: Usage, attempt: AttemptRecord, answered: AnsweredPrice) {
  const tokens = BigInt(totalInput(usage) ?? 0) + BigInt(usage.outputTokens ?? 0)
  const price = attempt.held?.price
  if (price === null || price === undefined) return { amounts: { usd: null, tokens }, booked: { estimated: false } }
  const asked = costOf(priceFromJson(price as JsonObject), usage) as bigint
  const other = answered === undefined || answered === 'unpriced' ? 0n : (costOf(answered, usage) ?? 0n)
  const hosted = BigInt((attempt.held?.hosted as string | undefined) ?? '0')
  const usd = dearest(asked, other) + hosted
  const booked: JsonObject = {
    nanoUsd: usd.toString(),
    estimated: hosted > 0n,
    ...(answered === undefined ? {} : { answeredPrice: answered === 'unpriced' ? null : { ...answered.provenance } }),
  }
  return { amounts: { usd, tokens }, booked }
}

/** What was held in a unit (the same in each limit), or what was reported where that is more. */
function atLeast(attempt: AttemptRecord, unit: Unit, reported: bigint | null) {
  const part = attempt.parts.find((one) => one.unit === unit)
  if (part === undefined || reported === null) return { amount: null, isAbove: false }
  const held = BigInt(part.amount)
  return { amount: dearest(held, reported), isAbove: reported > held }
}

/** What a tool call is booked with: its cost where its handler has started, nothing where it has not. */
export function settleToolCall(context: AfterToolCallContext): Resolution {
  const booked: JsonObject = { outcome: context.outcome, sent: context.sent }
  if (context.sent === 'no') return { kind: 'released', booked }
  if (context.sent === 'unknown') return { kind: 'unknown', booked: { ...booked, estimated: true } }
  return { kind: 'settled', amounts: { usd: null, tokens: 0n }, booked: { ...booked, estimated: false } }
}

/** As it was reported: what is no JSON number, such as `NaN`, as a text. */
function usageToJson(usage: Usage): JsonObject {
  const isJson = (count: unknown) => count === null || Number.isFinite(count)
  return Object.fromEntries(Object.entries(usage).map(([name, count]) => [name, isJson(count) ? count : String(count)]))
}

/** True for a usage that says how much there was: input and output, as numbers that can be so. */
function isCounted(usage: Usage): boolean {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, reasoningTokens, unreportedCalls } = usage
  const parts = [cacheReadTokens ?? 0, cacheWriteTokens ?? 0, reasoningTokens ?? 0]
  const isCount = (count: number | null) => count !== null && Number.isSafeInteger(count) && count >= 0
  // reasoning is a part of the output: where it is more, one of the two was not counted
  const isPart = (reasoningTokens ?? 0) <= (outputTokens ?? 0)
  return unreportedCalls === 0 && isPart && [inputTokens, outputTokens, ...parts].every(isCount)
}
