import { isAgentDefinition, isProfileAgent } from '../agents/agent-definition.js'
import type { AgentDefinition, ProfileAgentDefinition } from '../agents/agent-definition.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { splitModelReference } from '../providers/model-provider.js'
import type { ModelProvider } from '../providers/model-provider.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { RuntimeCore } from './runtime-core.js'

/**
 * Asks an adapter whether its protocol can express the schemas of a call. The refusal names the tool, so that one tool never
 * spoils the request of the others unseen. @throws SCHEMA_UNSUPPORTED
 */
export function checkSchemas(
  provider: ModelProvider,
  tools: Iterable<ToolDefinition>,
  output: CompiledSchema | null,
): void {
  if (provider.checkSchema === undefined) return
  for (const tool of tools) checkOne(provider, tool.offered.inputSchema, 'tool', `Tool "${tool.code}"`)
  if (output !== null) checkOne(provider, output.jsonSchema, 'output', 'The answer schema')
}

/**
 * The same for the agents that stand in code, when the runtime is made: their models are known, so what a protocol cannot
 * express is found before anything runs. Faults of all agents are reported at once. @throws SCHEMA_UNSUPPORTED
 */
export function checkAgentSchemas(core: RuntimeCore, agents: readonly AgentDefinition[]): void {
  const found: { agent: string; error: SluiceError }[] = []
  for (const agent of agents) {
    // what is no definition at all is told when it is registered
    if (!isAgentDefinition(agent) || !isProfileAgent(agent)) continue
    const tools = agent.tools.flatMap((tool) => (typeof tool === 'string' ? (core.tools.get(tool) ?? []) : tool))
    for (const provider of providersOf(core, agent)) {
      for (const tool of tools) collect(found, agent.code, () => checkSchemas(provider, [tool], null))
      collect(found, agent.code, () => checkSchemas(provider, [], agent.output))
    }
  }
  const [first] = found
  if (first === undefined) return
  if (found.length === 1) throw named(first.agent, first.error)
  throw new SluiceError(
    'SCHEMA_UNSUPPORTED',
    `Schemas of agents cannot be expressed:\n${found.map(({ agent, error }) => `- agent "${agent}": ${error.message}`).join('\n')}`,
    { details: { agents: found.map(({ agent, error }) => ({ ...error.details, agent })) } },
  )
}

/** The adapters of an agent that are there; a missing one is told when the agent runs, since it may come with the store. */
function providersOf({ parts }: RuntimeCore, agent: ProfileAgentDefinition): ReadonlySet<ModelProvider> {
  const references = agent.model === null ? [] : [agent.model, ...(agent.settings.fallback ?? parts.settings.fallback)]
  return new Set(
    references.flatMap((reference) => parts.providers.get(splitModelReference(reference)?.provider ?? '') ?? []),
  )
}

function checkOne(provider: ModelProvider, schema: JsonObject, use: 'tool' | 'output', what: string): void {
  try {
    provider.checkSchema?.(schema, use)
  } catch (cause) {
    if (!SluiceError.isInstance(cause, 'SCHEMA_UNSUPPORTED')) throw cause
    throw new SluiceError('SCHEMA_UNSUPPORTED', `${what}: ${cause.message}`, {
      cause,
      details: { ...cause.details, provider: provider.id, subject: what },
    })
  }
}

function collect(found: { agent: string; error: SluiceError }[], agent: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!SluiceError.isInstance(error, 'SCHEMA_UNSUPPORTED')) throw error
    found.push({ agent, error })
  }
}

function named(agent: string, error: SluiceError): SluiceError {
  return new SluiceError('SCHEMA_UNSUPPORTED', `Agent "${agent}": ${error.message}`, {
    cause: error,
    details: { ...(error.details as Record<string, JsonValue>), agent },
  })
}
