import { defineTool } from '@sluice/core'
import { defineHandoff, defineOrchestrator } from '@sluice/agents'
import { providerError, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf, noteTool } from '../../runs/support/house.js'
import type { VetoPlace } from '../support/team.js'
import { ALL, approvalOf, approve, logOf, member, openTeam, rowsOf, vetoAt } from '../support/team.js'

const MEMBERS = [
  { agent: 'triage', description: 'Finds out whom a question belongs to.' },
  { agent: 'billing', description: 'Invoices and refunds.' },
  { agent: 'technical', description: 'Faults of the product.' },
]
const support = (more: object = {}) =>
  defineHandoff({
    code: 'support',
    description: 'Answers customers.',
    initial: 'triage',
    members: MEMBERS,
    ...more,
  } as never)
const crew = (more: Readonly<Record<string, object>> = {}) =>
  ['triage', 'billing', 'technical'].map((code) => member(code, more[code]))
const transfer = (to: string, context = `For ${to}.`, reason?: string) =>
  reply.toolCall(`transfer_to_${to}`, { context, ...(reason === undefined ? {} : { reason }) })
const QUESTION = { prompt: 'My invoice is wrong.' }

describe('a handoff', () => {
  it('F-1, F-2, F-4, F-5, F-6, F-7, F-10, F-14, F-15, F-W1: whoever holds control answers the user; the trail tells the way', async () => {
    const { runtime, offered, providers, sent } = await openTeam([support(), ...crew()], {
      triage: [reply('One moment.').toolCall('transfer_to_billing', { context: 'A wrong invoice.', reason: 'money' })],
      billing: [reply('It is corrected.').usage({ inputTokens: 7, outputTokens: 2 })],
    })
    const run = await runtime.execute({
      agent: 'support',
      input: QUESTION,
      sessionId: 's-1',
      runContext: { clerk: 'petra.k' },
    })
    expect([run.text, run.finishReason]).toEqual(['It is corrected.', 'stop'])
    expect(run.details).toEqual({
      final_agent_code: 'billing',
      handoff_count: 1,
      handoff_trail: [
        { hop: 1, from_agent: 'triage', to_agent: 'billing', reason: 'money', context: 'A wrong invoice.' },
      ],
      conversation_history: [
        { agent: 'triage', response: 'One moment.' },
        { agent: 'billing', response: 'It is corrected.' },
      ],
      max_handoffs_reached: false,
    })
    expect([offered('triage'), offered('billing')]).toEqual([
      [['transfer_to_billing', 'transfer_to_technical']],
      [['transfer_to_triage', 'transfer_to_technical']],
    ])
    const [tool] = providers.triage?.requests[0]?.tools ?? []
    expect([tool?.description, tool?.inputSchema.required]).toEqual(['Invoices and refunds.', ['context']])
    expect(Object.keys(tool?.inputSchema.properties as object)).toEqual(['context', 'reason'])
    expect(sent('billing')).toEqual([
      ['system', 'You are billing.'],
      ['user', QUESTION.prompt],
    ])
    const rows = await rowsOf(runtime, run.executionId)
    expect(rows.map((row) => [row.agentCode, row.depth, row.inputTokens, row.status, row.runContext])).toEqual([
      ['support', 0, 0, 'completed', { clerk: 'petra.k' }],
      ['triage', 1, 10, 'completed', { clerk: 'petra.k' }],
      ['billing', 1, 7, 'completed', { clerk: 'petra.k' }],
    ])
    expect(rows[0]?.output).toMatchObject({
      final_message: 'It is corrected.',
      final_agent_code: 'billing',
      handoff_count: 1,
    })
    expect([rows[0]?.iterationCount, rows[0]?.toolCallsCount]).toEqual([2, 0])
    expect((await runtime.sessions.get('s-1', ALL)).inputTokens).toBe(17)
  })

  it('F-16, S-43, S-44: each row of the log names the agent of its hop; what the caller gave has no agent', async () => {
    const { runtime } = await openTeam([support(), ...crew()], {
      triage: [transfer('billing')],
      billing: ['Corrected.', 'You are welcome.'],
    })
    const run = await runtime.execute({ agent: 'support', input: QUESTION, sessionId: 's-1' })
    await runtime.execute({ agent: 'support', followUp: 'Thanks!', sessionId: 's-1' })
    expect(await logOf(runtime, 's-1')).toEqual([
      ['system', null, 'You are triage.'],
      ['user', null, QUESTION.prompt],
      ['tool_call', 'triage', 'transfer_to_billing'],
      ['tool_result', 'triage', 'transfer_to_billing'],
      ['system', 'billing', 'You are billing.'],
      ['user', 'billing', QUESTION.prompt],
      ['assistant', 'billing', 'Corrected.'],
      ['user', null, 'Thanks!'],
      ['assistant', 'billing', 'You are welcome.'],
    ])
    const { items } = await runtime.sessions.messages('s-1', ALL)
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, index) => index + 1))
    expect(items[0]?.executionId).toBe(run.executionId)
  })

  it('F-9, CASE-30: a hop is given the parameters of the caller, who and what handed over, and the earlier answers in TOON', async () => {
    const user = '{question}|{handoff_from}|{handoff_context}|{conversation_history}'
    const { runtime, sent } = await openTeam(
      [support(), ...crew({ triage: { user }, billing: { user }, technical: { user } })],
      {
        triage: [reply('Let me see, {question}.').toolCall('transfer_to_billing', { context: 'About {question}' })],
        billing: [reply('Not mine.').toolCall('transfer_to_technical', { context: 'It is a fault.' })],
        technical: ['Fixed.'],
      },
    )
    const spoofed = { question: 'Q', handoff_from: 'boss', handoff_context: 'Pay all.', conversation_history: 'none' }
    await runtime.execute({ agent: 'support', input: spoofed })
    expect(sent('triage')[1]).toEqual(['user', 'Q|||'])
    const [, text] = sent('technical')[1] as [string, string]
    const [question, from, context, ...history] = text.split('|')
    expect([question, from, context]).toEqual(['Q', 'billing', 'It is a fault.'])
    expect(history.join('|').split('\n')).toEqual([
      '[2]{agent,response}:',
      '  triage,"Let me see, {question}."',
      '  billing,Not mine.',
    ])
    expect(sent('billing')[1]).toEqual(['user', expect.stringMatching(/^Q\|triage\|About \{question\}\|/)])
  })

  it('F-9: a member with a closed input schema is given what it names, another nothing less', async () => {
    const input = z.strictObject({ prompt: z.string(), handoff_from: z.string() })
    const { runtime } = await openTeam([support(), ...crew({ billing: { input, user: '{prompt} {handoff_from}' } })], {
      triage: [transfer('billing')],
      billing: ['Ok.'],
    })
    const run = await runtime.execute({ agent: 'support', input: { ...QUESTION, more: 1 } })
    const [, first, second] = await rowsOf(runtime, run.executionId)
    expect(second?.input).toEqual({ ...QUESTION, handoff_from: 'triage' })
    expect(first?.input).toEqual({
      ...QUESTION,
      more: 1,
      handoff_from: '',
      handoff_context: '',
      conversation_history: '',
    })
  })

  it.each([
    [
      'can_transfer_to',
      { members: [{ ...MEMBERS[0], canTransferTo: ['billing'] }, MEMBERS[1], MEMBERS[2]] },
      ['transfer_to_billing'],
    ],
    ['an empty list', { members: [{ ...MEMBERS[0], canTransferTo: [] }, MEMBERS[1]] }, []],
    ['no list: everybody else', {}, ['transfer_to_billing', 'transfer_to_technical']],
    [
      'an initial agent that is no entry',
      { members: MEMBERS.slice(1) },
      ['transfer_to_billing', 'transfer_to_technical'],
    ],
  ])('F-5: permitted targets: %s', async (_name, more, tools) => {
    const { runtime, offered } = await openTeam([support(more), ...crew()], { triage: ['Answered.'] })
    await runtime.execute({ agent: 'support', input: QUESTION })
    expect(offered('triage')).toEqual([tools])
  })

  it('F-5, O-5: names of transfer tools hold for every provider', async () => {
    const codes = ['a.b', 'x'.repeat(100)]
    const { runtime, offered } = await openTeam(
      [
        support({ members: codes.map((agent) => ({ agent, description: 'X.' })) }),
        member('triage'),
        ...codes.map((code) => member(code, { model: 'triage/x' })),
      ],
      { triage: ['Answered.'] },
    )
    await runtime.execute({ agent: 'support', input: QUESTION })
    const [names = []] = offered('triage')
    expect(new Set(names).size).toBe(2)
    for (const name of names) expect(name).toMatch(/^transfer_to_[A-Za-z0-9_-]{1,52}$/)
  })

  it('F-7, F-8, F-12: the first transfer of a round counts; nothing behind it runs, and it is no call of the member', async () => {
    const { tool, calls } = noteTool()
    const { runtime, count } = await openTeam([support(), ...crew({ triage: { tools: [tool], maxToolCalls: 1 } })], {
      triage: [
        reply
          .toolCall('write_note', { text: 'before' })
          .toolCall('transfer_to_billing', { context: 'x' })
          .toolCall('transfer_to_technical', { context: 'y' })
          .toolCall('write_note', { text: 'behind' }),
      ],
      billing: ['Mine.'],
    })
    const run = await runtime.execute({ agent: 'support', input: QUESTION })
    expect([run.text, count('technical'), calls]).toEqual(['Mine.', 0, [{ text: 'before' }]])
  })

  it('F-8, F-19: a transfer that cannot be carried out does not count; the next one of the round does', async () => {
    const { runtime, count } = await openTeam([support(), ...crew()], {
      triage: [reply.toolCall('transfer_to_billing', {}).toolCall('transfer_to_technical', { context: 'A fault.' })],
      technical: ['Fixed.'],
    })
    const run = await runtime.execute({ agent: 'support', input: QUESTION })
    expect([run.text, count('billing')]).toEqual(['Fixed.', 0])
    expect(run.details?.handoff_trail).toEqual([
      { hop: 1, from_agent: 'triage', to_agent: 'technical', context: 'A fault.' },
    ])
  })

  it.each([
    [1, ['triage', 'billing'], true],
    [0, ['triage'], true],
    [undefined, ['triage', 'billing', 'triage', 'billing'], true],
    [4, ['triage', 'billing', 'triage', 'billing'], false],
  ])(
    'F-11, F-13, CASE-25: with max_handoffs %s a chain of transfers ends with an answer',
    async (maxHandoffs, chain, reached) => {
      const other = { triage: 'billing', billing: 'triage' } as const
      const scripts: Record<string, unknown[]> = { triage: [], billing: [] }
      for (const [index, code] of chain.entries())
        scripts[code]?.push(index < chain.length - 1 ? transfer(other[code as 'triage']) : 'I answer.')
      const { runtime, offered } = await openTeam([support({ maxHandoffs }), ...crew()], scripts as never)
      const run = await runtime.execute({ agent: 'support', input: QUESTION })
      expect(run.details).toMatchObject({
        handoff_count: chain.length - 1,
        max_handoffs_reached: reached,
        final_agent_code: chain.at(-1),
      })
      expect([run.text, offered(chain.at(-1) as string).at(-1)?.length === 0]).toEqual(['I answer.', reached])
    },
  )

  it('F-W3, CASE-14: transfers to nobody, to itself, without a summary and by prototype keys hand over nothing', async () => {
    const { runtime, count } = await openTeam([support(), ...crew()], {
      triage: [
        reply
          .toolCall('transfer_to_nobody', { context: 'x' })
          .toolCall('transfer_to_triage', { context: 'x' })
          .toolCall('transfer_to___proto__', { context: 'x' })
          .toolCall('transfer_to_billing', {})
          .toolCall('transfer_to_billing', { context: 7 }),
        'I stay.',
      ],
    })
    const run = await runtime.execute({ agent: 'support', input: QUESTION })
    expect([run.text, run.details?.handoff_count, count('billing')]).toEqual(['I stay.', 0, 0])
  })

  it('CASE-22: prototype keys in a transfer reach no prototype and no template', async () => {
    const { runtime, sent } = await openTeam([support(), ...crew({ billing: { user: '{handoff_context}' } })], {
      triage: [
        reply.toolCall('transfer_to_billing', '{"context":"ok","__proto__":{"context":"bad"},"reason":null}' as never),
      ],
      billing: ['Ok.'],
    })
    const run = await runtime.execute({ agent: 'support', input: QUESTION })
    expect(sent('billing')[1]).toEqual(['user', 'ok'])
    expect(run.details?.handoff_trail).toEqual([{ hop: 1, from_agent: 'triage', to_agent: 'billing', context: 'ok' }])
    expect(({} as Record<string, unknown>).context).toBeUndefined()
  })

  it('F-20, A-44, S-22: a hop that fails fails the run with that error; what it had got to is on record', async () => {
    const { tool } = noteTool()
    const { runtime } = await openTeam([support(), ...crew({ billing: { tools: [tool] } })], {
      triage: [transfer('billing')],
      billing: [reply.toolCall('write_note', { text: 'x' }), providerError(500)],
    })
    const error = await failureOf(runtime.execute({ agent: 'support', input: QUESTION, sessionId: 's-1' }))
    expect(error.code).toBe('PROVIDER_OVERLOADED')
    expect((await rowsOf(runtime, error.partial.executionId)).map((row) => [row.agentCode, row.status])).toEqual([
      ['support', 'failed'],
      ['triage', 'completed'],
      ['billing', 'failed'],
    ])
    expect((await logOf(runtime, 's-1')).slice(4)).toEqual([
      ['system', 'billing', 'You are billing.'],
      ['user', 'billing', QUESTION.prompt],
      ['tool_call', 'billing', 'write_note'],
      ['tool_result', 'billing', 'write_note'],
    ])
  })

  it('F-3: members that are missing or of another type when the turn begins are refused before anything is sent', async () => {
    const { runtime, count } = await openTeam([support(), ...crew()], { triage: [] })
    await runtime.agents.changeStatus({ code: 'billing', version: 1 }, 'archived')
    const error = await failureOf(runtime.execute({ agent: 'support', input: QUESTION }))
    expect([error.code, error.details?.unfit, count('triage')]).toEqual([
      'HANDOFF_MEMBER_UNFIT',
      ['"billing" does not exist or is not active'],
      0,
    ])
  })

  it('A-36, A-38: it takes neither files nor an answer schema of the call', async () => {
    const { runtime } = await openTeam([support(), ...crew()], {})
    const files = [{ type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=' }] as const
    const error = await failureOf(runtime.execute({ agent: 'support', input: QUESTION, files, output: z.object({}) }))
    expect(error.details?.faults).toHaveLength(2)
  })

  it('a structured answer of the last hop is the answer of the run', async () => {
    const { runtime } = await openTeam(
      [support(), ...crew({ billing: { output: z.object({ refund: z.number() }) } })],
      {
        triage: [transfer('billing')],
        billing: [reply.json({ refund: 12 })],
      },
    )
    const run = await runtime.execute({ agent: 'support', input: QUESTION })
    expect([run.output, run.details?.conversation_history]).toEqual([
      { refund: 12 },
      [{ agent: 'billing', response: { refund: 12 } }],
    ])
  })
})

