import { SluiceError } from '../../errors/sluice-error.js'
import { systemClock } from '../../internal/clock.js'
import { escapeControl } from '../../internal/escape-text.js'
import { errnoOf, writeFault } from './file-fault.js'
import { livenessOf, ownIdentity, type ProcessIdentity } from './process-identity.js'
import type { OpenFile, StoreFiles } from './store-files.js'
import { numberOf, type StorePaths } from './store-paths.js'

/** How often the holder of a lock says that it lives, for processes that cannot see it (another container, another machine). */
const BEAT_MS = 5_000
/** Silence after which such a process takes the holder for dead. */
const SILENT_MS = 30_000

/** What a lock file says. `folder` is the identity of the folder: a lock that was copied with its folder locks nothing. */
interface LockRecord extends ProcessIdentity {
  readonly nonce: string
  readonly folder: string
}

interface FoundLock {
  readonly number: number
  readonly path: string
  readonly record: LockRecord | undefined
}

/** What a lock is taken with. */
export interface LockParts {
  readonly files: StoreFiles
  readonly paths: StorePaths
  readonly nonce: string
}

/**
 * The lock of a folder. Lock files are numbered, and whoever finds only dead ones makes the next number: only one process
 * can make a given number, and nobody ever takes away a file that somebody may live by. Having made its own, a process
 * looks again, and withdraws where it meets another that lives.
 */
export class FolderLock {
  readonly #parts: LockParts
  readonly #path: string
  #beat: NodeJS.Timeout | undefined
  #lost = false

  private constructor(parts: LockParts, path: string) {
    this.#parts = parts
    this.#path = path
    // the time of the machine and of other processes, which no injected clock knows; keeps nothing alive
    this.#beat = setInterval(() => void this.#beatOnce(), BEAT_MS).unref()
  }

  /** @throws STORE_LOCKED, naming process and folder; STORE_READ_ONLY, STORE_FULL or STORE_FAILED */
  static async take(parts: LockParts): Promise<FolderLock> {
    const { files, paths } = parts
    try {
      const { device, inode } = await files.describe(paths.folder)
      const own: LockRecord = { ...ownIdentity(), nonce: parts.nonce, folder: `${device}:${inode}` }
      for (;;) {
        const before = await locksOf(parts)
        await refuseLiving(parts, before, own)
        const number = Math.max(0, ...before.map((lock) => lock.number)) + 1
        const path = paths.lock(number)
        if (!(await makeLock(files, path, own))) continue
        const others = (await locksOf(parts)).filter((lock) => lock.record?.nonce !== own.nonce)
        try {
          await refuseLiving(parts, others, own)
        } catch (error) {
          await removeIfThere(files, path)
          throw error
        }
        for (const dead of others) await removeIfThere(files, dead.path)
        return new FolderLock(parts, path)
      }
    } catch (error) {
      throw writeFault(error, paths.folder)
    }
  }

  /** Throws where somebody took this lock for dead, so that two processes never write. @throws STORE_LOCKED */
  check(): void {
    if (!this.#lost) return
    throw new SluiceError('STORE_LOCKED', `Another process has taken the store in ${this.#parts.paths.folder} over.`, {
      hint: 'This process was silent for too long. Open the store again, or use one made for several processes.',
    })
  }

  async release(): Promise<void> {
    clearInterval(this.#beat)
    this.#beat = undefined
    if (this.#lost) return
    try {
      await removeIfThere(this.#parts.files, this.#path)
    } catch (error) {
      throw writeFault(error, this.#parts.paths.folder)
    }
  }

  async #beatOnce(): Promise<void> {
    try {
      await this.#parts.files.touch(this.#path)
    } catch (error) {
      if (errnoOf(error) === 'ENOENT' && this.#beat !== undefined) this.#lost = true
    }
  }
}

async function locksOf(parts: LockParts): Promise<FoundLock[]> {
  const found: FoundLock[] = []
  for (const name of await parts.files.list(parts.paths.folder)) {
    const number = numberOf(name, 'lock')
    if (number === undefined) continue
    const path = parts.paths.lock(number)
    found.push({ number, path, record: await readLock(parts.files, path) })
  }
  return found
}

/** `undefined` for a lock that went meanwhile, or whose process died before it was written. */
async function readLock(files: StoreFiles, path: string): Promise<LockRecord | undefined> {
  try {
    const record = JSON.parse((await files.readWhole(path)).toString('utf8')) as LockRecord
    return typeof record.pid === 'number' && typeof record.nonce === 'string' ? record : undefined
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

async function refuseLiving(parts: LockParts, locks: readonly FoundLock[], own: LockRecord): Promise<void> {
  for (const { path, record } of locks) {
    if (record === undefined || record.folder !== own.folder) continue
    const liveness = livenessOf(record, own)
    if (liveness === 'dead') continue
    if (liveness === 'unknown' && (await isSilent(parts.files, path))) continue
    throw lockedBy(parts.paths.folder, path, record, own)
  }
}

async function isSilent(files: StoreFiles, path: string): Promise<boolean> {
  try {
    return systemClock.now() - (await files.describe(path)).changedAt > SILENT_MS
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return true
    throw error
  }
}

/**
 * Makes the lock file; false where another process was faster. One that dies before it has written leaves a lock that says
 * nothing and locks nothing; one that is read before that looks again itself when it has written.
 */
async function makeLock(files: StoreFiles, path: string, own: LockRecord): Promise<boolean> {
  let file: OpenFile
  try {
    file = await files.open(path, 'first')
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw error
  }
  try {
    await file.write(Buffer.from(`${JSON.stringify(own)}\n`), 0)
    return true
  } finally {
    await file.close()
  }
}

async function removeIfThere(files: StoreFiles, path: string): Promise<void> {
  try {
    await files.remove(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}

function lockedBy(folder: string, path: string, record: LockRecord, own: LockRecord): SluiceError {
  const host = escapeControl(String(record.host), 100)
  const who = record.pid === own.pid && record.host === own.host ? 'this process' : `process ${record.pid} on ${host}`
  return new SluiceError('STORE_LOCKED', `The store in ${folder} is open in ${who} (pid ${record.pid}).`, {
    details: { pid: record.pid, host, folder, lock: path },
    hint: `Close it there, or use a store made for several processes. If that process is gone and this machine cannot see it, delete ${path}.`,
  })
}
