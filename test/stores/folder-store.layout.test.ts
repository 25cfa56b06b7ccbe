import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SessionRecord } from '@sluice/core'
import { createLowdbStore, type LowdbStoreOptions } from '@sluice/core/store/lowdb'
import { capturedLogger } from '@sluice/testkit'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyOf, populated } from './support/disk-checks.js'
import { openOn, ROOT } from './support/live.js'
import { seeded } from './support/random.js'
import { executionRow, messageRow, sessionRow } from './support/rows.js'
import { type DiskOperation, SimulatedDisk } from './support/simulated-disk.js'
import { checkWrites } from './support/workload.js'

let parent = ''
let folder = ''

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'sluice-layout-'))
  folder = join(parent, 'app', '.sluice')
})

afterEach(async () => {
  await rm(parent, { recursive: true, force: true })
})

/** Counts the operations on the disk while `work` runs. */
async function operationsOf(
  disk: SimulatedDisk,
  work: () => Promise<unknown>,
): Promise<Partial<Record<DiskOperation, number>>> {
  const counts: Partial<Record<DiskOperation, number>> = {}
  disk.faultAt = (operation) => {
    counts[operation] = (counts[operation] ?? 0) + 1
    return undefined
  }
  await work()
  disk.faultAt = () => undefined
  return counts
}

const ONE_WRITE = { write: 2, sync: 1 }

describe('CASE-18: what a write costs', () => {
  it('is two writes and one sync, in session 3 000 as in session 1, in a row of 500 as at its start', async () => {
    const disk = new SimulatedDisk(ROOT)
    const store = await openOn(disk, 1_000_000_000)
    const append = (id: string) => store.messages.append(id, [messageRow(id, 'x')])
    const costs = [await operationsOf(disk, () => append('session-1'))]
    await Promise.all(
      Array.from({ length: 3_000 }, (_, index) => store.sessions.update(`s${index}`, () => sessionRow(`s${index}`))),
    )
    for (let index = 0; index < 500; index++) await append('s2999')
    costs.push(await operationsOf(disk, () => append('s2999')))
    costs.push(
      await operationsOf(disk, () =>
        store.sessions.update('s1', (header) => ({ ...(header as SessionRecord), lastActivityAt: 9_999 })),
      ),
    )
    expect(costs).toEqual([ONE_WRITE, ONE_WRITE, ONE_WRITE])
    await store.close()
  })

  it('is the same for every kind of write, a transaction included', async () => {
    const disk = new SimulatedDisk(ROOT)
    const store = await openOn(disk, 1_000_000)
    const writes: Readonly<Record<string, () => Promise<unknown>>> = {
      insert: () => store.executions.insert(executionRow('run-1')),
      update: () => store.executions.update('run-1', { status: 'completed' }),
      header: () => store.sessions.update('s', () => sessionRow('s')),
      rows: () => store.messages.append('s', [messageRow('s', 'a'), messageRow('s', 'b')]),
      receipts: () => store.receipts.append('run-1', [{ n: 1 }]),
      log: () => store.log('a').append('s', () => [1, 2, 3]),
      document: () => store.documents('a').put(['x'], 1),
      transaction: () =>
        store.transaction(async (transaction) => {
          await transaction.documents('a').put(['x'], 2)
          await transaction.documents('b').put(['y'], 2)
        }),
    }
    for (const [name, work] of Object.entries(writes)) expect(await operationsOf(disk, work), name).toEqual(ONE_WRITE)
    await store.close()
  })

  it('is shared by all writes that wait at the same time', async () => {
    const disk = new SimulatedDisk(ROOT)
    const store = await openOn(disk, 1_000_000)
    const counts = await operationsOf(disk, () =>
      Promise.all(Array.from({ length: 200 }, (_, index) => store.documents('a').put(['k', String(index)], index))),
    )
    expect(counts.sync).toBeLessThanOrEqual(2)
    await store.close()
  })

  it('a list of the newest sessions opens no file when they are known, and one line for each other', async () => {
    const disk = new SimulatedDisk(ROOT)
    const first = await openOn(disk, 1_000_000)
    await Promise.all(
      Array.from({ length: 2_000 }, (_, index) =>
        first.sessions.update(`s${index}`, () => sessionRow(`s${index}`, { lastActivityAt: index })),
      ),
    )
    await first.close()
    const store = await openOn(disk, 1_000_000)
    const cold = await operationsOf(disk, () => store.sessions.list({ limit: 50 }))
    expect(cold.read).toBe(50)
    expect(await operationsOf(disk, () => store.sessions.list({ limit: 50 }))).toEqual({})
    await store.close()
  })
})

describe('CASE-21: ids and the folder', () => {
  it('an id never becomes a path: nothing is touched outside of the folder, and all names are our own', async () => {
    await mkdir(join(parent, 'app'), { recursive: true })
    await writeFile(join(parent, 'app', 'x'), 'mine')
    const ids = [
      '../x',
      '../../x',
      join(parent, 'y'),
      '/etc/passwd',
      'a/b',
      'CON',
      'a\0b',
      'lock-00000001.json',
      'catalogue.jsonl',
    ]
    const store = await createLowdbStore({ folder, checkpointBytes: 1 })
    for (const id of ids) {
      await store.sessions.update(id, () => sessionRow(id))
      await store.messages.append(id, [messageRow(id, id)])
      await store.executions.insert(executionRow(id))
      await store.documents(id).put([id], id)
      await store.log(id).append(id, () => [id])
      await store.journals.put(id, { id })
    }
    await store.close()
    const names = await readdir(parent, { recursive: true })
    const outside = names.filter((name) => !name.startsWith(join('app', '.sluice')))
    expect(outside.sort()).toEqual(['app', join('app', 'x')])
    expect(await readFile(join(parent, 'app', 'x'), 'utf8')).toBe('mine')
    const ours =
      /^(catalogue\.jsonl|redo-\d{8}\.jsonl|redo-acked\.txt|segments|segments\/\d{8}\.jsonl|(documents|journals)(\/[0-9a-f]{2}(\/[0-9a-f]{64}\.json)?)?)$/
    for (const name of await readdir(folder, { recursive: true })) expect(name).toMatch(ours)
  })
})

