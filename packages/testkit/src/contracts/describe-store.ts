import { describe, it } from 'vitest'
import type { OpenStore, StoreContractOptions } from './store-rig.js'
import { storeRows } from './store-rows.js'

/**
 * Holds a store to the contract (design 4.7): every method, `transact` and `transaction` included, isolation under many
 * callers at once, odd texts, ids and keys, lists and pages, the end of the store and, with `restart`, what is there when
 * it is opened again.
 *
 * @example
 * describeStore('memory', () => createMemoryStore())
 */
export function describeStore(name: string, openStore: OpenStore, options: StoreContractOptions = {}): void {
  describe(`store contract: ${name}`, () => {
    for (const row of storeRows(openStore, options)) {
      if (row.skip === true) it.skip(row.title)
      else it(row.title, () => row.run())
    }
  })
}
