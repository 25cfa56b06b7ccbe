import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FolderLock } from './folder-lock.js'
import { ownIdentity } from './process-identity.js'
import { machineFiles, type StoreFiles } from './store-files.js'
import { StorePaths } from './store-paths.js'

let folder = ''
let count = 0

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-lock-'))
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

const take = (files: StoreFiles = machineFiles) => {
  count += 1
  return FolderLock.take({ files, paths: new StorePaths(folder), nonce: `nonce-${count}` })
}

async function leaveLock(fields: object, number = 1): Promise<string> {
  const { device, inode } = await machineFiles.describe(folder)
  const path = new StorePaths(folder).lock(number)
  await writeFile(path, JSON.stringify({ ...ownIdentity(), nonce: 'left', folder: `${device}:${inode}`, ...fields }))
  return path
}

const locks = async () => (await readdir(folder)).sort()

describe('FolderLock', () => {
  it('is taken, refused to others by name, and given back', async () => {
    const lock = await take()
    await expect(take()).rejects.toMatchObject({ code: 'STORE_LOCKED', details: { pid: process.pid, folder } })
    expect(await locks()).toEqual(['lock-00000001.json'])
    await lock.release()
    await lock.release()
    expect(await locks()).toEqual([])
    await (await take()).release()
  })

  it('of many that come at once at most one has it, whatever lies there', async () => {
    await leaveLock({ started: '1', boot: 'before', host: ownIdentity().host })
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => take()))
    const taken = outcomes.filter((outcome) => outcome.status === 'fulfilled')
    expect(taken.length).toBeLessThanOrEqual(1)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'STORE_LOCKED' })
      else await outcome.value.release()
    }
    await (await take()).release()
  })

  it('a lock of a dead process, of another folder, or one that says nothing, is not in the way', async () => {
    await leaveLock({ boot: 'before' })
    await (await take()).release()
    await leaveLock({ folder: 'copied:from' }, 7)
    await (await take()).release()
    await writeFile(new StorePaths(folder).lock(3), '')
    await writeFile(new StorePaths(folder).lock(4), '{"half":')
    await (await take()).release()
    expect(await locks()).toEqual([])
  })

  it('a lock of a machine that cannot be seen holds while it is renewed, and not for ever', async () => {
    const path = await leaveLock({ boot: 'elsewhere', host: 'other-host', pid: 4242 })
    await expect(take()).rejects.toMatchObject({
      code: 'STORE_LOCKED',
      message: expect.stringMatching(/process 4242 on other-host.*\n.*delete .*lock-00000001\.json/),
    })
    const longAgo = new Date(Date.now() - 60_000)
    await utimes(path, longAgo, longAgo)
    await (await take()).release()
  })

  it('withdraws where another has come between its look and its own lock', async () => {
    let others = 0
    const files: StoreFiles = {
      ...machineFiles,
      async open(path, mode) {
        const file = await machineFiles.open(path, mode)
        if (others++ === 0) await leaveLock({}, 9)
        return file
      },
    }
    await expect(take(files)).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    expect(await locks()).toEqual(['lock-00000009.json'])
  })
})
