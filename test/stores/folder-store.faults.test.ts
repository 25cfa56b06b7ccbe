import { describe, expect, it } from 'vitest'
import { checkDisk, copyOf, named, nextStretch, populated } from './support/disk-checks.js'
import { attempt, live, openOn, ROOT } from './support/live.js'
import { seeded } from './support/random.js'
import { checkWrites } from './support/workload.js'

describe('EIO, ENOSPC, EROFS: the folder store on a disk whose operations fail', () => {
  const cases = {
    EIO: 'STORE_FAILED',
    ENOSPC: 'STORE_FULL',
    EROFS: 'STORE_READ_ONLY',
    EACCES: 'STORE_READ_ONLY',
  } as const

  it.each(Object.entries(cases))(
    '%s at every single operation of a write is told by name, and loses nothing',
    async (errno, code) => {
      const before = await populated()
      let struck = 0
      let refused = 0
      for (let failAt = 1, over = false; !over; failAt++) {
        const { life, disk } = copyOf(before)
        const store = await openOn(disk)
        let operations = 0
        disk.faultAt = () => {
          operations += 1
          return operations === failAt ? errno : undefined
        }
        for (const number of [1_007, 1_001]) await attempt(store, number, life)
        over = operations < failAt
        if (!over) struck += 1
        // a refused write wrote nothing, and nobody has to guess: what was begun could be taken back
        expect(life.codes).toEqual(life.refused.size === 0 ? [] : [code])
        refused += life.refused.size
        // the disk is well again
        disk.faultAt = () => undefined
        await attempt(store, 1_015, life)
        expect(life.acknowledged.has(1_015)).toBe(true)
        await checkWrites(store, life)
        await store.close()
        for (const after of [disk.afterKill(ROOT), disk.afterPowerCut(ROOT, seeded(failAt))]) {
          await named(`operation ${failAt}`, () => checkDisk(after, life))
        }
      }
      expect(struck).toBeGreaterThan(30)
      expect(refused).toBeGreaterThanOrEqual(2)
    },
  )

  it('STORE_OUTCOME_UNKNOWN: a write that failed and cannot be taken back says so, and the store goes on when it can', async () => {
    const { life, disk } = await populated()
    const store = await openOn(disk, 1_000_000)
    let broken = true
    disk.faultAt = (operation) => (broken && (operation === 'sync' || operation === 'truncate') ? 'EIO' : undefined)
    await attempt(store, 1_001, life)
    expect(life.codes).toEqual(['STORE_OUTCOME_UNKNOWN'])
    await attempt(store, 1_009, life)
    expect(life.codes).toEqual(['STORE_OUTCOME_UNKNOWN', 'STORE_FAILED'])
    await checkWrites(store, life)
    await checkDisk(disk.afterKill(ROOT), life)
    await checkDisk(disk.afterPowerCut(ROOT, seeded(7)), life)
    broken = false
    await attempt(store, 1_017, life)
    expect(life.acknowledged.has(1_017)).toBe(true)
    await store.close()
    await checkDisk(disk.afterKill(ROOT), life)
  })

  it.each([1, 2, 3])(
    'loses nothing where any operation may fail at any time, until the power goes (part %i)',
    async (part) => {
      const rounds = 30
      const before = await populated()
      let acknowledged = 0
      let refused = 0
      let unknown = 0
      for (let round = 0; round < rounds; round++) {
        const random = seeded(part * 50_000 + round)
        const checkpointBytes = [1, 900, 3_000][round % 3] as number
        const { life, ...populatedDisk } = copyOf(before)
        let { disk } = populatedDisk
        for (let process = 0; process < 3; process++) {
          const often = random() < 0.5 ? 0.05 : 0.25
          const well = disk.operations + 40
          disk.faultAt = (operation) => {
            if (operation === 'read' || operation === 'readWhole' || operation === 'list') return undefined
            if (disk.operations < well || random() > often) return undefined
            return random() < 0.5 ? 'EIO' : 'ENOSPC'
          }
          if (random() < 0.7) disk.crashAt = disk.operations + Math.floor(random() * 400)
          await live(disk, life, { from: nextStretch(life), count: 40, checkpointBytes })
          disk = random() < 0.6 ? disk.afterPowerCut(ROOT, random) : disk.afterKill(ROOT)
          await named(`part ${part}, round ${round}, process ${process}`, () => checkDisk(disk, life, checkpointBytes))
        }
        acknowledged += life.acknowledged.size
        refused += life.refused.size
        unknown += life.codes.filter((code) => code === 'STORE_OUTCOME_UNKNOWN').length
      }
      expect(acknowledged).toBeGreaterThan(rounds * 40)
      expect(refused).toBeGreaterThan(rounds)
      expect(unknown).toBeGreaterThan(5)
    },
  )
})
