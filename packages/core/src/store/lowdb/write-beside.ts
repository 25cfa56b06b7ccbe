import type { StoreFiles } from './store-files.js'

/**
 * Puts `bytes` in the place of the file at `path`, whole or not at all: written beside it, synced, renamed. The name is on
 * the disk when the folder has been synced, which is left to the caller.
 */
export async function writeBeside(files: StoreFiles, path: string, bytes: Buffer): Promise<void> {
  const beside = `${path}.new`
  const file = await files.open(beside, 'new')
  try {
    await file.write(bytes, 0)
    await file.sync()
  } finally {
    await file.close()
  }
  await files.rename(beside, path)
}