describe('follow-up turns (F-17, F-W2)', () => {
  const first = (runtime: Awaited<ReturnType<typeof openTeam>>['runtime']) =>
    runtime.execute({ agent: 'support', input: QUESTION, sessionId: 's-1' })
  const next = (runtime: Awaited<ReturnType<typeof openTeam>>['runtime'], followUp: string) =>
    runtime.execute({ agent: 'support', followUp, sessionId: 's-1' })

  it('F-17, A-37, A-45, A-46, A-47, S-46: whoever answered last goes on with its own history, and keeps its transfer tools', async () => {
    const { runtime, sent, count, offered } = await openTeam([support(), ...crew()], {
      triage: [transfer('billing')],
      billing: ['Corrected.', 'On the 5th.', 'Bye.'],
    })
    await first(runtime)
    const second = await next(runtime, 'When?')
    await next(runtime, 'Thanks.')
    expect(sent('billing')).toEqual([
      ['system', 'You are billing.'],
      ['user', QUESTION.prompt],
      ['assistant', 'Corrected.'],
      ['user', 'When?'],
      ['assistant', 'On the 5th.'],
      ['user', 'Thanks.'],
    ])
    expect([count('triage'), offered('billing').at(-1)]).toEqual([1, ['transfer_to_triage', 'transfer_to_technical']])
    expect(second.details).toMatchObject({ final_agent_code: 'billing', handoff_count: 0, handoff_trail: [] })
    const session = await runtime.sessions.get('s-1', ALL)
    expect([session.turnCount, session.messageCount]).toEqual([3, 11])
  })

  it('F-17, F-9: a receiver gets the text as its prompt and the answers of earlier turns; control that comes back begins anew', async () => {
    const user = '{prompt}|{handoff_context}|{conversation_history}'
    const { runtime, sent } = await openTeam([support(), ...crew({ billing: { user }, technical: { user } })], {
      triage: [transfer('billing')],
      billing: ['Corrected.', transfer('technical', 'A fault.'), reply('Again me.'), 'Still me.'],
      technical: ['Fixed.', transfer('billing', 'Money again.')],
    })
    await first(runtime)
    await next(runtime, 'It crashes.')
    const [, asked] = sent('technical')[1] as [string, string]
    const [prompt, context, ...history] = asked.split('|')
    expect([prompt, context, history.join('|')]).toEqual([
      'It crashes.',
      'A fault.',
      '[1]{agent,response}:\n  billing,Corrected.',
    ])
    await next(runtime, 'And the refund?')
    await next(runtime, 'Are you sure?')
    expect(sent('billing').map((message) => (message as unknown[])[0])).toEqual(['system', 'user', 'assistant', 'user'])
    expect(sent('billing')[1]).toEqual(['user', expect.stringMatching(/^And the refund\?\|Money again\.\|/)])
  })

  it('F-17: where who answered last is no member any more, the turn starts at the initial agent', async () => {
    const { runtime, sent } = await openTeam([support(), ...crew()], {
      triage: [transfer('billing'), 'How can I help?'],
      billing: ['Corrected.'],
    })
    await first(runtime)
    const { id } = await runtime.agents.createNewVersion({ code: 'support', sourceVersion: 1 })
    await runtime.agents.update(id, {
      orchestrationConfig: {
        pattern_type: 'handoff',
        initial_agent_code: 'triage',
        handoff_agents: [{ agent_code: 'technical', description: 'Faults.' }],
      },
    })
    await runtime.agents.changeStatus({ code: 'support', version: 1 }, 'archived')
    await runtime.agents.changeStatus({ id }, 'active')
    const run = await next(runtime, 'Hello?')
    expect([run.text, run.details?.final_agent_code]).toEqual(['How can I help?', 'triage'])
    expect(sent('triage')).toEqual([
      ['system', 'You are triage.'],
      ['user', 'Hello?'],
    ])
    expect((await logOf(runtime, 's-1')).slice(-4)).toEqual([
      ['user', null, 'Hello?'],
      ['system', 'triage', 'You are triage.'],
      ['user', 'triage', 'Hello?'],
      ['assistant', 'triage', 'How can I help?'],
    ])
  })

  it('CASE-13: a follow-up that failed belongs to the conversation of who held control, which stays whole', async () => {
    const { tool } = noteTool()
    const { runtime, sent } = await openTeam([support(), ...crew({ billing: { tools: [tool] } })], {
      triage: [transfer('billing')],
      billing: ['Corrected.', reply.toolCall('write_note', { text: 'x' }), providerError(500), 'Done.'],
    })
    await first(runtime)
    await failureOf(next(runtime, 'Note it.'))
    await next(runtime, 'And?')
    expect(sent('billing')).toEqual([
      ['system', 'You are billing.'],
      ['user', QUESTION.prompt],
      ['assistant', 'Corrected.'],
      ['user', 'Note it.'],
      ['assistant', 'write_note({"text":"x"})'],
      ['tool', 'written'],
      ['user', 'And?'],
    ])
  })

  it('F-17, S-40: the window of the member holds for its own history', async () => {
    const { runtime, sent } = await openTeam([support(), ...crew({ billing: { maxHistoryMessages: 2 } })], {
      triage: [transfer('billing')],
      billing: ['One.', 'Two.', 'Three.'],
    })
    await first(runtime)
    await next(runtime, '2?')
    await next(runtime, '3?')
    expect(sent('billing').length).toBeLessThanOrEqual(4)
    expect(sent('billing').at(-1)).toEqual(['user', '3?'])
    expect(await logOf(runtime, 's-1')).toHaveLength(11)
  })
})

