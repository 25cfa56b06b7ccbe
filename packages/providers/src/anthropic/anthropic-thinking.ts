import type { ModelRequest } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { ANTHROPIC_MESSAGES } from '../behaviour/anthropic-behaviour.js'
import type { Wire } from '../shared/wire-json.js'

/** How a level of reasoning is asked for: as a budget of tokens (G-50), or left to the model with an effort. */
export type AnthropicThinking = 'budget' | 'adaptive'

/** Tokens of thinking for each level (G-50). */
const BUDGETS = ANTHROPIC_MESSAGES.reasoning.budgets

/**
 * Adds what the request says of reasoning. A budget is asked for where one is given, or where models are asked by budget.
 * @throws REASONING_BUDGET_TOO_LARGE where the budget is not below the output cap (G-51)
 */
export function addThinking(body: Wire, request: ModelRequest, thinking: AnthropicThinking): void {
  const { reasoning } = request
  // the caller's raw setting stands above the neutral one (G-49)
  if (reasoning === undefined || request.providerOptions?.thinking !== undefined) return
  const display = reasoning.summary === undefined ? {} : { display: 'summarized' }
  if (thinking === 'adaptive' && reasoning.budgetTokens === undefined) {
    body.thinking = { type: 'adaptive', ...display }
    if (reasoning.level !== undefined) body.output_config = { ...(body.output_config as Wire), effort: reasoning.level }
    return
  }
  const budget = reasoning.budgetTokens ?? (reasoning.level === undefined ? undefined : BUDGETS?.[reasoning.level])
  if (budget === undefined) return
  if (budget >= request.maxOutputTokens) throw budgetTooLarge(budget, request)
  body.thinking = { type: 'enabled', budget_tokens: budget, ...display }
}

function budgetTooLarge(budget: number, { maxOutputTokens, model }: ModelRequest): SluiceError {
  return new SluiceError(
    'REASONING_BUDGET_TOO_LARGE',
    `A reasoning budget of ${budget} tokens is not below the output cap of ${maxOutputTokens} for model "${model}".`,
    {
      hint: 'Raise `maxOutputTokens`, or lower `reasoning.budgetTokens` or `reasoning.level`.',
      details: { budgetTokens: budget, maxOutputTokens },
    },
  )
}
