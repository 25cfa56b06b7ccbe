import type { AgentDefinition } from '@sluice/core'
import { isAgentDefinition } from '@sluice/core'

/** The code by which an agent is stored. What is no agent stays what it is, for the check of the definition to name. */
export function codeOf(agent: string | AgentDefinition | unknown): unknown {
  return isAgentDefinition(agent) ? agent.code : agent
}
