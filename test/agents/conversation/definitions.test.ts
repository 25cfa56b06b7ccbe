import { describe, expect, it } from 'vitest'
import { conversationWarnings, defineConversation } from '@sluice/agents'
import { failureOf } from '../../runs/support/house.js'
import { moderated, openPanel, part, rotation, speaker } from './panel.js'

const define = (options: object) => () =>
  defineConversation({ code: 'panel', description: 'The panel of a test.', ...options } as never)
const faultsOf = (options: object): string[] => {
  try {
    define(options)()
  } catch (error) {
    return (error as Error).message.split('\n- ').slice(1)
  }
  return []
}

describe('defineConversation', () => {
  it('C-2: stores itself under the keys of the original', () => {
    const panel = define(
      moderated({
        terminationCondition: { type: 'keyword_in_response', keyword: 'x' },
        historyManagement: { strategy: 'summarize', summarizeAfter: 3, summarizer: 'scribe' },
        moderator: { agent: speaker('chair'), inputMapping: { prompt: 'x' }, summaryMapping: { prompt: 'y' } },
        participants: [part('critic', { role: 'doubter' })],
      }),
    )()
    expect(panel.orchestrationConfig).toEqual({
      pattern_type: 'conversation',
      conversation_mode: 'ai_driven',
      agents: [{ agent_code: 'critic', input_mapping: { prompt: '{$.chat_history}' }, role: 'doubter' }],
      moderator_agent: { agent_code: 'chair', input_mapping: { prompt: 'x' }, summary_mapping: { prompt: 'y' } },
      max_turns: 4,
      termination_condition: { type: 'keyword_in_response', keyword: 'x' },
      history_management: { strategy: 'summarize', summarize_after: 3, summarizer_agent_code: 'scribe' },
    })
    expect(Object.isFrozen(panel)).toBe(true)
  })

  it('A-12, C-1: all faults are told at once, each with its place', () => {
    expect(
      faultsOf({
        mode: 'free',
        participants: [{ agent: 'a b', role: ' ' }, part('panel'), 5, part('critic', { voice: 'loud' })],
        maxTurns: 0,
        terminationCondition: { type: 'keyword', keyword: '', word: 'x' },
        historyManagement: { strategy: 5, maxMessages: 0, keep: 3 },
      }).map((fault) => fault.split(':')[0]),
    ).toEqual([
      'conversation_mode',
      'agents[0].agent_code',
      'agents[0].role',
      'agents[0].input_mapping',
      'agents[2]',
      'agents[2].agent_code',
      'agents[2].input_mapping',
      'agents[3]',
      'agents',
      'max_turns',
      'termination_condition',
      'termination_condition.keyword',
      'history_management',
      'history_management.strategy',
      'history_management.max_messages',
    ])
  })

  it.each([
    ['no moderator', moderated({ moderator: undefined as never }), 'moderator_agent: must be an object'],
    [
      'a moderator without mapping',
      moderated({ moderator: { agent: 'chair' } as never }),
      'moderator_agent.input_mapping: must be an object',
    ],
    ['nobody', rotation({ participants: [] }), 'agents: must be a list of 1 to 100'],
    ['somebody twice', moderated({ participants: [part('critic'), part('critic')] }), 'agents: names "critic" twice'],
    [
      'the panel as its moderator',
      moderated({ moderator: { agent: 'panel', inputMapping: {} } }),
      'agents: name the conversation itself',
    ],
    ['too many turns', rotation({ maxTurns: 1_001 }), 'max_turns: must be a whole number from 1 to 1000'],
  ])('A-12: %s is refused', (_what, options, fault) => {
    expect(faultsOf(options).join('\n')).toContain(fault)
  })

  it.each([
    ['round_robin', 'moderator_rationale'],
    ['round_robin', 'available_agents'],
    ['round_robin', 'steps.x'],
    ['round_robin', 'input.__proto__'],
    ['round_robin', 'constructor'],
    ['ai_driven', 'available_agents'],
  ])('C-12, CASE-22: a participant of %s is told nothing of {$.%s}', (mode, path) => {
    const participants = [{ agent: 'critic', inputMapping: { prompt: `{$.${path}}` } }]
    const faults = faultsOf(mode === 'ai_driven' ? moderated({ participants }) : rotation({ participants }))
    expect(faults.join('\n')).toContain('agents[0].input_mapping["prompt"]')
  })

  it.each(['agent_description', 'moderator_rationale'])('C-12: the moderator is told nothing of {$.%s}', (path) => {
    const inputMapping = { prompt: `{$.${path}}` }
    const faults = faultsOf(moderated({ moderator: { agent: 'chair', inputMapping, summaryMapping: inputMapping } }))
    expect(faults.map((fault) => fault.split('[')[0])).toEqual([
      'moderator_agent.input_mapping',
      'moderator_agent.summary_mapping',
    ])
  })

  it('A-13: the two names of the list of participants are not taken together', async () => {
    const { runtime } = await openPanel(rotation(), { proposer: [], critic: [] })
    const entry = [{ agent_code: 'critic', input_mapping: {} }]
    const error = await failureOf(
      runtime.agents.create({
        code: 'both',
        description: 'Both names.',
        agentType: 'conversation',
        orchestrationConfig: {
          pattern_type: 'conversation',
          conversation_mode: 'round_robin',
          agents: entry,
          participant_agents: entry,
        },
      } as never),
    )
    expect([error.code, error.message.includes('participant_agents: is the older name')]).toEqual([
      'INVALID_CONFIG',
      true,
    ])
  })

  it('A-9: a conversation without a configuration is refused', async () => {
    const { runtime } = await openPanel(rotation(), { proposer: [], critic: [] })
    const error = await failureOf(
      runtime.agents.create({ code: 'bare', description: 'Bare one.', agentType: 'conversation' } as never),
    )
    expect(['MISSING_CONFIG', 'INVALID_CONFIG']).toContain(error.code)
  })

  it('A-11, A-36: members have to exist, and a moderator has to be a profile agent', async () => {
    await expect(openPanel(rotation(), { proposer: [] })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    const inner = define(rotation({ participants: [part('critic')] }))()
    const outer = moderated({ moderator: { agent: 'inner', inputMapping: {} } })
    await expect(
      openPanel(outer, { proposer: [], critic: [] }, { agents: [{ ...inner, code: 'inner' } as never] }),
    ).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })
})

describe('a configuration that came into the store by another way', () => {
  const broken = [
    ['a mode that there is not', { conversation_mode: 'free', agents: [] }, 'UNKNOWN_CONVERSATION_MODE'],
    ['nobody in it', { conversation_mode: 'round_robin', agents: [] }, 'ORCHESTRATION_INVALID'],
    ['no mode', { agents: [] }, 'ORCHESTRATION_INVALID'],
  ] as const
  it.each(broken)('C-1: with %s runs nothing', async (_what, config, code) => {
    const { runtime, store, count } = await openPanel(rotation(), { proposer: [], critic: [] })
    const [record] = (await store.agents.versions('panel')).slice(-1)
    const definition = { ...record?.definition, orchestration_config: { pattern_type: 'conversation', ...config } }
    await store.transaction(
      async ({ agents }) => void (await agents.replace({ ...record, definition, digest: 'x' } as never)),
    )
    await runtime.agents.changeStatus({ code: 'panel', version: 1 }, 'archived')
    await runtime.agents.changeStatus({ code: 'panel', version: 1 }, 'active')
    const error = await failureOf(runtime.execute({ agent: 'panel', input: {} }))
    expect([error.code, count('proposer')]).toEqual([code, 0])
  })
})

describe('conversationWarnings', () => {
  it('A-3, A-51, C-6: names what is doubtful and no fault', () => {
    const open = { maxTurns: undefined as never }
    expect(conversationWarnings(define(rotation())() as never)).toEqual([])
    expect(
      conversationWarnings(
        define(
          rotation({
            ...open,
            terminationCondition: { type: 'vote' } as never,
            moderator: { agent: 'chair', inputMapping: {} },
          }),
        )() as never,
      ),
    ).toEqual([
      'moderator_agent: nobody asks it in a round robin',
      'termination_condition.type: "vote" is unknown; there is "keyword_in_response"',
      'max_turns: is left to its default of 10; say how long it may go on',
    ])
    const short = speaker('critic', { description: 'Critic.' })
    expect(
      conversationWarnings(
        define(moderated({ terminationCondition: { type: 'keyword_in_response', keyword: 'x' } }))() as never,
        [short],
      ),
    ).toEqual([
      'termination_condition: a moderated conversation is ended by its moderator',
      'agent "critic": its description is too short for a moderator to choose by',
    ])
  })
})
