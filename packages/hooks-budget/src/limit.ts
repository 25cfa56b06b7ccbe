import type { DocumentKey } from '@sluice/core'
import type { KeyFunction, ScopeKind } from './scope.js'
import type { Span } from './window.js'

/** `usd` is counted in nano-USD, `tokens` in tokens. */
export type Unit = 'usd' | 'tokens'

/** A limit as the ledger applies it. */
export interface Limit {
  readonly id: string
  readonly scope: ScopeKind
  readonly key: KeyFunction | undefined
  readonly unit: Unit
  /** 0 blocks; exactly enough passes. */
  readonly amount: bigint
  readonly windowOf: (at: number) => Span
  /** Percent of the amount, lowest first. */
  readonly thresholdPercents: readonly number[]
  readonly landing: { readonly maxOutputTokens: number } | undefined
}

/** A limit and the bucket of it that a call falls into. */
export interface Bound {
  readonly limit: Limit
  readonly key: DocumentKey
}
