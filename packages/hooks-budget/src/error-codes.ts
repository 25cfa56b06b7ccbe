/** What each code of this package means. Codes are never renamed; vetoes carry them, errors of the api too. */
export const BUDGET_ERROR_CODES = Object.freeze({
  BUDGET_EXHAUSTED:
    'A call does not fit into what is left of a limit. The details say limit, spent, held, asked and what would fit.',
  PRICE_UNKNOWN: 'A limit in money is in force and the model has no price. Price it, or declare it free.',
  PRICE_SOURCE_FAILED: 'The price source threw, or answered something that is no answer.',
  INPUT_UNBOUNDED: 'The input of a call has no upper bound (a file without one), so nothing safe can be held.',
  HOSTED_TOOL_UNPRICED: 'A limit in money is in force and a tool that runs at the provider has no cost or no maxUses.',
  TOOL_COST_INVALID: 'The cost of a tool is no amount of US dollars.',
  SCOPE_UNRESOLVED:
    'A limit is keyed by something that this call does not have. It is never counted in a shared bucket.',
  ATTEMPT_CLOSED:
    'The attempt was settled or released before its hold came; the hold takes nothing and the call does not go.',
  AMOUNT_INVALID: 'An amount given to the api is no amount of the unit of the limit.',
  LIMIT_UNKNOWN: 'The api was asked for a limit that there is not.',
  LIMITS_DIFFER: 'Another process has started with the same limitsVersion and other limits.',
  TOP_UP_REPEATED: 'The idempotency key was used before, with another amount.',
  EFFECT_NOT_HELD: 'There is no hold of this effect and attempt, or it has been resolved.',
  HOLD_OPEN: 'The hold is younger than holdLifeMs: its call may still be in flight and will resolve it.',
  LEDGER_DAMAGED: 'A document of the ledger cannot be read. Nothing passes until it is mended.',
} as const)

/** A code of this package. */
export type BudgetErrorCode = keyof typeof BUDGET_ERROR_CODES
