import type { AgentDefinition } from '@sluice/core'
import { defineAgent, sealAgent } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineWorkflow } from './define-workflow.js'
import { workflowWarnings } from './workflow-warnings.js'

const agent = (code: string, output?: z.ZodType): AgentDefinition =>
  defineAgent({ code, description: 'An agent.', model: 'a/b', user: '{text}', output } as never) as never
const loop = (loopConfig: object, more: object = {}): AgentDefinition =>
  defineWorkflow({
    code: 'loop',
    description: 'A loop.',
    workflowType: 'loop',
    steps: [
      { agent: 'writer', outputKey: 'draft' },
      { agent: 'rater', outputKey: 'rating' },
    ],
    loopConfig,
    ...more,
  } as never) as never
const RATED = { maxIterations: 3, exitCondition: '{$.steps.rating.score} > 8' }
const rater = agent('rater', z.object({ score: z.number() }))

describe('workflowWarnings', () => {
  it('says nothing of a workflow about which nothing is doubtful', () => {
    expect(workflowWarnings(loop(RATED), [agent('writer'), rater])).toEqual([])
  })

  it('A-3, A-51: tells of a loop whose limit is left to its default, unless the agent has one', () => {
    const open = loop({ exitCondition: 'false' })
    expect(workflowWarnings(open)).toEqual([expect.stringContaining('default of 10')])
    expect(workflowWarnings(sealAgent({ ...open, maxIterations: 3 } as never))).toEqual([])
  })

  it('A-51: tells of a loop that always runs to its limit', () => {
    expect(workflowWarnings(loop({ maxIterations: 3 }))).toEqual([
      expect.stringContaining('exit_condition: is not there'),
    ])
  })

  it('A-51: tells of fields that are read of an agent without an answer schema, wherever they are', () => {
    const found = workflowWarnings(
      loop(RATED, {
        postSteps: [
          {
            agent: 'writer',
            outputKey: 'last',
            condition: '{$.steps.draft.done}',
            inputMapping: { text: '{$.steps.rating.score}' },
          },
        ],
        finalMessage: 'x {$.steps.draft.title}',
      }),
      [agent('writer'), agent('rater')],
    )
    expect(found.map((text) => text.split(': reads')[0])).toEqual([
      'step last, condition',
      'step last, parameter text',
      'loop_config.exit_condition',
      'final_message',
    ])
  })

  it('A-51: says nothing of agents that it does not know, and of whole outputs', () => {
    expect(workflowWarnings(loop(RATED, { finalMessage: '{$.steps.draft}' }), [agent('writer')])).toEqual([])
  })

  it('gives the faults of one that cannot be read', () => {
    const broken = sealAgent({ agentType: 'workflow', code: 'a', description: 'b', workflowDefinition: {} })
    expect(workflowWarnings(broken).join()).toContain('workflow_type')
  })
})
