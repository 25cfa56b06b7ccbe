import type { AgentType, ResolvedAgent } from '../agents/agent-type.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { RuntimeCore } from './runtime-core.js'

/** The type of an agent. @throws UNKNOWN_AGENT_TYPE where this runtime has none of that name */
export function agentTypeOf({ types }: RuntimeCore, agent: ResolvedAgent): AgentType {
  const type = types.get(agent.definition.agentType)
  if (type !== undefined) return type
  throw new SluiceError(
    'UNKNOWN_AGENT_TYPE',
    `Agent "${agent.code}" has the type "${agent.definition.agentType}", which this runtime cannot run.`,
    { hint: 'Install the package that brings the type.' },
  )
}
