import type { AgentDefinition } from '@sluice/core'
import { hang, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from '@sluice/agents'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { ALL, approval, openWorkflow, vetoing, web } from './support/workflow-house.js'

const STEP = { agent: 'worker', outputKey: 'work', inputMapping: { text: 'go' } } as const
const WORKER = { worker: ['Done.'] }
const LOOP = { workflowType: 'loop', loopConfig: { maxIterations: 1 } } as const

/** Every place in which a step can stand. */
const PLACES: readonly (readonly [name: string, make: (step: object) => object])[] = [
  ['sequential', (step) => ({ workflowType: 'sequential', steps: [step] })],
  ['conditional', (step) => ({ workflowType: 'conditional', steps: [{ ...step, condition: 'true' }] })],
  ['parallel, one after another', (step) => ({ workflowType: 'parallel', steps: [step] })],
  [
    'parallel, at once',
    (step) => ({ workflowType: 'parallel', parallelConfig: { executionMode: 'wait_all' }, steps: [step] }),
  ],
  ['loop', (step) => ({ ...LOOP, steps: [step] })],
  ['pre-step', (step) => ({ ...LOOP, preSteps: [step], steps: [{ ...STEP, condition: 'false' }] })],
  ['post-step', (step) => ({ ...LOOP, postSteps: [step], steps: [{ ...STEP, condition: 'false' }] })],
]

describe.each(PLACES)('a step: %s', (_name, make) => {
  it('W-46: runs, and its row and its effects are its own', async () => {
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime } = await openWorkflow(make(STEP) as never, WORKER, { plugins: [recorder.plugin] })
    const run = await runtime.execute({ agent: 'flow', input: {} })
    expect(run.details?.steps).toEqual({ work: 'Done.' })
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId })).items
    expect(rows.map((row) => [row.agentCode, row.depth, row.status])).toEqual([
      ['worker', 1, 'completed'],
      ['flow', 0, 'completed'],
    ])
    const [asked] = recorder.at('beforeModelCall')
    expect(asked?.context).toMatchObject({ agentCode: 'worker', parentExecutionId: run.executionId, depth: 1 })
    expect([run.receipts.asked, run.receipts.passed]).toEqual([1, 1])
  })

  it('streams as one ordered stream that names the agent and its depth', async () => {
    const { runtime } = await openWorkflow(make(STEP) as never, WORKER)
    const stream = runtime.stream({ agent: 'flow', input: {} })
    const events: unknown[] = []
    let last = 0
    for await (const event of stream) {
      expect(event.seq).toBeGreaterThan(last)
      last = event.seq
      if (event.type === 'assistant_text' || event.type === 'run_ended')
        events.push([event.type, event.agentCode, event.depth])
    }
    expect(events).toEqual([
      ['assistant_text', 'worker', 1],
      ['run_ended', 'flow', 0],
    ])
    expect((await stream.run).details?.steps).toEqual({ work: 'Done.' })
  })

  it.each([
    ['beforeModelCall', 'stop', 0],
    ['beforeModelCall', 'continue', 0],
    ['beforeModelCall', 'retry', 0],
    ['beforeToolCall', 'continue', 1],
    ['beforeToolCall', 'retry', 1],
  ] as const)(
    "CASE-04, W-45: a veto of %s ends the run with its own code, also with on_error '%s'",
    async (point, onError, requests) => {
      const { tool, calls } = noteTool()
      const { runtime, providers } = await openWorkflow(
        make({ ...STEP, onError }) as never,
        { worker: point === 'beforeToolCall' ? [reply.toolCall('write_note', { text: 'x' })] : [] },
        { plugins: [vetoing('worker', point)], members: { worker: { tools: [tool] } } },
      )
      const error = await failureOf(runtime.execute({ agent: 'flow', input: {} }))
      expect([error.code, calls.length, providers.worker?.requests.length]).toEqual(['NOT_TODAY', 0, requests])
      const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: error.partial.executionId })).items
      expect(rows.map((row) => [row.agentCode, row.status, row.failureKind])).toEqual([
        ['worker', 'failed', 'veto'],
        ['flow', 'failed', 'veto'],
      ])
    },
  )

  it.each(['stop', 'continue', 'retry'] as const)(
    "W-48: after a pause in it the run is resumed where it was, also with on_error '%s'",
    async (onError) => {
      const { tool, calls } = noteTool()
      const { runtime, providers } = await openWorkflow(
        make({ ...STEP, onError }) as never,
        { worker: [reply.toolCall('write_note', { text: 'x' }), 'Done.'] },
        { plugins: [approval()], members: { worker: { tools: [tool] } } },
      )
      const paused = await runtime.execute({ agent: 'flow', input: {} })
      expect([paused.status, calls.length]).toEqual(['paused', 0])
      const effectId = (paused.pending[0] as { effectId: string }).effectId
      await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
      const run = await runtime.resume(paused.executionId, ALL)
      expect([run.status, run.details?.steps, calls.length]).toEqual(['completed', { work: 'Done.' }, 1])
      expect(run.details).not.toHaveProperty('steps_errors')
      expect(providers.worker?.requests).toHaveLength(2)
    },
  )

  it('W-47, R-4: has the run context, which no mapping can change', async () => {
    const { tool, calls } = noteTool({
      handler: (_args: unknown, context: { runContext: unknown }) => JSON.stringify(context.runContext),
    })
    const { runtime, providers } = await openWorkflow(
      make({ ...STEP, inputMapping: { text: 'go', clerk: 'mallory', _ctx: 'x' } }) as never,
      { worker: [reply.toolCall('write_note', { text: 'x' }), 'Done.'] },
      { members: { worker: { tools: [tool] } } },
    )
    const run = await runtime.execute({ agent: 'flow', input: {}, runContext: { clerk: 'petra.k' } })
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId })).items
    expect(rows.map((row) => row.runContext)).toEqual([{ clerk: 'petra.k' }, { clerk: 'petra.k' }])
    expect(calls).toHaveLength(1)
    const result = providers.worker?.requests[1]?.messages.at(-1)
    expect(result).toMatchObject({ content: [{ result: '{"clerk":"petra.k"}' }] })
  })

  it("an abort reaches it, and ends the run also with on_error 'continue'", async () => {
    const { runtime, clock, providers } = await openWorkflow(make({ ...STEP, onError: 'continue' }) as never, {
      worker: [hang()],
    })
    const controller = new AbortController()
    const running = failureOf(runtime.execute({ agent: 'flow', input: {}, signal: controller.signal }))
    await clock.tick()
    controller.abort(new Error('enough'))
    expect((await clock.settle(running)).code).toBe('RUN_ABORTED')
    expect(providers.worker?.calls[0]?.outcome).toBe('aborted')
  })

  it('A-2: may be a workflow itself', async () => {
    const inner = defineWorkflow({
      code: 'inner',
      description: 'A workflow in a workflow.',
      workflowType: 'sequential',
      steps: [STEP],
      finalMessage: { path: '{$.steps}' },
    }) as unknown as AgentDefinition
    const { runtime } = await openWorkflow(
      make({ agent: inner, outputKey: 'deep', inputMapping: { text: 'go' } }) as never,
      WORKER,
      {
        agents: [inner],
      },
    )
    const run = await runtime.execute({ agent: 'flow', input: {} })
    expect(run.details?.steps).toEqual({ deep: { work: 'Done.' } })
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId })).items
    expect(rows.map((row) => [row.agentCode, row.depth])).toEqual([
      ['worker', 2],
      ['inner', 1],
      ['flow', 0],
    ])
  })
})

