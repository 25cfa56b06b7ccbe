import type { AgentDefinition } from '@sluice/core'
import { defineAgent } from '@sluice/core'
import type { ConversationOptions } from '@sluice/agents'
import { conversationType, defineConversation } from '@sluice/agents'
import type { Script } from '@sluice/testkit'
import { reply } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import type { HouseOptions } from '../../runs/support/house.js'
import { house } from '../../runs/support/house.js'

/** An agent with a provider of its own name, which is sent its `prompt`. */
export const speaker = (code: string, more: object = {}): AgentDefinition =>
  defineAgent({
    code,
    description: `The ${code} of a panel.`,
    model: `${code}/small`,
    user: '{prompt}',
    ...more,
  } as never) as never

const HISTORY = { prompt: '{$.chat_history}' } as const

/** A participant that is sent the discussion so far. */
export const part = (agent: string, more: object = {}) => ({ agent, inputMapping: HISTORY, ...more })

/** A proposer and a critic in rotation. */
export const rotation = (more: Partial<ConversationOptions> = {}) =>
  ({
    mode: 'round_robin',
    participants: [part('proposer'), part('critic')],
    maxTurns: 2,
    ...more,
  }) as Partial<ConversationOptions>

/** The same two with a moderator. */
export const moderated = (more: Partial<ConversationOptions> = {}) =>
  ({
    mode: 'ai_driven',
    participants: [part('proposer'), part('critic')],
    moderator: { agent: 'chair', inputMapping: HISTORY },
    maxTurns: 4,
    ...more,
  }) as Partial<ConversationOptions>

/** A decision of a moderator. */
export const picks = (agentCode: string, rationale = 'It is their turn.') =>
  reply.json({
    next_speaker: { agent_code: agentCode, moderator_rationale: rationale },
    discussion_complete: false,
  })

export const DONE = reply.json({
  next_speaker: { agent_code: '', moderator_rationale: '' },
  discussion_complete: true,
})

export interface PanelOptions extends Omit<HouseOptions, 'agents'> {
  /** Further options of members, by their code. */
  readonly members?: Readonly<Record<string, object>>
  readonly agents?: readonly AgentDefinition[]
}

/**
 * A runtime with one conversation `panel`, and an agent with a script of its own for every name in `scripts`. Whatever is left
 * of a script when the test has passed fails it.
 */
export async function openPanel(
  options: Partial<ConversationOptions>,
  scripts: Readonly<Record<string, Script>>,
  { members = {}, agents = [], agentTypes = [], ...rest }: PanelOptions = {},
) {
  const panel = defineConversation({ code: 'panel', description: 'The panel of a test.', ...options } as never)
  const providers = Object.fromEntries(
    Object.entries(scripts).map(([code, script]) => [code, scriptedProvider(script, { id: code })]),
  )
  const made = await house([], {
    ...rest,
    others: [...Object.values(providers), ...(rest.others ?? [])],
    agentTypes: [conversationType(), ...agentTypes],
    agents: [panel, ...Object.keys(scripts).map((code) => speaker(code, members[code])), ...agents],
  })
  /** What an agent was sent last in each request. */
  const sent = (code: string): string[] =>
    (providers[code]?.requests ?? []).map((request) => {
      const parts = (request.messages.at(-1)?.content ?? []) as readonly { readonly text?: string }[]
      return parts[0]?.text ?? ''
    })
  const count = (code: string): number => providers[code]?.requests.length ?? 0
  return { ...made, panel, providers, sent, count }
}
