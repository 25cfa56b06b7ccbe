import type { LoopSettings } from '../generate/settings.js'
import type { JsonObject } from '../internal/json.js'
import type { ReasoningSettings } from '../providers/model-provider.js'
import type { CompiledSchema } from '../tools/compile-validator.js'
import type { HostedToolDefinition } from '../tools/hosted-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'

const AGENT: unique symbol = Symbol.for('sluice.agent') as never

/** What every agent has, whatever its type. Frozen. `Input` and `Output` are what `execute` takes and gives. */
export interface AgentDefinition<Input = unknown, Output = unknown> {
  readonly kind: 'agent'
  /** `profile`, or a type that another package brings. */
  readonly agentType: string
  readonly code: string
  readonly description: string
  /** Enforced on the input. */
  readonly input: CompiledSchema | null
  /** Enforced on the answer. */
  readonly output: CompiledSchema<Output> | null
  /** Keys of the run context without which the agent does not start (R-W1). */
  readonly requiredContext: readonly string[]
  /** Seconds after which the run ends with status `timeout`; `null`: the limit of the tree. */
  readonly timeoutSeconds: number | null
  readonly maxIterations: number | null
  /** Most messages of an earlier conversation that are sent; `null`: all. */
  readonly maxHistoryMessages: number | null
  /** The own part of a workflow. */
  readonly workflowDefinition: JsonObject | null
  /** The own part of an orchestrator, handoff or conversation. */
  readonly orchestrationConfig: JsonObject | null
  /** Carries the type of the input; never there. */
  readonly '~input'?: Input
}

/** A profile agent: one model with its tools. Its prompts stand in place, or in the prompt profile that it names. */
export interface ProfileAgentDefinition<Input = unknown, Output = unknown> extends AgentDefinition<Input, Output> {
  readonly agentType: 'profile'
  /** The prompt profile, the latest active version unless pinned; `null` where the prompts stand in place. */
  readonly profile: { readonly code: string; readonly version: number | null } | null
  /** `provider/model`; `null` with a profile. */
  readonly model: string | null
  readonly system: string | null
  readonly user: string | null
  /** Tools that are offered, as definitions or as codes of tools given to `createRuntime`. */
  readonly tools: readonly (ToolDefinition | string)[]
  readonly hostedTools: readonly HostedToolDefinition[]
  /** Settings of the loop that this agent has of its own. */
  readonly settings: Partial<LoopSettings>
  readonly reasoning: ReasoningSettings | null
  readonly temperature: number | null
  readonly topP: number | null
  readonly stopSequences: readonly string[] | null
  readonly providerOptions: JsonObject | null
}

/** The fields that a definition of any type may leave to their defaults. */
type Optional = Exclude<keyof AgentDefinition, 'kind' | 'agentType' | 'code' | 'description' | '~input'>

/**
 * Seals a definition of any type: for packages that bring an agent type. Fields left out are `null`, `requiredContext` is
 * empty. What the definition says is checked by its type when it is registered.
 */
export function sealAgent<
  Fields extends { readonly agentType: string; readonly code: string; readonly description: string },
>(fields: Fields & Partial<Pick<AgentDefinition, Optional>>): AgentDefinition & Fields {
  const agent = {
    kind: 'agent' as const,
    input: null,
    output: null,
    timeoutSeconds: null,
    maxIterations: null,
    maxHistoryMessages: null,
    workflowDefinition: null,
    orchestrationConfig: null,
    ...fields,
    requiredContext: Object.freeze([...(fields.requiredContext ?? [])]),
  }
  Object.defineProperty(agent, AGENT, { value: true })
  return Object.freeze(agent)
}

/** True for what {@link sealAgent} and `defineAgent` made, also in another copy of the package. */
export function isAgentDefinition(value: unknown): value is AgentDefinition {
  return value !== null && typeof value === 'object' && Object.hasOwn(value, AGENT)
}

/** True for a profile agent. */
export function isProfileAgent(agent: AgentDefinition): agent is ProfileAgentDefinition {
  return agent.agentType === 'profile'
}