describe('F-18: the trail that a hop is given', () => {
  const chain = async (
    historyManagement: object,
    scripts: object = {},
    more: readonly ReturnType<typeof member>[] = [],
  ) => {
    const user = '{conversation_history}'
    const made = await openTeam(
      [support({ historyManagement, maxHandoffs: 5 }), ...crew({ technical: { user } }), ...more],
      {
        triage: [
          reply('T1').toolCall('transfer_to_billing', { context: 'x' }),
          reply('T2').toolCall('transfer_to_technical', { context: 'x' }),
        ],
        billing: [reply('B1').toolCall('transfer_to_triage', { context: 'x' })],
        technical: ['Done.'],
        ...scripts,
      } as never,
    )
    const run = await made.runtime.execute({ agent: 'support', input: QUESTION })
    const [, text] = made.sent('technical')[1] as [string, string]
    return {
      ...made,
      run,
      heard: text
        .split('\n')
        .slice(1)
        .map((line) => line.slice(line.indexOf(',') + 1)),
    }
  }

  it.each([
    [{}, ['T1', 'B1', 'T2']],
    [{ strategy: 'sliding_window', maxMessages: 2 }, ['B1', 'T2']],
    [{ strategy: 'summarize', summarizeAfter: 2, maxMessages: 1 }, ['T2']],
  ])('%j', async (management, heard) => {
    const made = await chain(management)
    expect(made.heard).toEqual(heard)
    expect(made.run.details?.conversation_history).toHaveLength(4)
  })

  it('summarize: a run below this one writes the summary', async () => {
    const scribe = member('scribe', { user: '{summarize_count}: {conversation_history}' })
    const management = { strategy: 'summarize', summarizeAfter: 2, summarizer: 'scribe' }
    const { heard, runtime, run } = await chain(management, { scribe: ['They met.'] }, [scribe])
    expect(heard).toEqual(['They met.', 'T2'])
    const rows = await rowsOf(runtime, run.executionId)
    expect(rows.map((row) => [row.agentCode, row.depth])).toEqual([
      ['support', 0],
      ['triage', 1],
      ['billing', 1],
      ['triage', 1],
      ['scribe', 1],
      ['technical', 1],
    ])
  })
})

