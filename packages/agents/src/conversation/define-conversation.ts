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
import { isObject } from '../orchestration/config-reader.js'
import { given } from '../orchestration/given.js'
import type { HistoryOptions } from '../orchestration/history-options.js'
import { historyJson } from '../orchestration/history-options.js'
import type { ConversationMapping, ConversationMode, TerminationCondition } from './conversation-json.js'
import { CONVERSATION, conversationType } from './conversation-type.js'

/** One who contributes to a conversation. */
export interface ConversationParticipant {
  /** The agent, or its code: of any type. Its description is told to a moderator. */
  readonly agent: string | AgentDefinition
  /**
   * Parameters of the agent: over `{$.input.*}`, `{$.chat_history}`, `{$.agent_description}`, and with a moderator
   * `{$.moderator_rationale}`.
   */
  readonly inputMapping: ConversationMapping
  /** As what it speaks; the transcript names it. */
  readonly role?: string
}

/** Who picks the speakers of a conversation. */
export interface ConversationModerator {
  /** The agent, or its code: a profile agent. */
  readonly agent: string | AgentDefinition
  /** Parameters of a decision: over `{$.input.*}`, `{$.chat_history}` and `{$.available_agents}`. */
  readonly inputMapping: ConversationMapping
  /** Parameters of the summary, which is the answer. Without it there is none, and the last contribution is the answer. */
  readonly summaryMapping?: ConversationMapping
}

/** What {@link defineConversation} takes. Stored JSON has the same names in snake case, `conversation_mode` and `moderator_agent`. */
export interface ConversationOptions<
  Input extends SchemaSource | undefined = SchemaSource | undefined,
  Output extends SchemaSource | undefined = SchemaSource | undefined,
> extends Pick<
    ComposedAgentOptions<Input, Output>,
    'code' | 'description' | 'input' | 'output' | 'requiredContext' | 'timeoutSeconds'
  > {
  /** Who speaks next: the next one of the list, or whom the moderator picks. */
  readonly mode: ConversationMode
  /** 1 to 100, in the order in which they speak. With a moderator each of them once. */
  readonly participants: readonly ConversationParticipant[]
  /** With `ai_driven`. */
  readonly moderator?: ConversationModerator
  /** Rounds of a round robin, contributions with a moderator: 1 to 1 000. @default 10 */
  readonly maxTurns?: number
  /** Ends a round robin early. */
  readonly terminationCondition?: TerminationCondition
  /** How much of the transcript `{$.chat_history}` has. Default: all. The task always stays. */
  readonly historyManagement?: HistoryOptions
}

/**
 * Defines a conversation in code. The result is frozen; give it to `createRuntime({ agents, agentTypes: [conversationType()] })`.
 *
 * @example
 * const panel = defineConversation({ code: 'panel', description: 'Two views of a plan.', mode: 'round_robin', maxTurns: 3,
 *   participants: [
 *     { agent: 'proposer', inputMapping: { discussion: '{$.chat_history}' } },
 *     { agent: 'critic', inputMapping: { discussion: '{$.chat_history}' } },
 *   ],
 *   terminationCondition: { type: 'keyword_in_response', keyword: 'AGREED' } })
 *
 * @throws INVALID_CONFIG (`reason` `agent.definition`) with all faults of the definition at once
 */
export function defineConversation<
  Input extends SchemaSource | undefined = undefined,
  Output extends SchemaSource | undefined = undefined,
>(
  options: ConversationOptions<Input, Output>,
): AgentDefinition<
  Input extends StandardSchemaV1 ? StandardSchemaV1.InferInput<Input> : JsonObject,
  Output extends SchemaSource ? SchemaOutput<Output> : JsonValue | undefined
> {
  const { mode, participants, moderator, maxTurns, terminationCondition, historyManagement, ...common } = (options ??
    {}) as ConversationOptions<Input, Output>
  return composeAgent(conversationType(), {
    ...common,
    orchestrationConfig: given({
      pattern_type: CONVERSATION,
      conversation_mode: mode,
      agents: Array.isArray(participants) ? participants.map(participantJson) : participants,
      moderator_agent: moderatorJson(moderator),
      max_turns: maxTurns,
      termination_condition: terminationCondition,
      history_management: historyJson(historyManagement),
    }),
  } as ComposedAgentOptions<Input, Output>) as never
}

function participantJson(participant: unknown): unknown {
  if (!isObject(participant)) return participant
  const { agent, inputMapping, role, ...unknown } = participant
  return given({ ...unknown, agent_code: codeOf(agent), input_mapping: inputMapping, role })
}

function moderatorJson(moderator: unknown): unknown {
  if (!isObject(moderator)) return moderator
  const { agent, inputMapping, summaryMapping, ...unknown } = moderator
  return given({
    ...unknown,
    agent_code: codeOf(agent),
    input_mapping: inputMapping,
    summary_mapping: summaryMapping,
  })
}
