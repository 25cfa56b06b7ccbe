import type { Runtime } from '@sluice/core'
import { definePlugin, defineTool, Veto } from '@sluice/core'
import { defineHandoff, defineOrchestrator } from '@sluice/agents'
import { recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { ALL, approvalOf, approve, logOf, member, openTeam, rowsOf } from '../support/team.js'

const note = { text: 'x' }
const ask = (code: string) => reply.toolCall(code, { prompt: 'Go on.' })

/** lead -> desk (a handoff) -> triage -> clerk -> writer (an agent as a tool) -> write_note. */
function pyramid(tool: ReturnType<typeof noteTool>['tool']) {
  const writer = defineTool({
    code: 'ask_writer',
    description: 'Writes notes.',
    input: z.object({ prompt: z.string() }),
    agent: 'writer',
  })
  const desk = defineHandoff({
    code: 'desk',
    description: 'The desk.',
    initial: 'triage',
    members: [{ agent: 'clerk', description: 'Does it.' }],
  })
  const travel = defineOrchestrator({ code: 'travel', description: 'Leads.', profile: 'lead', delegates: [desk] })
  const agents = [
    travel,
    desk,
    member('triage'),
    member('clerk', { tools: [writer] }),
    member('writer', { tools: [tool] }),
  ]
  const scripts = {
    lead: [ask('desk'), 'All done.'],
    triage: [reply.toolCall('transfer_to_clerk', { context: 'A note.' })],
    clerk: [ask('ask_writer'), 'It is written.'],
    writer: [reply.toolCall('write_note', note), 'Written.'],
  }
  return { agents, scripts }
}
const REQUEST = { agent: 'travel', input: { question: 'A note, please.' }, sessionId: 's-1' } as const
const PLACES = [
  'm1',
  'm1.t1',
  'm1.t1/run/hop1/m1',
  'm1.t1/run/hop1/m1.t1',
  'm1.t1/run/hop2/m1',
  'm1.t1/run/hop2/m1.t1',
  'm1.t1/run/hop2/m1.t1/run/m1',
  'm1.t1/run/hop2/m1.t1/run/m1.t1',
  'm1.t1/run/hop2/m1.t1/run/m2',
  'm1.t1/run/hop2/m2',
  'm2',
]
const placeOf = (effectId: string) => effectId.split('/').slice(1).join('/')

describe('patterns within each other', () => {
  it.each(['execute', 'stream'] as const)(
    'CASE-04, %s: every call at every depth was asked once, and has its receipt',
    async (how) => {
      const { tool, calls } = noteTool()
      const { agents, scripts } = pyramid(tool)
      const recorder = recordingPlugin({ points: ['beforeModelCall', 'beforeToolCall'] })
      const { runtime } = await openTeam(agents, scripts, { plugins: [recorder.plugin] })
      const run = await (how === 'execute' ? runtime.execute(REQUEST) : runtime.stream(REQUEST).run)
      expect([run.text, calls.length]).toEqual(['All done.', 1])
      const asked = [...recorder.at('beforeModelCall'), ...recorder.at('beforeToolCall')].map(({ context }) =>
        placeOf((context as { effectId: string }).effectId),
      )
      expect(asked.sort()).toEqual([...PLACES].sort())
      const receipts = await runtime.executions.receipts(run.executionId, ALL)
      const kept = receipts.filter(({ effect }) => effect !== 'execution').map(({ effectId }) => placeOf(effectId))
      expect(kept.sort()).toEqual([...PLACES].sort())
      const rows = await rowsOf(runtime, run.executionId)
      expect(rows.map((row) => [row.agentCode, row.depth, row.inputTokens])).toEqual([
        ['travel', 0, 20],
        ['desk', 1, 0],
        ['triage', 2, 10],
        ['clerk', 2, 20],
        ['writer', 3, 20],
      ])
      expect([run.treeUsage.inputTokens, (await runtime.sessions.get('s-1', ALL)).inputTokens]).toEqual([70, 70])
      // only the turn at the top is in the log (S-42)
      expect((await logOf(runtime, 's-1')).map(([, by]) => by)).toEqual([null, null, 'travel', 'travel', 'travel'])
    },
  )

  it.each(PLACES)('CASE-04, H-20: a veto at %s ends the tree, and no effect follows it', async (place) => {
    const { tool, calls } = noteTool()
    const { agents, scripts } = pyramid(tool)
    const before = PLACES.indexOf(place)
    const started: string[] = []
    const rules = definePlugin({
      name: 'rules',
      hookApi: 1,
      apply(hooks) {
        const gate = ({ effectId }: { readonly effectId: string }) => {
          if (placeOf(effectId) === place) throw new Veto('STOP_HERE', 'Not today.')
          started.push(placeOf(effectId))
        }
        hooks.beforeModelCall.tap({ name: 'rules' }, gate as never)
        hooks.beforeToolCall.tap({ name: 'rules' }, gate as never)
      },
    })
    const reached = new Set(PLACES.slice(0, before))
    const used = (code: keyof typeof scripts, own: readonly string[]) =>
      scripts[code].slice(0, own.filter((one) => reached.has(one)).length)
    const { runtime } = await openTeam(
      agents,
      {
        lead: used('lead', ['m1', 'm2']),
        triage: used('triage', ['m1.t1/run/hop1/m1']),
        clerk: used('clerk', ['m1.t1/run/hop2/m1', 'm1.t1/run/hop2/m2']),
        writer: used('writer', ['m1.t1/run/hop2/m1.t1/run/m1', 'm1.t1/run/hop2/m1.t1/run/m2']),
      },
      { plugins: [rules()], settings: { onToolError: 'return' } },
    )
    const error = await failureOf(runtime.execute(REQUEST))
    expect([error.code, started]).toEqual(['STOP_HERE', PLACES.slice(0, before)])
    expect(calls.length).toBe(before > PLACES.indexOf('m1.t1/run/hop2/m1.t1/run/m1.t1') ? 1 : 0)
    const rows = await rowsOf(runtime, error.partial.executionId)
    expect(rows[0]).toMatchObject({ status: 'failed', failureKind: 'veto' })
    expect(rows.filter(({ status }) => status === 'running' || status === 'paused')).toEqual([])
  })

  it('a pause four levels down stores the whole tree; the resume asks no model twice', async () => {
    const { tool, calls } = noteTool()
    const { agents, scripts } = pyramid(tool)
    const { runtime, count } = await openTeam(agents, scripts, { plugins: [approvalOf('write_note')] })
    const paused = await runtime.execute(REQUEST)
    expect([paused.status, calls.length]).toEqual(['paused', 0])
    expect((await rowsOf(runtime, paused.executionId)).map(({ agentCode, status }) => [agentCode, status])).toEqual([
      ['travel', 'paused'],
      ['desk', 'paused'],
      ['triage', 'completed'],
      ['clerk', 'paused'],
      ['writer', 'paused'],
    ])
    const run = await approve(runtime, paused.executionId, paused.pending as never)
    expect([run.status, run.text, calls.length]).toEqual(['completed', 'All done.', 1])
    expect(['lead', 'triage', 'clerk', 'writer'].map(count)).toEqual([2, 1, 2, 2])
    expect(run.treeUsage.inputTokens).toBe(70)
  })

  it('R-4: every nested form inherits the run context, and none can change it', async () => {
    const seen: unknown[] = []
    const { tool } = noteTool({
      handler: (_: unknown, context: { runContext: unknown }) => seen.push(context.runContext) && 'ok',
    })
    const { agents, scripts } = pyramid(tool)
    const { runtime } = await openTeam(agents, scripts)
    const run = await runtime.execute({ ...REQUEST, runContext: { clerk: 'petra.k' } })
    expect(seen).toEqual([{ clerk: 'petra.k' }])
    expect((await rowsOf(runtime, run.executionId)).map(({ runContext }) => runContext)).toEqual(
      Array.from({ length: 5 }, () => ({ clerk: 'petra.k' })),
    )
  })

  it('CASE-04: a plain call in the handler of a delegate meets the same gates', async () => {
    const { tool, calls } = noteTool()
    let runtime: Runtime | undefined
    const inner = defineTool({
      code: 'inner',
      description: 'Asks a model by itself.',
      input: z.object({}),
      handler: async () =>
        (await (runtime as Runtime).generateText({ model: 'plain/x', prompt: 'Note it.', tools: [tool] })).text ?? '',
    })
    const noNotes = definePlugin({
      name: 'no-notes',
      hookApi: 1,
      apply: (hooks) =>
        hooks.beforeToolCall.tap({ name: 'no-notes' }, ({ toolCode, agentCode }) => {
          if (toolCode === 'write_note') throw new Veto('NO_NOTES', String(agentCode))
        }),
    })
    const lead = defineOrchestrator({ code: 'travel', description: 'Leads.', profile: 'lead', delegates: ['clerk'] })
    const made = await openTeam(
      [lead, member('clerk', { tools: [inner] })],
      { lead: [ask('clerk')], clerk: [reply.toolCall('inner', {})], plain: [reply.toolCall('write_note', note)] },
      { plugins: [noNotes()], settings: { onToolError: 'return' } },
    )
    runtime = made.runtime
    const error = await failureOf(runtime.execute(REQUEST))
    expect([error.code, error.message, calls.length]).toEqual(['NO_NOTES', 'clerk', 0])
  })

  it('delegates that only read may run together, and each keeps its place', async () => {
    let waiting = 0
    let meet: (() => void) | undefined
    const met = new Promise<void>((resolve) => (meet = resolve))
    const together = definePlugin({
      name: 'together',
      hookApi: 1,
      apply: (hooks) =>
        hooks.beforeModelCall.tapPromise({ name: 'together' }, async ({ agentCode }) => {
          if (agentCode === 'travel') return
          if (++waiting === 2) meet?.()
          await met
        }),
    })
    const delegates = ['a', 'b'].map((agent) => ({ agent, effect: 'read' as const }))
    const lead = defineOrchestrator({ code: 'travel', description: 'Leads.', profile: 'lead', delegates })
    const { runtime, sent } = await openTeam(
      [lead, member('a'), member('b')],
      { lead: [ask('a').toolCall('b', { prompt: 'x' }), 'Done.'], a: ['From a.'], b: ['From b.'] },
      { plugins: [together()], settings: { toolConcurrency: 2 } },
    )
    expect((await runtime.execute(REQUEST)).text).toBe('Done.')
    expect(sent('lead').at(-1)).toEqual(['tool', 'From a.', 'From b.'])
  })
})