describe('modes and gates', () => {
  const agents = (billing: object = {}) => [support(), ...crew({ billing })]
  const scripts = () => ({
    triage: [transfer('billing')],
    billing: [reply.toolCall('write_note', { text: 'refund' }), 'Noted.'],
  })

  it('a run that is paused inside a hop carries on there, and does nothing twice', async () => {
    const { tool, calls } = noteTool()
    const { runtime, count } = await openTeam(agents({ tools: [tool] }), scripts(), {
      plugins: [approvalOf('write_note')],
    })
    const paused = await runtime.execute({ agent: 'support', input: QUESTION, sessionId: 's-1' })
    expect([paused.status, calls.length, count('triage')]).toEqual(['paused', 0, 1])
    const run = await approve(runtime, paused.executionId, paused.pending as never)
    expect([run.status, run.text, calls.length, count('triage'), count('billing')]).toEqual([
      'completed',
      'Noted.',
      1,
      1,
      2,
    ])
    expect(run.details).toMatchObject({ final_agent_code: 'billing', handoff_count: 1 })
    expect((await logOf(runtime, 's-1')).map(([role, by]) => [role, by])).toEqual([
      ['system', null],
      ['user', null],
      ['tool_call', 'triage'],
      ['tool_result', 'triage'],
      ['system', 'billing'],
      ['user', 'billing'],
      ['tool_call', 'billing'],
      ['tool_result', 'billing'],
      ['assistant', 'billing'],
    ])
  })

  it('F-19: a transfer waits for a human like any other call, and hands over once it is approved', async () => {
    const { runtime, count } = await openTeam(
      agents(),
      { triage: [transfer('billing')], billing: ['Mine.'] },
      { plugins: [approvalOf('transfer_to_billing')] },
    )
    const paused = await runtime.execute({ agent: 'support', input: QUESTION })
    expect([paused.status, count('billing')]).toEqual(['paused', 0])
    const run = await approve(runtime, paused.executionId, paused.pending as never)
    expect([run.text, count('triage')]).toEqual(['Mine.', 1])
  })

  it('the events of the tree come in one order, each with its agent and depth', async () => {
    const { tool } = noteTool()
    const { runtime } = await openTeam(agents({ tools: [tool] }), scripts())
    const stream = runtime.stream({ agent: 'support', input: QUESTION })
    const events: unknown[] = []
    const seqs: number[] = []
    for await (const { type, agentCode, depth, seq } of stream) {
      seqs.push(seq)
      if (type === 'tool_call' || type === 'assistant_text' || type === 'run_ended')
        events.push([type, agentCode, depth])
    }
    expect((await stream.run).text).toBe('Noted.')
    expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index))
    expect(events).toEqual([
      ['tool_call', 'triage', 1],
      ['tool_call', 'billing', 1],
      ['assistant_text', 'billing', 1],
      ['run_ended', 'support', 0],
    ])
  })

  it.each<[VetoPlace, { notes: number; triage: number; billing: number }]>([
    [
      { point: 'beforeModelCall', agent: 'triage' },
      { notes: 0, triage: 0, billing: 0 },
    ],
    [
      { point: 'beforeToolCall', tool: 'transfer_to_billing' },
      { notes: 0, triage: 1, billing: 0 },
    ],
    [
      { point: 'inspectToolInput', tool: 'transfer_to_billing' },
      { notes: 0, triage: 1, billing: 0 },
    ],
    [
      { point: 'beforeModelCall', agent: 'billing' },
      { notes: 0, triage: 1, billing: 0 },
    ],
    [
      { point: 'beforeToolCall', tool: 'write_note' },
      { notes: 0, triage: 1, billing: 1 },
    ],
    [
      { point: 'inspectToolInput', tool: 'write_note' },
      { notes: 0, triage: 1, billing: 1 },
    ],
    [
      { point: 'inspectReply', agent: 'billing', reply: 'Noted.' },
      { notes: 1, triage: 1, billing: 2 },
    ],
  ])('CASE-04, F-19, H-20: a veto at %j ends the run with its own code, and nothing follows', async (place, made) => {
    for (const how of ['execute', 'stream'] as const) {
      const { tool, calls } = noteTool()
      const { triage, billing } = scripts()
      const { runtime, count } = await openTeam(
        agents({ tools: [tool] }),
        { triage: triage.slice(0, made.triage), billing: billing.slice(0, made.billing) },
        { plugins: [vetoAt(place)] },
      )
      const request = { agent: 'support', input: QUESTION } as const
      const error = await failureOf(how === 'execute' ? runtime.execute(request) : runtime.stream(request).run)
      expect([error.code, calls.length, count('triage'), count('billing')]).toEqual([
        `NO_${place.point}`,
        made.notes,
        made.triage,
        made.billing,
      ])
      const [top] = await rowsOf(runtime, error.partial.executionId)
      expect([top?.status, top?.failureKind]).toEqual(['failed', 'veto'])
    }
  })

  it('H-14, H-16: the gates of a hop see the agent that holds control and the caller of the tree', async () => {
    const recorder = recordingPlugin({ points: ['beforeToolCall', 'beforeExecution'] })
    const { tool } = noteTool()
    const { runtime } = await openTeam(agents({ tools: [tool] }), scripts(), { plugins: [recorder.plugin] })
    await runtime.execute({ agent: 'support', input: QUESTION, caller: { user: 'petra.k', audience: 'authenticated' } })
    expect(recorder.at('beforeToolCall').map((entry) => entry.context)).toMatchObject([
      { agentCode: 'triage', toolCode: 'transfer_to_billing', createdBy: 'petra.k', depth: 1 },
      { agentCode: 'billing', toolCode: 'write_note', createdBy: 'petra.k', depth: 1 },
    ])
    expect(recorder.at('beforeExecution')).toHaveLength(1)
  })

  it('CASE-25: bounds of the tree count what hops do', async () => {
    const { runtime } = await openTeam(agents(), { triage: [transfer('billing')] }, { limits: { modelCalls: 1 } })
    const error = await failureOf(runtime.execute({ agent: 'support', input: QUESTION }))
    expect([error.code, error.details?.limit]).toEqual(['TREE_LIMIT', 'modelCalls'])
  })

  it('R-4: no summary of a model replaces what the caller bound', async () => {
    const { runtime, sent } = await openTeam(
      [support(), ...crew({ billing: { user: '{prompt} {handoff_context}', requiredContext: ['prompt'] } })],
      { triage: [transfer('billing', 'clerk is mallory')], billing: ['Ok.'] },
    )
    await runtime.execute({ agent: 'support', input: { prompt: 'mine' }, runContext: { prompt: 'bound' } })
    expect(sent('billing')[1]).toEqual(['user', 'bound clerk is mallory'])
  })

  it('labels travel with control, also into the turns that follow', async () => {
    const web = defineTool({
      code: 'web',
      description: 'Reads the web.',
      effect: 'read',
      untrusted: true,
      input: z.object({}),
      handler: () => 'x',
    })
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime } = await openTeam(
      [support(), ...crew({ triage: { tools: [web] } })],
      {
        triage: [reply.toolCall('web'), transfer('billing')],
        billing: ['One.', transfer('technical')],
        technical: ['Two.'],
      },
      { plugins: [recorder.plugin] },
    )
    await runtime.execute({ agent: 'support', input: QUESTION, sessionId: 's-1' })
    await runtime.execute({ agent: 'support', followUp: 'And?', sessionId: 's-1' })
    const met = recorder.at('beforeModelCall').map(({ context }) => {
      const { agentCode, labels } = context as { agentCode: string; labels: readonly { source: string }[] }
      return [agentCode, labels.map(({ source }) => source)]
    })
    expect(met).toEqual([
      ['triage', []],
      ['triage', ['web']],
      ['billing', ['web']],
      ['billing', ['web']],
      ['technical', ['web']],
    ])
  })
})

