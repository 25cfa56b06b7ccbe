import type { AgentDescription, AgentWork } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { agentsError } from '../agents-error.js'

/**
 * Looks up everybody who may get control: each has to be an active profile agent when the turn begins (F-3).
 *
 * @throws HANDOFF_MEMBER_UNFIT naming all that are not, before anything was sent
 */
export async function describeMembers(
  work: Pick<AgentWork, 'describe'>,
  handoff: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, AgentDescription>> {
  const members = new Map<string, AgentDescription>()
  const unfit: string[] = []
  for (const code of codes) {
    try {
      const found = await work.describe(code)
      if (found.agentType === 'profile') members.set(code, found)
      else unfit.push(`"${code}" is of type ${found.agentType}`)
    } catch (error) {
      if (!SluiceError.isInstance(error, 'NOT_FOUND')) throw error
      unfit.push(`"${code}" does not exist or is not active`)
    }
  }
  if (unfit.length === 0) return members
  throw agentsError('HANDOFF_MEMBER_UNFIT', `Agent "${handoff}" cannot hand over: ${unfit.join('; ')}.`, {
    details: { agent: handoff, unfit },
    hint: 'Every member of a handoff has to be an active profile agent.',
  })
}
