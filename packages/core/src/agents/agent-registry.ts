import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject, MaybePromise } from '../internal/json.js'
import type { DefinitionRecord, DefinitionStatus } from '../store/records.js'
import type { DefinitionRepository, Page, PageRequest } from '../store/store.js'
import type { AgentDefinition } from './agent-definition.js'
import type { AgentChange, AgentVersion, NewAgent } from './agent-fields.js'
import { parseStatus, toAgentVersion, writeFields } from './agent-fields.js'
import type { ResolvedAgent } from './agent-type.js'
import { checkReferences, checkUnreferenced } from './check-references.js'
import { checkDefinitions, writeDefinitions } from './register-agents.js'
import type { AgentReference, AgentRegistryParts, RegistryParts } from './registry-parts.js'
import { activeOf, findRecord, rulesOf } from './registry-parts.js'
import type { AgentToRun } from './resolve-agents.js'
import { AgentResolver } from './resolve-agents.js'
import { agentDigest, parseStoredAgent } from './stored-agent.js'

/** `runtime.agents`: versions of agents and their status. */
export interface AgentRegistry {
  /**
   * Registers definitions that stand in code. The same definition again changes nothing; a changed one becomes the next
   * version and is activated, and the one it replaces is archived in the same transaction. A version that an operator
   * archived or replaced by hand stays so until the code changes.
   *
   * @throws DUPLICATE_NAME, UNKNOWN_AGENT_TYPE, TOOL_NOT_FOUND, INVALID_CONFIG: all faults of the list at once, nothing written
   */
  register(definitions: readonly AgentDefinition[]): Promise<void>
  /**
   * Creates a version in the store and returns its id.
   *
   * @throws MISSING_CONFIG, UNKNOWN_AGENT_TYPE, INVALID_CONFIG, INVALID_STATUS, DUPLICATE_NAME
   */
  create(agent: NewAgent): Promise<string>
  /**
   * Changes the fields given: what is left out stays, `null` clears. Code, version, type and status stay, and
   * a definition that stands in code is changed there.
   *
   * @throws NOT_FOUND, INVALID_CONFIG, MISSING_CONFIG
   */
  update(id: string, change: AgentChange): Promise<void>
  /** Copies a version as a draft, with the highest number plus one unless given. @throws NOT_FOUND, DUPLICATE_NAME */
  createNewVersion(copy: {
    readonly code: string
    readonly sourceVersion: number
    readonly newVersion?: number
  }): Promise<{ readonly id: string; readonly version: number }>
  /**
   * Sets the status of one version. Archiving retires an agent and deletes nothing.
   *
   * @throws INVALID_STATUS, NOT_FOUND, and INVALID_CONFIG (`reason` `agents.already_active`) where another version is active
   */
  changeStatus(reference: AgentReference, status: DefinitionStatus): Promise<void>
  /** One version in any status by id or version, else the active one. @throws NOT_FOUND */
  get(reference: AgentReference): Promise<AgentVersion>
  /** Versions by code and version. */
  list(request?: PageRequest & { readonly status?: DefinitionStatus }): Promise<Page<AgentVersion>>
  /**
   * Removes exactly one version. Others that name the agent, and runs that it has, forbid it.
   *
   * @throws NOT_FOUND, HAS_REFERENCES, HAS_HISTORY
   */
  delete(reference: AgentReference): Promise<void>
  /**
   * The agent of a run: the active version, or the one asked for, drafts included; never an archived one. A
   * definition that is not registered yet is registered. Answers at once for active definitions that stand in code.
   *
   * @throws NOT_FOUND with near codes, UNKNOWN_AGENT_TYPE, TOOL_NOT_FOUND, DUPLICATE_NAME
   */
  resolve(agent: AgentToRun, version?: number): MaybePromise<ResolvedAgent>
}

