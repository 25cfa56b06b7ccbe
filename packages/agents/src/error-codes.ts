/** One row of the table of codes. */
export interface AgentsErrorRow {
  readonly meaning: string
  readonly remedy: string
  /** The number of the original system. */
  readonly original?: number
}

const row = (meaning: string, remedy: string, original?: number): AgentsErrorRow => ({
  meaning,
  remedy,
  ...(original === undefined ? {} : { original }),
})

/** Every code that `@sluice/agents` raises of its own. Each error is a `SluiceError` of core; codes are never renamed. */
export const AGENTS_ERROR_CODES = {
  WORKFLOW_INVALID: row(
    'A workflow that came out of the store cannot be read; nothing of it was run.',
    'Store the definition again: that names all its faults.',
    -20401,
  ),
  WORKFLOW_CONDITION_FAILED: row(
    'A condition of a workflow is neither true nor false: values of kinds that cannot be compared, or no boolean.',
    'Convert what the message names, or give the agent an answer schema.',
    -20451,
  ),
  WORKFLOW_MAPPING_FAILED: row(
    'A parameter of a step names a path that has no value.',
    'Mend the path, or give the parameter `optional: true` or a `default`.',
    -20452,
  ),
  WORKFLOW_FINAL_MESSAGE_FAILED: row(
    'The `final_message` of a workflow names a path that has no value.',
    'Mend the path, or give it a `default`.',
    -20453,
  ),
  ORCHESTRATION_INVALID: row(
    'An `orchestration_config` that came out of the store cannot be read; nothing of it was run.',
    'Store the definition again: that names all its faults.',
    -20401,
  ),
  DELEGATE_NOT_FOUND: row(
    'An orchestrator delegates to agents that do not exist or are not active; nothing was sent.',
    'Activate a version of each agent that the message names, or take it out of `delegate_agents`.',
    -20402,
  ),
  HANDOFF_MEMBER_UNFIT: row(
    'A member of a handoff does not exist, is not active, or is no profile agent; nothing was sent.',
    'Activate a version of each member that the message names, or take it out of `handoff_agents`.',
  ),
  CONVERSATION_MEMBER_UNFIT: row(
    'Somebody in a conversation does not exist, is not active, or is a moderator that is no profile agent; nothing was sent.',
    'Activate a version of each agent that the message names, or take it out of the conversation.',
    -20402,
  ),
  SPEAKER_NOT_FOUND: row(
    'A moderator picked somebody who takes no part in the conversation, and did so again when told.',
    'Give the moderator `{$.available_agents}`, and tell it to answer with one of their codes.',
    -20403,
  ),
  UNKNOWN_CONVERSATION_MODE: row(
    'A conversation that came out of the store has a mode that there is not; nothing was sent.',
    'Store the definition again with `round_robin` or `ai_driven`.',
    -20404,
  ),
  CONVERSATION_MAPPING_FAILED: row(
    'A parameter of a participant or the moderator names a path that has no value.',
    'Mend the path, or give the parameter `optional: true` or a `default`.',
    -20452,
  ),
} as const satisfies Record<string, AgentsErrorRow>

/** The codes of {@link AGENTS_ERROR_CODES}. */
export type AgentsErrorCode = keyof typeof AGENTS_ERROR_CODES
