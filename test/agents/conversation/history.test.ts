import type { ConversationOptions } from '@sluice/agents'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { failureOf } from '../../runs/support/house.js'
import { rowsOf } from '../support/team.js'
import { DONE, moderated, openPanel, part, picks, rotation } from './panel.js'

const INPUT = { topic: 'Tea or coffee?' } as const
const FOUR = ['one', 'two', 'three', 'four'] as const
const alone = (historyManagement: ConversationOptions['historyManagement'], maxTurns = 4) =>
  rotation({
    participants: [part('proposer')],
    maxTurns,
    ...(historyManagement === undefined ? {} : { historyManagement }),
  })
/** Which contributions were sent, and whether the task was. */
const seen = (texts: readonly string[]) =>
  texts.map((text) => ['Tea or coffee?', ...FOUR].filter((word) => text.includes(word)))

describe('history strategies of a conversation', () => {
  it.each([undefined, { strategy: 'full' }] as const)('C-14: %o sends everything', async (management) => {
    const { runtime, sent } = await openPanel(alone(management), { proposer: FOUR })
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect(seen(sent('proposer')).at(-1)).toEqual(['Tea or coffee?', 'one', 'two', 'three'])
  })

  it('C-14, C-15, C-W5, S-41: sliding_window sends the task and the newest contributions; the transcript is whole', async () => {
    const { runtime, sent } = await openPanel(alone({ strategy: 'sliding_window', maxMessages: 2 }), { proposer: FOUR })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect(seen(sent('proposer'))).toEqual([
      ['Tea or coffee?'],
      ['Tea or coffee?', 'one'],
      ['Tea or coffee?', 'one', 'two'],
      ['Tea or coffee?', 'two', 'three'],
    ])
    expect((run.details?.conversation as { message: string }[]).slice(1).map(({ message }) => message)).toEqual(FOUR)
    const { items } = await runtime.sessions.messages(run.sessionId, { scope: 'all' })
    expect(items).toHaveLength(5)
  })

  it('C-14, S-41, S-W5: summarize puts a summary in the place of what is older; the summariser is a nested run', async () => {
    const { runtime, sent, providers } = await openPanel(
      alone({ strategy: 'summarize', summarizeAfter: 2, summarizer: 'scribe' }),
      { proposer: FOUR, scribe: [reply('They began.').usage({ inputTokens: 3, outputTokens: 1 })] },
      { members: { scribe: { user: '{summarize_count}: {conversation_history}' } } },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect(sent('scribe')).toEqual(['2: [2]{agent,message,turn}:\n  proposer,one,1\n  proposer,two,2'])
    expect(sent('proposer').at(-1)).toBe(
      [
        '[3]:',
        '  - agent: system',
        '    message:',
        '      topic: Tea or coffee?',
        '    turn: 0',
        '  - agent: system',
        '    role: summary of earlier contributions',
        '    message: They began.',
        '    turn: 2',
        '  - agent: proposer',
        '    message: three',
        '    turn: 3',
      ].join('\n'),
    )
    expect(providers.scribe?.requests).toHaveLength(1)
    const rows = await rowsOf(runtime, run.executionId)
    expect(
      rows.filter((row) => row.agentCode === 'scribe').map((row) => [row.depth, row.turnIndex, row.parentExecutionId]),
    ).toEqual([[1, null, run.executionId]])
    expect((run.details?.conversation as unknown[]).length).toBe(5)
    expect(JSON.stringify(run.details?.conversation)).not.toContain('They began.')
  })

  it('C-13: what nobody is going to read is not summarised', async () => {
    const { runtime } = await openPanel(alone({ strategy: 'summarize', summarizeAfter: 1, summarizer: 'scribe' }, 2), {
      proposer: ['one', 'two'],
      scribe: [],
    })
    expect((await runtime.execute({ agent: 'panel', input: INPUT })).text).toBe('two')
  })

  it('C-14: without a summariser the window holds, and an unknown strategy changes nothing; both are warned of', async () => {
    for (const [management, words] of [
      [{ strategy: 'summarize', summarizeAfter: 1, maxMessages: 1 }, ['Tea or coffee?', 'three']],
      [{ strategy: 'magic' }, ['Tea or coffee?', 'one', 'two', 'three']],
    ] as const) {
      const { runtime, sent, logger } = await openPanel(alone(management as never), { proposer: FOUR })
      await runtime.execute({ agent: 'panel', input: INPUT })
      expect(seen(sent('proposer')).at(-1)).toEqual(words)
      expect(JSON.stringify(logger.lines)).toContain('history_management has')
    }
  })

  it('C-13, C-14: the strategy holds for the moderator and its summary too', async () => {
    const { runtime, sent } = await openPanel(
      moderated({
        historyManagement: { strategy: 'sliding_window', maxMessages: 1 },
        moderator: {
          agent: 'chair',
          inputMapping: { prompt: '{$.chat_history}' },
          summaryMapping: { prompt: '{$.chat_history}' },
        },
      }),
      { chair: [picks('critic'), picks('critic'), DONE, 'End.'], proposer: [], critic: ['one', 'two'] },
    )
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect(seen(sent('chair'))).toEqual([
      ['Tea or coffee?'],
      ['Tea or coffee?', 'one'],
      ['Tea or coffee?', 'two'],
      ['Tea or coffee?', 'two'],
    ])
  })

  it('C-4: a summariser that is not active is named before anything is sent', async () => {
    const { runtime } = await openPanel(alone({ strategy: 'summarize', summarizer: 'scribe' }), {
      proposer: [],
      scribe: [],
    })
    await runtime.agents.changeStatus({ code: 'scribe', version: 1 }, 'archived')
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, error.details.unfit]).toEqual([
      'CONVERSATION_MEMBER_UNFIT',
      ['"scribe" does not exist or is not active'],
    ])
  })
})
