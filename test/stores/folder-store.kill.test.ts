import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startWriter } from './support/child-writer.js'
import { seeded } from './support/random.js'
import { checkWrites } from './support/workload.js'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-kill-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const ROUNDS = 8
const WRITES = 1_000

describe('CASE-18: SIGKILL at random moments of 1 000 writes', () => {
  it('leaves every acknowledged write, and nothing half, in a store that opens every time', async () => {
    const seed = Date.now() % 1_000_000
    const random = seeded(seed)
    const begun = new Set<number>()
    const acknowledged = new Set<number>()
    let inTheMiddle = 0
    for (let round = 0; round < ROUNDS; round++) {
      const child = startWriter(folder, round * WRITES, WRITES)
      await child.acknowledges(1 + Math.floor(random() * (WRITES - 50)))
      await child.kill()
      if (!child.finished) inTheMiddle += 1
      for (const number of child.known.begun) begun.add(number)
      for (const number of child.known.acknowledged) acknowledged.add(number)
      const store = await createLowdbStore({ folder })
      try {
        await checkWrites(store, { begun, acknowledged })
      } catch (error) {
        throw new Error(`seed ${seed}, round ${round}`, { cause: error })
      } finally {
        await store.close()
      }
    }
    expect(inTheMiddle).toBeGreaterThanOrEqual(ROUNDS - 2)
    expect(acknowledged.size).toBeGreaterThan(ROUNDS * 50)
  })
})

describe('one process at a time', () => {
  it('STORE_LOCKED: a second process is refused by name, and the lock of a dead one is not in the way', async () => {
    const child = startWriter(folder)
    expect(await child.says('open')).toBe('open')
    await expect(createLowdbStore({ folder })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringMatching(new RegExp(`${folder}.*pid ${child.pid}`)),
      details: { pid: child.pid, folder },
    })
    const other = startWriter(folder, 0, 8)
    expect(await other.says('refused')).toBe('refused STORE_LOCKED')
    await child.kill()
    const store = await createLowdbStore({ folder })
    await store.documents('a').put(['x'], 1)
    await store.close()
  })

  it('of several processes that find the lock of a dead one, at most one gets the store', async () => {
    const first = startWriter(folder)
    await first.says('open')
    await first.kill()
    const children = [startWriter(folder), startWriter(folder), startWriter(folder)]
    const answers = await Promise.all(
      children.map((child) => Promise.race([child.says('open'), child.says('refused')])),
    )
    const opened = answers.filter((answer) => answer === 'open')
    expect(opened.length).toBeLessThanOrEqual(1)
    expect(answers.filter((answer) => answer === 'refused STORE_LOCKED').length).toBe(3 - opened.length)
    await Promise.all(children.map((child) => child.kill()))
    await (await createLowdbStore({ folder })).close()
  })

  it('STORE_LOCKED: the same process is refused too, until it has closed the store', async () => {
    const store = await createLowdbStore({ folder })
    await expect(createLowdbStore({ folder })).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringContaining('this process'),
    })
    await store.documents('a').put(['x'], 1)
    await store.close()
    const again = await createLowdbStore({ folder })
    expect(await again.documents('a').get(['x'])).toBe(1)
    await again.close()
  })
})
