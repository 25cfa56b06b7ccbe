import { conversationType } from '@sluice/agents'
import { createMemoryStore, createRuntime } from '@sluice/core'
import { scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, vi } from 'vitest'
import { partyAgents } from '../src/party-panel.js'
import { runExample } from '../src/run-example.js'
import { PANEL } from '../src/scripted-answers.js'

async function printed(args: readonly string[] = []) {
  const lines: string[] = []
  const code = await runExample(args, (line) => lines.push(line))
  return { code, text: lines.join('\n') }
}

const part = (text: string, title: string) =>
  (text.split(`${title}:\n`)[1]?.split('\n\n')[0] ?? '').split('\n').map((line) => line.trim())

describe('npm start', () => {
  it('plans a party in rotation until it is settled, and with a moderator until nobody has to speak', async () => {
    const { code, text } = await printed()
    expect(code).toBe(0)
    expect(text).toContain('ended by keyword after 2 turns')
    expect(text).toContain('ended by moderator after 3 turns')
    expect(text).toContain('A picnic by the river with cold dishes. Guests come on foot.')
    expect(text).toContain('2 runs, ended as expected')
  })

  it('prints its trees: who spoke in which order, with tokens of their own, and a receipt of every call', async () => {
    const { text } = await printed()
    const [rotation = '', panel = ''] = text.split('=== With')
    expect(part(rotation, 'runs').map((line) => line.split(' ')[0])).toEqual([
      'party_rotation',
      'host',
      'cook',
      'neighbour',
      'host',
    ])
    expect(part(panel, 'runs').map((line) => line.split(' ')[0])).toEqual([
      'party_panel',
      ...['moderator', 'host', 'moderator', 'moderator', 'neighbour', 'moderator', 'cook', 'moderator', 'moderator'],
    ])
    for (const [scene, calls] of [
      [rotation, 4],
      [panel, 9],
    ] as const) {
      const rows = [...scene.matchAll(/profile +completed +(\d+) in, (\d+) out/g)]
      const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0)
      expect(rows).toHaveLength(calls)
      expect(scene).toMatch(/conversation +completed +0 in, 0 out/)
      expect(scene).toContain(`tokens of the tree: ${sum(1)} in, ${sum(2)} out`)
      const receipts = part(scene, 'receipts')
      expect(receipts).toHaveLength(calls + 1)
      for (const line of receipts) expect(line).toMatch(/([1-9]\d*) of \1 gates passed$/)
    }
  })

  it('prints the same in every run', async () => {
    expect(await printed()).toEqual(await printed())
  })

  it.each([
    [['--live'], 'needs a key'],
    [['--occasion', ' '], 'The occasion is empty'],
    [['--fast'], 'Unknown option'],
  ])('%j is refused, with what there is', async (args, why) => {
    vi.stubEnv('OPENAI_API_KEY', '')
    vi.stubEnv('ANTHROPIC_API_KEY', '')
    const { code, text } = await printed(args)
    expect(code).toBe(2)
    expect(text).toContain(why)
    expect(text).toContain('Usage: npm start')
  })
})

describe('the panel', () => {
  it('tells who was picked why, and the moderator whom there is', async () => {
    const provider = scriptedProvider(PANEL, { id: 'house' })
    const { panel, all } = partyAgents('house/talks')
    const runtime = await createRuntime({
      store: createMemoryStore(),
      providers: [provider],
      agentTypes: [conversationType()],
      agents: all,
      plugins: [],
    })
    await runtime.execute({ agent: panel, input: { occasion: 'a birthday' } })
    const sent = provider.requests.map(({ messages }) => JSON.stringify(messages.at(-1)))
    expect(sent[0]).toContain('neighbour,\\"Speaks for the people next door')
    expect(sent[1]).toContain('You were picked because: Somebody has to propose something.')
    expect(sent[3]).toContain('takes no part in this conversation')
    expect(sent.at(-1)).toContain('Cold dishes')
    await runtime.close()
  })
})
