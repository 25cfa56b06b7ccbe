import type { Documents, Label, Store, StoreTransaction } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { createFile } from './file-commands.js'
import { checkMemoryOptions } from './memory-config.js'
import type { IndexedFile, MemoryAuthor, MemoryFile } from './memory-files.js'
import { allStores, MEMORY_NAMESPACE, MemoryFiles } from './memory-files.js'
import { parseMemoryPath } from './memory-path.js'
import type { MemoryStoreReference } from './store-key.js'
import { requireStoreKey } from './store-key.js'

/** Options of a management call: `transaction` joins one that the caller has open. */
export interface MemoryCall {
  readonly transaction?: StoreTransaction
}

/** What a purge took and left, in stores and files. */
export interface MemoryPurge {
  readonly removed: { readonly stores: number; readonly files: number }
  readonly config: boolean
}

/** Management of files without a model. Stores of scope `context` and others are named by a {@link MemoryStoreReference}. */
export interface MemoryManagement {
  /** Files of a store by path, without their texts. */
  listFiles(store: MemoryStoreReference, call?: MemoryCall): Promise<readonly MemoryFile[]>
  /** A file with its text; `undefined` where there is none. @throws INVALID_CONFIG (`reason` `memory.path`) */
  getFile(
    store: MemoryStoreReference,
    path: string,
    call?: MemoryCall,
  ): Promise<(MemoryFile & { readonly text: string }) | undefined>
  /**
   * Writes a whole file, under the default caps. `labels` name sources of untrusted text in it. Default none.
   *
   * @throws INVALID_CONFIG (`reason` `memory.path`), LIMIT_EXCEEDED (`reason` `memory.write`)
   */
  putFile(
    store: MemoryStoreReference,
    path: string,
    text: string,
    call?: MemoryCall & { readonly by?: string; readonly labels?: readonly Label[] },
  ): Promise<void>
  /** True where there was one. */
  deleteFile(store: MemoryStoreReference, path: string, call?: MemoryCall): Promise<boolean>
  /** Removes all files of a store; returns their number. */
  clearStoreFiles(store: MemoryStoreReference, call?: MemoryCall): Promise<number>
  /** Removes files of all stores that nobody has changed for so many days; returns their number. */
  expireFiles(days: number, call?: MemoryCall & { readonly now?: number }): Promise<number>
  /**
   * Removes what belongs to one agent, of every tenant: its stores of scope `agent`, `user` and `context` under its own code,
   * those of the sessions named, and what `enableForAgent` kept. Stores of scope `shared`, `global` and `context` under a
   * `storeCode` stay (M-16). `dryRun` counts and removes nothing.
   */
  purgeAgentMemory(
    agentCode: string,
    options?: MemoryCall & { readonly sessionIds?: readonly string[]; readonly dryRun?: boolean },
  ): Promise<MemoryPurge>
}

const DEFAULTS = checkMemoryOptions({})
const DAY = 86_400_000

/** Management over a store. */
export function createManagement(store: Store): MemoryManagement {
  const documentsOf = ({ transaction }: MemoryCall): Documents => (transaction ?? store).documents(MEMORY_NAMESPACE)
  const open = (reference: MemoryStoreReference, call: MemoryCall = {}) =>
    new MemoryFiles(documentsOf(call), requireStoreKey(reference))
  return {
    async listFiles(reference, call) {
      return (await open(reference, call).list()).map(shown)
    },
    async getFile(reference, path, call) {
      const wanted = requirePath(path)
      const found = await open(reference, call).read((files) => files.find((file) => file.path === wanted))
      return found === undefined ? undefined : { ...shown(found.file), text: found.text }
    },
    async putFile(reference, path, text, call = {}) {
      const author: MemoryAuthor = { agent: null, sessionId: null, executionId: null, createdBy: call.by ?? null }
      const writing = { config: DEFAULTS, author, labels: call.labels ?? [] }
      const done = await createFile(open(reference, call), requirePath(path), text, writing)
      if (!done.ok) throw new SluiceError('LIMIT_EXCEEDED', done.text, { reason: 'memory.write' })
    },
    async deleteFile(reference, path, call) {
      const wanted = requirePath(path)
      return (await open(reference, call).remove((file) => file.path === wanted)).length > 0
    },
    async clearStoreFiles(reference, call) {
      return (await open(reference, call).remove(() => true)).length
    },
    async expireFiles(days, call = {}) {
      if (!(Number.isFinite(days) && days >= 0))
        throw new SluiceError('INVALID_CONFIG', 'The age of files must be a number of days of at least 0.', {
          reason: 'memory.days',
        })
      const documents = documentsOf(call)
      let gone = 0
      for (const key of await allStores(documents))
        gone += await expire(new MemoryFiles(documents, key), days, call.now)
      return gone
    },
    async purgeAgentMemory(agentCode, { sessionIds = [], dryRun = false, ...call } = {}) {
      const documents = documentsOf(call)
      const removed = { stores: 0, files: 0 }
      for (const key of await allStores(documents)) {
        if (!belongs(key, agentCode, sessionIds)) continue
        const files = new MemoryFiles(documents, key)
        const gone = dryRun ? await files.list() : await files.remove(() => true)
        if (gone.length > 0) removed.stores += 1
        removed.files += gone.length
      }
      const place = ['config', agentCode]
      const config = dryRun ? (await documents.get(place)) !== undefined : await documents.delete(place)
      return { removed, config }
    },
  }
}

/** Whether a store goes with an agent. */
function belongs(key: readonly string[], agentCode: string, sessionIds: readonly string[]): boolean {
  const [scope, ...rest] = key[0] === 'tenant' ? key.slice(2) : key.slice(1)
  if (scope === 'agent' || scope === 'user') return rest[0] === agentCode
  if (scope === 'session') return sessionIds.includes(rest[0] as string)
  return scope === 'context' && rest[0] === 'of-agent' && rest[1] === agentCode
}

/** By the clock of the store: it is read where the files are. */
async function expire(files: MemoryFiles, days: number, now: number | undefined): Promise<number> {
  const at =
    now ??
    (await files.change(
      () => [],
      (state) => ({ result: state.at }),
    ))
  return (await files.remove((file) => at - file.updatedAt >= days * DAY)).length
}

function shown({ id: _, ...file }: IndexedFile): MemoryFile {
  return file
}

function requirePath(path: string): string {
  const parsed = parseMemoryPath(path)
  if (parsed.ok) return parsed.path
  throw new SluiceError('INVALID_CONFIG', `The path of a memory file cannot be used: ${parsed.fault}.`, {
    reason: 'memory.path',
  })
}
