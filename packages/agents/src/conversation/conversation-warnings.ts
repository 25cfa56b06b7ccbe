import type { AgentDefinition } from '@sluice/core'
import { ConfigReader } from '../orchestration/config-reader.js'
import { DEFAULT_MAX_TURNS, readConversationConfig } from './conversation-config.js'

/** From this length on a description says something. */
const SHORT = 10

/**
 * What is doubtful about a conversation and no fault (A-3, A-51, C-6): a bound that is left to its default, settings without
 * effect, descriptions that a moderator cannot choose by. Empty where nothing is; the faults, where there are some.
 *
 * @param agents the agents that it names, as far as they are known; nothing is said of others
 */
export function conversationWarnings(
  conversation: AgentDefinition,
  agents: readonly AgentDefinition[] = [],
): readonly string[] {
  const reader = new ConfigReader()
  const config = readConversationConfig(conversation.orchestrationConfig ?? {}, reader, conversation.code)
  if (reader.faults.list.length > 0) return reader.faults.list
  const warnings = [...config.ignored]
  if (config.defaultTurns)
    warnings.push(`max_turns: is left to its default of ${DEFAULT_MAX_TURNS}; say how long it may go on`)
  if (config.mode === 'ai_driven')
    for (const { code } of config.participants) {
      const known = agents.find((agent) => agent.code === code)
      if (known !== undefined && known.description.trim().length < SHORT)
        warnings.push(`agent "${code}": its description is too short for a moderator to choose by`)
    }
  return warnings
}
