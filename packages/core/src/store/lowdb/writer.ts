import type { Clock } from '../../internal/clock.js'
import type { Logger } from '../../internal/logger.js'
import { SluiceError } from '../../errors/sluice-error.js'
import type { AckMark } from './ack-mark.js'
import { Batch } from './batch.js'
import type { Catalogue } from './catalogue.js'
import { wholeCatalogue } from './catalogue-entries.js'
import { checkpoint } from './checkpoint.js'
import { sameFault } from './file-fault.js'
import type { FileReader } from './file-reader.js'
import type { FolderLock } from './folder-lock.js'
import type { FolderState } from './folder-state.js'
import type { Layer } from './layer.js'
import { type Loaded, loadMissing, NotLoaded } from './lookup.js'
import { RedoSegment } from './redo-segment.js'
import type { StoreFiles } from './store-files.js'
import type { StorePaths } from './store-paths.js'

/** What a writer works with. It closes what it was given. */
export interface WriterParts {
  readonly files: StoreFiles
  readonly paths: StorePaths
  readonly state: FolderState
  readonly reader: FileReader
  readonly clock: Clock
  readonly logger: Logger | undefined
  readonly lock: FolderLock
  readonly catalogue: Catalogue
  readonly redo: RedoSegment
  readonly mark: AckMark
  /** Size of a redo segment, in bytes, from which on its writes are put into their files. */
  readonly checkpointBytes: number
  readonly segmentBytes: number
}

interface Job {
  readonly work: (batch: Batch) => unknown
  readonly keep: (result: unknown) => void
  readonly refuse: (reason: unknown) => void
  loaded: Loaded | undefined
  cancelled: boolean
}

/** Documents that a checkpoint writes at once: one, while others wait for the disk. */
const BESIDE_OTHERS = 1
const WHEN_CLOSING = 4
/** Lines of a catalogue that are too few to write it anew for. */
const FEW_LINES = 200

/**
 * The one writer of a store. Whatever waits while the disk is busy becomes one batch: its writes run one after another,
 * each with those before it in view, go into the redo log with one sync, and are then visible and acknowledged together.
 * From time to time what has gathered is put into its files, beside the writes that go on.
 */
export class Writer {
  readonly #parts: WriterParts
  readonly #state: FolderState
  #redo: RedoSegment
  #queue: Job[] = []
  #jobs = 0
  #draining: Promise<void> | undefined
  #idle: (() => void) | undefined
  #checkpoint: Promise<void> | undefined
  #checkpointAt: number
  #compactAt: number
  #closing: Promise<void> | undefined

  constructor(parts: WriterParts) {
    this.#parts = parts
    this.#state = parts.state
    this.#redo = parts.redo
    this.#checkpointAt = parts.checkpointBytes
    this.#compactAt = 2 * wholeCatalogue(parts.state).length + FEW_LINES
  }

