import { SluiceError } from '../errors/sluice-error.js'
import { escapeControl } from '../internal/escape-text.js'
import type { DefinitionRecord } from '../store/records.js'
import type { DefinitionRepository } from '../store/store.js'
import type { AgentDefinition } from './agent-definition.js'
import type { RegistryParts } from './registry-parts.js'
import { activeOf, quoted, referencesOf } from './registry-parts.js'

/**
 * Checks that everything a definition names exists and is active: agents among agents, prompt profiles among
 * profiles. `alongside` are the agents that become active together with it: their types by code.
 *
 * @throws INVALID_CONFIG (`reason` `references.missing`, `references.type`) naming the first that does not
 */
export async function checkReferences(
  parts: RegistryParts,
  definition: AgentDefinition,
  alongside: ReadonlyMap<string, string>,
): Promise<void> {
  const { agents, profiles, profileAgents = [] } = referencesOf(parts, definition)
  for (const code of agents) {
    const agentType = alongside.get(code) ?? activeOf(await parts.store.agents.versions(code))?.definition.agent_type
    if (agentType === undefined) throw missing(definition, 'agent', code)
    if (agentType !== 'profile' && profileAgents.includes(code)) throw unfit(definition, code, String(agentType))
  }
  for (const { code, version } of profiles) {
    const versions = await parts.store.prompts.versions(code)
    const found = versions.some((one) => one.status === 'active' && (version === null || one.version === version))
    if (!found) throw missing(definition, 'prompt profile', version === null ? code : `${code}, version ${version}`)
  }
}

/**
 * Checks that no other agent needs this version: a code may lose a version that is not its active one while
 * another one remains.
 *
 * @throws HAS_REFERENCES with the number of the agents that name the code
 */
export async function checkUnreferenced(
  parts: RegistryParts,
  record: DefinitionRecord,
  definitionOf: (record: DefinitionRecord) => AgentDefinition,
): Promise<void> {
  const versions = await parts.store.agents.versions(record.code)
  if (record.status !== 'active' && versions.length > 1) return
  const referring = await referringCodes(parts, record.code, definitionOf)
  if (referring.length === 0) return
  throw new SluiceError(
    'HAS_REFERENCES',
    `Agent '${escapeControl(record.code, 100)}' is named by ${referring.length} other ${referring.length === 1 ? 'agent' : 'agents'}: ${quoted(referring.slice(0, 10))}.`,
    { details: { code: record.code, references: referring.length }, hint: 'Change them first.' },
  )
}

/** Codes of agents of which a version that is not archived names `code`. */
async function referringCodes(
  parts: RegistryParts,
  code: string,
  definitionOf: (record: DefinitionRecord) => AgentDefinition,
): Promise<string[]> {
  const referring = new Set<string>()
  for await (const record of allRecords(parts.store.agents)) {
    if (record.code === code || record.status === 'archived' || !parts.types.has(String(record.definition.agent_type)))
      continue
    if (referencesOf(parts, definitionOf(record)).agents.includes(code)) referring.add(record.code)
  }
  return [...referring]
}

async function* allRecords(agents: DefinitionRepository): AsyncGenerator<DefinitionRecord> {
  let after: string | null | undefined
  while (after !== null) {
    const page = await agents.list({ limit: 500, ...(after === undefined ? {} : { after }) })
    yield* page.items
    after = page.next
  }
}

function unfit(definition: AgentDefinition, name: string, agentType: string): SluiceError {
  return new SluiceError(
    'INVALID_CONFIG',
    `Agent '${escapeControl(definition.code, 100)}' names the agent '${escapeControl(name, 100)}', which is of type '${escapeControl(agentType, 100)}': only a profile agent will do there.`,
    { reason: 'references.type', details: { code: definition.code, unfit: name.slice(0, 100) } },
  )
}

function missing(definition: AgentDefinition, kind: string, name: string): SluiceError {
  return new SluiceError(
    'INVALID_CONFIG',
    `Agent '${escapeControl(definition.code, 100)}' names the ${kind} '${escapeControl(name, 100)}', which does not exist or is not active.`,
    {
      reason: 'references.missing',
      details: { code: definition.code, missing: name.slice(0, 100) },
      hint: `Create and activate the ${kind} first.`,
    },
  )
}
