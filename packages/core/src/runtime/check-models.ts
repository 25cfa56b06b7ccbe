import { isProfileAgent } from '../agents/agent-definition.js'
import type { ProfileAgentDefinition } from '../agents/agent-definition.js'
import type { ResolvedAgent } from '../agents/agent-type.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { MaybePromise } from '../internal/json.js'
import { resolvePromptCall } from '../prompts/prepare-prompt.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { targetOf } from './build-plan.js'
import { profileTools } from './run-profile-agent.js'
import type { RuntimeCore } from './runtime-core.js'

/**
 * Looks up where an agent and those below it (behind its tools, named by its definition) send their requests, as their turns
 * will do it: a missing adapter is a fault of the configuration, found before anybody is asked and anything is written. That an
 * agent below does not exist any more is none: the model is told when it calls it.
 *
 * @throws UNKNOWN_PROVIDER; NOT_FOUND, INVALID_CONFIG for the prompt profile of the agent itself
 */
export function checkModels(core: RuntimeCore, agent: ResolvedAgent): MaybePromise<void> {
  const { definition, tools } = agent
  // most agents stand in code and call nobody
  if (isProfileAgent(definition) && definition.profile === null && !tools.some(leadsOn)) checkOwn(core, definition)
  else return walk(core, [agent], agent)
}

/** The same for the agents behind the tools of a plain call. */
export function checkModelsBelow(core: RuntimeCore, tools: readonly ToolDefinition[]): MaybePromise<void> {
  if (tools.some(leadsOn)) return startBelow(core, tools)
}

async function startBelow(core: RuntimeCore, tools: readonly ToolDefinition[]): Promise<void> {
  const open: ResolvedAgent[] = []
  const seen = new Set<string>()
  for (const { agent } of tools) if (agent !== null) await take(core, agent, open, seen)
  await walk(core, open, undefined, seen)
}

function leadsOn(tool: ToolDefinition): boolean {
  return tool.agent !== null
}

async function walk(
  core: RuntimeCore,
  open: ResolvedAgent[],
  top: ResolvedAgent | undefined,
  seen = new Set(open.map(({ code }) => code)),
): Promise<void> {
  // grows while it is walked over; each agent is looked at once, so that two which call each other come to an end
  for (const agent of open) {
    for (const code of await namedBy(core, agent, agent === top)) await take(core, code, open, seen)
  }
}

async function take(core: RuntimeCore, code: string, open: ResolvedAgent[], seen: Set<string>): Promise<void> {
  if (seen.has(code)) return
  seen.add(code)
  try {
    open.push(await core.agents.resolve(code))
  } catch {
    // it cannot run: told to the model that calls it
  }
}

/** Checks one agent; returns the codes of those that it can start. */
async function namedBy(core: RuntimeCore, agent: ResolvedAgent, top: boolean): Promise<readonly string[]> {
  try {
    if (isProfileAgent(agent.definition)) return await namedByProfileAgent(core, agent, agent.definition)
    const { agents, profiles } = core.types.get(agent.definition.agentType)?.references(agent.definition) ?? NOBODY
    for (const { code, version } of profiles) await checkProfile(core, code, version)
    return agents
  } catch (error) {
    if (top || SluiceError.isInstance(error, 'UNKNOWN_PROVIDER')) throw error
    return []
  }
}

const NOBODY = Object.freeze({ agents: [], profiles: [] })

async function namedByProfileAgent(
  core: RuntimeCore,
  agent: ResolvedAgent,
  definition: ProfileAgentDefinition,
): Promise<readonly string[]> {
  let { tools } = agent
  if (definition.profile === null) checkOwn(core, definition)
  else {
    checkFallback(core, definition)
    const { code, version } = definition.profile
    tools = profileTools(core, tools, await checkProfile(core, code, version))
  }
  return tools.flatMap((tool) => tool.agent ?? [])
}

async function checkProfile(core: RuntimeCore, code: string, version: number | null) {
  const resolved = resolvePromptCall((await core.prompts.resolve(code, version ?? undefined)).prompt)
  targetOf(core.parts.providers, `${resolved.provider}/${resolved.model}`)
  return resolved
}

function checkOwn(core: RuntimeCore, definition: ProfileAgentDefinition): void {
  targetOf(core.parts.providers, definition.model ?? '')
  checkFallback(core, definition)
}

function checkFallback({ parts }: RuntimeCore, { settings }: ProfileAgentDefinition): void {
  for (const reference of settings.fallback ?? parts.settings.fallback) targetOf(parts.providers, reference)
}
