import type {
  AgentExtension,
  AgentRegistry,
  Documents,
  Store,
  StoreTransaction,
  ToolContext,
  ToolDefinition,
} from '@sluice/core'
import type { MemoryConfig, MemoryOptions } from './memory-config.js'
import { checkMemoryOptions, fromStoredConfig, toStoredConfig } from './memory-config.js'
import { MEMORY_NAMESPACE } from './memory-files.js'
import type { MemoryManagement } from './memory-management.js'
import { createManagement } from './memory-management.js'
import { getMemoryProtocol } from './memory-protocol.js'
import { memoryTool } from './memory-tool.js'
import { memoryWarnings } from './memory-warnings.js'

/** Options of {@link createMemory}. */
export interface AgentMemoryOptions {
  /** Where files are kept: the store of the runtime. */
  readonly store: Store
  /** Memories that stand in code, by the code of the agent. They go before those of `enableForAgent`. */
  readonly agents?: Readonly<Record<string, MemoryOptions>>
  /**
   * The store transaction of the caller, out of `tool.resources`: writes join it, and go when it is rolled back (M-9). Without
   * one, or where it returns `undefined`, each write stands by itself.
   */
  readonly transactionOf?: (tool: ToolContext) => StoreTransaction | undefined
}

/** Memories of agents: give it to `createRuntime` in `extensions`. */
export interface AgentMemory extends AgentExtension, MemoryManagement {
  /** The tool, to be offered by hand in calls that are no agent run; agents with a memory have it of themselves. */
  readonly tool: ToolDefinition
  /**
   * Gives an agent a memory that is kept in the store, or changes it. Returns what is no fault and yet doubtful: callers in
   * `agents` that do not require the context key (M-W1), one store for all callers where some are public (M-W4).
   *
   * @throws MISSING_CONFIG (M-4), INVALID_CONFIG (`reason` `memory.options`), NOT_FOUND where `agents` has no such agent
   */
  enableForAgent(
    agentCode: string,
    options: MemoryOptions,
    about?: { readonly agents?: AgentRegistry; readonly audience?: 'public' | 'authenticated' },
  ): Promise<{ readonly warnings: readonly string[] }>
  /** Takes the memory that `enableForAgent` gave; files stay. True where there was one. */
  disableForAgent(agentCode: string): Promise<boolean>
  /** The memory of an agent; `undefined` where it has none. */
  configOf(agentCode: string): Promise<MemoryConfig | undefined>
  /** Chooses the store for calls outside of agents: the name of a shared one, or options (M-12). */
  setStore(store: string | MemoryOptions): void
  /** Takes back `setStore`: the tool then says that there is no memory. */
  clearStore(): void
}

/**
 * Makes memories for agents. An agent with one is offered the tool `memory`, has the memory protocol behind its system prompt
 * in the first turn of a session, and with scope `context` does not start without its key (`RUN_CONTEXT_MISSING`, M-14).
 *
 * @example
 * const memory = createMemory({ store, agents: { ap_desk: { scope: 'context', contextKey: 'vendor_no' } } })
 * const runtime = await createRuntime({ store, extensions: [memory], agents: [desk], providers, plugins })
 *
 * @throws MISSING_CONFIG, INVALID_CONFIG (`reason` `memory.options`)
 */
export function createMemory(options: AgentMemoryOptions): AgentMemory {
  const { store, transactionOf } = options
  const inCode = new Map(Object.entries(options.agents ?? {}).map(([code, given]) => [code, checkMemoryOptions(given)]))
  const documents = store.documents(MEMORY_NAMESPACE)
  const told = new Set<string>()
  let chosen: MemoryConfig | undefined

  const configOf = (code: string): MemoryConfig | undefined | Promise<MemoryConfig | undefined> =>
    inCode.get(code) ?? storedConfig(documents, code)

  const tool = memoryTool({
    configOf: async (code) => (code === null ? undefined : await configOf(code)) ?? chosen,
    documentsOf: (context) => transactionOf?.(context)?.documents(MEMORY_NAMESPACE) ?? documents,
    notePublic(agentCode, { logger }) {
      if (told.has(agentCode)) return
      told.add(agentCode)
      logger.warn(
        { agentCode },
        'public callers share the one memory of an agent; scope user or session keeps them apart',
      )
    },
  })
  const tools = Object.freeze([tool])
  const plain = Object.freeze({ systemBlock: getMemoryProtocol(), tools })
  const keyed = new Map<string, typeof plain & { readonly requiredContext: readonly string[] }>()
  const additionOf = (config: MemoryConfig | undefined) => {
    if (config === undefined) return undefined
    const { contextKey } = config
    if (contextKey === null) return plain
    const known = keyed.get(contextKey) ?? Object.freeze({ ...plain, requiredContext: Object.freeze([contextKey]) })
    keyed.set(contextKey, known)
    return known
  }

  return Object.freeze({
    name: 'memory',
    tool,
    extend({ code }) {
      const config = configOf(code)
      return config instanceof Promise ? config.then(additionOf) : additionOf(config)
    },
    async enableForAgent(agentCode, given, about = {}) {
      const config = checkMemoryOptions(given)
      const warnings = await memoryWarnings(agentCode, config, about)
      await documents.put(['config', agentCode], toStoredConfig(config))
      return { warnings }
    },
    disableForAgent: (agentCode) => documents.delete(['config', agentCode]),
    configOf: async (agentCode) => configOf(agentCode),
    setStore(given) {
      chosen = checkMemoryOptions(typeof given === 'string' ? { scope: 'shared', storeCode: given } : given)
    },
    clearStore() {
      chosen = undefined
    },
    ...createManagement(store),
  } satisfies AgentMemory)
}

async function storedConfig(documents: Documents, code: string): Promise<MemoryConfig | undefined> {
  const stored = await documents.get(['config', code])
  return stored === undefined ? undefined : fromStoredConfig(stored as never)
}
