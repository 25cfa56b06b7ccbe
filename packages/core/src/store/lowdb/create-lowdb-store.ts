import { resolve } from 'node:path'
import { SluiceError } from '../../errors/sluice-error.js'
import type { Clock } from '../../internal/clock.js'
import { systemClock } from '../../internal/clock.js'
import type { Ids } from '../../internal/ids.js'
import { createIds } from '../../internal/ids.js'
import { isPlainObject } from '../../internal/json.js'
import type { Logger } from '../../internal/logger.js'
import { directAccess } from '../embedded/cell-access.js'
import { CellLocks } from '../embedded/cell-locks.js'
import { createDefinitions } from '../embedded/create-definitions.js'
import { createDocuments } from '../embedded/create-documents.js'
import { Transactions } from '../embedded/transactions.js'
import { TurnQueue } from '../embedded/turn-queue.js'
import type { Store } from '../store.js'
import { AckMark } from './ack-mark.js'
import { writeFault } from './file-fault.js'
import { FileReader } from './file-reader.js'
import { createFolderExecutions } from './folder-executions.js'
import { FolderGround } from './folder-ground.js'
import { FolderLock } from './folder-lock.js'
import { createFolderLog } from './folder-log.js'
import { createFolderJournals, createFolderReceipts, createFolderToolErrors } from './folder-records.js'
import { createFolderMessages, createFolderSessions } from './folder-sessions.js'
import { FolderState } from './folder-state.js'
import { openFolder } from './open-folder.js'
import { machineFiles, type StoreFiles } from './store-files.js'
import { StorePaths } from './store-paths.js'
import { Writer } from './writer.js'

/** Options of {@link createLowdbStore}. */
export interface LowdbStoreOptions {
  /** Where the store lies; made where it is not there. One process at a time. */
  readonly folder: string
  /** Where the store's own time (`at` of `transact` and `append`) comes from. @default the clock of the machine */
  readonly clock?: Clock
  /** Where the id of a new store comes from. */
  readonly ids?: Ids
  /** Hears when acknowledged writes could not be moved from the redo log into their files yet. */
  readonly logger?: Logger
  /** Size of the redo log, in bytes, from which on its writes are moved into their files. @default 4 MiB */
  readonly checkpointBytes?: number
  /** Size of a file with rows, in bytes, from which on the next one is begun. @default 32 MiB */
  readonly segmentBytes?: number
  /** Every operation on files, so that a test can put faults into it. @default the files of the machine */
  readonly files?: StoreFiles
}

const OPTION_NAMES = new Set(['folder', 'clock', 'ids', 'logger', 'checkpointBytes', 'segmentBytes', 'files'])
const CHECKPOINT_BYTES = 4 * 1024 * 1024
const SEGMENT_BYTES = 32 * 1024 * 1024

/**
 * Opens the {@link Store} in a folder, or makes one: the default of a runtime, for one process. An acknowledged write is on
 * the disk, whatever happens to the process; one that failed wrote nothing, or says that it cannot be known. A write costs
 * the same in session 10 000 as in the first. What a process that died left behind is found again when the store is opened.
 *
 * @throws STORE_LOCKED where another process, or this one, has it open; STORE_DAMAGED, naming the file; STORE_READ_ONLY,
 * STORE_FULL or STORE_FAILED where the folder cannot be used; INVALID_CONFIG
 */
export async function createLowdbStore(options: LowdbStoreOptions): Promise<Store> {
  checkOptions(options)
  const clock = options.clock ?? systemClock
  const ids = options.ids ?? createIds()
  const files = options.files ?? machineFiles
  const paths = new StorePaths(resolve(options.folder))
  const state = new FolderState()
  const reader = new FileReader(files, paths, state)
  await makeFolder(files, paths.folder)
  const lock = await FolderLock.take({ files, paths, nonce: ids.id() })
  let mark: AckMark | undefined
  try {
    mark = await AckMark.open(files, paths.acked)
    const { catalogue, redo } = await openFolder({ files, paths, state, reader, ids, mark })
    const { logger, checkpointBytes = CHECKPOINT_BYTES, segmentBytes = SEGMENT_BYTES } = options
    const sizes = { checkpointBytes, segmentBytes }
    const writer = new Writer({ files, paths, state, reader, clock, logger, lock, catalogue, redo, mark, ...sizes })
    return composeStore(new FolderGround(state, reader, writer), writer)
  } catch (error) {
    await mark?.close().catch(() => undefined)
    await lock.release().catch(() => undefined)
    throw error
  }
}

function composeStore(ground: FolderGround, writer: Writer): Store {
  const turns = new TurnQueue()
  const locks = new CellLocks(ground)
  const access = directAccess(ground, locks)
  const transactions = new Transactions(ground, locks)
  const executions = createFolderExecutions(ground)
  const left = new Set(
    [...ground.state.executions.rows()].filter((row) => row.status === 'running').map(({ id }) => id),
  )
  return {
    kind: 'lowdb',
    agents: createDefinitions(access, 'agents'),
    prompts: createDefinitions(access, 'prompts'),
    executions,
    sessions: createFolderSessions(ground, turns),
    messages: createFolderMessages(ground),
    toolErrors: createFolderToolErrors(ground),
    receipts: createFolderReceipts(ground),
    journals: createFolderJournals(ground),
    documents: (namespace) => createDocuments(access, namespace),
    log: (namespace) => createFolderLog(ground, namespace),
    transaction: (fn) => transactions.run(fn),
    async orphans() {
      ground.check()
      const rows = await ground.look((lookup) => lookup.executions([...left]))
      return rows.filter((row) => row !== undefined).filter((row) => row.status === 'running')
    },
    async close() {
      const closed = writer.close()
      turns.close(new SluiceError('STORE_CLOSED', 'The store was closed; the turn was not taken.'))
      await closed
    },
  }
}

function checkOptions(options: LowdbStoreOptions): void {
  const faults: string[] = []
  if (!isPlainObject(options)) {
    throw new SluiceError('INVALID_CONFIG', 'createLowdbStore takes one plain object of options.', {
      reason: 'store.options',
      hint: "Say where the store lies: createLowdbStore({ folder: './data' }).",
    })
  }
  for (const name of Object.keys(options)) {
    if (!OPTION_NAMES.has(name)) faults.push(`\`${name}\` is no option`)
  }
  if (typeof options.folder !== 'string' || options.folder === '' || options.folder.includes('\0')) {
    faults.push('`folder` is not the path of a folder')
  }
  for (const name of ['checkpointBytes', 'segmentBytes'] as const) {
    const bytes = options[name]
    if (bytes === undefined || (Number.isSafeInteger(bytes) && bytes > 0)) continue
    faults.push(`\`${name}\` is not a whole number above 0`)
  }
  if (faults.length === 0) return
  throw new SluiceError('INVALID_CONFIG', `The options of createLowdbStore cannot be used: ${faults.join('; ')}.`, {
    reason: 'store.options',
    hint: `Its options are ${[...OPTION_NAMES].join(', ')}.`,
  })
}

async function makeFolder(files: StoreFiles, folder: string): Promise<void> {
  try {
    await files.makeFolder(folder)
  } catch (error) {
    throw writeFault(error, folder)
  }
}
