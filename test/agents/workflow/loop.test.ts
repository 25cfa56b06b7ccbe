import { createMemoryStore } from '@sluice/core'
import { fakeClock, providerError, recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { ALL, approval, openWorkflow, RATING } from './support/workflow-house.js'

const WRITE = {
  agent: 'writer',
  outputKey: 'haiku',
  inputMapping: {
    text: '{$.input.topic}',
    feedback: { path: '{$.steps.rating.notes}', optional: true },
  },
} as const
const RATE = { agent: 'rater', outputKey: 'rating', inputMapping: { text: '{$.steps.haiku}' } } as const
const LOOP = {
  workflowType: 'loop',
  steps: [WRITE, RATE],
  loopConfig: { maxIterations: 5, exitCondition: '{$.steps.rating.score} >= 8' },
  finalMessage: '{$.steps.haiku}',
} as const
const RATED = { members: { rater: { output: RATING } } }
const rate = (score: number, notes = 'duller') => reply.json({ score, notes })
const inputsOf = async (
  { runtime }: Awaited<ReturnType<typeof openWorkflow>>,
  executionId: string,
  agentCode: string,
) => {
  const { items } = await runtime.executions.list({ ...ALL, rootExecutionId: executionId, level: 'nested' })
  return items
    .filter((row) => row.agentCode === agentCode)
    .map((row) => row.input)
    .reverse()
}

describe('a loop', () => {
  it('W-30, W-32, W-34, W-36: ends when its condition holds; feedback is left out of the first iteration and there from the second', async () => {
    const made = await openWorkflow(
      LOOP,
      { writer: ['One.', 'Two.'], rater: [rate(3, 'dull'), rate(9, 'good')] },
      RATED,
    )
    const run = await made.runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect(run.text).toBe('Two.')
    expect(run.details).toEqual({
      input: { topic: 'rain' },
      steps: { haiku: 'Two.', rating: { score: 9, notes: 'good' } },
      _workflow_iterations: 4,
      _loop_iterations: 2,
      _loop_iteration_state: [
        { haiku: 'One.', rating: { score: 3, notes: 'dull' } },
        { haiku: 'Two.', rating: { score: 9, notes: 'good' } },
      ],
      _loop_exit_reason: 'condition',
    })
    expect(await inputsOf(made, run.executionId, 'writer')).toEqual([
      { text: 'rain' },
      { text: 'rain', feedback: 'dull' },
    ])
    expect((await made.runtime.executions.get(run.executionId, ALL)).iterationCount).toBe(2)
  })

  it('W-31, W-34: the condition is asked behind every step: a good result is not touched again, and the broken off iteration does not count', async () => {
    const { runtime } = await openWorkflow(
      {
        ...LOOP,
        steps: [
          { ...RATE, inputMapping: { text: { path: '{$.steps.haiku}', default: 'none yet' } } },
          { agent: 'writer', outputKey: 'haiku', inputMapping: { text: '{$.steps.rating.notes}' } },
        ],
      },
      { writer: ['One.'], rater: [rate(3), rate(8)] },
      RATED,
    )
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect([run.text, run.details?._loop_iterations, run.details?._loop_exit_reason]).toEqual(['One.', 1, 'condition'])
    expect(run.details?._loop_iteration_state).toEqual([{ rating: { score: 3, notes: 'duller' }, haiku: 'One.' }])
  })

  it('W-30, CASE-25: reaching the limit is a normal end, after exactly so many iterations', async () => {
    const { runtime, providers } = await openWorkflow(
      { ...LOOP, loopConfig: { ...LOOP.loopConfig, maxIterations: 3 } },
      { writer: ['1', '2', '3'], rater: [rate(1), rate(2), rate(3)] },
      RATED,
    )
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect([run.text, run.details?._loop_iterations, run.details?._loop_exit_reason]).toEqual([
      '3',
      3,
      'max_iterations',
    ])
    expect(providers.writer?.requests).toHaveLength(3)
  })

  it.each([
    ['loop_config', { max_iterations: 2 }, 4, 2],
    ["the agent's max_iterations", {}, 4, 4],
    ['ten', {}, undefined, 10],
  ])(
    'W-29, W-33, CASE-25: without an exit condition the loop runs to its limit: %s',
    async (_name, loopConfig, maxIterations, times) => {
      const { runtime } = await openWorkflow(LOOP, { writer: Array(times).fill('again'), rater: [] }, RATED)
      await runtime.agents.create({
        code: 'stored',
        description: 'A loop in the store.',
        agentType: 'workflow',
        status: 'active',
        workflowDefinition: {
          workflow_type: 'loop',
          steps: [{ agent_code: 'writer', output_key: 'haiku' }],
          loop_config: loopConfig as never,
        },
        ...(maxIterations === undefined ? {} : { maxIterations }),
      })
      const run = await runtime.execute({ agent: 'stored', input: { text: 'a' } })
      expect([run.details?._loop_iterations, run.details?._loop_exit_reason]).toEqual([times, 'max_iterations'])
    },
  )

  it('W-28, W-35: pre-steps run once before, post-steps once behind; the answer is that of the last of them', async () => {
    const { runtime, sent } = await openWorkflow(
      {
        workflowType: 'loop',
        preSteps: [{ agent: 'planner', outputKey: 'plan', inputMapping: { text: '{$.input.topic}' } }],
        steps: [{ agent: 'writer', outputKey: 'haiku', inputMapping: { text: '{$.steps.plan} {$._loop_iterations}' } }],
        postSteps: [{ agent: 'translator', outputKey: 'translated', inputMapping: { text: '{$.steps.haiku}' } }],
        loopConfig: { maxIterations: 2 },
      },
      { planner: ['Plan.'], writer: ['One.', 'Two.'], translator: ['Zwei.'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect([run.text, sent('writer'), sent('translator')]).toEqual(['Zwei.', ['Plan. 0', 'Plan. 1'], ['Two.']])
  })

  it('W-22: conditions hold in pre-steps, steps and post-steps', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'loop',
        preSteps: [{ agent: 'planner', outputKey: 'plan', condition: '{$.input.plan}' }],
        steps: [
          { agent: 'writer', outputKey: 'haiku', inputMapping: { text: 'a' } },
          { agent: 'editor', outputKey: 'edited', condition: '{$._loop_iterations} > 0', inputMapping: { text: 'b' } },
        ],
        postSteps: [{ agent: 'translator', outputKey: 'translated', condition: 'has({$.steps.plan})' }],
        loopConfig: { maxIterations: 2 },
      },
      { planner: [], writer: ['One.', 'Two.'], editor: ['Edited.'], translator: [] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { plan: false } })
    expect([run.text, run.details?.steps]).toEqual(['Edited.', { haiku: 'Two.', edited: 'Edited.' }])
  })

  it('W-44: a step that fails ends it: no further iteration, no post-step', async () => {
    const { runtime } = await openWorkflow(
      { ...LOOP, postSteps: [{ agent: 'translator', outputKey: 'translated' }] },
      { writer: ['One.', providerError(500)], rater: [rate(1)], translator: [] },
      RATED,
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: { topic: 'rain' } }))).code).toBe(
      'PROVIDER_OVERLOADED',
    )
  })

  it('CASE-25: the limits of the tree hold in it, and the outcome names the bound', async () => {
    const { runtime, providers } = await openWorkflow(
      {
        workflowType: 'loop',
        steps: [{ agent: 'writer', outputKey: 'haiku', inputMapping: { text: 'a' }, onError: 'continue' }],
        loopConfig: { maxIterations: 1_000 },
      },
      { writer: Array(5).fill('again') },
      { limits: { modelCalls: 5 } },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { topic: 'rain' } }))
    expect([error.code, error.details.limit]).toEqual(['TREE_LIMIT', 'modelCalls'])
    expect(providers.writer?.requests).toHaveLength(5)
    expect((await runtime.executions.get(error.partial.executionId, ALL)).failureKind).toBe('limit')
  })

  it('CASE-25: one in which nothing runs comes to its end', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'loop',
        steps: [{ agent: 'writer', outputKey: 'haiku', condition: 'false' }],
        loopConfig: { maxIterations: 10_000 },
      },
      { writer: [] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect([run.text, run.details?._workflow_iterations, run.details?._loop_iterations]).toEqual([null, 0, 10_000])
  })

  it('W-48: the state that is kept says how far it came', async () => {
    const { runtime } = await openWorkflow(
      LOOP,
      { writer: ['One.', 'Two.'], rater: [rate(1), providerError(500)] },
      RATED,
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { topic: 'rain' } }))
    expect((await runtime.executions.get(error.partial.executionId, ALL)).currentState).toEqual({
      input: { topic: 'rain' },
      steps: { haiku: 'Two.', rating: { score: 1, notes: 'duller' } },
      _loop_iterations: 1,
    })
  })

  it('W-48: one that waits for a human in its second iteration is carried on by another runtime, which runs no finished step again', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const { tool, calls } = noteTool()
    const members = { rater: { output: RATING, tools: [tool] } }
    const first = await openWorkflow(
      LOOP,
      { writer: ['One.', 'Two.'], rater: [rate(3), reply.toolCall('write_note', { text: 'x' })] },
      { plugins: [approval()], members, store, clock },
    )
    const paused = await first.runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    const [pending] = paused.pending
    expect(pending?.effectId).toBe(`${paused.executionId}/i2.s2.rating/m1.t1`)
    const recorder = recordingPlugin({ points: ['beforeModelCall'] })
    const second = await openWorkflow(
      LOOP,
      { writer: [], rater: [rate(9)] },
      { plugins: [approval(), recorder.plugin], members, store, clock, seed: 1 },
    )
    await second.runtime.decide(paused.executionId, {
      effectId: pending?.effectId ?? '',
      decision: 'approve',
      by: 'boss',
      ...ALL,
    })
    const run = await second.runtime.resume(paused.executionId, { ...ALL, acceptHooks: [recorder.plugin.name] })
    expect([run.status, run.text, run.details?._loop_iterations, calls.length]).toEqual(['completed', 'Two.', 2, 1])
    expect(recorder.at('beforeModelCall').map(({ context }) => (context as { effectId: string }).effectId)).toEqual([
      `${paused.executionId}/i2.s2.rating/m2`,
    ])
    const rows = (await second.runtime.executions.list({ ...ALL, rootExecutionId: run.executionId, level: 'nested' }))
      .items
    expect(rows.map((row) => [row.agentCode, row.status]).reverse()).toEqual([
      ['writer', 'completed'],
      ['rater', 'completed'],
      ['writer', 'completed'],
      ['rater', 'completed'],
    ])
  })
})
