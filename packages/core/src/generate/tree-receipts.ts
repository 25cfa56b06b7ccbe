import type { JsonObject } from '../internal/json.js'
import type { Tree } from './tree.js'

/** Takes the receipts of a tree that wait to be stored. */
export function receiptsOf(tree: Tree): readonly JsonObject[] {
  const receipts = tree.tally.waiting
  if (receipts.length === 0) return []
  tree.tally.waiting = []
  return receipts as unknown as readonly JsonObject[]
}
