import type { ModelRequest } from '@sluice/core'
import { GOOGLE_GENERATE_CONTENT } from '../behaviour/google-behaviour.js'
import type { Wire } from '../shared/wire-json.js'

/** How a level of reasoning is asked for: as a budget of tokens (G-50), or as the level itself (Gemini 3 and later). */
export type GoogleThinking = 'budget' | 'level'

/**
 * What the request says of reasoning, as `thinkingConfig`. A budget that is given is sent as one; 0 means none, and -1
 * leaves the amount to the model. `undefined` where nothing is said: the model then does what it does.
 */
export function thinkingConfig({ reasoning }: ModelRequest, thinking: GoogleThinking): Wire | undefined {
  if (reasoning === undefined) return undefined
  const { level, budgetTokens, summary } = reasoning
  const config: Wire = {}
  if (summary !== undefined) config.includeThoughts = true
  if (budgetTokens !== undefined) config.thinkingBudget = budgetTokens
  else if (level !== undefined && thinking === 'level') config.thinkingLevel = level.toUpperCase()
  else if (level !== undefined) config.thinkingBudget = GOOGLE_GENERATE_CONTENT.reasoning.budgets[level]
  return Object.keys(config).length === 0 ? undefined : config
}
