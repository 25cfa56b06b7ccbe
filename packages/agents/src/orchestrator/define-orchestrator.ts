import type {
  AgentDefinition,
  ComposedAgentOptions,
  JsonObject,
  JsonValue,
  SchemaOutput,
  SchemaSource,
  StandardSchemaV1,
  ToolEffect,
} from '@sluice/core'
import { composeAgent } from '@sluice/core'
import { codeOf } from '../orchestration/code-of.js'
import { given } from '../orchestration/given.js'
import type { HistoryOptions } from '../orchestration/history-options.js'
import { historyJson } from '../orchestration/history-options.js'
import { orchestratorType } from './orchestrator-type.js'

/** A delegate, or its code; with what the owner says of it where that is not the default. */
export type DelegateOption =
  | string
  | AgentDefinition
  | {
      readonly agent: string | AgentDefinition
      /** What a run of it does to the world, for the gates that stand before its tool. @default 'send' */
      readonly effect?: ToolEffect
      /** You vouch for its answers, which a closed schema without free text checks: they carry no labels. @default false */
      readonly dropsLabels?: boolean
    }

/** What {@link defineOrchestrator} takes. Stored JSON has the same names in snake case. */
export interface OrchestratorOptions<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> extends Pick<
    ComposedAgentOptions<Input, Output>,
    'code' | 'description' | 'input' | 'output' | 'requiredContext' | 'timeoutSeconds' | 'maxHistoryMessages'
  > {
  /** The prompt profile of the model that decides: its latest active version, or the one named. */
  readonly profile: string | { readonly code: string; readonly version?: number }
  /** Whom it may call: 1 to 100 agents of any type. Their descriptions drive its choice. */
  readonly delegates: readonly DelegateOption[]
  /** Most calls in one turn, those of extra tools included. Default: the limit of the profile, else 10. */
  readonly maxDelegations?: number
  /** Tools of the runtime with one of these tags are offered beside the delegates. Default none. */
  readonly extraToolTags?: readonly string[]
  /** What a further turn sends of the conversation before it. Default: all. */
  readonly historyManagement?: HistoryOptions
}

/**
 * Defines an orchestrator in code. The result is frozen; give it to
 * `createRuntime({ agents, prompts, agentTypes: [orchestratorType()] })`.
 *
 * @example
 * const travel = defineOrchestrator({ code: 'travel', description: 'Plans trips.', profile: 'travel_lead',
 *   delegates: [calendar, flights, hotels], maxDelegations: 8 })
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function defineOrchestrator<
  Input extends SchemaSource | undefined = undefined,
  Output extends SchemaSource | undefined = undefined,
>(
  options: OrchestratorOptions<Input, Output>,
): AgentDefinition<
  Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : JsonObject,
  Output extends SchemaSource ? SchemaOutput<Output> : JsonValue | undefined
> {
  const { profile, delegates, maxDelegations, extraToolTags, historyManagement, ...common } = (options ??
    {}) as OrchestratorOptions<Input, Output>
  const { code, version } = typeof profile === 'object' && profile !== null ? profile : { code: profile }
  return composeAgent(orchestratorType(), {
    ...common,
    orchestrationConfig: given({
      pattern_type: 'orchestrator',
      orchestrator_profile_code: code,
      orchestrator_profile_version: version,
      delegate_agents: Array.isArray(delegates) ? delegates.map(delegateJson) : delegates,
      max_delegations: maxDelegations,
      extra_tool_tags: extraToolTags,
      history_management: historyJson(historyManagement),
    }),
  } as ComposedAgentOptions<Input, Output>) as never
}

function delegateJson(option: DelegateOption): unknown {
  if (typeof option !== 'object' || option === null || !('agent' in option)) return codeOf(option)
  const { agent, effect, dropsLabels, ...unknown } = option
  return given({ ...unknown, agent_code: codeOf(agent), effect, drops_labels: dropsLabels })
}
