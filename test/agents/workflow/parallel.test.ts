import { definePlugin } from '@sluice/core'
import { providerError, reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { ALL, approval, member, openWorkflow } from './support/workflow-house.js'

const STEPS = [
  { agent: 'one', outputKey: 'a' },
  { agent: 'two', outputKey: 'b' },
  { agent: 'three', outputKey: 'c' },
]
const AT_ONCE = { workflowType: 'parallel', steps: STEPS, parallelConfig: { executionMode: 'wait_all' } } as const

/** Lets no model call go before `count` of them have come. */
function meeting(count: number) {
  const seen: string[] = []
  let meet: (() => void) | undefined
  const met = new Promise<void>((resolve) => (meet = resolve))
  const plugin = definePlugin({
    name: 'together',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeModelCall.tapPromise({ name: 'together' }, async ({ effectId }) => {
        seen.push(effectId.split('/').slice(1).join('/'))
        if (seen.length === count) meet?.()
        await met
      })
    },
  })()
  return { plugin, seen }
}

describe('a parallel workflow', () => {
  it('W-26, W-W7: with wait_all its steps really run at once, each at a place of its own, and the result says so', async () => {
    const { plugin, seen } = meeting(3)
    const { runtime } = await openWorkflow(AT_ONCE, { one: ['1'], two: ['2'], three: ['3'] }, { plugins: [plugin] })
    const run = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect(seen.sort()).toEqual(['s1.a/step/m1', 's2.b/step/m1', 's3.c/step/m1'])
    expect(run.output).toEqual({ a: '1', b: '2', c: '3' })
    expect(run.details).toMatchObject({ _parallel_execution_mode: 'wait_all', _workflow_iterations: 3 })
  })

  it('W-26, W-W7: without it they run one after another, each with the state so far, and the result says so', async () => {
    const { runtime, sent } = await openWorkflow(
      {
        workflowType: 'parallel',
        steps: [STEPS[0], { agent: 'two', outputKey: 'b', inputMapping: { text: 'after {$.steps.a}' } }],
      } as never,
      { one: ['1'], two: ['2'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect([sent('two'), run.details?._parallel_execution_mode]).toEqual([['after 1'], 'sequential'])
  })

  it('W-26, W-22: with wait_all every step and every condition sees the state as it was before', async () => {
    const { runtime, sent } = await openWorkflow(
      {
        ...AT_ONCE,
        steps: [
          STEPS[0],
          { agent: 'two', outputKey: 'b', inputMapping: { text: { path: '{$.steps.a}', default: 'nothing yet' } } },
          { agent: 'three', outputKey: 'c', condition: 'has({$.steps.a})' },
        ],
      } as never,
      { one: ['1'], two: ['2'], three: [] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect([sent('two'), run.output]).toEqual([['nothing yet'], { a: '1', b: '2' }])
  })

  it.each(['sequential', 'wait_all'] as const)(
    'W-27: merge, array and first, in the order of the list (%s)',
    async (executionMode) => {
      const answers: unknown[] = []
      for (const aggregationStrategy of ['merge', 'array', 'first'] as const) {
        const { runtime } = await openWorkflow(
          {
            workflowType: 'parallel',
            parallelConfig: { executionMode, aggregationStrategy },
            steps: [{ agent: 'one', outputKey: 'a', condition: 'false' }, ...STEPS.slice(1)],
          },
          { one: [], two: ['2'], three: ['3'] },
        )
        const run = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
        answers.push(run.output ?? run.text)
      }
      expect(answers).toEqual([{ b: '2', c: '3' }, ['2', '3'], '2'])
    },
  )

  it('W-24, W-25: final_message stands above the aggregate, and nothing comes of nothing', async () => {
    const first = await openWorkflow(
      { ...AT_ONCE, finalMessage: '{$.steps.c}{$.steps.a}' },
      { one: ['1'], two: ['2'], three: ['3'] },
    )
    expect((await first.runtime.execute({ agent: 'flow', input: { text: 'x' } })).text).toBe('31')
    const none = await openWorkflow({ ...AT_ONCE, steps: [{ ...STEPS[0], condition: 'false' }] as never }, { one: [] })
    const run = await none.runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect([run.text, run.output]).toEqual([null, undefined])
  })

  it('W-44: the first failure in the order of the list is that of the workflow; the others come to their end', async () => {
    const { runtime } = await openWorkflow(AT_ONCE, {
      one: ['1'],
      two: [providerError(429)],
      three: [providerError(500)],
    })
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'x' } }))
    expect(error.code).toBe('PROVIDER_RATE_LIMITED')
    const { items } = await runtime.executions.list({
      ...ALL,
      rootExecutionId: error.partial.executionId,
      level: 'nested',
    })
    expect(items.map((row) => [row.agentCode, row.status]).sort()).toEqual([
      ['one', 'completed'],
      ['three', 'failed'],
      ['two', 'failed'],
    ])
  })

  it('W-45, W-27: a step that may fail leaves null, and is not the first output', async () => {
    const steps = [{ ...STEPS[0], onError: 'continue' }, STEPS[1]] as never
    const { runtime } = await openWorkflow({ ...AT_ONCE, steps }, { one: [providerError(500)], two: ['2'] })
    const run = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect([run.output, run.details?.steps_errors]).toEqual([
      { a: null, b: '2' },
      { a: expect.stringMatching(/^ERR-/) },
    ])
    const first = await openWorkflow(
      { ...AT_ONCE, steps, parallelConfig: { executionMode: 'wait_all', aggregationStrategy: 'first' } },
      { one: [providerError(500)], two: ['2'] },
    )
    expect((await first.runtime.execute({ agent: 'flow', input: { text: 'x' } })).text).toBe('2')
  })

  it('CASE-25: the limits of the tree hold over all of them together', async () => {
    // which of them comes first is not said, so none of these scripts has to be played
    const others = ['one', 'two', 'three'].map((id) => scriptedProvider(['ok'], { id }))
    const { runtime } = await openWorkflow(
      { ...AT_ONCE, steps: STEPS.map((step) => ({ ...step, onError: 'continue' })) as never },
      {},
      { limits: { modelCalls: 1 }, others, agents: ['one', 'two', 'three'].map((code) => member(code)) },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'x' } }))
    expect([error.code, error.details.limit]).toEqual(['TREE_LIMIT', 'modelCalls'])
    expect(others.flatMap((provider) => provider.requests).length).toBeLessThanOrEqual(1)
  })

  it('a pause in one lets the others come to their end; the resume runs none of them again', async () => {
    const { tool, calls } = noteTool()
    const { runtime, providers } = await openWorkflow(
      AT_ONCE,
      {
        one: ['1'],
        two: [reply.toolCall('write_note', { text: 'x' }), '2'],
        three: [reply.toolCall('write_note', { text: 'y' }), '3'],
      },
      { plugins: [approval()], members: { two: { tools: [tool] }, three: { tools: [tool] } } },
    )
    const paused = await runtime.execute({ agent: 'flow', input: { text: 'x' } })
    expect([paused.status, paused.pending.map((one) => one.agentCode).sort(), calls]).toEqual([
      'paused',
      ['three', 'two'],
      [],
    ])
    for (const { effectId } of paused.pending)
      await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', ...ALL })
    const run = await runtime.resume(paused.executionId, ALL)
    expect([run.status, run.output, calls.length]).toEqual(['completed', { a: '1', b: '2', c: '3' }, 2])
    expect(['one', 'two', 'three'].map((code) => providers[code]?.requests.length)).toEqual([1, 2, 2])
  })

  it('a failure beside a pause ends the run: nobody is asked for what leads nowhere', async () => {
    const { tool } = noteTool()
    const { runtime } = await openWorkflow(
      AT_ONCE,
      { one: [reply.toolCall('write_note', { text: 'x' })], two: ['2'], three: [providerError(500)] },
      { plugins: [approval()], members: { one: { tools: [tool] } } },
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: { text: 'x' } }))).code).toBe('PROVIDER_OVERLOADED')
  })
})
