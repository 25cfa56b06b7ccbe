import { readFileSync } from 'node:fs'
import { AGENTS_ERROR_CODES, conversationType, conversationWarnings, defineConversation } from '@sluice/agents'
import { createMemoryStore, createRuntime, defineAgent } from '@sluice/core'
import { scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { ALL } from '../support/team.js'
import { DONE, picks } from './panel.js'

const README = readFileSync(new URL('../../../packages/agents/README.md', import.meta.url), 'utf8')
const SECTION = README.split(/^## /m).find((part) => part.startsWith('Conversations')) ?? ''

const agent = (code: string) =>
  defineAgent({ code, description: `The ${code} of a panel.`, model: `${code}/small`, user: '{plan}\n{discussion}' })
const [proposer, critic] = [agent('proposer'), agent('critic')]
const chair = defineAgent({
  code: 'chair',
  description: 'Moderates.',
  model: 'chair/small',
  user: '{question}\n{discussion}',
})

const review = defineConversation({
  code: 'review',
  description: 'A proposal, and doubts about it.',
  mode: 'round_robin',
  participants: [
    { agent: proposer, role: 'proposes', inputMapping: { plan: '{$.input.plan}', discussion: '{$.chat_history}' } },
    { agent: critic, role: 'doubts', inputMapping: { plan: '{$.input.plan}', discussion: '{$.chat_history}' } },
  ],
  maxTurns: 3,
  terminationCondition: { type: 'keyword_in_response', keyword: 'AGREED' },
})
const panel = defineConversation({
  code: 'panel',
  description: 'A moderated panel.',
  mode: 'ai_driven',
  participants: [
    { agent: proposer, inputMapping: { plan: '{$.input.plan}', discussion: '{$.chat_history}' } },
    {
      agent: critic,
      inputMapping: { plan: '{$.input.plan}', discussion: '{$.chat_history} Picked because: {$.moderator_rationale}' },
    },
  ],
  moderator: {
    agent: chair,
    inputMapping: { question: 'Who speaks next? {$.available_agents}', discussion: '{$.chat_history}' },
    summaryMapping: { question: 'Sum up for the reader.', discussion: '{$.chat_history}' },
  },
  maxTurns: 6,
  historyManagement: { strategy: 'sliding_window', maxMessages: 10 },
})

async function play() {
  const store = createMemoryStore()
  const providers = [
    scriptedProvider(['A picnic.', 'With cake: AGREED?', 'Bring cake.'], { id: 'proposer' }),
    scriptedProvider(['Too cold.', 'It will rain.'], { id: 'critic' }),
    scriptedProvider([picks('proposer'), picks('critic'), DONE, 'A picnic with cake, indoors.'], { id: 'chair' }),
  ]
  const runtime = await createRuntime({
    store,
    providers,
    agentTypes: [conversationType()],
    agents: [proposer, critic, chair, review, panel],
    plugins: [],
  })
  const reviewed = await runtime.execute({ agent: review, input: { plan: 'A picnic.' } })
  console.log(reviewed.text, reviewed.details?.turns, reviewed.details?.end_reason)
  const discussed = await runtime.execute({ agent: panel, input: { plan: 'A picnic.' } })
  console.log(discussed.text, discussed.details?.turns, discussed.details?.end_reason)
  return { runtime, discussed }
}

describe('the README on conversations', () => {
  it('its examples are this file', () => {
    const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
    const here = code(readFileSync(new URL(import.meta.url), 'utf8'))
    const blocks = [...SECTION.matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((block) => block[1] as string)
    expect(blocks).toHaveLength(3)
    for (const block of blocks) expect(here).toContain(code(block))
  })

  it('S-44: what it shows works, and its table of the message log is that of the run', async () => {
    const printed = vi.spyOn(console, 'log').mockReturnValue()
    const { runtime, discussed } = await play()
    expect(printed.mock.calls).toEqual([
      ['With cake: AGREED?', 2, 'keyword'],
      ['A picnic with cake, indoors.', 2, 'moderator'],
    ])
    const { items } = await runtime.sessions.messages(discussed.sessionId, ALL)
    const table = [
      '| seq | role | content | agent |',
      '| --- | --- | --- | --- |',
      ...items.map((row) => `| ${row.seq} | ${row.role} | ${row.content} | ${row.agentCode ?? ''} |`),
    ].join('\n')
    expect(SECTION).toContain(`<!-- log panel -->\n${table}\n<!-- /log -->`)
    await runtime.close()
  })

  it('names every code of theirs, and its definitions leave nothing doubtful', () => {
    const own = Object.keys(AGENTS_ERROR_CODES).filter((code) =>
      /^(CONVERSATION|SPEAKER|UNKNOWN_CONVERSATION)_/.test(code),
    )
    expect(own).toHaveLength(4)
    for (const code of own) expect(SECTION).toContain(`\`${code}\``)
    const members = [proposer, critic] as never
    expect([conversationWarnings(review as never, members), conversationWarnings(panel as never, members)]).toEqual([
      [],
      [],
    ])
  })
})
