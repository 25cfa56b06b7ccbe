import { definePlugin, Veto } from '@sluice/core'
import type { ConversationOptions } from '@sluice/agents'
import { defineConversation } from '@sluice/agents'
import type { Script } from '@sluice/testkit'
import { hang, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { failureOf, noteTool, PETRA } from '../../runs/support/house.js'
import { ALL, approvalOf, approve, rowsOf, vetoAt } from '../support/team.js'
import { web } from '../workflow/support/workflow-house.js'
import { DONE, moderated, openPanel, part, picks, rotation } from './panel.js'

const INPUT = { topic: 'Tea or coffee?' } as const
const CALL = reply.toolCall('write_note', { text: 'x' })
const SUMMARY = { agent: 'chair', inputMapping: { prompt: '{$.chat_history}' }, summaryMapping: { prompt: 'End.' } }
const SUMMARIZE = { strategy: 'summarize', summarizeAfter: 1, summarizer: 'scribe' } as const

/** One place in a conversation at which an agent is asked. */
interface Place {
  /** Who is asked there. */
  readonly at: string
  readonly options: Partial<ConversationOptions>
  /** What everybody says; `own` is what is said at the place, in one or more replies. */
  scripts(own: Script): Readonly<Record<string, Script>>
  /** What is said there where nothing stops it. */
  readonly said: Script
  readonly text: string
}

const list = (script: Script): unknown[] => script as unknown[]
const PLACES: Readonly<Record<string, Place>> = {
  'a participant of a round robin': {
    at: 'critic',
    options: rotation({ maxTurns: 1 }),
    scripts: (own) => ({ proposer: ['Tea.'], critic: own }),
    said: ['Why?'],
    text: 'Why?',
  },
  'a participant that was picked': {
    at: 'critic',
    options: moderated({ maxTurns: 1 }),
    scripts: (own) => ({ chair: [picks('critic')], proposer: [], critic: own }),
    said: ['Why?'],
    text: 'Why?',
  },
  'the moderator': {
    at: 'chair',
    options: moderated({ maxTurns: 1 }),
    scripts: (own) => ({ chair: own, proposer: [], critic: ['Why?'] }),
    said: [picks('critic')],
    text: 'Why?',
  },
  'the summary': {
    at: 'chair',
    options: moderated({ moderator: SUMMARY }),
    scripts: (own) => ({ chair: [DONE, ...list(own)] as Script, proposer: [], critic: [] }),
    said: ['They agree.'],
    text: 'They agree.',
  },
  'the corrected moderator': {
    at: 'chair',
    options: moderated({ maxTurns: 1 }),
    scripts: (own) => ({ chair: [picks('bob'), ...list(own)] as Script, proposer: [], critic: ['Why?'] }),
    said: [picks('critic')],
    text: 'Why?',
  },
  'the summariser': {
    at: 'scribe',
    options: rotation({ maxTurns: 3, participants: [part('critic')], historyManagement: SUMMARIZE }),
    scripts: (own) => ({ critic: ['One.', 'Two.', 'Three.'], scribe: own }),
    said: ['They began.'],
    text: 'Three.',
  },
}
const EACH = Object.entries(PLACES)
const noted = (at: string, tool: unknown) => ({
  [at]: { tools: [tool] },
  ...(at === 'scribe' ? { scribe: { tools: [tool], user: '{conversation_history}' } } : {}),
})

describe.each(EACH)('%s', (_name, { at, options, scripts, said, text }) => {
  const withCall = scripts([CALL, ...list(said)] as Script)

  it('C-17, S-1: is a run with a receipt for each of its effects, which name it', async () => {
    const { tool, calls } = noteTool()
    const recorder = recordingPlugin({ points: ['beforeModelCall', 'beforeToolCall'] })
    const { runtime, count } = await openPanel(options, withCall, {
      plugins: [recorder.plugin],
      members: noted(at, tool),
    })
    const run = await runtime.execute({ agent: 'panel', input: INPUT, caller: PETRA })
    expect([run.text, calls.length]).toEqual([text, 1])
    const rows = (await rowsOf(runtime, run.executionId)).filter(({ agentCode }) => agentCode === at)
    expect(rows.every((row) => row.depth === 1 && row.parentExecutionId === run.executionId)).toBe(true)
    const [asked] = recorder.at('beforeToolCall')
    expect(asked?.context).toMatchObject({
      agentCode: at,
      toolCode: 'write_note',
      depth: 1,
      createdBy: 'petra.k',
      tenant: 'acme',
    })
    expect(
      recorder.at('beforeModelCall').filter(({ context }) => (context as { agentCode: string }).agentCode === at),
    ).toHaveLength(count(at))
    const receipts = await runtime.executions.receipts(run.executionId, ALL)
    const total = Object.keys(withCall).reduce((sum, code) => sum + count(code), 0)
    expect(receipts.filter(({ effect }) => effect === 'model_call')).toHaveLength(total)
    expect(receipts.filter(({ effect, agentCode }) => effect === 'tool_call' && agentCode === at)).toHaveLength(1)
  })

  it.each(['beforeToolCall', 'inspectToolInput'] as const)(
    'CASE-04, H-19: a veto of %s ends the run with its own code, and nothing is done any more',
    async (point) => {
      const { tool, calls } = noteTool()
      const before = scripts([CALL])
      const { runtime } = await openPanel(options, trimmed(before, at), {
        plugins: [vetoAt({ point, agent: at })],
        members: noted(at, tool),
      })
      const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
      expect([error.code, calls.length]).toEqual([`NO_${point}`, 0])
      const rows = await rowsOf(runtime, error.partial.executionId)
      expect([rows[0]?.status, rows[0]?.failureKind, rows.at(-1)?.agentCode]).toEqual(['failed', 'veto', at])
    },
  )

  it('CASE-04: a veto of its model call ends the run, and the request never goes out', async () => {
    let asked = 0
    const earlier = list(scripts([])[at] as Script).length
    const rules = definePlugin({
      name: 'rules',
      hookApi: 1,
      apply: (hooks) =>
        hooks.beforeModelCall.tap({ name: 'rules' }, ({ agentCode }) => {
          if (agentCode === at && ++asked > earlier) throw new Veto('NO', 'Not today.')
        }),
    })
    const { runtime, count } = await openPanel(options, trimmed(scripts([]), at), {
      plugins: [rules()],
      members: noted(at, noteTool().tool),
    })
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, count(at)]).toEqual(['NO', earlier])
  })

  it('CASE-06: after a pause in it the run is carried on where it was, and nobody is asked twice', async () => {
    const { tool, calls } = noteTool()
    const { runtime, count } = await openPanel(options, withCall, {
      plugins: [approvalOf('write_note')],
      members: noted(at, tool),
    })
    const paused = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([paused.status, calls.length]).toEqual(['paused', 0])
    const run = await approve(runtime, paused.executionId, paused.pending as never)
    expect([run.status, run.text, calls.length]).toEqual(['completed', text, 1])
    expect(count(at)).toBe(list(withCall[at] as Script).length)
    const { items } = await runtime.sessions.messages(run.sessionId, ALL)
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_, index) => index + 1))
  })

  it('an abort reaches it, and nothing starts behind it', async () => {
    const controller = new AbortController()
    const { runtime } = await openPanel(options, trimmed(scripts([hang()]), at), {
      members: noted(at, noteTool().tool),
    })
    const stream = runtime.stream({ agent: 'panel', input: INPUT, signal: controller.signal })
    const failed = failureOf(stream.run)
    await expect
      .poll(async () =>
        (await runtime.executions.list({ ...ALL, limit: 100 })).items.some(
          (row) => row.agentCode === at && row.status === 'running',
        ),
      )
      .toBe(true)
    controller.abort()
    expect((await failed).code).toBe('RUN_ABORTED')
  })

  it('streams in one order, each event with its agent and its depth', async () => {
    const { runtime } = await openPanel(options, scripts(said), { members: noted(at, noteTool().tool) })
    const stream = runtime.stream({ agent: 'panel', input: INPUT })
    const events: { seq: number; type: string; agentCode: string | null; depth: number }[] = []
    for await (const event of stream) events.push(event as never)
    expect(events.map(({ seq }) => seq)).toEqual(events.map(({ seq }) => seq).toSorted((a, b) => a - b))
    const texts = events.filter(({ type }) => type === 'assistant_text')
    expect(texts.some(({ agentCode }) => agentCode === at)).toBe(true)
    expect(texts.every(({ depth }) => depth === 1)).toBe(true)
    expect(events.at(-1)).toMatchObject({ type: 'run_ended', agentCode: 'panel', depth: 0 })
    expect((await stream.run).text).toBe(text)
  })

  it('R-4: has the run context, which nothing in the conversation can change', async () => {
    const { tool } = noteTool({
      handler: (_args: unknown, context: { runContext: unknown }) => JSON.stringify(context.runContext),
    })
    const { runtime, providers } = await openPanel(options, withCall, { members: noted(at, tool) })
    const run = await runtime.execute({
      agent: 'panel',
      input: { ...INPUT, _ctx: 'x' },
      runContext: { clerk: 'petra.k' },
    })
    expect((await rowsOf(runtime, run.executionId)).every(({ runContext }) => runContext?.clerk === 'petra.k')).toBe(
      true,
    )
    expect(JSON.stringify(providers[at]?.requests)).toContain('{\\"clerk\\":\\"petra.k\\"}')
  })
})

