import type { Store } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import type { SimulatedDisk } from './simulated-disk.js'
import { write } from './workload.js'

/** Where the store lies on a simulated disk. */
export const ROOT = '/app/.sluice'

/** What the processes of one test know of their writes. */
export interface Life {
  readonly begun: Set<number>
  readonly acknowledged: Set<number>
  /** Writes that were refused with the promise that nothing was written. */
  readonly refused: Set<number>
  /** Codes of all refusals, in order. */
  readonly codes: string[]
}

export function newLife(): Life {
  return { begun: new Set(), acknowledged: new Set(), refused: new Set(), codes: [] }
}

/** Which writes a process makes, and how big its redo log grows. */
export interface Stretch {
  readonly from: number
  readonly count: number
  readonly checkpointBytes: number
}

/** Opens the store on a disk; its segments are small, so that there are several. */
export function openOn(disk: SimulatedDisk, checkpointBytes = 1): Promise<Store> {
  return createLowdbStore({ folder: ROOT, files: disk.files, checkpointBytes, segmentBytes: 3_000 })
}

/** Makes a write and keeps what became of it. */
export async function attempt(store: Store, number: number, life: Life): Promise<void> {
  life.begun.add(number)
  try {
    await write(store, number)
    life.acknowledged.add(number)
  } catch (error) {
    const code = SluiceError.isInstance(error) ? error.code : String(error)
    life.codes.push(code)
    if (NOTHING_WRITTEN.has(code)) {
      life.begun.delete(number)
      life.refused.add(number)
    }
  }
}

const NOTHING_WRITTEN = new Set(['STORE_FAILED', 'STORE_FULL', 'STORE_READ_ONLY', 'NOT_FOUND'])

/** Opens, writes, several at once now and then, and closes; or ends with the disk. False where it did not get to the end. */
export async function live(disk: SimulatedDisk, life: Life, stretch: Stretch): Promise<boolean> {
  const end = stretch.from + stretch.count
  try {
    const store = await openOn(disk, stretch.checkpointBytes)
    for (let number = stretch.from; number < end; ) {
      // a write and the one that builds on it stay in order
      const together = number % 8 === 3 ? 1 : 1 + (number % 3)
      const numbers = Array.from({ length: together }, (_, index) => number + index).filter(
        (next, index) => index === 0 || (next % 8 !== 4 && next < end),
      )
      await Promise.all(numbers.map((next) => attempt(store, next, life)))
      number += numbers.length
    }
    await store.close()
    return true
  } catch (error) {
    life.codes.push(SluiceError.isInstance(error) ? error.code : String(error))
    return false
  }
}
