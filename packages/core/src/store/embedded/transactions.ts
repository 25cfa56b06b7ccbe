import { AsyncLocalStorage } from 'node:async_hooks'
import { SluiceError } from '../../errors/sluice-error.js'
import type { StoreTransaction } from '../store.js'
import type { CellLocks } from './cell-locks.js'
import { createDefinitions } from './create-definitions.js'
import { createDocuments } from './create-documents.js'
import type { Ground } from './ground.js'
import { OpenTransaction } from './open-transaction.js'

/** Runs the transactions of one store, one after another; everything that is no transaction goes on beside them. */
export class Transactions {
  readonly #ground: Ground
  readonly #locks: CellLocks
  #current: AsyncLocalStorage<OpenTransaction> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(ground: Ground, locks: CellLocks) {
    this.#ground = ground
    this.#locks = locks
  }

  /** @throws INVALID_CONFIG (`reason` `store.transaction`) inside another transaction of this store */
  async run<Result>(fn: (transaction: StoreTransaction) => Promise<Result>): Promise<Result> {
    this.#ground.check()
    this.#current ??= new AsyncLocalStorage()
    if (this.#current.getStore()?.over === false) throw nested()
    const before = this.#last
    let done: () => void = () => undefined
    this.#last = new Promise<void>((resolve) => {
      done = resolve
    })
    try {
      await before
      this.#ground.check()
      return await this.#runOne(this.#current, fn)
    } finally {
      done()
    }
  }

  async #runOne<Result>(
    current: AsyncLocalStorage<OpenTransaction>,
    fn: (transaction: StoreTransaction) => Promise<Result>,
  ): Promise<Result> {
    const open: OpenTransaction = new OpenTransaction(this.#ground, this.#locks, () => current.getStore() === open)
    const transaction: StoreTransaction = {
      agents: createDefinitions(open, 'agents'),
      prompts: createDefinitions(open, 'prompts'),
      documents: (namespace) => createDocuments(open, namespace),
    }
    try {
      const result = await current.run(open, () => fn(transaction))
      await open.commit()
      return result
    } finally {
      open.end()
      // Node 20 keeps every storage that was ever entered and walks over all of them for each promise
      current.disable()
    }
  }
}

function nested(): SluiceError {
  return new SluiceError('INVALID_CONFIG', 'A transaction of this store was started inside another one.', {
    reason: 'store.transaction',
    hint: 'Hand the outer transaction on, or start the second one when the first has ended.',
  })
}
