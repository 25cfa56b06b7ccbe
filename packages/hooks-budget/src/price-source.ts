import type { MaybePromise } from '@sluice/core'
import type { ModelPrice } from './model-price.js'

/** What is to be priced. */
export interface PriceQuery {
  /** Provider id, the part of the model reference before the slash. */
  readonly provider: string
  readonly model: string
  /** Milliseconds since the epoch: prices change. */
  readonly at: number
}

/** A price, or the nearest id that has one. Unknown is never zero. */
export type PriceAnswer =
  | { readonly known: true; readonly price: ModelPrice }
  | { readonly known: false; readonly nearest: string | null }

/**
 * Where prices come from. What throws, rejects or answers anything else stops the call with `PRICE_SOURCE_FAILED`.
 * Called concurrently.
 */
export interface PriceSource {
  /** Appears in the provenance of each charge. */
  readonly name: string
  /** Called once, when the plugin is applied. */
  load?(): Promise<void>
  find(query: PriceQuery): MaybePromise<PriceAnswer>
}
