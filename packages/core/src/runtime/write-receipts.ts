import { SluiceError } from '../errors/sluice-error.js'
import { receiptsOf } from '../generate/tree-receipts.js'
import type { Tree } from '../generate/tree.js'
import type { Receipt } from '../hooks/receipt.js'
import type { JsonObject } from '../internal/json.js'
import { wellFormedJson } from '../internal/well-formed-text.js'

/**
 * Stores the receipts of a tree that wait; `undefined` where there are none. Those that could not be written wait for the
 * next record of the tree.
 */
export function writeReceipts(tree: Tree): Promise<void> | undefined {
  const receipts = receiptsOf(tree)
  return receipts.length === 0 ? undefined : append(tree, receipts)
}

async function append(tree: Tree, receipts: readonly JsonObject[]): Promise<void> {
  const { store } = tree.parts
  try {
    await store.receipts.append(tree.rootExecutionId, receipts)
  } catch (fault) {
    // a code or a name that a plugin made up: the account of the gates is worth more than its exact spelling
    if (SluiceError.isInstance(fault, 'STORE_VALUE_INVALID')) {
      await store.receipts.append(tree.rootExecutionId, wellFormedJson(receipts))
      return
    }
    if (!SluiceError.isInstance(fault, 'STORE_OUTCOME_UNKNOWN'))
      tree.tally.waiting = [...(receipts as unknown as Receipt[]), ...tree.tally.waiting]
    throw fault
  }
}
