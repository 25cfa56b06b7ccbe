export { budget } from './budget.js'
export type { BudgetApi, BudgetChange, BudgetScope } from './budget-api.js'
export type { LimitAmount } from './amounts.js'
export type { ResolveRequest } from './resolve-hold.js'
export type { LimitStatus } from './limit-status.js'
export type { BudgetOptions, LimitOptions, PriceOptions } from './budget-options.js'
export type {
  BudgetEvent,
  ChargedToLimit,
  HeldOfLimit,
  LapsedEvent,
  LimitFacts,
  OverrunEvent,
  ThresholdEvent,
  UnknownEvent,
} from './budget-event.js'
export type { Change } from './bucket.js'
export type { OverrunRecord } from './overrun.js'
export type { UnknownCharge, UnknownsRequest } from './unknowns.js'
export type { AttemptRecord, AttemptState, Part } from './attempt.js'
export type { Unit } from './limit.js'
export type { KeyFunction, ScopeFacts, ScopeKind } from './scope.js'
export type { Per } from './window.js'
export type { BudgetErrorCode, BudgetErrorRow } from './error-codes.js'
export { BUDGET_ERROR_CODES } from './error-codes.js'
export { NANO_PER_USD, formatUsd, parseUsd } from './nano-usd.js'
export type { ModelPrice, PriceProvenance, PriceTier, TokenRates } from './model-price.js'
export { costAtMost, costOf, fillRates } from './model-price.js'
export type { PriceAnswer, PriceQuery, PriceSource } from './price-source.js'
export type { OverridePrice, OverrideRates } from './override-prices.js'
export { PRICE_TABLE, tablePrices } from './table-prices.js'
