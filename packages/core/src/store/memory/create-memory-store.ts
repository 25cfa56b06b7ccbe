import { SluiceError } from '../../errors/sluice-error.js'
import type { Clock } from '../../internal/clock.js'
import { systemClock } from '../../internal/clock.js'
import { directAccess } from '../embedded/cell-access.js'
import { CellLocks } from '../embedded/cell-locks.js'
import { checkId } from '../embedded/check-key.js'
import { createDefinitions } from '../embedded/create-definitions.js'
import { createDocuments } from '../embedded/create-documents.js'
import { ExecutionIndex } from '../embedded/execution-index.js'
import { Transactions } from '../embedded/transactions.js'
import { TurnQueue } from '../embedded/turn-queue.js'
import type { ExecutionRecord } from '../records.js'
import type { LogEntry, Store } from '../store.js'
import { createMemoryExecutions } from './memory-executions.js'
import { MemoryGround } from './memory-ground.js'
import { createMemoryLog } from './memory-log.js'
import {
  createMemoryJournals,
  createMemoryMessages,
  createMemoryReceipts,
  createMemoryToolErrors,
} from './memory-records.js'
import { createMemorySessions } from './memory-sessions.js'

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  /** Where the store's own time (`at` of `transact` and `append`) comes from. @default the clock of the machine */
  readonly clock?: Clock
}

/**
 * A {@link Store} that keeps everything in memory, for tests and for runs that nobody needs to remember: the whole
 * contract, transactions with rollback and isolation included (T-11), and nothing of it on disk. What it holds grows with
 * every run until the store is dropped. `orphans` is always empty.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const clock = options.clock ?? systemClock
  const turns = new TurnQueue()
  const logs = new Map<string, Map<string, LogEntry[]>>()
  let closed = false

  function check(signal?: AbortSignal): void {
    if (closed) throw closedError()
    signal?.throwIfAborted()
  }

  const rows = new ExecutionIndex<ExecutionRecord>()
  const ground = new MemoryGround({ clock, check, hasRuns: (agentId) => rows.hasAgent(agentId) })
  const locks = new CellLocks(ground)
  const access = directAccess(ground, locks)
  const transactions = new Transactions(ground, locks)

  return {
    kind: 'memory',
    agents: createDefinitions(access, 'agents'),
    prompts: createDefinitions(access, 'prompts'),
    executions: createMemoryExecutions(rows, check),
    sessions: createMemorySessions(check, turns),
    messages: createMemoryMessages(check),
    toolErrors: createMemoryToolErrors(check),
    receipts: createMemoryReceipts(check),
    journals: createMemoryJournals(check),
    documents: (namespace) => createDocuments(access, namespace),
    log(namespace) {
      checkId(namespace, 'A namespace')
      let streams = logs.get(namespace)
      if (streams === undefined) {
        streams = new Map()
        logs.set(namespace, streams)
      }
      return createMemoryLog(streams, clock, check)
    },
    transaction: (fn) => transactions.run(fn),
    async orphans() {
      check()
      return []
    },
    async close() {
      if (closed) return
      closed = true
      turns.close(closedError())
    },
  }
}

function closedError(): SluiceError {
  return new SluiceError('STORE_CLOSED', 'The memory store was closed; nothing was written.', {
    hint: 'Make another one with createMemoryStore().',
  })
}
