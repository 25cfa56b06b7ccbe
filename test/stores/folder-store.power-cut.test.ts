import { describe, expect, it } from 'vitest'
import { checkDisk, copyOf, named, nextStretch, populated } from './support/disk-checks.js'
import { attempt, live, newLife, openOn, ROOT } from './support/live.js'
import { seeded } from './support/random.js'
import { SimulatedDisk } from './support/simulated-disk.js'

describe('CASE-18: the folder store on a disk that loses what is not synced', () => {
  it.each([1, 2, 3, 4])(
    'has every acknowledged write after a power cut at a random operation (part %i)',
    async (part) => {
      const rounds = 30
      let cuts = 0
      let acknowledged = 0
      for (let round = 0; round < rounds; round++) {
        const random = seeded(part * 10_000 + round)
        const life = newLife()
        const checkpointBytes = [1, 900, 3_000, 1_000_000][round % 4] as number
        let disk = new SimulatedDisk(ROOT)
        let from = 0
        for (let process = 0; process < 4; process++) {
          disk.crashAt = 1 + Math.floor(random() * (process === 0 ? 60 : 250))
          if (!(await live(disk, life, { from, count: 40, checkpointBytes }))) cuts += 1
          from = nextStretch(life)
          disk = random() < 0.7 ? disk.afterPowerCut(ROOT, random) : disk.afterKill(ROOT)
          await named(`part ${part}, round ${round}, process ${process}`, () => checkDisk(disk, life, checkpointBytes))
        }
        acknowledged += life.acknowledged.size
      }
      expect(cuts).toBeGreaterThan(rounds * 2)
      expect(acknowledged).toBeGreaterThan(rounds * 20)
    },
  )
})

describe('CASE-18: the process ends at every single file operation', () => {
  const scenarios: Readonly<Record<string, readonly number[]>> = {
    'one write': [1_001],
    'one transaction over several files': [1_007],
    'a write of every kind': [1_000, 1_001, 1_002, 1_003, 1_004, 1_005, 1_006, 1_007],
  }

  it.each(Object.entries(scenarios))(
    '%s: all of it or nothing is there, and what was there stays',
    async (_, numbers) => {
      const before = await populated()
      let opened = 0
      let written = 0
      let notWritten = 0
      for (let crashAt = 1, over = false; !over; crashAt++) {
        const { life, disk } = copyOf(before)
        disk.crashAt = crashAt
        const store = await openOn(disk).catch(() => undefined)
        for (const number of numbers) if (store !== undefined) await attempt(store, number, life)
        await store?.close().catch(() => undefined)
        over = disk.operations < crashAt
        const powerCuts = [1, 2].map((seed) => disk.afterPowerCut(ROOT, seeded(seed)))
        for (const after of [disk.afterKill(ROOT), ...powerCuts]) {
          await named(`operation ${crashAt}`, () => checkDisk(after, life))
          opened += 1
        }
        if (life.acknowledged.has(numbers.at(-1) as number)) written += 1
        else notWritten += 1
      }
      expect(opened).toBeGreaterThan(100)
      expect(written).toBeGreaterThan(5)
      expect(notWritten).toBeGreaterThan(5)
    },
  )
})
