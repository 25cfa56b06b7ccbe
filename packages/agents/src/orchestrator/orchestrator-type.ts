import type { AgentInvocation, AgentResult, AgentType } from '@sluice/core'
import { ConfigCache } from '../orchestration/config-cache.js'
import { manageHistory } from '../orchestration/history-management.js'
import { labelsOf } from '../orchestration/labels-of.js'
import { managedMessages } from '../orchestration/managed-messages.js'
import { delegateTools } from './delegate-tools.js'
import type { OrchestratorConfig } from './orchestrator-config.js'
import { readOrchestratorConfig } from './orchestrator-config.js'

/** The value of `agent_type`. */
export const ORCHESTRATOR = 'orchestrator'

/**
 * The agent type `orchestrator`: a model that decides which agents to call, in which order and how often, and writes the
 * answer from what they report.
 *
 * @example
 * const runtime = await createRuntime({ agentTypes: [orchestratorType()], agents: [travel, flights, hotels], prompts, providers, plugins })
 */
export function orchestratorType(): AgentType {
  const configs = new ConfigCache<OrchestratorConfig>(ORCHESTRATOR, readOrchestratorConfig)
  return Object.freeze({
    type: ORCHESTRATOR,
    accepts: Object.freeze({ output: false, followUp: true, files: true }),
    validate: (definition) => configs.faultsOf(definition),
    references(definition) {
      const config = configs.find(definition)
      if (config === undefined) return { agents: [], profiles: [] }
      const { delegates, history, profile } = config
      const { code, version = null } = profile
      const agents = delegates.map((delegate) => delegate.code)
      if (history.summarizer !== null) agents.push(history.summarizer)
      return { agents: [...new Set(agents)], profiles: [{ code, version }] }
    },
    run: (invocation) => orchestrate(configs.get(invocation.agent.definition), invocation),
  } satisfies AgentType)
}

async function orchestrate(config: OrchestratorConfig, invocation: AgentInvocation): Promise<AgentResult> {
  const { agent, input, followUp, files, output, work, logger } = invocation
  const { profile, maxDelegations, extraToolTags } = config
  const tools = await delegateTools(work, agent.code, config.delegates)
  const history = await manageHistory(invocation.history, config.history, managedMessages(labelsOf([], work.labels)), {
    work,
    logger,
    name: 'summary',
    agentCode: agent.code,
  })
  const {
    text,
    output: answer,
    finishReason,
  } = await work.turn({
    profile,
    input,
    followUp,
    history,
    files,
    output,
    tools,
    toolTags: extraToolTags,
    ...(maxDelegations === undefined ? {} : { settings: { maxToolCalls: maxDelegations } }),
  })
  return { text, output: answer, finishReason, iterationCount: 0 }
}