describe('opening the folder store', () => {
  it('INVALID_CONFIG: options that are none are refused, all at once', async () => {
    const wrong = { folder: '', checkpointBytes: 0, folderr: 'x' } as unknown as LowdbStoreOptions
    await expect(createLowdbStore(wrong)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringMatching(/folderr.*folder.*checkpointBytes/),
    })
  })

  it('the folder is made where it is not there, readable by its owner only', async () => {
    await (await createLowdbStore({ folder })).close()
    expect((await readdir(folder)).sort()).toEqual(['catalogue.jsonl', 'redo-00000001.jsonl', 'redo-acked.txt'])
  })

  it('STORE_FAILED: a file in the place of the folder is refused and left alone', async () => {
    await writeFile(join(parent, 'app'), 'mine')
    await expect(createLowdbStore({ folder })).rejects.toMatchObject({ code: 'STORE_FAILED' })
    expect(await readFile(join(parent, 'app'), 'utf8')).toBe('mine')
  })

  it.skipIf(process.platform !== 'linux')('STORE_READ_ONLY: a folder that cannot be written is refused', async () => {
    await expect(createLowdbStore({ folder: '/sys/sluice-store' })).rejects.toMatchObject({
      code: 'STORE_READ_ONLY',
      message: expect.stringContaining('/sys/sluice-store'),
    })
  })

  it('runs that were running when the process ended are orphans, until somebody ends them', async () => {
    const { disk } = await populated()
    const killed = disk.afterKill(ROOT)
    const first = await openOn(killed, 1_000_000)
    await first.executions.insert(executionRow('mine'))
    await first.executions.insert(executionRow('paused', { status: 'paused' }))
    const store = await openOn(killed.afterKill(ROOT), 1_000_000)
    const orphans = (await store.orphans()).map(({ id }) => id)
    expect(orphans).toContain('mine')
    expect(orphans).not.toContain('paused')
    await store.executions.insert(executionRow('new'))
    await store.executions.update('paused', { status: 'running' })
    for (const id of orphans)
      await store.executions.transition(id, () => ({ status: 'failed', failureKind: 'crashed' }))
    expect(await store.orphans()).toEqual([])
    await store.close()
  })
})

describe('what gathers in the folder', () => {
  it('a catalogue with many old lines is written anew, wherever the process ends or an operation fails', async () => {
    const before = await populated()
    let replaced = 0
    let opened = 0
    for (let round = 0; round < 40; round++) {
      const random = seeded(round)
      const { disk, life } = copyOf(before)
      const store = await openOn(disk)
      const put = (number: number) => store.documents('counter').put(['n'], number)
      for (let number = 0; number < 195; number++) await put(number)
      const isEvil = round % 2 === 0
      if (isEvil) disk.crashAt = disk.operations + Math.floor(random() * 400)
      else disk.faultAt = () => (random() < 0.02 ? 'EIO' : undefined)
      let last = 194
      for (let number = 195; number < 225; number++) {
        await put(number).then(
          () => {
            last = number
          },
          () => undefined,
        )
      }
      disk.faultAt = () => undefined
      if (!isEvil) await store.close()
      const after = random() < 0.5 ? disk.afterKill(ROOT) : disk.afterPowerCut(ROOT, random)
      const again = await openOn(after)
      const value = await again.documents('counter').get(['n'])
      expect(value).toBeGreaterThanOrEqual(last)
      await checkWrites(again, life)
      await again.close()
      const size = (await after.files.describe(join(ROOT, 'catalogue.jsonl'))).size
      if (size < 6_000) replaced += 1
      opened += 1
    }
    expect(opened).toBe(40)
    expect(replaced).toBeGreaterThan(10)
  })

  it('a full segment is left for the next one, and all are read', async () => {
    const disk = new SimulatedDisk(ROOT)
    const first = await openOn(disk)
    for (let number = 0; number < 60; number++) await first.messages.append('s', [messageRow('s', `row ${number}`)])
    await first.close()
    const segments = disk.paths.filter((path) => path.includes('segments'))
    expect(segments.length).toBeGreaterThan(3)
    const again = await openOn(disk)
    const contents = (await again.messages.list('s')).map(({ content }) => content)
    expect(contents).toEqual(Array.from({ length: 60 }, (_, number) => `row ${number}`))
    await again.close()
  })

  it('tells the logger when acknowledged writes cannot be moved into their files, and moves them later', async () => {
    const logger = capturedLogger()
    const disk = new SimulatedDisk(ROOT)
    const store = await createLowdbStore({ folder: ROOT, files: disk.files, checkpointBytes: 1, logger })
    disk.faultAt = (_, path) => (path.includes('segments') ? 'ENOSPC' : undefined)
    for (let number = 0; number < 20; number++) await store.receipts.append('r', [{ number }])
    expect(logger.lines.some(({ level, text }) => level === 'warn' && text.includes('redo log'))).toBe(true)
    expect((await store.receipts.list('r')).length).toBe(20)
    disk.faultAt = () => undefined
    await store.close()
    const again = await openOn(disk.afterKill(ROOT))
    expect((await again.receipts.list('r')).map(({ number }) => number)).toEqual(
      Array.from({ length: 20 }, (_, n) => n),
    )
    await again.close()
  })
})