describe('definitions of a handoff', () => {
  it('F-2, A-9, A-12: all faults at once, each with its place', () => {
    const faults = (options: unknown) => {
      try {
        defineHandoff(options as never)
      } catch (error) {
        return (error as { details: { faults: string[] } }).details.faults
      }
      return []
    }
    expect(
      faults({
        code: 'support',
        description: 'Answers.',
        initial: '',
        members: [
          { agent: 'a', description: ' ', canTransferTo: ['a', 'c', 'b', 'b', 7] },
          { agent: 'b', description: 'B.', sort: 1 },
          { agent: 'b', description: 'B again.' },
          'c',
          { agent: 'support', description: 'Me.' },
        ],
        maxHandoffs: 1.5,
      }),
    ).toEqual([
      'initial_agent_code: must be the code of an agent',
      'handoff_agents[0].description: must be a text: other agents choose by it whom to hand over to',
      'handoff_agents[0].can_transfer_to[4]: must be the code of an agent',
      expect.stringContaining('handoff_agents[1]: has the unknown key "sort"'),
      'handoff_agents[3]: must be an object',
      'handoff_agents[3].agent_code: must be the code of an agent',
      expect.stringContaining('handoff_agents[3].description: must be a text'),
      'handoff_agents: names "b" twice',
      'handoff_agents: name the agent itself: its members are profile agents',
      'handoff_agents[0].can_transfer_to: names "b" twice',
      'handoff_agents[0].can_transfer_to: names the agent itself',
      'handoff_agents[0].can_transfer_to: names "c", which is no entry of handoff_agents',
      'max_handoffs: must be a whole number from 0 to 1000',
    ])
    expect(faults({ code: 's', description: 'S.', initial: 'a', members: [] })).toEqual([
      expect.stringContaining('handoff_agents: must be a list of 1 to 100'),
    ])
    expect(faults(null).length).toBeGreaterThan(0)
  })

  it('F-3, A-2, A-11: a stored definition of the original loads as it is; every member has to be an active profile agent', async () => {
    const lead = defineOrchestrator({ code: 'boss', description: 'Boss.', profile: 'lead', delegates: ['triage'] })
    const { runtime } = await openTeam([...crew(), lead], { triage: ['Stored.'], lead: [] })
    const stored = (members: string[]) => ({
      agentType: 'handoff',
      code: 'stored',
      description: 'Answers.',
      status: 'active',
      orchestrationConfig: {
        pattern_type: 'handoff',
        initial_agent_code: 'triage',
        handoff_agents: members.map((agent_code) => ({ agent_code, description: 'X.' })),
        max_handoffs: 2,
      },
    })
    for (const [members, reason] of [
      [['nobody'], 'references.missing'],
      [['boss'], 'references.type'],
    ] as const)
      expect((await failureOf(runtime.agents.create(stored([...members]) as never))).reason).toBe(reason)
    const { orchestrationConfig } = stored(['triage'])
    const summarize = { strategy: 'summarize', summarizer_agent_code: 'nobody' }
    const managed = {
      ...stored(['triage']),
      orchestrationConfig: { ...orchestrationConfig, history_management: summarize },
    }
    expect((await failureOf(runtime.agents.create(managed as never))).details?.missing).toBe('nobody')
    await runtime.agents.create(stored(['triage', 'billing']) as never)
    expect((await runtime.execute({ agent: 'stored', input: QUESTION })).text).toBe('Stored.')
    // the same for definitions that stand in code
    const wrong = defineHandoff({
      code: 'x',
      description: 'X.',
      initial: 'boss',
      members: [{ agent: 'triage', description: 'T.' }],
    })
    expect((await failureOf(openTeam([wrong, lead, ...crew()], { lead: [] }))).reason).toBe('references.type')
  })
})
