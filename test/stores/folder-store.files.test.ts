import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLowdbStore, machineFiles } from '@sluice/core/store/lowdb'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crashingFiles } from './support/crashing-files.js'
import { attempt, newLife } from './support/live.js'
import { checkWrites } from './support/workload.js'

let root = ''

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sluice-files-'))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

describe('CASE-18: the process ends at an operation on real files', () => {
  it.each([
    ['one write', 1_001],
    ['one transaction over several files', 1_007],
  ])('%s: a copy of the folder as it was then opens with all of it or nothing', async (_, number) => {
    const before = newLife()
    const first = await createLowdbStore({ folder: join(root, 'first'), checkpointBytes: 1 })
    for (let index = 0; index < 16; index++) await attempt(first, index, before)
    await first.close()
    let written = 0
    let notWritten = 0
    for (let crashAt = 1, over = false; !over; crashAt++) {
      const life = { ...before, begun: new Set(before.begun), acknowledged: new Set(before.acknowledged) }
      const folder = join(root, `at ${crashAt}`)
      await cp(join(root, 'first'), folder, { recursive: true })
      const crashing = crashingFiles(machineFiles, crashAt)
      const store = await createLowdbStore({ folder, checkpointBytes: 1, files: crashing.files }).catch(() => undefined)
      if (store !== undefined) await attempt(store, number, life)
      await store?.close().catch(() => undefined)
      over = crashing.operations < crashAt
      const copy = join(root, `copy ${crashAt}`)
      await cp(folder, copy, { recursive: true })
      const again = await createLowdbStore({ folder: copy })
      await checkWrites(again, life)
      await again.close()
      if (life.acknowledged.has(number)) written += 1
      else notWritten += 1
      await Promise.all([folder, copy].map((path) => rm(path, { recursive: true })))
    }
    expect(written).toBeGreaterThan(10)
    expect(notWritten).toBeGreaterThan(10)
  })
})
