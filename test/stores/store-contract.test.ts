import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { describeStore } from '@sluice/testkit/contracts'
import { afterEach } from 'vitest'

const folders = new Map<Store, string>()

afterEach(async () => {
  for (const [store, folder] of folders) {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
  folders.clear()
})

/** `checkpointBytes`: with 1, everything goes through the files; by default, most stays in the redo log and the layers. */
function folderStore(checkpointBytes?: number) {
  const open = async (folder: string): Promise<Store> => {
    const store = await createLowdbStore({ folder, ...(checkpointBytes === undefined ? {} : { checkpointBytes }) })
    folders.set(store, folder)
    return store
  }
  const openFresh = async () => open(await mkdtemp(join(tmpdir(), 'sluice-store-')))
  const restart = async (store: Store) => {
    await store.close()
    return open(folders.get(store) as string)
  }
  return [openFresh, { restart }] as const
}

describeStore('memory', () => createMemoryStore())
describeStore('lowdb', ...folderStore())
describeStore('lowdb, a checkpoint after every write', ...folderStore(1))
