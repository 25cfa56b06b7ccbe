import type { Store } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { describe, expect, it } from 'vitest'
import { seeded } from './support/random.js'
import { SimulatedDisk } from './support/simulated-disk.js'
import { checkWrites, write } from './support/workload.js'

const ROOT = '/app/.sluice'

interface Life {
  readonly begun: Set<number>
  readonly acknowledged: Set<number>
}

const open = (disk: SimulatedDisk, checkpointBytes: number): Promise<Store> =>
  createLowdbStore({ folder: ROOT, files: disk.files, checkpointBytes })

/** Writes until the disk says that the process has ended, several at once now and then. */
async function live(
  disk: SimulatedDisk,
  life: Life,
  options: { from: number; count: number; checkpointBytes: number },
) {
  const one = async (store: Store, number: number) => {
    life.begun.add(number)
    await write(store, number)
    life.acknowledged.add(number)
  }
  try {
    const store = await open(disk, options.checkpointBytes)
    for (let number = options.from; number < options.from + options.count; ) {
      // a write and the one that builds on it stay in order
      const together = number % 8 === 3 ? 1 : 1 + (number % 3)
      const numbers = Array.from({ length: together }, (_, index) => number + index).filter(
        (next, index) => index === 0 || (next % 8 !== 4 && next < options.from + options.count),
      )
      await Promise.all(numbers.map((next) => one(store, next)))
      number += numbers.length
    }
    await store.close()
  } catch {
    // the process has ended
  }
}

describe('CASE-18: the folder store on a disk that loses what is not synced', () => {
  it.each([1, 2, 3, 4])(
    'has every acknowledged write after a power cut at a random operation (part %i)',
    async (part) => {
      const rounds = 60
      let cuts = 0
      let acknowledged = 0
      let recoveries = 0
      for (let round = 0; round < rounds; round++) {
        const random = seeded(part * 10_000 + round)
        const life: Life = { begun: new Set(), acknowledged: new Set() }
        const checkpointBytes = [1, 900, 3_000, 1_000_000][round % 4] as number
        let disk = new SimulatedDisk(ROOT)
        let from = 0
        for (let process = 0; process < 4; process++) {
          disk.crashAt = 1 + Math.floor(random() * (process === 0 ? 60 : 250))
          await live(disk, life, { from, count: 40, checkpointBytes })
          if (disk.operations >= disk.crashAt) cuts += 1
          from = Math.max(-1, ...life.begun) + 1
          // a write that was begun and not acknowledged must not be built upon
          from += (8 - (from % 8)) % 8
          disk = random() < 0.7 ? disk.afterPowerCut(ROOT, random) : disk.afterKill(ROOT)
          const store = await open(disk, checkpointBytes)
          try {
            await checkWrites(store, life)
          } catch (error) {
            throw new Error(`part ${part}, round ${round}, process ${process}`, { cause: error })
          }
          await store.close()
          recoveries += 1
        }
        acknowledged += life.acknowledged.size
      }
      expect(recoveries).toBe(rounds * 4)
      expect(cuts).toBeGreaterThan(rounds * 2)
      expect(acknowledged).toBeGreaterThan(rounds * 20)
    },
  )
})

describe('CASE-18: the process ends at every single file operation', () => {
  const scenarios: Readonly<Record<string, (store: Store, life: Life) => Promise<void>>> = {
    'one write': async (store, life) => {
      life.begun.add(1_001)
      await write(store, 1_001)
      life.acknowledged.add(1_001)
    },
    'one transaction over several files': async (store, life) => {
      life.begun.add(1_007)
      await write(store, 1_007)
      life.acknowledged.add(1_007)
    },
    'a write of every kind': async (store, life) => {
      for (let number = 1_000; number < 1_008; number++) {
        life.begun.add(number)
        await write(store, number)
        life.acknowledged.add(number)
      }
    },
  }

  it.each(Object.entries(scenarios))(
    '%s: all of it or nothing is there, and what was there stays',
    async (_, scenario) => {
      let points = 0
      let written = 0
      let lost = 0
      for (let crashAt = 1; ; crashAt++) {
        const life: Life = { begun: new Set(), acknowledged: new Set() }
        const first = new SimulatedDisk(ROOT)
        // a catalogue, segments and documents are there, and something that is only in the redo log
        await live(first, life, { from: 0, count: 16, checkpointBytes: 1 })
        await live(first, life, { from: 16, count: 16, checkpointBytes: 1_000_000 })
        const before = life.acknowledged.size
        expect(before).toBe(32)
        const disk = first.afterKill(ROOT)
        disk.crashAt = crashAt
        try {
          const store = await open(disk, 1)
          await scenario(store, life)
          await store.close()
        } catch (error) {
          expect(SluiceError.isInstance(error)).toBe(true)
        }
        const over = disk.operations < crashAt
        for (const after of [
          disk.afterKill(ROOT),
          ...[1, 2, 3].map((seed) => disk.afterPowerCut(ROOT, seeded(seed))),
        ]) {
          const again = await open(after, 1)
          await checkWrites(again, life)
          await again.close()
          points += 1
        }
        if (life.acknowledged.size > before) written += 1
        else lost += 1
        if (over) break
      }
      expect(points).toBeGreaterThan(100)
      expect(written).toBeGreaterThan(5)
      expect(lost).toBeGreaterThan(5)
    },
  )
})
