import fs from 'node:fs'
import { promisify } from 'node:util'
import type { MaybePromise } from '../../internal/json.js'

/** An open file of the store. Positions and lengths are bytes. */
export interface OpenFile {
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array, position: number): MaybePromise<void>
  /** At most `length` bytes; fewer at the end of the file. */
  read(position: number, length: number): Promise<Buffer>
  size(): Promise<number>
  truncate(size: number): Promise<void>
  /** Resolves when everything written so far is on the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

/** How a file is opened: `new` empties or creates it, `first` fails with `EEXIST` where it is there, the others want it. */
export type OpenMode = 'new' | 'first' | 'change' | 'read'

/**
 * Every operation that the folder store does on files, in one place: tests of the store put faults into it. Errors are
 * those of `node:fs`.
 */
export interface StoreFiles {
  open(path: string, mode: OpenMode): Promise<OpenFile>
  readWhole(path: string): Promise<Buffer>
  /** Names in a folder, in no order. */
  list(folder: string): Promise<string[]>
  /** Makes the folder and those above it; one that is there is fine. */
  makeFolder(folder: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
  /** Resolves when the names in the folder are on the disk. */
  syncFolder(folder: string): Promise<void>
  /** Sets the time of the last change of a file to now. */
  touch(path: string): Promise<void>
  describe(path: string): Promise<PathFacts>
}

/** What the file system says of a path. */
export interface PathFacts {
  /** Device and inode together are the identity of a folder. */
  readonly device: string
  readonly inode: string
  /** Bytes. */
  readonly size: number
  /** Time of the last change, in milliseconds since the epoch. */
  readonly changedAt: number
}

/** Bytes up to which a write is done at once: handing it to another thread costs more than copying it. */
const WRITE_AT_ONCE = 65_536
const FLAGS: Readonly<Record<OpenMode, string>> = { new: 'w+', first: 'wx+', change: 'r+', read: 'r' }

const open = promisify(fs.open)
const close = promisify(fs.close)
const fstat = promisify(fs.fstat)
const fsync = promisify(fs.fsync)
const fdatasync = promisify(fs.fdatasync)
const ftruncate = promisify(fs.ftruncate)
const write = promisify(fs.write)
const read = promisify(fs.read)

/** The files of the machine. */
export const machineFiles: StoreFiles = {
  async open(path, mode) {
    return openMachineFile(await open(path, FLAGS[mode], 0o600))
  },
  readWhole: (path) => fs.promises.readFile(path),
  list: (folder) => fs.promises.readdir(folder),
  async makeFolder(folder) {
    await fs.promises.mkdir(folder, { recursive: true, mode: 0o700 })
  },
  rename: (from, to) => fs.promises.rename(from, to),
  remove: (path) => fs.promises.unlink(path),
  async syncFolder(folder) {
    // Windows keeps names durable by itself and cannot open a folder
    if (process.platform === 'win32') return
    const descriptor = await open(folder, 'r')
    try {
      await fsync(descriptor)
    } finally {
      await close(descriptor)
    }
  },
  async touch(path) {
    const now = new Date()
    await fs.promises.utimes(path, now, now)
  },
  async describe(path) {
    const stat = await fs.promises.stat(path, { bigint: true })
    return {
      device: String(stat.dev),
      inode: String(stat.ino),
      size: Number(stat.size),
      changedAt: Number(stat.mtimeMs),
    }
  },
}

function openMachineFile(descriptor: number): OpenFile {
  return {
    write(bytes, position) {
      if (bytes.length > WRITE_AT_ONCE) return writeAll(descriptor, bytes, position)
      let done = 0
      while (done < bytes.length) done += fs.writeSync(descriptor, bytes, done, bytes.length - done, position + done)
    },
    async read(position, length) {
      const buffer = Buffer.allocUnsafe(length)
      let done = 0
      while (done < length) {
        const { bytesRead } = await read(descriptor, buffer, done, length - done, position + done)
        if (bytesRead === 0) break
        done += bytesRead
      }
      return buffer.subarray(0, done)
    },
    size: async () => (await fstat(descriptor)).size,
    truncate: (size) => ftruncate(descriptor, size),
    sync: () => fdatasync(descriptor),
    close: () => close(descriptor),
  }
}

async function writeAll(descriptor: number, bytes: Uint8Array, position: number): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await write(descriptor, bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
