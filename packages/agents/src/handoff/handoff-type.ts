import type { AgentType } from '@sluice/core'
import { ConfigCache } from '../orchestration/config-cache.js'
import type { HandoffConfig } from './handoff-config.js'
import { readHandoffConfig } from './handoff-config.js'
import { runHandoff } from './run-handoff.js'

/** The value of `agent_type`. */
export const HANDOFF = 'handoff'

/**
 * The agent type `handoff`: agents that hand the conversation over to each other. Whoever holds it answers the user directly,
 * and keeps it in the turns that follow.
 *
 * @example
 * const runtime = await createRuntime({ agentTypes: [handoffType()], agents: [support, triage, billing, technical], providers, plugins })
 */
export function handoffType(): AgentType {
  const configs = new ConfigCache<HandoffConfig>(HANDOFF, readHandoffConfig)
  return Object.freeze({
    type: HANDOFF,
    accepts: Object.freeze({ output: false, followUp: true, files: false }),
    validate: (definition) => configs.faultsOf(definition),
    references(definition) {
      const config = configs.find(definition)
      if (config === undefined) return { agents: [], profiles: [] }
      const { members, history } = config
      const agents = history.summarizer === null ? members : [...new Set([...members, history.summarizer])]
      return { agents, profileAgents: members, profiles: [] }
    },
    run: (invocation) => runHandoff(configs.get(invocation.agent.definition), invocation),
  } satisfies AgentType)
}
