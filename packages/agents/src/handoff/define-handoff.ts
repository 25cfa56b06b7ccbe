import type {
  AgentDefinition,
  ComposedAgentOptions,
  JsonObject,
  JsonValue,
  SchemaOutput,
  SchemaSource,
  StandardSchemaV1,
} from '@sluice/core'
import { composeAgent } from '@sluice/core'
import { codeOf } from '../orchestration/code-of.js'
import { given } from '../orchestration/given.js'
import type { HistoryOptions } from '../orchestration/history-options.js'
import { historyJson } from '../orchestration/history-options.js'
import { handoffType } from './handoff-type.js'

/** A member of a handoff to which control can be handed. */
export interface HandoffMember {
  /** The agent, or its code: a profile agent. */
  readonly agent: string | AgentDefinition
  /** When to hand over to it: what the models of the others choose by. */
  readonly description: string
  /** To whom it may hand over, among the other members; an empty list: to nobody. Default: everybody else. */
  readonly canTransferTo?: readonly (string | AgentDefinition)[]
}

/** What {@link defineHandoff} takes. Stored JSON has `initial_agent_code`, `handoff_agents` and `max_handoffs`. */
export interface HandoffOptions<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> extends Pick<
    ComposedAgentOptions<Input, Output>,
    'code' | 'description' | 'input' | 'output' | 'requiredContext' | 'timeoutSeconds'
  > {
  /** Who gets the first message. Where it is no member, nobody can hand back to it. */
  readonly initial: string | AgentDefinition
  /** 1 to 100. */
  readonly members: readonly HandoffMember[]
  /** Transfers in one turn, 0 to 1 000: whoever holds control then has to answer. @default 3 */
  readonly maxHandoffs?: number
  /** How much of the earlier answers a member is told of (`{conversation_history}`). Default: all. */
  readonly historyManagement?: HistoryOptions
}

/**
 * Defines a handoff in code. The result is frozen; give it to `createRuntime({ agents, agentTypes: [handoffType()] })`.
 *
 * @example
 * const support = defineHandoff({ code: 'support', description: 'Answers customers.', initial: triage,
 *   members: [
 *     { agent: triage, description: 'Finds out whom a question belongs to.' },
 *     { agent: billing, description: 'Invoices and refunds.', canTransferTo: ['triage'] },
 *   ] })
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function defineHandoff<
  Input extends SchemaSource | undefined = undefined,
  Output extends SchemaSource | undefined = undefined,
>(
  options: HandoffOptions<Input, Output>,
): AgentDefinition<
  Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : JsonObject,
  Output extends SchemaSource ? SchemaOutput<Output> : JsonValue | undefined
> {
  const { initial, members, maxHandoffs, historyManagement, ...common } = (options ?? {}) as HandoffOptions<
    Input,
    Output
  >
  return composeAgent(handoffType(), {
    ...common,
    orchestrationConfig: given({
      pattern_type: 'handoff',
      initial_agent_code: codeOf(initial),
      handoff_agents: Array.isArray(members) ? members.map(memberJson) : members,
      max_handoffs: maxHandoffs,
      history_management: historyJson(historyManagement),
    }),
  } as ComposedAgentOptions<Input, Output>) as never
}

function memberJson(member: HandoffMember): unknown {
  if (typeof member !== 'object' || member === null) return member
  const { agent, description, canTransferTo, ...unknown } = member
  return given({
    ...unknown,
    agent_code: codeOf(agent),
    description,
    can_transfer_to: Array.isArray(canTransferTo) ? canTransferTo.map(codeOf) : canTransferTo,
  })
}
