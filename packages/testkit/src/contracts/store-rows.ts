import { checkNames } from '../check-names.js'
import type { ContractRow } from './contract-row.js'
import { storeDefinitionRows } from './store-definition-rows.js'
import { storeDocumentRows } from './store-document-rows.js'
import { storeLifeRows } from './store-life-rows.js'
import { storeLogRows } from './store-log-rows.js'
import type { OpenStore, StoreContractOptions } from './store-rig.js'
import { storeRowsOf } from './store-rig.js'
import { storeRunRows } from './store-run-rows.js'
import { storeSessionRows } from './store-session-rows.js'
import { storeTextRows } from './store-text-rows.js'
import { storeTransactRows } from './store-transact-rows.js'
import { storeTransactionRows } from './store-transaction-rows.js'

/** The rules that every store keeps (design 4.7). `describeStore` runs them under vitest. */
export function storeRows(openStore: OpenStore, options: StoreContractOptions = {}): readonly ContractRow[] {
  checkNames('The options of describeStore', options, ['restart'])
  const row = storeRowsOf(openStore)
  return [
    ...storeDocumentRows(row),
    ...storeTransactRows(row),
    ...storeLogRows(row),
    ...storeDefinitionRows(row),
    ...storeRunRows(row),
    ...storeSessionRows(row),
    ...storeTransactionRows(row),
    ...storeTextRows(row),
    ...storeLifeRows(row, openStore, options),
  ]
}
