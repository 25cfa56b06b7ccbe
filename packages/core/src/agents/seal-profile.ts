import { sealAgent } from './agent-definition.js'
import type { AgentDefinition, ProfileAgentDefinition } from './agent-definition.js'

/** A profile agent that stands for a turn of an agent of another type: the prompts of a profile under the name of that agent. */
export function sealProfile(
  agent: AgentDefinition,
  profile: NonNullable<ProfileAgentDefinition['profile']>,
): ProfileAgentDefinition {
  const { code, description, output, maxHistoryMessages } = agent
  return sealAgent({
    agentType: 'profile' as const,
    code,
    description,
    output,
    maxHistoryMessages,
    profile,
    model: null,
    system: null,
    user: null,
    tools: [],
    hostedTools: [],
    settings: {},
    reasoning: null,
    temperature: null,
    topP: null,
    stopSequences: null,
    providerOptions: null,
  })
}
