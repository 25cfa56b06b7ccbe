import type { AgentType } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import { ConfigCache } from '../orchestration/config-cache.js'
import { shown } from '../workflow/fault-list.js'
import type { ConversationConfig } from './conversation-config.js'
import { isConversationMode, readConversationConfig } from './conversation-config.js'
import { runConversation } from './run-conversation.js'

/** The value of `agent_type`. */
export const CONVERSATION = 'conversation'

/**
 * The agent type `conversation`: agents that contribute in turns to one transcript, in a fixed rotation or as a moderator picks
 * them.
 *
 * @example
 * const runtime = await createRuntime({ agentTypes: [conversationType()], agents: [panel, proposer, critic], providers, plugins })
 */
export function conversationType(): AgentType {
  const configs = new ConfigCache<ConversationConfig>(CONVERSATION, readConversationConfig)
  return Object.freeze({
    type: CONVERSATION,
    accepts: Object.freeze({ output: false, followUp: false, files: false }),
    validate: (definition) => configs.faultsOf(definition),
    references(definition) {
      const config = configs.find(definition)
      if (config === undefined) return { agents: [], profiles: [] }
      const { participants, moderator, history } = config
      const agents = participants.map(({ code }) => code)
      if (moderator !== undefined) agents.push(moderator.code)
      if (history.summarizer !== null) agents.push(history.summarizer)
      // a moderator answers in a schema that is not its own, which only a profile agent takes
      return {
        agents: [...new Set(agents)],
        profileAgents: moderator === undefined ? [] : [moderator.code],
        profiles: [],
      }
    },
    async run(invocation) {
      const { code, definition } = invocation.agent
      const mode = definition.orchestrationConfig?.conversation_mode
      if (typeof mode === 'string' && !isConversationMode(mode))
        throw agentsError(
          'UNKNOWN_CONVERSATION_MODE',
          `Conversation "${code}" has the mode ${shown(mode)}, which there is not.`,
          { details: { agent: code }, hint: 'There are round_robin and ai_driven.' },
        )
      return runConversation(configs.get(definition), invocation)
    },
  } satisfies AgentType)
}
