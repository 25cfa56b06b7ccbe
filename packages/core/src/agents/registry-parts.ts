import { SluiceError } from '../errors/sluice-error.js'
import type { Clock } from '../internal/clock.js'
import { escapeControl } from '../internal/escape-text.js'
import type { Ids } from '../internal/ids.js'
import { nearNames } from '../prompts/near-names.js'
import type { DefinitionRecord } from '../store/records.js'
import type { DefinitionRepository, Store } from '../store/store.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentDefinition, ProfileAgentDefinition } from './agent-definition.js'
import { isProfileAgent } from './agent-definition.js'
import type { AgentReferences, AgentTypeRules } from './agent-type.js'

/** What an agent registry works with. */
export interface AgentRegistryParts {
  readonly store: Pick<Store, 'agents' | 'prompts' | 'executions' | 'transaction'>
  /** Agent types by their name; a definition of another type is refused. */
  readonly types: ReadonlyMap<string, AgentTypeRules>
  /** Tools of the runtime by code, for definitions that name them. */
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<Ids, 'id'>
  /** Who stands in the audit columns. */
  readonly createdBy: string | null
}

/** The parts with the look-up of tools: those of the runtime, else those that the code of the same agent offers. */
export interface RegistryParts extends AgentRegistryParts {
  toolOf(agentCode: string, toolCode: string): ToolDefinition | undefined
}

/** One version of an agent: its id, or its code with a version (default: the active one). */
export type AgentReference = { readonly id: string } | { readonly code: string; readonly version?: number }

/** The rules of a definition's type. @throws UNKNOWN_AGENT_TYPE */
export function rulesOf(parts: AgentRegistryParts, agentType: string): AgentTypeRules {
  const rules = parts.types.get(agentType)
  if (rules !== undefined) return rules
  throw new SluiceError(
    'UNKNOWN_AGENT_TYPE',
    `Agent type '${escapeControl(agentType, 100)}' is not known to this runtime.`,
    {
      details: { agentType: agentType.slice(0, 100), known: [...parts.types.keys()] },
      hint: `Known are ${[...parts.types.keys()].join(', ')}; install the package that brings the type.`,
    },
  )
}

/** The tools of a profile agent, looked up. @throws TOOL_NOT_FOUND naming all that this runtime does not have */
export function toolsOf(parts: RegistryParts, definition: AgentDefinition): readonly ToolDefinition[] {
  if (!isProfileAgent(definition)) return NO_TOOLS
  const missing = missingTools(parts, definition)
  if (missing.length > 0) {
    const near = missing.flatMap((code) => nearNames(code, [...parts.tools.keys()]))
    throw new SluiceError(
      'TOOL_NOT_FOUND',
      `Agent '${definition.code}' offers ${quoted(missing)}, which this runtime does not have.`,
      {
        details: { agentCode: definition.code, missing, near },
        hint: near.length > 0 ? `Near ones are ${quoted(near)}.` : 'Give the tool to createRuntime({ tools }).',
      },
    )
  }
  return Object.freeze(
    definition.tools.map((tool) =>
      typeof tool === 'string' ? (parts.toolOf(definition.code, tool) as ToolDefinition) : tool,
    ),
  )
}

const NO_TOOLS: readonly ToolDefinition[] = Object.freeze([])

/** Codes of tools that a definition names and this runtime does not have. */
export function missingTools(parts: RegistryParts, definition: ProfileAgentDefinition): string[] {
  return definition.tools.filter(
    (tool): tool is string => typeof tool === 'string' && parts.toolOf(definition.code, tool) === undefined,
  )
}

/** What a definition names, tools that it names by code included. */
export function referencesOf(parts: RegistryParts, definition: AgentDefinition): AgentReferences {
  const found = rulesOf(parts, definition.agentType).references(definition)
  if (!isProfileAgent(definition)) return found
  const agents = [...found.agents]
  for (const tool of definition.tools) {
    const agent = typeof tool === 'string' ? parts.toolOf(definition.code, tool)?.agent : null
    if (agent !== null && agent !== undefined) agents.push(agent)
  }
  return { ...found, agents }
}

/** The record that a reference names, whatever its status. @throws NOT_FOUND */
export async function findRecord(agents: DefinitionRepository, reference: AgentReference): Promise<DefinitionRecord> {
  if ('id' in reference) {
    const record = await agents.get(reference.id)
    if (record === undefined)
      throw notFound(`There is no agent with the id '${escapeControl(String(reference.id), 100)}'.`)
    return record
  }
  const { code, version } = reference
  const versions = await agents.versions(code)
  const record = version === undefined ? activeOf(versions) : versions.find((one) => one.version === version)
  if (record === undefined) throw await notFoundAmong(agents, reference, versions)
  return record
}

/** The active version; the highest where a store holds several. */
export function activeOf(versions: readonly DefinitionRecord[]): DefinitionRecord | undefined {
  return versions.findLast((one) => one.status === 'active')
}

/** An error that says what there is: the versions of the code, or codes near to it. */
export async function notFoundAmong(
  agents: DefinitionRepository,
  wanted: { readonly code: string; readonly version?: number },
  versions: readonly DefinitionRecord[],
): Promise<SluiceError> {
  const code = escapeControl(String(wanted.code), 100)
  if (versions.length > 0) {
    const shown = versions
      .slice(-10)
      .map((one) => `${one.version} (${one.status})`)
      .join(', ')
    const what = wanted.version === undefined ? 'no active version' : `no version ${wanted.version}`
    return notFound(`Agent '${code}' has ${what}; there are ${shown}.`, 'Activate a version, or name one.')
  }
  const known = new Set<string>()
  const page = await agents.list({ limit: 500 })
  for (const record of page.items) known.add(record.code)
  const near = nearNames(String(wanted.code), [...known])
  return notFound(
    `There is no agent '${code}'.`,
    near.length > 0
      ? `Near ones are ${quoted(near)}.`
      : 'Give its definition to createRuntime({ agents }), or create it.',
  )
}

export function notFound(message: string, hint?: string): SluiceError<'NOT_FOUND'> {
  return new SluiceError('NOT_FOUND', message, hint === undefined ? {} : { hint })
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `'${escapeControl(name, 100)}'`).join(', ')
}
