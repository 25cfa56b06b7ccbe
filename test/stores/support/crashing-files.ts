import type { OpenFile, StoreFiles } from '@sluice/core/store/lowdb'
import { Crashed } from './simulated-disk.js'

/** The files of the machine, of which operations can be counted and cut off. */
export interface CrashingFiles {
  readonly files: StoreFiles
  /** Operations so far. */
  readonly operations: number
}

/** Wraps `files`: from operation `crashAt` on (counted from 1) every one throws and does nothing more. */
export function crashingFiles(files: StoreFiles, crashAt: number): CrashingFiles {
  let operations = 0
  const step = () => {
    operations += 1
    if (operations >= crashAt) throw new Crashed('The process has ended.')
  }
  const wrapFile = (file: OpenFile): OpenFile => ({
    async write(bytes, position) {
      if (operations + 1 === crashAt) await file.write(bytes.subarray(0, bytes.length >> 1), position)
      step()
      await file.write(bytes, position)
    },
    async close() {
      // a process that has ended holds no file open
      await file.close()
      step()
    },
    read: async (position, length) => (step(), file.read(position, length)),
    size: async () => (step(), file.size()),
    truncate: async (size) => (step(), file.truncate(size)),
    sync: async () => (step(), file.sync()),
  })
  return {
    files: {
      open: async (path, mode) => (step(), wrapFile(await files.open(path, mode))),
      readWhole: async (path) => (step(), files.readWhole(path)),
      list: async (folder) => (step(), files.list(folder)),
      makeFolder: async (folder) => (step(), files.makeFolder(folder)),
      rename: async (from, to) => (step(), files.rename(from, to)),
      remove: async (path) => (step(), files.remove(path)),
      syncFolder: async (folder) => (step(), files.syncFolder(folder)),
      touch: async (path) => (step(), files.touch(path)),
      describe: async (path) => (step(), files.describe(path)),
    },
    get operations() {
      return operations
    },
  }
}
