import { defineConversation } from '@sluice/agents'
import type { AgentDefinition } from '@sluice/core'
import { defineAgent } from '@sluice/core'
import { z } from 'zod'

/** What ends the rotation. */
export const SETTLED = 'SETTLED'

const INPUT = z.object({ occasion: z.string().min(1) })
const DISCUSSION = { occasion: '{$.input.occasion}', discussion: '{$.chat_history}' } as const

/** Three who plan a party, a moderator, and the two conversations in which they do so, all on one model. */
export function partyAgents(model: string): {
  readonly rotation: ReturnType<typeof partyRotation>
  readonly panel: ReturnType<typeof partyPanel>
  readonly all: AgentDefinition[]
} {
  const planner = (code: string, description: string, system: string) =>
    defineAgent({
      code,
      description,
      model,
      system: `${system} Two sentences at most.`,
      user: 'We plan: {occasion}\n\nWhat was said:\n{discussion}',
    })
  const host = planner(
    'host',
    'Proposes what the party should be like, and gathers what the others say.',
    `You give the party. Propose a plan, and better it by what the others say. Once nobody objects, end with the word ${SETTLED}.`,
  )
  const cook = planner('cook', 'Knows food and drink for many people.', 'You cook for parties.')
  const neighbour = planner(
    'neighbour',
    'Speaks for the people next door: noise, hours, where to park.',
    'You live next door to the party. Say what would bother you.',
  )
  const moderator = defineAgent({
    code: 'moderator',
    description: 'Picks who speaks next, and sums up.',
    model,
    system: 'You moderate a panel that plans a party. Everybody should be heard; nobody should repeat themselves.',
    user: '{task}\n\nWhat was said:\n{discussion}',
  })
  const rotation = partyRotation()
  const panel = partyPanel()
  return { rotation, panel, all: [host, cook, neighbour, moderator, rotation, panel] as AgentDefinition[] }
}

function partyRotation() {
  return defineConversation({
    code: 'party_rotation',
    description: 'Plans a party round by round.',
    mode: 'round_robin',
    input: INPUT,
    participants: [
      { agent: 'host', role: 'proposes', inputMapping: DISCUSSION },
      { agent: 'cook', role: 'advises', inputMapping: DISCUSSION },
      { agent: 'neighbour', role: 'objects', inputMapping: DISCUSSION },
    ],
    maxTurns: 3,
    terminationCondition: { type: 'keyword_in_response', keyword: SETTLED },
  })
}

function partyPanel() {
  const told = {
    occasion: '{$.input.occasion}',
    discussion: '{$.chat_history}\n\nYou were picked because: {$.moderator_rationale}',
  }
  return defineConversation({
    code: 'party_panel',
    description: 'Plans a party with a moderator.',
    mode: 'ai_driven',
    input: INPUT,
    participants: ['host', 'cook', 'neighbour'].map((agent) => ({ agent, inputMapping: told })),
    moderator: {
      agent: 'moderator',
      inputMapping: { task: 'Who speaks next? There are:\n{$.available_agents}', discussion: '{$.chat_history}' },
      summaryMapping: { task: 'Sum up the plan in two sentences.', discussion: '{$.chat_history}' },
    },
    maxTurns: 6,
    // what is older goes out of sight of the speakers; the task and the stored transcript stay whole
    historyManagement: { strategy: 'sliding_window', maxMessages: 4 },
  })
}
