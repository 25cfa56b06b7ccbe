import type { ToolContext } from '@sluice/core'
import type { OrderBook } from '../desk/orders.js'

/** What the caller of a run hands to the tools: the orders of its own tenant, and no others. */
export interface SupportResources {
  readonly orders: OrderBook
}

/** What a handler gets beside its arguments. */
export type SupportTool = ToolContext<SupportResources>
