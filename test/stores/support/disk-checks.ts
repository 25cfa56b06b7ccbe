import assert from 'node:assert/strict'
import { attempt, type Life, live, newLife, openOn, ROOT } from './live.js'
import { SimulatedDisk } from './simulated-disk.js'
import { checkWrites } from './workload.js'

/** Opens what is left, checks it, and closes it again. */
export async function checkDisk(disk: SimulatedDisk, life: Life, checkpointBytes = 1): Promise<void> {
  const store = await openOn(disk, checkpointBytes)
  await checkWrites(store, life)
  await store.close()
}

/** A disk, and what is known of the writes on it. */
export interface KnownDisk {
  readonly disk: SimulatedDisk
  readonly life: Life
}

/** A disk with 32 writes: some in all kinds of files, some in the redo log only; its process was killed. */
export async function populated(): Promise<KnownDisk> {
  const life = newLife()
  const disk = new SimulatedDisk(ROOT)
  await live(disk, life, { from: 0, count: 16, checkpointBytes: 1 })
  const store = await openOn(disk, 1_000_000)
  for (let number = 16; number < 32; number++) await attempt(store, number, life)
  assert.equal(life.acknowledged.size, 32)
  return { disk: disk.afterKill(ROOT), life }
}

export function copyOf({ disk, life }: KnownDisk): KnownDisk {
  const { begun, acknowledged } = life
  const copy = { ...newLife(), begun: new Set(begun), acknowledged: new Set(acknowledged) }
  return { disk: disk.afterKill(ROOT), life: copy }
}

/** The next number of a workload: the first of a group, so that nothing is built on a write that may be lost. */
export function nextStretch(life: Life): number {
  const next = Math.max(-1, ...life.begun, ...life.refused) + 1
  return next + ((8 - (next % 8)) % 8)
}

export async function named(place: string, check: () => Promise<void>): Promise<void> {
  try {
    await check()
  } catch (error) {
    throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
