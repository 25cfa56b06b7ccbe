import { providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { conversationType, defineConversation } from '@sluice/agents'
import { failureOf } from '../../runs/support/house.js'
import { ALL, logOf, rowsOf } from '../support/team.js'
import { openPanel, part, rotation, speaker } from './panel.js'

const INPUT = { topic: 'Tea or coffee?' } as const

describe('a round robin', () => {
  it('C-3, C-5, C-8, C-20: everybody speaks in the order of the list, round after round; the last contribution is the answer', async () => {
    const { runtime, sent } = await openPanel(
      rotation({ participants: [part('proposer', { role: 'optimist' }), part('critic')] }),
      { proposer: ['Tea.', 'Green tea.'], critic: ['Why?', 'Fine.'] },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.output, run.details]).toEqual([
      'Fine.',
      undefined,
      {
        conversation: [
          { agent: 'system', message: INPUT, turn: 0 },
          { agent: 'proposer', role: 'optimist', message: 'Tea.', turn: 1 },
          { agent: 'critic', message: 'Why?', turn: 1 },
          { agent: 'proposer', role: 'optimist', message: 'Green tea.', turn: 2 },
          { agent: 'critic', message: 'Fine.', turn: 2 },
        ],
        turns: 2,
        completed: true,
        end_reason: 'max_turns',
      },
    ])
    // C-13: each is sent what was said up to then
    expect(sent('critic').map((text) => [text.includes('Tea.'), text.includes('Green tea.')])).toEqual([
      [true, false],
      [true, true],
    ])
    const row = await runtime.executions.get(run.executionId, ALL)
    expect(row?.output).toMatchObject({ final_message: 'Fine.', turns: 2, completed: true, end_reason: 'max_turns' })
    expect([row?.iterationCount, row?.currentState]).toEqual([2, null])
  })

  it('CASE-25: where nobody stops, ten rounds are spoken and no more, and the result names the bound', async () => {
    const { runtime, count } = await openPanel(
      { mode: 'round_robin', participants: [part('proposer')] },
      { proposer: Array.from({ length: 10 }, () => 'On and on.') },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([count('proposer'), run.details?.turns, run.details?.end_reason]).toEqual([10, 10, 'max_turns'])
  })

  it('C-22: maxIterations of the agent is no bound of a conversation', async () => {
    const { runtime } = await openPanel(rotation(), { proposer: ['a'], critic: ['b'] })
    await runtime.agents.create({
      code: 'stored',
      description: 'A panel out of the store.',
      agentType: 'conversation',
      maxIterations: 1,
      status: 'active',
      orchestrationConfig: {
        pattern_type: 'conversation',
        conversation_mode: 'round_robin',
        // A-13, C-W2: the older name of the list
        participant_agents: [
          { agent_code: 'proposer', input_mapping: { prompt: 'go' } },
          { agent_code: 'critic', input_mapping: { prompt: 'go' } },
        ],
        max_turns: 1,
      },
    } as never)
    const run = await runtime.execute({ agent: 'stored', input: {} })
    expect((run.details?.conversation as unknown[]).length).toBe(3)
  })

  it.each(['keyword_in_response', 'keyword'])(
    'C-6, C-21, C-W1: the keyword ends it at once (%s), and the round that was cut short counts',
    async (type) => {
      const { runtime, count } = await openPanel(
        rotation({ maxTurns: 5, terminationCondition: { type, keyword: 'AGREED' } as never }),
        { proposer: ['Tea.', 'So it is AGREED, then.'], critic: ['No.'] },
      )
      const run = await runtime.execute({ agent: 'panel', input: INPUT })
      expect([run.text, run.details?.turns, run.details?.end_reason]).toEqual(['So it is AGREED, then.', 2, 'keyword'])
      expect(count('critic')).toBe(1)
    },
  )

  it.each([
    ['a%d', 'and'],
    ['a_d', 'and'],
    ['AGREED', 'agreed'],
    ['a.d', 'and'],
  ])('C-7: %s is looked for as it is written: "%s" is none', async (keyword, said) => {
    const { runtime } = await openPanel(
      rotation({ maxTurns: 1, terminationCondition: { type: 'keyword_in_response', keyword } }),
      { proposer: [said], critic: ['Hm.'] },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect(run.details?.end_reason).toBe('max_turns')
  })

  it('C-6: the keyword is found in a structured contribution too', async () => {
    const { runtime } = await openPanel(
      rotation({ terminationCondition: { type: 'keyword_in_response', keyword: 'STOP' } }),
      { proposer: [reply.json({ word: 'STOP' })], critic: [] },
      { members: { proposer: { output: z.strictObject({ word: z.string() }) } } },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.output, run.details?.end_reason]).toEqual([{ word: 'STOP' }, 'keyword'])
  })

  it('C-6: an unknown type of termination is a warning, and has no effect', async () => {
    const { runtime, logger } = await openPanel(
      rotation({ maxTurns: 1, terminationCondition: { type: 'vote', keyword: 'x' } as never }),
      { proposer: ['x'], critic: ['x'] },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect(run.details?.end_reason).toBe('max_turns')
    expect(JSON.stringify(logger.lines)).toContain('\\"vote\\" is unknown')
  })

  it('C-12, C-13: every variable is as it is before that call, and what a value holds is not looked at again', async () => {
    const mapping = { prompt: '{$.agent_description} | {$.input.topic} | {$.chat_history}' }
    const { runtime, sent } = await openPanel(
      rotation({
        maxTurns: 1,
        participants: [
          { agent: 'proposer', inputMapping: mapping },
          { agent: 'critic', inputMapping: mapping },
        ],
      }),
      { proposer: ['Say {$.input.topic}.'], critic: ['ok'] },
    )
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect(sent('critic')).toEqual([
      [
        'The critic of a panel. | Tea or coffee? | [2]:',
        '  - agent: system',
        '    message:',
        '      topic: Tea or coffee?',
        '    turn: 0',
        '  - agent: proposer',
        '    message: "Say {$.input.topic}."',
        '    turn: 1',
      ].join('\n'),
    ])
  })

  it('C-16, A-44, S-22: a participant that fails fails the conversation with its error; what was said is on record', async () => {
    const { runtime } = await openPanel(rotation(), { proposer: ['Tea.'], critic: [providerError(400)] })
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect(error.code).toBe('PROVIDER_RESPONSE_ERROR')
    const row = await runtime.executions.get(error.partial.executionId, ALL)
    expect(row.currentState).toEqual({
      turns: 1,
      contributions: 1,
      speaker: 'proposer',
    })
    expect(await logOf(runtime, row.sessionId)).toEqual([
      ['user', null, 'Tea or coffee?'],
      ['assistant', 'proposer', 'Tea.'],
    ])
  })

  it('C-17, C-18, S-20, S-21, S-43: each contribution is a run and a row of the log under its speaker; the wrapper has no tokens', async () => {
    const used = (tokens: number) => ({ inputTokens: tokens, outputTokens: 1 })
    const { runtime } = await openPanel(rotation({ maxTurns: 1 }), {
      proposer: [reply('Tea.').usage(used(5))],
      critic: [reply('Why?').usage(used(7))],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    const rows = await rowsOf(runtime, run.executionId)
    expect(rows.map((row) => [row.agentCode, row.depth, row.inputTokens, row.turnIndex])).toEqual([
      ['panel', 0, 0, 1],
      ['proposer', 1, 5, null],
      ['critic', 1, 7, null],
    ])
    const session = await runtime.sessions.get(run.sessionId, ALL)
    expect([session?.inputTokens, session?.outputTokens, session?.turnCount, session?.messageCount]).toEqual([
      12, 2, 1, 3,
    ])
    expect(await logOf(runtime, run.sessionId)).toEqual([
      ['user', null, 'Tea or coffee?'],
      ['assistant', 'proposer', 'Tea.'],
      ['assistant', 'critic', 'Why?'],
    ])
    const { items } = await runtime.sessions.messages(run.sessionId, ALL)
    expect(items.map(({ seq, executionId }) => [seq, executionId])).toEqual(
      [1, 2, 3].map((seq) => [seq, run.executionId]),
    )
  })

  it('C-19, A-36, A-37, A-38: takes no further message, no schema and no files', async () => {
    const { runtime } = await openPanel(rotation({ maxTurns: 1 }), { proposer: ['a'], critic: ['b'] })
    const { sessionId } = await runtime.execute({ agent: 'panel', input: INPUT })
    const file = { type: 'file', mediaType: 'text/plain', data: 'eA==' }
    for (const more of [{ followUp: 'And?', input: undefined }, { output: z.strictObject({}) }, { files: [file] }]) {
      const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT, sessionId, ...more } as never))
      expect(error.code).toBe('INVALID_CONFIG')
    }
  })

  it('C-4, C-20, O-W7: a conversation takes part in another one, with its answer as its contribution', async () => {
    const inner = defineConversation({
      code: 'inner',
      description: 'Two of them.',
      mode: 'round_robin',
      participants: [part('critic')],
      maxTurns: 1,
    })
    const { runtime } = await openPanel(
      rotation({ maxTurns: 1, participants: [part('proposer'), part('inner')] }),
      { proposer: ['Tea.'], critic: ['Coffee.'] },
      { agents: [inner as never] },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect((run.details?.conversation as unknown[]).at(-1)).toEqual({ agent: 'inner', message: 'Coffee.', turn: 1 })
    const rows = await rowsOf(runtime, run.executionId)
    expect(rows.map((row) => [row.agentCode, row.depth])).toEqual([
      ['panel', 0],
      ['proposer', 1],
      ['inner', 1],
      ['critic', 2],
    ])
  })

  it('C-4: who is not active when it begins is named, all at once, and nothing is sent', async () => {
    const { runtime, count } = await openPanel(rotation(), { proposer: [], critic: [] })
    for (const code of ['proposer', 'critic']) await runtime.agents.changeStatus({ code, version: 1 }, 'archived')
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, error.details.unfit.length, count('proposer')]).toEqual(['CONVERSATION_MEMBER_UNFIT', 2, 0])
  })

  it('W-14: a parameter without a value fails it, naming agent and path; optional ones are left out', async () => {
    const broken = { prompt: '{$.input.nothing}' }
    const { runtime, count } = await openPanel(
      rotation({ participants: [{ agent: 'proposer', inputMapping: broken }] }),
      { proposer: [] },
    )
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, error.details, count('proposer')]).toEqual([
      'CONVERSATION_MAPPING_FAILED',
      { conversation: 'panel', agent: 'proposer', parameter: 'prompt', path: 'input.nothing' },
      0,
    ])
  })

  it('A-42: the answer is held to the schema of the conversation', async () => {
    const { runtime } = await openPanel(rotation({ maxTurns: 1, output: z.strictObject({ word: z.string() }) }), {
      proposer: ['Tea.'],
      critic: ['Coffee.'],
    })
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect(error.code).toBe('OUTPUT_INVALID')
  })

  it('A-42: a text that fits the schema of the conversation is its output', async () => {
    const { runtime } = await openPanel(rotation({ maxTurns: 1, output: z.enum(['Tea.', 'Coffee.']) }), {
      proposer: ['Tea.'],
      critic: ['Coffee.'],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.output]).toEqual(['Coffee.', 'Coffee.'])
  })
})

describe('a conversation in the registry', () => {
  it('A-22: who takes part in it cannot be deleted', async () => {
    const { runtime } = await openPanel(rotation(), { proposer: [], critic: [] })
    expect((await failureOf(runtime.agents.delete({ code: 'critic', version: 1 }))).code).toBe('HAS_REFERENCES')
  })

  it('conversationType() by itself runs nothing and can be shared between runtimes', () => {
    expect(Object.isFrozen(conversationType())).toBe(true)
    expect(speaker('x').agentType).toBe('profile')
  })
})
