import { dirname } from 'node:path'
import type { OpenFile, OpenMode, StoreFiles } from '@sluice/core/store/lowdb'

/** One change of a file that is not synced yet. */
type PendingWrite =
  | { readonly kind: 'write'; readonly position: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly size: number }

/** Bytes of a file; writing at the end costs what is written. */
class Content {
  #bytes: Buffer
  #length: number

  constructor(bytes: Buffer = Buffer.alloc(0)) {
    this.#bytes = bytes
    this.#length = bytes.length
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }

  copy(): Content {
    return new Content(Buffer.from(this.bytes))
  }

  apply(change: PendingWrite): void {
    const end = change.kind === 'write' ? change.position + change.bytes.length : change.size
    if (end > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(end, 2 * this.#bytes.length))
      this.bytes.copy(larger)
      this.#bytes = larger
    }
    if (end > this.#length) this.#bytes.fill(0, this.#length, end)
    if (change.kind === 'write') change.bytes.copy(this.#bytes, change.position)
    this.#length = change.kind === 'write' ? Math.max(this.#length, end) : end
  }
}

/** A file without its names. */
class Inode {
  readonly synced: Content
  readonly current: Content
  pending: PendingWrite[] = []

  constructor(content = new Content()) {
    this.synced = content
    this.current = content.copy()
  }

  apply(change: PendingWrite): void {
    this.pending.push(change)
    this.current.apply(change)
  }

  /** Puts the pending changes that `survives` on the disk, and forgets the others. */
  settle(survives: (change: PendingWrite, index: number) => boolean): void {
    for (const change of this.pending.filter(survives)) this.synced.apply(change)
    this.pending = []
  }
}

/** One change of a name that is not synced yet: `undefined` removes it. */
interface PendingName {
  readonly path: string
  readonly target: Inode | 'folder' | undefined
}

/** Names of the operations, as faults are told of them. */
export type DiskOperation = keyof StoreFiles | keyof OpenFile

/** What the simulated process was doing when it ended. */
export class Crashed extends Error {
  override readonly name = 'Crashed'
}

/**
 * A disk in memory that keeps what a real one is free to lose: bytes until the file is synced, names until their folder is.
 * {@link SimulatedDisk.afterPowerCut} gives a disk on which a random part of all that has survived.
 */
export class SimulatedDisk {
  readonly #names = new Map<string, Inode | 'folder'>()
  readonly #synced = new Map<string, Inode | 'folder'>()
  readonly #pendingNames = new Map<string, PendingName[]>()
  readonly #identity: string
  /** Operations so far. */
  operations = 0
  /** The process ends at this operation: it and all later ones throw {@link Crashed}. */
  crashAt = Number.POSITIVE_INFINITY
  /** Gives the `code` of an error with which an operation fails; the process lives on. */
  faultAt: (operation: DiskOperation, path: string) => string | undefined = () => undefined

  constructor(root: string, identity = '1') {
    this.#identity = identity
    for (const path of foldersAbove(root)) {
      this.#names.set(path, 'folder')
      this.#synced.set(path, 'folder')
    }
  }

  get files(): StoreFiles {
    return {
      open: async (path, mode) => this.#open(path, mode),
      readWhole: async (path) => {
        this.#step('readWhole', path)
        return Buffer.from(this.#fileAt(path).current.bytes)
      },
      list: async (folder) => {
        this.#step('list', folder)
        return [...this.#names.keys()].filter((path) => dirname(path) === folder && path !== folder).map(nameOf)
      },
      makeFolder: async (folder) => {
        this.#step('makeFolder', folder)
        for (const path of foldersAbove(folder)) if (!this.#names.has(path)) this.#setName(path, 'folder')
      },
      rename: async (from, to) => {
        this.#step('rename', to)
        const file = this.#fileAt(from)
        // one step of the journal: both names change or none
        this.#pendingOf(dirname(to)).push({ path: to, target: file }, { path: from, target: undefined })
        this.#names.set(to, file)
        this.#names.delete(from)
      },
      remove: async (path) => {
        this.#step('remove', path)
        this.#fileAt(path)
        this.#setName(path, undefined)
      },
      syncFolder: async (folder) => {
        this.#step('syncFolder', folder)
        for (const { path, target } of this.#pendingOf(folder)) this.#settle(path, target)
        this.#pendingNames.delete(folder)
      },
      touch: async (path) => this.#step('touch', path),
      describe: async (path) => {
        this.#step('describe', path)
        const found = this.#names.get(path)
        if (found === undefined) throw noEntry(path)
        return {
          device: 'simulated',
          inode: this.#identity,
          size: found === 'folder' ? 0 : found.current.bytes.length,
          changedAt: 0,
        }
      },
    }
  }

  /** The disk as it may be found after the power went: `random` decides what of the unsynced has survived. */
  afterPowerCut(root: string, random: () => number): SimulatedDisk {
    const after = new SimulatedDisk(root, `${this.#identity}+`)
    const names = new Map(this.#synced)
    for (const changes of this.#pendingNames.values()) {
      // a journal keeps the order of the changes of a folder: some first part of them survives
      const kept = Math.floor(random() * (changes.length + 1))
      for (const { path, target } of changes.slice(0, kept)) {
        if (target === undefined) names.delete(path)
        else names.set(path, target)
      }
    }
    for (const [path, target] of names) {
      if (!foldersAbove(dirname(path)).every((folder) => names.get(folder) === 'folder')) continue
      const survivor = target === 'folder' ? 'folder' : survivorOf(target, random)
      after.#names.set(path, survivor)
      after.#synced.set(path, survivor)
    }
    return after
  }

  /** The disk as it is found when only the process has ended: nothing is lost. */
  afterKill(root: string): SimulatedDisk {
    const after = new SimulatedDisk(root, `${this.#identity}+`)
    for (const [path, target] of this.#names) {
      const survivor = target === 'folder' ? 'folder' : new Inode(target.current.copy())
      after.#names.set(path, survivor)
      after.#synced.set(path, survivor)
    }
    return after
  }

  /** Paths of all files. */
  get paths(): readonly string[] {
    return [...this.#names].filter(([, target]) => target !== 'folder').map(([path]) => path)
  }

  /** What a file holds; `undefined` where it is not there. */
  contentOf(path: string): Buffer | undefined {
    const found = this.#names.get(path)
    return found === undefined || found === 'folder' ? undefined : Buffer.from(found.current.bytes)
  }

  /** Puts other bytes into a file behind the back of the store; `undefined` removes it. */
  replace(path: string, bytes: Buffer | undefined): void {
    if (bytes === undefined) this.#names.delete(path)
    else this.#names.set(path, new Inode(new Content(bytes)))
  }

  #step(operation: DiskOperation, path: string): void {
    this.operations += 1
    if (this.operations >= this.crashAt) throw new Crashed('The process has ended.')
    const code = this.faultAt(operation, path)
    if (code !== undefined) throw fault(code, path)
  }

  #open(path: string, mode: OpenMode): OpenFile {
    this.#step('open', path)
    const found = this.#names.get(path)
    if (mode === 'first' && found !== undefined) throw fault('EEXIST', path)
    if ((mode === 'change' || mode === 'read') && found === undefined) throw noEntry(path)
    if (!this.#names.has(dirname(path))) throw noEntry(path)
    if (found === 'folder') throw fault('EISDIR', path)
    const file = found ?? new Inode()
    if (found === undefined) this.#setName(path, file)
    else if (mode === 'new') file.apply({ kind: 'truncate', size: 0 })
    return this.#handle(path, file)
  }

  #handle(path: string, file: Inode): OpenFile {
    return {
      write: async (bytes, position) => {
        try {
          this.#step('write', path)
        } catch (error) {
          // an operation that fails, or is cut off, may have done a part of its work; the first one behind the end has not
          const part = Buffer.from(bytes.subarray(0, bytes.length >> 1))
          if (this.operations <= this.crashAt) file.apply({ kind: 'write', position, bytes: part })
          throw error
        }
        file.apply({ kind: 'write', position, bytes: Buffer.from(bytes) })
      },
      read: async (position, length) => {
        this.#step('read', path)
        return Buffer.from(file.current.bytes.subarray(position, position + length))
      },
      size: async () => {
        this.#step('size', path)
        return file.current.bytes.length
      },
      truncate: async (size) => {
        this.#step('truncate', path)
        file.apply({ kind: 'truncate', size })
      },
      sync: async () => {
        try {
          this.#step('sync', path)
        } catch (error) {
          // what a failed sync did not write is never tried again: every other change is lost
          if (this.operations < this.crashAt) file.settle((_, index) => index % 2 === 0)
          throw error
        }
        file.settle(() => true)
      },
      close: async () => this.#step('close', path),
    }
  }

  #fileAt(path: string): Inode {
    const found = this.#names.get(path)
    if (found === undefined || found === 'folder') throw noEntry(path)
    return found
  }

  #setName(path: string, target: Inode | 'folder' | undefined): void {
    if (target === undefined) this.#names.delete(path)
    else this.#names.set(path, target)
    this.#pendingOf(dirname(path)).push({ path, target })
  }

  #settle(path: string, target: Inode | 'folder' | undefined): void {
    if (target === undefined) this.#synced.delete(path)
    else this.#synced.set(path, target)
  }

  #pendingOf(folder: string): PendingName[] {
    let pending = this.#pendingNames.get(folder)
    if (pending === undefined) {
      pending = []
      this.#pendingNames.set(folder, pending)
    }
    return pending
  }
}

function survivorOf(file: Inode, random: () => number): Inode {
  const content = file.synced.copy()
  for (const change of file.pending) {
    const luck = random()
    if (luck < 0.4) continue
    const isTorn = luck < 0.6 && change.kind === 'write'
    content.apply(
      isTorn ? { ...change, bytes: change.bytes.subarray(0, Math.floor(random() * change.bytes.length)) } : change,
    )
  }
  return new Inode(content)
}

function foldersAbove(folder: string): string[] {
  const folders: string[] = []
  for (let path = folder; ; path = dirname(path)) {
    folders.unshift(path)
    if (dirname(path) === path) return folders
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function noEntry(path: string): Error {
  return fault('ENOENT', path)
}

function fault(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code })
}
