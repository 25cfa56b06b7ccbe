import type { ErrorCode } from '../errors/error-codes.js'
import { Faults } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import { nearNames } from '../prompts/near-names.js'
import type { DefinitionRecord } from '../store/records.js'
import type { DefinitionRepository } from '../store/store.js'
import type { AgentDefinition } from './agent-definition.js'
import { isAgentDefinition, isProfileAgent } from './agent-definition.js'
import { checkReferences } from './check-references.js'
import type { RegistryParts } from './registry-parts.js'
import { activeOf, missingTools, quoted } from './registry-parts.js'
import { agentDigest, toStoredAgent } from './stored-agent.js'

/** A definition that stands in code, with the form in which it is stored. */
export interface CodeAgent {
  readonly definition: AgentDefinition
  readonly stored: DefinitionRecord['definition']
  readonly digest: string
}

/** What the store has of a code agent after registration. */
export interface RegisteredAgent extends CodeAgent {
  /** The version that this definition is. */
  readonly record: DefinitionRecord
  /** Whether that is the active one: an operator may have archived it or activated another. */
  readonly active: boolean
}

const ATTEMPTS = 3

/**
 * Checks a list of definitions: what they are, their types, duplicates and tools, all faults at once.
 *
 * @throws DUPLICATE_NAME, UNKNOWN_AGENT_TYPE or TOOL_NOT_FOUND where all faults are of that kind, else INVALID_CONFIG
 */
export function checkDefinitions(parts: RegistryParts, definitions: readonly unknown[]): readonly CodeAgent[] {
  const faults = new Faults()
  const codes = new Set<ErrorCode>()
  const add = (code: ErrorCode, place: string, text: string) => {
    codes.add(code)
    faults.add(place, text)
  }
  const seen = new Set<string>()
  for (const [index, definition] of definitions.entries()) {
    if (!isAgentDefinition(definition)) {
      add('INVALID_CONFIG', `agents[${index}]`, 'must be made by defineAgent, or by the package of its type')
      continue
    }
    const place = definition.code
    if (seen.has(place)) add('DUPLICATE_NAME', place, 'is the code of two agents')
    seen.add(place)
    const rules = parts.types.get(definition.agentType)
    if (rules === undefined)
      add(
        'UNKNOWN_AGENT_TYPE',
        place,
        `has the type '${escapeControl(definition.agentType, 100)}', which no package has brought`,
      )
    else for (const fault of rules.validate(definition)) add('INVALID_CONFIG', place, fault)
    if (isProfileAgent(definition)) {
      for (const tool of missingTools(parts, definition))
        add(
          'TOOL_NOT_FOUND',
          place,
          `offers the tool '${tool}', which this runtime does not have${hintOf(parts, tool)}`,
        )
    }
  }
  const [only] = codes
  faults.throwIfAny('The agents cannot be registered', {
    reason: 'agents.register',
    ...(codes.size === 1 && only !== undefined ? { code: only } : {}),
  })
  return (definitions as readonly AgentDefinition[]).map((definition) => toCodeAgent(parts, definition))
}

export function toCodeAgent(parts: RegistryParts, definition: AgentDefinition): CodeAgent {
  const stored = toStoredAgent(definition, (code) => parts.toolOf(definition.code, code))
  return { definition, stored, digest: agentDigest(stored) }
}

/**
 * Brings the store up to the code, in one transaction for all: a definition that did not change changes nothing, a changed
 * one becomes the next version, active, and the active one before it is archived. Where nothing changed, nothing is written.
 */
export async function writeDefinitions(parts: RegistryParts, agents: readonly CodeAgent[]): Promise<RegisteredAgent[]> {
  const alongside = new Map(agents.map(({ definition }) => [definition.code, definition.agentType]))
  const known = await readRegistered(parts.store.agents, agents)
  if (known.every((entry): entry is RegisteredAgent => entry !== undefined)) return known
  for (const agent of agents) await checkReferences(parts, agent.definition, alongside)
  for (let attempt = 1; ; attempt++) {
    try {
      return await parts.store.transaction(async (transaction) => {
        const written: RegisteredAgent[] = []
        for (const agent of agents) written.push(await writeOne(parts, transaction.agents, agent))
        return written
      })
    } catch (error) {
      // another process registered the same next version at the same moment
      if (attempt >= ATTEMPTS || !SluiceError.isInstance(error, 'DUPLICATE_NAME')) throw error
    }
  }
}

/** What the store has of each; `undefined` where the code is new or has changed. */
function readRegistered(
  repository: DefinitionRepository,
  agents: readonly CodeAgent[],
): Promise<(RegisteredAgent | undefined)[]> {
  return Promise.all(agents.map(async (agent) => unchanged(agent, await repository.versions(agent.definition.code))))
}

/** What the store has, where the code has not changed since it was last registered. */
function unchanged(agent: CodeAgent, versions: readonly DefinitionRecord[]): RegisteredAgent | undefined {
  const last = versions.findLast((one) => one.origin === 'code')
  if (last === undefined || last.digest !== agent.digest) return undefined
  return { ...agent, record: last, active: activeOf(versions)?.id === last.id }
}

async function writeOne(
  parts: RegistryParts,
  repository: DefinitionRepository,
  agent: CodeAgent,
): Promise<RegisteredAgent> {
  const versions = await repository.versions(agent.definition.code)
  const same = unchanged(agent, versions)
  if (same !== undefined) return same
  const at = parts.clock.now()
  const by = parts.createdBy
  for (const version of versions) {
    if (version.status === 'active')
      await repository.replace({ ...version, status: 'archived', updatedBy: by, updatedAt: at })
  }
  const record: DefinitionRecord = {
    id: parts.ids.id(),
    code: agent.definition.code,
    version: (versions.at(-1)?.version ?? 0) + 1,
    status: 'active',
    definition: agent.stored,
    digest: agent.digest,
    origin: 'code',
    createdBy: by,
    createdAt: at,
    updatedBy: by,
    updatedAt: at,
  }
  await repository.insert(record)
  return { ...agent, record, active: true }
}

function hintOf(parts: RegistryParts, tool: string): string {
  const near = nearNames(tool, [...parts.tools.keys()])
  return near.length === 0 ? '' : `; near ones are ${quoted(near)}`
}
