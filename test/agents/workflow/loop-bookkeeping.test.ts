import type { AgentDefinition, AgentType } from '@sluice/core'
import { sealAgent } from '@sluice/core'
import { defineWorkflow, workflowType } from '@sluice/agents'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { house } from '../../runs/support/house.js'

/** An agent that answers with the next number, without a model. */
function counter() {
  let count = 0
  const type: AgentType = {
    type: 'counter',
    accepts: { output: false, followUp: false, files: false },
    validate: () => [],
    references: () => ({ agents: [], profiles: [] }),
    run: async () => {
      count += 1
      return { text: String(count), output: count, finishReason: 'stop', iterationCount: 0 }
    },
  }
  return {
    type,
    reset: () => (count = 0),
    agent: sealAgent({ agentType: 'counter', code: 'count', description: 'Counts.' }),
  }
}

interface Case {
  readonly steps: readonly { readonly key: string; readonly from: number }[]
  readonly pre: number
  readonly post: number
  readonly max: number
  readonly exitAt: number
}

/** What a loop has to come to, worked out by itself: a step runs from the iteration `from` on. */
function expected({ steps, pre, post, max, exitAt }: Case) {
  let count = 0
  let executed = 0
  let last: number | null = null
  let iterations = 0
  let reason = 'max_iterations'
  const state: Record<string, number> = {}
  const snapshots: Record<string, number>[] = []
  const step = (key: string) => {
    count += 1
    executed += 1
    state[key] = count
    last = count
  }
  for (let index = 0; index < pre; index++) step('before')
  loop: for (let iteration = 0; iteration < max; iteration++) {
    for (const [index, { key, from }] of steps.entries()) {
      if (iteration >= from) step(key)
      const exit = Object.entries(state).some(([name, value]) => name === 'k0' && value >= exitAt)
      if (exit) {
        reason = 'condition'
        if (index < steps.length - 1) break loop
      }
    }
    iterations = iteration + 1
    snapshots.push({ ...state })
    if (reason === 'condition') break
  }
  for (let index = 0; index < post; index++) step('behind')
  return { state, executed, last, iterations, reason, snapshots }
}

const cases: fc.Arbitrary<Case> = fc.record({
  steps: fc
    .array(fc.record({ key: fc.constantFrom('k0', 'k1', 'k2'), from: fc.nat(3) }), { minLength: 1, maxLength: 4 })
    .map(([first, ...rest]) => [{ key: 'k0', from: (first as { from: number }).from }, ...rest]),
  pre: fc.nat(2),
  post: fc.nat(2),
  max: fc.integer({ min: 1, max: 5 }),
  exitAt: fc.nat(12),
})

describe('what a loop counts', () => {
  it('W-28, W-30, W-31, W-33, W-34, W-35, CASE-25: is what a plain loop over the same steps would count, whatever it is made of', async () => {
    const { type, agent, reset } = counter()
    const { runtime } = await house([], { agentTypes: [workflowType(), type], agents: [agent] })
    let exited = 0
    let number = 0
    await fc.assert(
      fc.asyncProperty(cases, async (made) => {
        reset()
        const flow = defineWorkflow({
          code: `flow_${++number}`,
          description: 'A loop.',
          workflowType: 'loop',
          preSteps: Array.from({ length: made.pre }, () => ({ agent: 'count', outputKey: 'before' })),
          steps: made.steps.map(({ key, from }) => ({
            agent: 'count',
            outputKey: key,
            condition: `{$._loop_iterations} >= ${from}`,
          })),
          postSteps: Array.from({ length: made.post }, () => ({ agent: 'count', outputKey: 'behind' })),
          loopConfig: { maxIterations: made.max, exitCondition: `{$.steps.k0} >= ${made.exitAt}` },
        }) as unknown as AgentDefinition
        const run = await runtime.execute({ agent: flow, input: {} })
        const wanted = expected(made)
        if (wanted.reason === 'condition') exited += 1
        expect(run.details).toEqual({
          input: {},
          steps: wanted.state,
          _workflow_iterations: wanted.executed,
          _loop_iterations: wanted.iterations,
          _loop_iteration_state: wanted.snapshots,
          _loop_exit_reason: wanted.reason,
        })
        expect(run.output ?? null).toBe(wanted.last)
      }),
      { numRuns: 60 },
    )
    expect(exited).toBeGreaterThan(5)
  })
})
