/**
 * Tokens of one model call, or a sum of several. The three input classes are disjoint and add up to the provider's input
 * total; `reasoningTokens` is a part of `outputTokens`. `null` means that the provider did not report it, which is not 0.
 */
export interface Usage {
  /** Fresh input tokens: neither read from nor written to a cache. */
  readonly inputTokens: number | null
  readonly cacheReadTokens: number | null
  readonly cacheWriteTokens: number | null
  /** All output tokens, reasoning included. */
  readonly outputTokens: number | null
  readonly reasoningTokens: number | null
  /** Model calls in this sum that reported no usage at all. 0 for a call that reported. */
  readonly unreportedCalls: number
}

/** Usage of a call whose provider reported nothing. */
export const USAGE_NOT_REPORTED: Usage = Object.freeze({
  inputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  unreportedCalls: 1,
})
/** The empty sum: no call was made. It is the neutral element of {@link addUsage} (by identity). */
export const USAGE_NONE: Usage = Object.freeze({
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  unreportedCalls: 0,
})

function add(left: number | null, right: number | null): number | null {
  if (left === null) return right
  return right === null ? left : left + right
}

/** The sum of two usages: a class is `null` only where neither side reported it; calls without a report are counted. */
export function addUsage(left: Usage, right: Usage): Usage {
  if (left === USAGE_NONE) return Object.isFrozen(right) ? right : Object.freeze({ ...right })
  if (right === USAGE_NONE) return left
  return Object.freeze({
    inputTokens: add(left.inputTokens, right.inputTokens),
    cacheReadTokens: add(left.cacheReadTokens, right.cacheReadTokens),
    cacheWriteTokens: add(left.cacheWriteTokens, right.cacheWriteTokens),
    outputTokens: add(left.outputTokens, right.outputTokens),
    reasoningTokens: add(left.reasoningTokens, right.reasoningTokens),
    unreportedCalls: left.unreportedCalls + right.unreportedCalls,
  })
}

/** Input tokens of all classes; `null` where none was reported. */
export function totalInput(usage: Usage): number | null {
  return add(add(usage.inputTokens, usage.cacheReadTokens), usage.cacheWriteTokens)
}