/** What is said up to the place and not behind it, since the run ends there. */
function trimmed(scripts: Readonly<Record<string, Script>>, at: string): Readonly<Record<string, Script>> {
  if (at === 'chair') return { ...scripts, critic: [] }
  if (at === 'scribe') return { ...scripts, critic: ['One.', 'Two.'] }
  return scripts
}

describe('labels of a conversation', () => {
  const READ = [reply.toolCall('web'), 'The web says so.']
  /** The labels that the gates of an agent saw with each of its model calls. */
  const opened = async (
    options: Partial<ConversationOptions>,
    scripts: Readonly<Record<string, Script>>,
    members: object,
  ) => {
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const made = await openPanel(options, scripts, { plugins: [recorder.plugin], members: members as never })
    const labelsOf = (code: string) =>
      recorder
        .at('beforeModelCall')
        .filter(({ context }) => (context as { agentCode: string }).agentCode === code)
        .map(({ context }) =>
          (context as unknown as { labels: readonly { source: string }[] }).labels.map(({ source }) => source),
        )
    return { ...made, labelsOf }
  }

  it('travel in the transcript to whoever reads it, and not to who does not', async () => {
    const { runtime, labelsOf } = await opened(
      rotation({
        maxTurns: 1,
        participants: [
          part('proposer'),
          part('critic'),
          { agent: 'blind', inputMapping: { prompt: 'Say something.' } },
        ],
      }),
      { proposer: READ, critic: ['Hm.'], blind: ['Something.'] },
      { proposer: { tools: [web] } },
    )
    const run = await runtime.execute({ agent: 'panel', input: INPUT })
    expect([labelsOf('proposer')[0], labelsOf('critic'), labelsOf('blind')]).toEqual([[], [['web']], [[]]])
    const row = await runtime.executions.get(run.executionId, ALL)
    expect(row?.status).toBe('completed')
  })

  it('travel through a decision to who was picked by it, and through a summary of the history', async () => {
    const picked = await opened(
      moderated({ maxTurns: 1, participants: [{ agent: 'critic', inputMapping: { prompt: 'Speak.' } }] }),
      { chair: [reply.toolCall('web'), picks('critic')], critic: ['Hm.'] },
      { chair: { tools: [web] } },
    )
    await picked.runtime.execute({ agent: 'panel', input: INPUT })
    expect(picked.labelsOf('critic')).toEqual([['web']])

    const summed = await opened(
      rotation({ maxTurns: 3, participants: [part('critic')], historyManagement: SUMMARIZE }),
      { critic: ['One.', 'Two.', 'Three.'], scribe: [reply.toolCall('web'), 'They began.'] },
      { scribe: { tools: [web], user: '{conversation_history}' } },
    )
    await summed.runtime.execute({ agent: 'panel', input: INPUT })
    expect(summed.labelsOf('critic')).toEqual([[], [], ['web']])
  })

  it('of a moderator that is put right are those of what it has read, and no others', async () => {
    const { runtime, labelsOf } = await opened(
      moderated({
        maxTurns: 2,
        moderator: { agent: 'chair', inputMapping: { prompt: 'Who is next?' } },
        participants: [part('proposer'), { agent: 'critic', inputMapping: { prompt: 'Speak.' } }],
      }),
      { chair: [picks('proposer'), picks('bob'), picks('critic')], proposer: READ, critic: ['Hm.'] },
      { proposer: { tools: [web] } },
    )
    await runtime.execute({ agent: 'panel', input: INPUT })
    expect([labelsOf('chair'), labelsOf('critic')]).toEqual([[[], [], []], [[]]])

    const read = await opened(
      moderated({ maxTurns: 1, participants: [{ agent: 'critic', inputMapping: { prompt: 'Speak.' } }] }),
      { chair: [reply.toolCall('web'), picks('bob'), picks('critic')], critic: ['Hm.'] },
      { chair: { tools: [web] } },
    )
    await read.runtime.execute({ agent: 'panel', input: INPUT })
    expect([labelsOf('chair').length, read.labelsOf('chair'), read.labelsOf('critic')]).toEqual([
      3,
      [[], ['web'], ['web']],
      [['web']],
    ])
  })

  it('stand on the rows of the log', async () => {
    const { runtime } = await opened(
      rotation({ maxTurns: 1 }),
      { proposer: READ, critic: ['Hm.'] },
      { proposer: { tools: [web] } },
    )
    const { sessionId } = await runtime.execute({ agent: 'panel', input: INPUT })
    const { items } = await runtime.sessions.messages(sessionId, ALL)
    expect(items.map((row) => [row.agentCode, JSON.stringify(row).includes('"source":"web"')])).toEqual([
      [null, false],
      ['proposer', true],
      ['critic', true],
    ])
  })
})

