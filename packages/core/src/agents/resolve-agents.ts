import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { MaybePromise } from '../internal/json.js'
import type { DefinitionRecord } from '../store/records.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentDefinition } from './agent-definition.js'
import { isAgentDefinition, isProfileAgent } from './agent-definition.js'
import type { ResolvedAgent } from './agent-type.js'
import type { CodeAgent, RegisteredAgent } from './register-agents.js'
import { checkDefinitions, writeDefinitions } from './register-agents.js'
import type { RegistryParts } from './registry-parts.js'
import { activeOf, findRecord, notFound, notFoundAmong, rulesOf, toolsOf } from './registry-parts.js'
import { parseStoredAgent } from './stored-agent.js'

/** An agent to run: its code, its definition, or the id of a version. */
export type AgentToRun = string | AgentDefinition | { readonly id: string }

/**
 * Finds the agent of a run. Definitions that stand in code and are active are answered from memory, without a promise, until
 * this registry changes their code; everything else is read from the store each time.
 */
export class AgentResolver {
  readonly #parts: RegistryParts
  /** Definitions of the code of this runtime, by agent code. */
  readonly #code = new Map<string, CodeAgent>()
  /** The active version by agent code, where it is the one that stands in code. */
  readonly #active = new Map<string, ResolvedAgent>()

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  /** Takes what was registered. */
  keep(agents: readonly RegisteredAgent[]): void {
    for (const agent of agents) {
      const { code } = agent.definition
      this.#code.set(code, agent)
      if (agent.active) this.#active.set(code, this.#resolved(agent.record, agent.definition))
      else this.#active.delete(code)
    }
  }

  /** Called when a version of this code was changed: the store is asked again. */
  forget(code: string): void {
    this.#active.delete(code)
  }

  /** A tool that the code of an agent offers: versions that were copied or replaced name it by code. */
  ownTool(agentCode: string, toolCode: string): ToolDefinition | undefined {
    const definition = this.#code.get(agentCode)?.definition
    if (definition === undefined || !isProfileAgent(definition)) return undefined
    return definition.tools.find((tool): tool is ToolDefinition => typeof tool !== 'string' && tool.code === toolCode)
  }

  /** The definition behind a record: that of the code where it is the same one, else as it is stored. */
  definitionOf(record: DefinitionRecord): AgentDefinition {
    const code = this.#code.get(record.code)
    return code?.digest === record.digest ? code.definition : parseStoredAgent(record.definition)
  }

  resolve(agent: AgentToRun, version?: number): MaybePromise<ResolvedAgent> {
    if (typeof agent === 'string') {
      const active = this.#active.get(agent)
      return active !== undefined && (version === undefined || version === active.version)
        ? active
        : this.#fromStore(version === undefined ? { code: agent } : { code: agent, version })
    }
    if (!isAgentDefinition(agent)) return this.#fromStore({ id: agent.id })
    const active = this.#active.get(agent.code)
    if (active?.definition === agent && (version === undefined || version === active.version)) return active
    return this.#definition(agent, version)
  }

  async #fromStore(reference: { id: string } | { code: string; version?: number }): Promise<ResolvedAgent> {
    const agents = this.#parts.store.agents
    const record = await findRecord(agents, reference)
    if (record.status === 'archived') throw archived(record)
    const resolved = this.#resolved(record, this.definitionOf(record))
    if (record.status === 'active' && this.#code.get(record.code)?.digest === record.digest)
      this.#active.set(record.code, resolved)
    return resolved
  }

  /** A definition itself: the version that it is in the store, written there first where its code is new. */
  async #definition(definition: AgentDefinition, version: number | undefined): Promise<ResolvedAgent> {
    const [given] = checkDefinitions(this.#parts, [definition]) as [CodeAgent]
    const known = this.#code.get(definition.code)
    if (known === undefined) this.keep(await writeDefinitions(this.#parts, [given]))
    else if (known.digest !== given.digest) throw twoDefinitions(definition.code)
    const versions = await this.#parts.store.agents.versions(definition.code)
    const record = versions.findLast(
      (one) => one.digest === given.digest && (version === undefined || one.version === version),
    )
    if (record === undefined)
      throw await notFoundAmong(
        this.#parts.store.agents,
        { code: definition.code, ...(version === undefined ? {} : { version }) },
        versions,
      )
    if (record.status === 'archived') throw archived(record)
    const resolved = this.#resolved(record, definition)
    if (activeOf(versions)?.id === record.id && this.#code.get(definition.code)?.definition === definition)
      this.#active.set(definition.code, resolved)
    return resolved
  }

  #resolved(record: DefinitionRecord, definition: AgentDefinition): ResolvedAgent {
    rulesOf(this.#parts, definition.agentType)
    return Object.freeze({
      id: record.id,
      code: record.code,
      version: record.version,
      definition,
      tools: toolsOf(this.#parts, definition),
    })
  }
}

function archived(record: DefinitionRecord): SluiceError {
  return notFound(
    `Version ${record.version} of agent '${escapeControl(record.code, 100)}' is archived and does not run any more.`,
    'Its runs stay readable. Activate a version to run the agent again.',
  )
}

function twoDefinitions(code: string): SluiceError {
  return new SluiceError(
    'DUPLICATE_NAME',
    `Agent '${escapeControl(code, 100)}' is registered with another definition in this runtime.`,
    {
      details: { code },
      hint: 'Run it by its code, or give the other definition a code of its own.',
    },
  )
}
