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
} as const satisfies Record<string, AgentsErrorRow>

/** The codes of {@link AGENTS_ERROR_CODES}. */
export type AgentsErrorCode = keyof typeof AGENTS_ERROR_CODES
