import { Faults, named } from '../errors/faults.js'
import { SluiceError } from '../errors/sluice-error.js'
import { digest } from '../internal/digest.js'
import { escapeControl } from '../internal/escape-text.js'
import type { JsonObject, JsonValue } from '../internal/json.js'
import { isPlainJson, isPlainObject } from '../internal/json.js'
import type { HostedToolOptions } from '../tools/hosted-tool.js'
import { hostedTool } from '../tools/hosted-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentDefinition, ProfileAgentDefinition } from './agent-definition.js'
import { isProfileAgent, sealAgent } from './agent-definition.js'
import { checkAgentFields, checkProfileFields } from './check-agent.js'
import type { AgentOptions } from './define-agent.js'
import { compile, profileFields } from './define-agent.js'

/** The stored keys, which are the original's, and the fields that they hold. */
export const STORED_KEYS = {
  agent_type: 'agentType',
  code: 'code',
  description: 'description',
  prompt_profile_code: 'promptProfileCode',
  prompt_profile_version: 'promptProfileVersion',
  workflow_definition: 'workflowDefinition',
  orchestration_config: 'orchestrationConfig',
  input_schema: 'inputSchema',
  output_schema: 'outputSchema',
  timeout_seconds: 'timeoutSeconds',
  max_iterations: 'maxIterations',
  max_history_messages: 'maxHistoryMessages',
  required_context: 'requiredContext',
} as const

/** Keys of definitions that stand in code: prompts in place, and what a profile agent has besides. */
const OWN_KEYS = ['prompt', 'tools', 'hosted_tools', 'request'] as const

/** What a type cannot do without. */
const REQUIRED: Readonly<Record<string, keyof typeof STORED_KEYS>> = {
  profile: 'prompt_profile_code',
  workflow: 'workflow_definition',
  orchestrator: 'orchestration_config',
  handoff: 'orchestration_config',
  conversation: 'orchestration_config',
}

/**
 * The form in which a definition is stored: JSON under the original's keys, without those that are not set. It holds what
 * matters to a run, digests of the tools included, so that a changed tool makes another version. `toolOf` looks up the tools
 * that the definition names by code.
 */
export function toStoredAgent(
  agent: AgentDefinition,
  toolOf?: (code: string) => ToolDefinition | undefined,
): JsonObject {
  const common = {
    agent_type: agent.agentType,
    code: agent.code,
    description: agent.description,
    workflow_definition: agent.workflowDefinition,
    orchestration_config: agent.orchestrationConfig,
    input_schema: agent.input?.jsonSchema,
    output_schema: agent.output?.jsonSchema,
    timeout_seconds: agent.timeoutSeconds,
    max_iterations: agent.maxIterations,
    max_history_messages: agent.maxHistoryMessages,
    required_context: listOrNothing(agent.requiredContext),
  }
  return present(isProfileAgent(agent) ? { ...common, ...storedProfile(agent, toolOf) } : common)
}

/** The digest of a stored form: equal definitions have equal digests. */
export function agentDigest(stored: JsonObject): string {
  return digest(stored)
}

function storedProfile(
  agent: ProfileAgentDefinition,
  toolOf: ((code: string) => ToolDefinition | undefined) | undefined,
): Record<string, unknown> {
  const tools = agent.tools.map((named) => {
    const tool = typeof named === 'string' ? toolOf?.(named) : named
    return tool === undefined ? { code: named as string } : { code: tool.code, digest: tool.definitionDigest }
  })
  const { reasoning, temperature, topP, stopSequences, providerOptions } = agent
  const request = present({
    settings: setOrNothing(agent.settings),
    reasoning: setOrNothing(reasoning ?? {}),
    temperature,
    topP,
    stopSequences,
    providerOptions,
  })
  return {
    prompt_profile_code: agent.profile?.code,
    prompt_profile_version: agent.profile?.version,
    prompt:
      agent.model === null
        ? null
        : present({ model: agent.model, system_prompt_template: agent.system, user_prompt_template: agent.user }),
    tools: listOrNothing(tools),
    hosted_tools: listOrNothing(agent.hostedTools.map(storedHostedTool)),
    request: setOrNothing(request),
  }
}

function storedHostedTool(tool: ProfileAgentDefinition['hostedTools'][number]): JsonObject {
  const { code, provider, effect, untrusted, maxUses, cost, offered } = tool
  return present({ code, provider, effect, untrusted, maxUses, cost, configuration: offered.configuration })
}

/**
 * Reads a stored definition back. Tools are named by code and are looked up when the agent is resolved.
 *
 * @throws MISSING_CONFIG where what its type requires is absent
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all other faults at once
 */