describe('bounds of the tree', () => {
  it('CASE-25, C-W6: a limit of the tree ends a conversation in which nobody stops, and is named', async () => {
    const { runtime, count } = await openPanel(
      rotation({ participants: [part('proposer')], maxTurns: 1_000 }),
      { proposer: ['a', 'b', 'c'] },
      { limits: { modelCalls: 3 } as never },
    )
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect([error.code, count('proposer')]).toEqual(['TREE_LIMIT', 3])
  })

  it('A-39, CASE-25: panels in which panels speak end at the bound of nesting', async () => {
    const { runtime } = await openPanel(
      rotation({ participants: [{ agent: 'other', inputMapping: { prompt: 'Go on.' } }], maxTurns: 1 }),
      {},
      {
        agents: [
          defineConversation({
            code: 'other',
            description: 'The other panel.',
            mode: 'round_robin',
            participants: [{ agent: 'panel', inputMapping: { prompt: 'Go on.' } }],
            maxTurns: 1,
          }) as never,
        ],
      },
    )
    const error = await failureOf(runtime.execute({ agent: 'panel', input: INPUT }))
    expect(error.code).toBe('MAX_NESTING_DEPTH')
  })

  it('CASE-27: two runs of one panel at once keep their transcripts apart', async () => {
    const { runtime } = await openPanel(rotation({ participants: [part('proposer')], maxTurns: 1 }), {
      proposer: ['First.', 'Second.'],
    })
    const runs = await Promise.all(
      ['tea', 'coffee'].map((topic) => runtime.execute({ agent: 'panel', input: { topic } })),
    )
    expect(
      runs
        .map((run) => JSON.stringify(run.details?.conversation))
        .map((text) => [text.includes('tea'), text.includes('coffee')]),
    ).toEqual([
      [true, false],
      [false, true],
    ])
  })
})
