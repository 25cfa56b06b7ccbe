import type { ToolContext } from '@sluice/core'
import type { ApprovalNumbers } from '../desk/approval-numbers.js'
import type { BooksTransaction } from '../desk/books.js'

/** What the caller of a run hands to the tools: its open transaction, and the counter of approval numbers. */
export interface DeskResources {
  readonly tx: BooksTransaction
  readonly numbers: ApprovalNumbers
}

/** What a handler of the desk gets beside its arguments. */
export type DeskTool = ToolContext<DeskResources>