describe('labels', () => {
  const LABEL = { kind: 'tool', source: 'web' }
  const labelled = async (steps: readonly object[], more: object = {}) => {
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps, ...more } as never,
      { reader: [reply.toolCall('web'), reply.json({ grade: 3 })], worker: ['Done.'] },
      {
        plugins: [recorder.plugin],
        members: { reader: { tools: [web], output: z.strictObject({ grade: z.number() }) } },
      },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' }, sessionId: 's-1' })
    const asked = recorder.at('beforeModelCall').map(({ context }) => context as { agentCode: string; labels: unknown })
    const rows = (await runtime.sessions.messages('s-1', ALL)).items
    return {
      worker: asked.find(({ agentCode }) => agentCode === 'worker')?.labels,
      result: rows.at(-1)?.part,
      run,
    }
  }
  const READ = { agent: 'reader', outputKey: 'page', inputMapping: { text: 'a' } }

  it('a step that uses what another has read of strangers carries its label', async () => {
    const { worker, result } = await labelled([READ, { ...STEP, inputMapping: { text: '{$.steps.page.grade}' } }])
    expect(worker).toEqual([LABEL])
    expect(result).toMatchObject({ message: { labels: [LABEL] } })
  })

  it('so does one that is given all of the state, inside a text or as a whole', async () => {
    expect((await labelled([READ, { ...STEP, inputMapping: { text: 'see {$.steps}' } }])).worker).toEqual([LABEL])
  })

  it('so does one of which that decides whether it runs', async () => {
    expect((await labelled([READ, { ...STEP, condition: '{$.steps.page.grade} > 2' }])).worker).toEqual([LABEL])
  })

  it('one that uses nothing of it carries none', async () => {
    expect((await labelled([READ, STEP])).worker).toEqual([])
  })

  it('an owner may vouch for the output of a step with a closed schema', async () => {
    const steps = [
      { ...READ, dropsLabels: true },
      { ...STEP, inputMapping: { text: '{$.steps.page.grade}' } },
    ]
    expect((await labelled(steps)).worker).toEqual([])
  })

  it('an owner cannot vouch for free text', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: [{ ...STEP, dropsLabels: true }] },
      { worker: [] },
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: {} }))).reason).toBe('drops_labels.schema')
  })

  it('those of the input go with the input, and those of a run that is resumed are the same', async () => {
    const { untrusted } = await import('@sluice/core')
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: [STEP, { agent: 'worker', outputKey: 'again' }] },
      { worker: ['One.', 'Two.'] },
      { plugins: [recorder.plugin] },
    )
    await runtime.execute({ agent: 'flow', input: { text: untrusted('a', 'mail') } as never })
    expect(recorder.at('beforeModelCall').map(({ context }) => (context as { labels: unknown }).labels)).toEqual([
      [],
      [{ kind: 'input', source: 'mail' }],
    ])
  })
})
