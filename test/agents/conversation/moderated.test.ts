import { providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { logOf, rowsOf } from '../support/team.js'
import { DONE, moderated, openPanel, part, picks } from './panel.js'

const INPUT = { topic: 'Tea or coffee?' } as const
const SUMMARY = { prompt: 'Sum up: {$.chat_history}' } as const
const withSummary = (more: object = {}) =>
  moderated({
    moderator: { agent: 'chair', inputMapping: { prompt: '{$.chat_history}' }, summaryMapping: SUMMARY },
    ...more,
  })

describe('a moderated conversation', () => {
  it('C-9, C-10, C-11, C-21: the moderator picks each speaker, ends it, and writes the answer', async () => {
    const { runtime, sent, providers } = await openPanel(withSummary(), {
      chair: [picks('critic'), picks('proposer'), DONE, 'They like tea.'],
      proposer: ['Tea.'],
      critic: ['Coffee is bad.'],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.details?.turns, run.details?.end_reason]).toEqual(['They like tea.', 2, 'moderator'])
    expect((run.details?.conversation as { agent: string }[]).map(({ agent }) => agent)).toEqual([
      'system',
      'critic',
      'proposer',
    ])
    // C-13: the summary has the last contribution
    expect(sent('chair').at(-1)).toContain('Tea.')
    const schemas = (providers.chair?.requests ?? []).map(({ output }) => output?.schema)
    expect(schemas.at(-1)).toBeUndefined()
    expect(schemas[0]).toMatchObject({
      required: ['next_speaker', 'discussion_complete'],
      additionalProperties: false,
      properties: { next_speaker: { required: ['agent_code', 'moderator_rationale'], additionalProperties: false } },
    })
  })

  it('C-9, C-11, CASE-25: max_turns counts contributions; the summary is written whichever way it ended', async () => {
    const { runtime, count } = await openPanel(withSummary({ maxTurns: 2 }), {
      chair: [picks('critic'), picks('critic'), 'Enough.'],
      proposer: [],
      critic: ['One.', 'Two.'],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.details?.turns, run.details?.end_reason, count('chair')]).toEqual([
      'Enough.',
      2,
      'max_turns',
      3,
    ])
  })

  it('C-11: without a summary the last contribution is the answer', async () => {
    const { runtime } = await openPanel(moderated(), {
      chair: [picks('critic'), DONE],
      proposer: [],
      critic: ['Last.'],
    })
    expect((await runtime.execute({ agent: 'panel', input: INPUT })).text).toBe('Last.')
  })

  it('C-10, C-21: one that ends it at once leaves no contribution', async () => {
    const { runtime } = await openPanel(moderated(), { chair: [DONE], proposer: [], critic: [] })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.details?.turns, run.details?.end_reason]).toEqual([null, 0, 'moderator'])
  })

  it.each([
    ['is missing', { discussion_complete: false }],
    ['is null', { next_speaker: null, discussion_complete: false }],
    ['is nobody', { next_speaker: { agent_code: '', moderator_rationale: '' }, discussion_complete: false }],
  ])('C-10: a next speaker that %s ends it with a warning', async (_how, answer) => {
    const { runtime, logger } = await openPanel(withSummary(), {
      chair: [reply.json(answer), 'Nobody spoke.'],
      proposer: [],
      critic: [],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.details?.end_reason]).toEqual(['Nobody spoke.', 'no_speaker'])
    expect(JSON.stringify(logger.lines)).toContain('names nobody to speak next')
  })

  it('C-W4: one that picks a stranger is told so with the codes there are, and may mend it', async () => {
    const { runtime, sent } = await openPanel(moderated(), {
      chair: [picks('Critic'), picks('critic'), DONE],
      proposer: [],
      critic: ['Here.'],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, run.details?.turns]).toEqual(['Here.', 1])
    expect(sent('chair')[1]).toBe(
      '"Critic" takes no part in this conversation. Answer again, with one of these codes: proposer, critic.',
    )
    expect((await rowsOf(runtime, run.executionId)).map(({ agentCode }) => agentCode)).toEqual([
      'panel',
      'chair',
      'chair',
      'critic',
      'chair',
    ])
  })

  it('C-10, C-W4: one that picks a stranger twice fails the conversation, and nobody has spoken', async () => {
    const { runtime, count } = await openPanel(moderated(), {
      chair: [picks('bob'), picks('__proto__')],
      proposer: [],
      critic: [],
    })
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect(error.code).toBe('SPEAKER_NOT_FOUND')
    expect(error.message).toContain('picked "bob", and when told that this is no participant, "__proto__"')
    expect([error.details, count('critic')]).toEqual([
      { agent: 'panel', moderator: 'chair', turn: 1, participants: ['proposer', 'critic'] },
      0,
    ])
  })

  it('C-12: the moderator is told whom there is, and who speaks why it was picked', async () => {
    const { runtime, sent } = await openPanel(
      moderated({
        moderator: { agent: 'chair', inputMapping: { prompt: '{$.available_agents}' } },
        participants: [
          { agent: 'critic', inputMapping: { prompt: '{$.agent_description} {$.moderator_rationale}' } },
          part('proposer'),
        ],
      }),
      { chair: [picks('critic', 'Doubts are due.'), DONE], proposer: [], critic: ['Hm.'] },
    )
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect(sent('chair')[0]).toBe(
      '[2]{agent_code,description}:\n  critic,The critic of a panel.\n  proposer,The proposer of a panel.',
    )
    expect(sent('critic')).toEqual(['The critic of a panel. Doubts are due.'])
  })

  it('C-18: decisions are not in the log, the summary is, under the moderator', async () => {
    const { runtime } = await openPanel(withSummary(), {
      chair: [picks('critic'), DONE, 'The end.'],
      proposer: [],
      critic: ['Hm.'],
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect(await logOf(runtime, run.sessionId)).toEqual([
      ['user', null, 'Tea or coffee?'],
      ['assistant', 'critic', 'Hm.'],
      ['assistant', 'chair', 'The end.'],
    ])
  })

  it('C-W3, P-18: the moderator keeps what its definition says, its tools too', async () => {
    const { tool, calls } = noteTool()
    const { runtime, providers } = await openPanel(
      moderated(),
      { chair: [reply.toolCall('write_note', { text: 'x' }), DONE], proposer: [], critic: [] },
      { members: { chair: { tools: [tool], system: 'You chair.', temperature: 0.25 } } },
    )
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect(calls).toHaveLength(1)
    const [request] = providers.chair?.requests ?? []
    expect([request?.tools.map(({ name }) => name), request?.temperature]).toEqual([['write_note'], 0.25])
  })

  it('C-16: a moderator that fails fails the conversation with its error', async () => {
    const { runtime } = await openPanel(moderated(), { chair: [providerError(400)], proposer: [], critic: [] })
    expect((await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))).code).toBe('PROVIDER_RESPONSE_ERROR')
  })

  it('CASE-22: keys of a decision that reach a prototype are dropped, and change nothing', async () => {
    const evil =
      '{"next_speaker":{"agent_code":"critic","moderator_rationale":"x","__proto__":{"bad":1}},"discussion_complete":false}'
    const { runtime } = await openPanel(moderated(), { chair: [evil, DONE], proposer: [], critic: ['Hm.'] })
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([run.text, ({} as { bad?: number }).bad]).toEqual(['Hm.', undefined])
  })

  it('C-9: a decision that does not fit the schema is an error of the moderator', async () => {
    const { runtime } = await openPanel(moderated(), {
      chair: [reply.json({ discussion_complete: 'no' })],
      proposer: [],
      critic: [],
    })
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, error.message.includes('discussion_complete')]).toEqual(['OUTPUT_INVALID', true])
  })
})