  /** @throws STORE_CLOSED, STORE_LOCKED, the reason of the signal */
  check(signal?: AbortSignal): void {
    if (this.#closing !== undefined) throw closedError(this.#parts.paths.folder)
    signal?.throwIfAborted()
    this.#parts.lock.check()
  }

  /**
   * Runs `work` in the next batch; what it recorded is on the disk when the promise is kept. It runs again where a value
   * that it asked for has to be read first. A signal ends the waiting; once the batch has begun it is not listened to.
   */
  submit<Result>(work: (batch: Batch) => Result, signal?: AbortSignal): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.check(signal)
      this.#jobs += 1
      const job: Job = {
        work,
        keep: (result) => {
          this.#ended(signal, abort)
          resolve(result as Result)
        },
        refuse: (reason) => {
          this.#ended(signal, abort)
          reject(reason)
        },
        loaded: undefined,
        cancelled: false,
      }
      const abort = () => {
        if (job.cancelled || !this.#queue.includes(job)) return
        job.cancelled = true
        job.refuse(signal?.reason)
      }
      signal?.addEventListener('abort', abort)
      this.#enqueue(job)
    })
  }

  /** Waits for what is under way, puts everything into its files and gives the folder back. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    if (this.#jobs > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve
      })
    }
    await this.#draining
    await this.#checkpoint
    if (this.#state.layers.some((layer) => !layer.isEmpty)) {
      await this.#beginCheckpoint()
      await this.#checkpoint
    }
    // everything is on the disk: a handle that does not close loses nothing
    for (const open of [this.#redo, this.#parts.mark, this.#parts.catalogue]) await open.close().catch(() => undefined)
    await this.#parts.lock.release()
  }

  #ended(signal: AbortSignal | undefined, abort: () => void): void {
    signal?.removeEventListener('abort', abort)
    this.#jobs -= 1
    if (this.#jobs === 0) this.#idle?.()
  }

  #enqueue(job: Job): void {
    this.#queue.push(job)
    // calls of the same turn share the first batch
    this.#draining ??= Promise.resolve().then(() => this.#drain())
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const jobs = this.#queue
      this.#queue = []
      await this.#runBatch(jobs)
      if (this.#redo.size >= this.#checkpointAt && this.#checkpoint === undefined) await this.#beginCheckpoint()
    }
    this.#draining = undefined
  }

  async #runBatch(jobs: readonly Job[]): Promise<void> {
    const batch = new Batch(this.#parts)
    const done: { readonly job: Job; readonly result: unknown }[] = []
    for (const job of jobs) {
      if (job.cancelled) continue
      try {
        batch.lookup.loaded = job.loaded
        done.push({ job, result: job.work(batch) })
      } catch (error) {
        if (error instanceof NotLoaded) void this.#load(job, error)
        else job.refuse(error)
      }
    }
    if (batch.lines !== '') {
      try {
        await this.#redo.append(Buffer.from(batch.lines))
      } catch (error) {
        done.forEach(({ job }, index) => job.refuse(index === 0 ? error : sameFault(error as SluiceError)))
        return
      }
      this.#state.commit(batch.layer)
    }
    for (const { job, result } of done) job.keep(result)
  }

  async #load(job: Job, missing: NotLoaded): Promise<void> {
    try {
      job.loaded = await loadMissing(this.#state, missing, job.loaded)
      this.#enqueue(job)
    } catch (error) {
      job.refuse(error)
    }
  }

  /** Goes on in a new redo segment and puts what is in the old ones into its files, in the background. */
  async #beginCheckpoint(): Promise<void> {
    const { files, paths, catalogue, mark } = this.#parts
    const before = this.#redo
    const number = before.number + 1
    let next: RedoSegment | undefined
    try {
      next = await RedoSegment.create({ files, path: paths.redo(number), number, store: catalogue.store, mark })
      await before.seal(number)
    } catch (error) {
      this.#postpone(error)
      await next?.close().catch(() => undefined)
      return
    }
    this.#redo = next
    this.#checkpointAt = this.#parts.checkpointBytes
    const frozen = this.#state.freeze()
    await before.close().catch(() => undefined)
    this.#checkpoint = this.#runCheckpoint(frozen, before.number).finally(() => {
      this.#checkpoint = undefined
    })
  }

  async #runCheckpoint(frozen: Layer, upTo: number): Promise<void> {
    const { catalogue, files, paths } = this.#parts
    const oldest = catalogue.applied + 1
    try {
      await catalogue.settle(() => wholeCatalogue(this.#state))
      const { entries, publish } = await checkpoint(
        this.#parts,
        frozen,
        this.#closing === undefined ? BESIDE_OTHERS : WHEN_CLOSING,
      )
      if (catalogue.lines + entries.length > this.#compactAt) {
        await catalogue.replace([...wholeCatalogue(this.#state), ...entries], upTo)
        this.#compactAt = 2 * catalogue.lines + FEW_LINES
      } else {
        await catalogue.append(entries, upTo)
      }
      publish()
      this.#state.layers = this.#state.layers.slice(0, 1)
      this.#state.generation += 1
    } catch (error) {
      this.#state.thaw()
      this.#postpone(error)
      return
    }
    // one that stays is removed when the store is opened again
    for (let number = oldest; number <= upTo; number++) await files.remove(paths.redo(number)).catch(() => undefined)
  }

  /** Everything is safe in the redo log; the next try comes when as much again has gathered. */
  #postpone(error: unknown): void {
    this.#checkpointAt = this.#redo.size + this.#parts.checkpointBytes
    this.#parts.logger?.warn(
      { folder: this.#parts.paths.folder, error: String(error) },
      'The store could not put acknowledged writes into their files; they stay in the redo log.',
    )
  }
}

function closedError(folder: string): SluiceError {
  return new SluiceError('STORE_CLOSED', `The store in ${folder} was closed; nothing was written.`, {
    hint: 'Open it again with createLowdbStore().',
  })
}