/** Makes a registry over a store. Each change is one transaction of the store; it never starts a provider call. */
export function createAgentRegistry(given: AgentRegistryParts): AgentRegistry {
  const parts: RegistryParts = {
    ...given,
    toolOf: (agentCode, toolCode) => given.tools.get(toolCode) ?? resolver.ownTool(agentCode, toolCode),
  }
  const resolver = new AgentResolver(parts)
  const { agents, executions } = parts.store
  const stamp = () => ({ updatedBy: parts.createdBy, updatedAt: parts.clock.now() })

  /** Checks a stored form as `create` and `update` do. */
  async function check(stored: JsonObject): Promise<AgentDefinition> {
    if (typeof stored.agent_type === 'string') rulesOf(parts, stored.agent_type)
    const definition = parseStoredAgent(stored)
    checkDefinitions(parts, [definition])
    await checkReferences(parts, definition, new Map())
    return definition
  }

  async function insert(record: Pick<DefinitionRecord, 'code' | 'version' | 'status' | 'definition'>): Promise<string> {
    const id = parts.ids.id()
    await parts.store.transaction(async (transaction) => {
      if (record.status === 'active') await checkOnlyActive(transaction.agents, record.code)
      const { updatedAt, updatedBy } = stamp()
      await transaction.agents.insert({
        ...record,
        id,
        digest: agentDigest(record.definition),
        origin: 'store',
        createdBy: updatedBy,
        createdAt: updatedAt,
        updatedBy,
        updatedAt,
      })
    })
    resolver.forget(record.code)
    return id
  }

  /** The code of the agent that was changed; `undefined` where somebody else changed it meanwhile. */
  async function updateOnce(id: string, change: AgentChange): Promise<string | undefined> {
    const record = await findRecord(agents, { id })
    if (record.origin === 'code') throw standsInCode(record)
    const stored = writeFields(record.definition, change, ['code', 'version', 'agentType', 'status'])
    await check(stored)
    return parts.store.transaction(async (transaction) => {
      const current = await findRecord(transaction.agents, { id })
      if (current.digest !== record.digest) return undefined
      await transaction.agents.replace({ ...current, definition: stored, digest: agentDigest(stored), ...stamp() })
      return record.code
    })
  }

  return Object.freeze({
    async register(definitions) {
      const checked = checkDefinitions(parts, definitions)
      resolver.keep(await writeDefinitions(parts, checked))
    },
    async create(agent) {
      const { version = 1, status = 'draft', ...fields } = agent
      checkVersion(version)
      const stored = writeFields({}, fields)
      await check(stored)
      return insert({ code: stored.code as string, version, status: parseStatus(status), definition: stored })
    },
    async update(id, change) {
      let code: string | undefined
      while (code === undefined) code = await updateOnce(id, change)
      resolver.forget(code)
    },
    async createNewVersion({ code, sourceVersion, newVersion }) {
      const source = await findRecord(agents, { code, version: sourceVersion })
      if (newVersion !== undefined) checkVersion(newVersion)
      const version = newVersion ?? ((await agents.versions(code)).at(-1)?.version ?? 0) + 1
      return { id: await insert({ code, version, status: 'draft', definition: source.definition }), version }
    },
    async changeStatus(reference, status) {
      const next = parseStatus(status)
      const code = await parts.store.transaction(async (transaction) => {
        const record = await findAny(transaction.agents, reference)
        if (next === 'active') await checkOnlyActive(transaction.agents, record.code, record.id)
        if (next !== record.status) await transaction.agents.replace({ ...record, status: next, ...stamp() })
        return record.code
      })
      resolver.forget(code)
    },
    async get(reference) {
      return toAgentVersion(await findRecord(agents, reference))
    },
    async list(request = {}) {
      const page = await agents.list(request)
      return { items: page.items.map(toAgentVersion), next: page.next }
    },
    async delete(reference) {
      const record = await findAny(agents, reference)
      await checkUnreferenced(parts, record, (other) => resolver.definitionOf(other))
      const runs = await executions.list({ agentId: record.id, limit: 1 })
      if (runs.items.length > 0) throw hasHistory(record)
      await parts.store.transaction((transaction) => transaction.agents.delete(record.id))
      resolver.forget(record.code)
    },
    resolve: (agent, version) => resolver.resolve(agent, version),
  } satisfies AgentRegistry)
}

/** As `findRecord`, but a code alone is enough only where it has one version: a change names what it changes. */
async function findAny(agents: DefinitionRepository, reference: AgentReference): Promise<DefinitionRecord> {
  if ('id' in reference || reference.version !== undefined) return findRecord(agents, reference)
  const versions = await agents.versions(reference.code)
  const [only] = versions
  if (versions.length === 1 && only !== undefined) return only
  if (versions.length === 0) return findRecord(agents, reference)
  throw new SluiceError(
    'INVALID_CONFIG',
    `Agent '${escapeControl(reference.code, 100)}' has ${versions.length} versions, and none was named.`,
    { reason: 'agents.version', hint: 'Give the version, or the id of the version.' },
  )
}

async function checkOnlyActive(agents: DefinitionRepository, code: string, except?: string): Promise<void> {
  const active = activeOf((await agents.versions(code)).filter((one) => one.id !== except))
  if (active === undefined) return
  throw new SluiceError(
    'INVALID_CONFIG',
    `Version ${active.version} of agent '${escapeControl(code, 100)}' is active already.`,
    {
      reason: 'agents.already_active',
      details: { code, activeVersion: active.version },
      hint: `Archive version ${active.version} first.`,
    },
  )
}

function checkVersion(version: number): void {
  if (Number.isSafeInteger(version) && version >= 1) return
  throw new SluiceError('INVALID_CONFIG', 'The version of an agent must be a whole number of at least 1.', {
    reason: 'agents.version',
  })
}

function standsInCode(record: DefinitionRecord): SluiceError {
  return new SluiceError(
    'INVALID_CONFIG',
    `Version ${record.version} of agent '${escapeControl(record.code, 100)}' stands in code.`,
    {
      reason: 'agents.in_code',
      hint: 'Change the definition in code, or make a new version with createNewVersion and change that one.',
    },
  )
}

function hasHistory(record: DefinitionRecord): SluiceError {
  return new SluiceError(
    'HAS_HISTORY',
    `Version ${record.version} of agent '${escapeControl(record.code, 100)}' has runs, and their history refers to it.`,
    {
      details: { code: record.code, version: record.version, id: record.id },
      hint: 'Archive it: it does not run any more and nothing is lost. A purge removes an agent with its history.',
    },
  )
}
