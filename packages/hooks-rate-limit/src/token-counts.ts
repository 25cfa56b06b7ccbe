import type { AfterModelCallContext, BeforeModelCallContext } from '@sluice/core'
import { totalInput, Veto } from '@sluice/core'

/**
 * The most tokens that a request can come to: the bytes of its body, and its output cap.
 *
 * @throws Veto RATE_LIMIT_TOKENS_UNKNOWN where the input has no upper bound (files)
 */
export function tokensAtMost({ inputTokensAtMost, maxOutputTokens, provider, model }: BeforeModelCallContext): number {
  if (inputTokensAtMost !== null) return inputTokensAtMost + maxOutputTokens
  throw new Veto(
    'RATE_LIMIT_TOKENS_UNKNOWN',
    `Tokens are limited, and the input of this request to ${provider}/${model} has no upper bound (files). Send it as text, or count model calls.`,
    { provider, model },
  )
}

/**
 * What a request came to: 0 where it was not sent; `undefined`, the estimate stands, where nothing was reported. A part that
 * was not reported counts as its estimate.
 */
export function tokensUsed(context: AfterModelCallContext): number | undefined {
  if (context.sent === 'no') return 0
  const { usage, maxOutputTokens } = context
  if (usage === null) return undefined
  const input = totalInput(usage)
  if (input === null && usage.outputTokens === null) return undefined
  const known = input ?? context.inputTokensAtMost
  const sum = known === null ? Number.NaN : known + (usage.outputTokens ?? maxOutputTokens)
  // a report that is no count gives nothing back
  return sum >= 0 && sum < Infinity ? sum : undefined
}
