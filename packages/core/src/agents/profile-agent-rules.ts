import type { AgentDefinition, ProfileAgentDefinition } from './agent-definition.js'
import type { AgentReferences, AgentTypeRules } from './agent-type.js'

/** What core knows of profile agents before they run: what they accept and what they name. */
export const profileAgentRules: AgentTypeRules = Object.freeze({
  type: 'profile',
  accepts: Object.freeze({ output: true, followUp: true, files: true }),
  validate(definition: AgentDefinition): readonly string[] {
    // defineAgent and parseStoredAgent have checked what stands in the definition
    const { workflowDefinition, orchestrationConfig, maxIterations } = definition
    const faults: string[] = []
    if (workflowDefinition !== null) faults.push('workflowDefinition: is not for profile agents')
    if (orchestrationConfig !== null) faults.push('orchestrationConfig: is not for profile agents')
    if (maxIterations !== null) faults.push('maxIterations: is not for profile agents; use maxToolCalls')
    return faults
  },
  references(definition: AgentDefinition): AgentReferences {
    const { profile, tools } = definition as ProfileAgentDefinition
    return {
      agents: tools.flatMap((tool) => (typeof tool === 'string' || tool.agent === null ? [] : [tool.agent])),
      profiles: profile === null ? [] : [profile],
    }
  },
})
