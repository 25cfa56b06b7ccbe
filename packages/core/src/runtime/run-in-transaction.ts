import type { MaybePromise } from '../internal/json.js'

/** A transaction of the caller's own database. `Tx` is whatever its driver hands out. */
export interface UnitOfWork<Tx> {
  begin(): MaybePromise<Tx>
  commit(tx: Tx): MaybePromise<void>
  rollback(tx: Tx): MaybePromise<void>
}

/**
 * Runs `fn` in a transaction of the caller's database: commit on success (also of a paused run, which is a commit point),
 * rollback and rethrow on any error (B-13, B-16). The records of the run, the audit and the error references stay. Where the
 * rollback fails too, the error of the run leaves, with the other as `rollbackError` on it where it can be extended.
 */
export async function runInTransaction<Tx, Result>(
  unit: UnitOfWork<Tx>,
  fn: (tx: Tx) => MaybePromise<Result>,
): Promise<Result> {
  const tx = await unit.begin()
  let result: Result
  try {
    result = await fn(tx)
  } catch (error) {
    try {
      await unit.rollback(tx)
    } catch (rollbackError) {
      if (error !== null && typeof error === 'object' && Object.isExtensible(error)) {
        Object.defineProperty(error, 'rollbackError', { value: rollbackError, enumerable: false, configurable: true })
      }
    }
    throw error
  }
  await unit.commit(tx)
  return result
}
