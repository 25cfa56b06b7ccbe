/** What a code of this package says, and what to do about it. */
export interface BudgetErrorRow {
  readonly meaning: string
  readonly remedy: string
}

const row = (meaning: string, remedy: string): BudgetErrorRow => Object.freeze({ meaning, remedy })

/** All codes that this package raises: as a `Veto` or `Land` of its gates, or as a `SluiceError`. Codes are never renamed. */
export const BUDGET_ERROR_CODES = Object.freeze({
  BUDGET_EXHAUSTED: row(
    'A call does not fit into what is left of a limit.',
    'Lower the output cap to the one in the details, wait until the limit begins anew, or top up.',
  ),
  BUDGET_LANDING: row(
    'A call does not fit, and what a limit has kept for a last request is still there: the run lands.',
    'Nothing: the run ends with one last request. Raise the limit to let it go on.',
  ),
  PRICE_UNKNOWN: row(
    'A limit in money is in force and the model has no price.',
    'Price the model in `prices.models`, or declare it free; `details.nearest` is the nearest id with a price.',
  ),
  PRICE_SOURCE_FAILED: row(
    'The price source threw, or gave neither a price nor `{ known: false }`.',
    'Mend the source; `cause` is what it threw.',
  ),
  INPUT_UNBOUNDED: row(
    'The input of a call has no upper bound, so nothing safe can be held.',
    'Leave out the file of which the provider states no bound.',
  ),
  HOSTED_TOOL_UNPRICED: row(
    'A limit in money is in force and a tool that runs at the provider has no cost or no `maxUses`.',
    'Declare both in `hostedTool`.',
  ),
  TOOL_COST_INVALID: row('The cost of a tool is no amount of US dollars.', "Write a decimal string, such as '0.01'."),
  SCOPE_UNRESOLVED: row(
    'A limit is keyed by something that this call does not have. It is never counted in a shared bucket.',
    'Say who calls, mend the key function, or give the api a scope that tells the bucket.',
  ),
  ATTEMPT_CLOSED: row(
    'The attempt had ended before its hold came; the hold takes nothing and the call does not go.',
    'Nothing: the attempt is over. Raise `hookTimeoutMs` if the store is slow.',
  ),
  HOLD_DIFFERS: row(
    'The attempt is asked again, and its hold does not cover it: limits, key or price have changed.',
    'Start the run anew; keep key functions pure.',
  ),
  AMOUNT_INVALID: row(
    'An amount is none of the unit of its limit, or a text of a change is empty or too long.',
    "Give US dollars as a decimal string ('0.50'), tokens as a whole number, and `who`, `why` and `key` as texts.",
  ),
  LIMIT_UNKNOWN: row('The api was asked for a limit that there is not.', 'Use an id that the message lists.'),
  LIMITS_DIFFER: row(
    'Another process has started with the same `limitsVersion` and other limits.',
    'Give every process the same limits, and new limits a new `limitsVersion`.',
  ),
  TOP_UP_REPEATED: row('The key of a top-up was used before, with another amount.', 'Use a new key for a new top-up.'),
  EFFECT_NOT_HELD: row(
    'Nothing of this effect waits for an answer: there is no hold, or it has been resolved.',
    'Look at `charges(effectId)`; `unknowns()` lists what waits.',
  ),
  HOLD_OPEN: row(
    'The hold is younger than `holdLifeMs`: its call may be in flight and will resolve it.',
    'Wait until the hold has lapsed.',
  ),
  LEDGER_DAMAGED: row(
    'A document of the ledger cannot be read. Nothing passes until it is mended.',
    'Restore it from a backup; deleting it forgets what was spent.',
  ),
} as const)

/** A code of this package. */
export type BudgetErrorCode = keyof typeof BUDGET_ERROR_CODES