export function parseStoredAgent(json: unknown): AgentDefinition {
  const faults = new Faults()
  if (!isPlainObject(json) || !isPlainJson(json)) {
    throw new SluiceError('INVALID_CONFIG', 'A stored agent must be a plain JSON object.', {
      reason: 'agent.definition',
    })
  }
  faults.addUnknown(json, [...Object.keys(STORED_KEYS), ...OWN_KEYS])
  const stored = withoutNulls(json)
  const agentType = stored.agent_type
  if (typeof agentType !== 'string' || agentType === '')
    faults.add('agentType', "must be the type of the agent, such as 'profile'")
  else if (agentType !== 'profile')
    for (const key of [...OWN_KEYS, 'prompt_profile_code', 'prompt_profile_version']) refuse(stored, key, faults)
  const fields = toFields(stored)
  checkAgentFields(fields, faults)
  if (agentType === 'profile' && hasRequired(stored)) checkProfileFields(fields, faults)
  const input = compile('inputSchema', stored.input_schema, faults)
  const output = compile('outputSchema', stored.output_schema, faults)
  const name = named('Agent', stored.code)
  faults.throwIfAny(`${name} is not acceptable`, { reason: 'agent.definition' })
  if (!hasRequired(stored)) {
    throw new SluiceError(
      'MISSING_CONFIG',
      `${name} of type '${escapeControl(String(agentType), 100)}' has no ${STORED_KEYS[REQUIRED[String(agentType)] ?? 'code']}.`,
      {
        details: { agentType: String(agentType), missing: REQUIRED[String(agentType)] ?? null },
      },
    )
  }
  const profile = agentType === 'profile' ? profileFields(fields as unknown as AgentOptions) : {}
  return sealAgent({
    ...profile,
    agentType: agentType as string,
    code: fields.code as string,
    description: fields.description as string,
    requiredContext: (fields.requiredContext ?? []) as string[],
    timeoutSeconds: (fields.timeoutSeconds ?? null) as number | null,
    maxIterations: (fields.maxIterations ?? null) as number | null,
    maxHistoryMessages: (fields.maxHistoryMessages ?? null) as number | null,
    workflowDefinition: (fields.workflowDefinition ?? null) as JsonObject | null,
    orchestrationConfig: (fields.orchestrationConfig ?? null) as JsonObject | null,
    input,
    output,
  })
}

function hasRequired(stored: Readonly<Record<string, unknown>>): boolean {
  const type = String(stored.agent_type)
  const key = Object.hasOwn(REQUIRED, type) ? (REQUIRED[type] as string) : undefined
  return key === undefined || stored[key] !== undefined || (type === 'profile' && stored.prompt !== undefined)
}

/** The options of `defineAgent` that a stored definition stands for, unchecked. */
function toFields(stored: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const prompt = isPlainObject(stored.prompt) ? stored.prompt : {}
  const request = isPlainObject(stored.request) ? stored.request : {}
  const version = stored.prompt_profile_version
  const code = stored.prompt_profile_code
  return {
    ...request,
    code: stored.code,
    description: stored.description,
    requiredContext: stored.required_context,
    timeoutSeconds: stored.timeout_seconds,
    maxIterations: stored.max_iterations,
    maxHistoryMessages: stored.max_history_messages,
    workflowDefinition: stored.workflow_definition,
    orchestrationConfig: stored.orchestration_config,
    profile: code === undefined ? undefined : version === undefined ? { code } : { code, version },
    model: prompt.model,
    system: prompt.system_prompt_template,
    user: prompt.user_prompt_template,
    tools: Array.isArray(stored.tools)
      ? stored.tools.map((tool: unknown) => (isPlainObject(tool) ? tool.code : tool))
      : stored.tools,
    hostedTools: Array.isArray(stored.hosted_tools)
      ? stored.hosted_tools.map((tool) => hostedTool(tool as HostedToolOptions))
      : stored.hosted_tools,
  }
}

function refuse(stored: Readonly<Record<string, unknown>>, key: string, faults: Faults): void {
  if (stored[key] !== undefined) faults.add(key, 'belongs to profile agents only')
}

function withoutNulls(json: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null))
}

/** Without what is not set. */
function present(fields: Readonly<Record<string, unknown>>): JsonObject {
  const set: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) set[key] = value as JsonValue
  }
  return set
}

function setOrNothing(fields: object): JsonObject | null {
  const set = present({ ...fields })
  return Object.keys(set).length === 0 ? null : set
}

function listOrNothing<Item>(list: readonly Item[]): readonly Item[] | null {
  return list.length === 0 ? null : list
}
