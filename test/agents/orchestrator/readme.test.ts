import { readFileSync } from 'node:fs'
import { AGENTS_ERROR_CODES, defineHandoff, defineOrchestrator, handoffType, orchestratorType } from '@sluice/agents'
import { createMemoryStore, createRuntime, defineAgent, defineTool } from '@sluice/core'
import { reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { ALL } from '../support/team.js'

const README = readFileSync(new URL('../../../packages/agents/README.md', import.meta.url), 'utf8')
const TITLES = ['Orchestrators', 'Agents as tools', 'Handoffs']
const SECTIONS = README.split(/^## /m).filter((part) => TITLES.some((title) => part.startsWith(title)))

/** Codes of other patterns. */
const OTHERS = /^(WORKFLOW|CONVERSATION|SPEAKER|UNKNOWN_CONVERSATION)_/

const agent = (code: string) =>
  defineAgent({
    code,
    description: `Knows ${code}.`,
    model: `${code}/small`,
    system: `You are ${code}.`,
    user: '{prompt}',
  })
const [flights, hotels, triage, billing] = [agent('flights'), agent('hotels'), agent('triage'), agent('billing')]
const travelLead = {
  code: 'travel_lead',
  description: 'Plans trips.',
  provider: 'lead',
  model: 'big',
  system_prompt_template: 'You plan trips.',
  user_prompt_template: '{question}',
} as const

const travel = defineOrchestrator({
  code: 'travel',
  description: 'Plans trips.',
  profile: 'travel_lead',
  delegates: [flights, hotels],
  maxDelegations: 6,
})
const askFlights = defineTool({
  code: 'ask_flights',
  description: 'Finds flights.',
  effect: 'read',
  input: z.object({ prompt: z.string() }),
  agent: 'flights',
})
const support = defineHandoff({
  code: 'support',
  description: 'Answers customers.',
  initial: triage,
  members: [
    { agent: triage, description: 'Finds out whom a question belongs to.' },
    { agent: billing, description: 'Invoices and refunds.', canTransferTo: [triage] },
  ],
  maxHandoffs: 3,
})

async function play() {
  const store = createMemoryStore()
  const providers = [
    scriptedProvider(
      [
        reply.toolCall('flights', { prompt: 'To Rome?' }),
        'Fly at nine.',
        'At ten, then.',
        reply.toolCall('ask_flights', { prompt: 'x' }),
        'Yes.',
      ],
      { id: 'lead' },
    ),
    scriptedProvider(['At nine.', 'At nine.'], { id: 'flights' }),
    scriptedProvider([], { id: 'hotels' }),
    scriptedProvider([reply.toolCall('transfer_to_billing', { context: 'A wrong invoice.' })], { id: 'triage' }),
    scriptedProvider(['It is corrected.', 'You are welcome.'], { id: 'billing' }),
  ]
  const runtime = await createRuntime({
    store,
    providers,
    agentTypes: [orchestratorType(), handoffType()],
    agents: [flights, hotels, travel, triage, billing, support],
    prompts: [travelLead],
    plugins: [],
  })
  const trip = await runtime.execute({ agent: travel, input: { question: 'A weekend in Rome?' }, sessionId: 'trip-1' })
  const later = await runtime.execute({ agent: travel, followUp: 'And a day later?', sessionId: 'trip-1' })
  console.log(trip.text, later.text)
  const asked = await runtime.execute({
    agent: support,
    input: { prompt: 'My invoice is wrong.' },
    sessionId: 'case-1',
  })
  const thanks = await runtime.execute({ agent: support, followUp: 'Thanks!', sessionId: 'case-1' })
  console.log(asked.text, asked.details?.final_agent_code, thanks.text, thanks.details?.final_agent_code)
  return { runtime, trip, thanks }
}

describe('the README on orchestrators, agents as tools and handoffs', () => {
  it('its examples are this file', () => {
    const code = (text: string) => text.replaceAll(/\s|[,;()]/g, '')
    const here = code(readFileSync(new URL(import.meta.url), 'utf8'))
    const blocks = [...SECTIONS.join('').matchAll(/^```ts run\n([\s\S]*?)^```$/gm)].map((block) => block[1] as string)
    expect([SECTIONS.length, blocks.length]).toEqual([3, 5])
    for (const block of blocks) expect(here).toContain(code(block))
  })

  it('S-44: what it shows works, and its tables of the message log are those of the runs', async () => {
    const printed = vi.spyOn(console, 'log').mockReturnValue()
    const { runtime, trip, thanks } = await play()
    expect(printed.mock.calls).toEqual([
      ['Fly at nine.', 'At ten, then.'],
      ['It is corrected.', 'billing', 'You are welcome.', 'billing'],
    ])
    const shown = async (sessionId: string, executionId?: string) => {
      const { items } = await runtime.sessions.messages(sessionId, ALL)
      return [
        '| seq | role | content | agent |',
        '| --- | --- | --- | --- |',
        ...items
          .filter((row) => executionId === undefined || row.executionId === executionId)
          .map((row) => `| ${row.seq} | ${row.role} | ${row.content ?? row.toolName} | ${row.agentCode ?? ''} |`),
      ].join('\n')
    }
    const text = SECTIONS.join('')
    expect(text).toContain(`<!-- log travel -->\n${await shown(trip.sessionId, trip.executionId)}\n<!-- /log -->`)
    expect(text).toContain(`<!-- log support -->\n${await shown(thanks.sessionId)}\n<!-- /log -->`)
    const plain = await runtime.generateText({ model: 'lead/big', prompt: 'When?', tools: [askFlights] })
    expect(plain.text).toBe('Yes.')
    await runtime.close()
  })

  it('names every code of theirs', () => {
    for (const code of Object.keys(AGENTS_ERROR_CODES))
      if (!OTHERS.test(code)) expect(SECTIONS.join('')).toContain(`\`${code}\``)
  })
})
