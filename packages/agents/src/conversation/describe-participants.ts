import type { AgentDescription, AgentWork } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { agentsError } from '../agents-error.js'
import type { ConversationConfig } from './conversation-config.js'

/**
 * Looks up everybody whom the conversation may ask: each has to be active when it begins (C-4), a moderator has to be a profile
 * agent.
 *
 * @throws CONVERSATION_MEMBER_UNFIT naming all that are not, before anything was sent
 */
export async function describeParticipants(
  work: Pick<AgentWork, 'describe'>,
  conversation: string,
  { participants, moderator, history }: ConversationConfig,
): Promise<ReadonlyMap<string, AgentDescription>> {
  const codes = new Set(participants.map(({ code }) => code))
  if (moderator !== undefined) codes.add(moderator.code)
  if (history.summarizer !== null) codes.add(history.summarizer)
  const found = new Map<string, AgentDescription>()
  const unfit: string[] = []
  for (const code of codes) {
    const agent = await lookUp(work, code)
    if (agent === undefined) unfit.push(`"${code}" does not exist or is not active`)
    else if (code === moderator?.code && agent.agentType !== 'profile')
      unfit.push(`the moderator "${code}" is of type ${agent.agentType}`)
    else found.set(code, agent)
  }
  if (unfit.length === 0) return found
  throw agentsError('CONVERSATION_MEMBER_UNFIT', `Conversation "${conversation}" cannot begin: ${unfit.join('; ')}.`, {
    details: { agent: conversation, unfit },
    hint: 'Everybody in a conversation has to be active, and its moderator a profile agent.',
  })
}

async function lookUp(work: Pick<AgentWork, 'describe'>, code: string): Promise<AgentDescription | undefined> {
  try {
    return await work.describe(code)
  } catch (error) {
    if (SluiceError.isInstance(error, 'NOT_FOUND')) return undefined
    throw error
  }
}
