import type { AgentDefinition, JsonObject } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import {
  AGENTS_ERROR_CODES,
  createParallelWorkflow,
  createSequentialWorkflow,
  defineWorkflow,
  workflowType,
} from '@sluice/agents'
import type { WorkflowJson } from '@sluice/agents'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { failureOf, house } from '../../runs/support/house.js'
import { ALL, member, openWorkflow } from './support/workflow-house.js'

/** A runtime with the agents `writer` and `rater`, and nothing else. */
const open = (scripts: Parameters<typeof openWorkflow>[1] = { writer: [], rater: [] }) =>
  openWorkflow({ workflowType: 'sequential', steps: [{ agent: 'writer', outputKey: 'x' }] }, scripts)
const stored = (workflowDefinition: unknown, more: object = {}) => ({
  code: 'stored',
  description: 'A workflow in the store.',
  agentType: 'workflow',
  status: 'active' as const,
  workflowDefinition: workflowDefinition as JsonObject,
  ...more,
})
const STEP = { agent_code: 'writer', output_key: 'draft' }
const faultsOf = async (workflowDefinition: unknown): Promise<readonly string[]> => {
  const { runtime } = await open()
  const error = await failureOf(runtime.agents.create(stored(workflowDefinition)))
  expect(error.code).toBe('INVALID_CONFIG')
  return error.details.faults as readonly string[]
}

describe('a definition in the store', () => {
  it('Z-1, W-1: one under the keys of the original loads as it is', async () => {
    const definition: WorkflowJson = {
      workflow_type: 'loop',
      pre_steps: [
        { step_id: 'first', agent_code: 'writer', output_key: 'draft', input_mapping: { text: '{$.input.topic}' } },
      ],
      steps: [
        {
          agent_code: 'rater',
          output_key: 'rating',
          input_mapping: { text: '{$.steps.draft}', notes: { path: '{$.steps.rating}', optional: true } },
          condition: 'has({$.steps.draft})',
          on_error: 'retry',
          max_retries: 2,
        },
      ],
      post_steps: [
        { agent_code: 'writer', output_key: 'translated', input_mapping: { text: { expression: '{$.steps.draft}' } } },
      ],
      loop_config: { max_iterations: 1, exit_condition: "{$.steps.rating} == 'good'" },
      final_message: '{$.steps.translated}',
    }
    const { runtime } = await open({ writer: ['One.', 'Eins.'], rater: ['good'] })
    const id = await runtime.agents.create(stored(JSON.parse(JSON.stringify(definition)) as object))
    expect((await runtime.agents.get({ id })).workflowDefinition).toEqual(definition)
    expect((await runtime.execute({ agent: 'stored', input: { topic: 'rain' } })).text).toBe('Eins.')
  })

  it('W-3, W-43: a step names an agent of any type by its code, its active version runs, and without a condition it always does', async () => {
    const { runtime } = await open({ writer: ['inner', 'inner'], rater: ['outer', 'outer'] })
    const inner = (agent: string) => ({
      ...stored({ workflow_type: 'sequential', steps: [{ ...STEP, agent_code: agent }] }),
      code: 'inner',
    })
    const first = await runtime.agents.create(inner('writer'))
    await runtime.agents.create(
      stored({ workflow_type: 'sequential', steps: [{ agent_code: 'inner', output_key: 'a' }] }),
    )
    expect((await runtime.execute({ agent: 'stored', input: { text: 'x' } })).text).toBe('inner')
    const second = await runtime.agents.create({ ...inner('rater'), version: 2, status: 'draft' })
    expect((await runtime.execute({ agent: 'stored', input: { text: 'x' } })).text).toBe('inner')
    await runtime.agents.changeStatus({ id: first }, 'archived')
    await runtime.agents.changeStatus({ id: second }, 'active')
    expect((await runtime.execute({ agent: 'stored', input: { text: 'x' } })).text).toBe('outer')
    expect((await runtime.execute({ agent: 'inner', input: { text: 'x' } })).text).toBe('outer')
  })

  it('A-9: the id of the version comes back; without a workflow_definition it is MISSING_CONFIG', async () => {
    const { runtime } = await open()
    const id = await runtime.agents.create(stored({ workflow_type: 'sequential', steps: [STEP] }))
    expect((await runtime.agents.get({ code: 'stored' })).id).toBe(id)
    const error = await failureOf(
      runtime.agents.create({ code: 'bare', description: 'A bare one.', agentType: 'workflow' }),
    )
    expect(error.code).toBe('MISSING_CONFIG')
  })

  it('A-10: is checked on update too', async () => {
    const { runtime } = await open()
    const id = await runtime.agents.create(stored({ workflow_type: 'sequential', steps: [STEP] }))
    const error = await failureOf(
      runtime.agents.update(id, { workflowDefinition: { workflow_type: 'sequential', steps: [] } }),
    )
    expect(error.message).toContain('steps: must be a list of at least one step')
  })

  it('A-11: agents that it names have to be there and active: in steps, pre-steps and post-steps', async () => {
    const { runtime } = await open()
    for (const place of ['steps', 'pre_steps', 'post_steps']) {
      const definition = {
        workflow_type: 'loop',
        steps: [STEP],
        loop_config: {},
        [place]: [{ ...STEP, agent_code: 'nobody' }],
      }
      const error = await failureOf(runtime.agents.create(stored(definition)))
      expect([error.reason, error.details.missing]).toEqual(['references.missing', 'nobody'])
    }
  })

  it('A-22: an agent that a workflow names cannot be deleted', async () => {
    const { runtime } = await open()
    const id = await runtime.agents.create({ ...stored({ workflow_type: 'sequential', steps: [STEP] }), code: 'other' })
    const error = await failureOf(runtime.agents.delete({ code: 'writer' }))
    expect([error.code, error.details.references]).toEqual(['HAS_REFERENCES', 2])
    await runtime.agents.delete({ id })
    expect((await failureOf(runtime.agents.delete({ code: 'writer' }))).details.references).toBe(1)
  })

  // cites: W-2, W-4, W-37, W-42, W-W3, W-W6, CASE-22
  it.each([
    [
      'an unknown type',
      { workflow_type: 'tree', steps: [STEP] },
      'workflow_type: must be one of sequential, conditional, parallel, loop, not "tree"',
    ],
    ['no type', { steps: [STEP] }, 'workflow_type: must be one of'],
    ['no steps', { workflow_type: 'sequential' }, 'steps: must be a list of at least one step'],
    [
      'an empty list of steps',
      { workflow_type: 'sequential', steps: [] },
      'steps: must be a list of at least one step',
    ],
    ['a step that is no object', { workflow_type: 'sequential', steps: ['writer'] }, 'steps[0]: must be an object'],
    [
      'W-4: no output key',
      { workflow_type: 'sequential', steps: [{ agent_code: 'writer' }] },
      'steps[0].output_key: must be',
    ],
    ['no agent', { workflow_type: 'sequential', steps: [{ output_key: 'a' }] }, 'steps[0].agent_code: must be'],
    [
      'CASE-22: __proto__ as output key',
      { workflow_type: 'sequential', steps: [{ ...STEP, output_key: '__proto__' }] },
      'steps[0].output_key: must not be "__proto__"',
    ],
    [
      'CASE-22: constructor as output key',
      { workflow_type: 'sequential', steps: [{ ...STEP, output_key: 'constructor' }] },
      'must not be "constructor"',
    ],
    [
      'an output key with a dot',
      { workflow_type: 'sequential', steps: [{ ...STEP, output_key: 'a.b' }] },
      'steps[0].output_key: must be',
    ],
    ['an unknown key', { workflow_type: 'sequential', steps: [STEP], step: [] }, 'has the unknown key "step"'],
    [
      'an unknown key of a step',
      { workflow_type: 'sequential', steps: [{ ...STEP, on_eror: 'stop' }] },
      'steps[0]: has the unknown key "on_eror"',
    ],
    [
      'an unknown on_error',
      { workflow_type: 'sequential', steps: [{ ...STEP, on_error: 'ignore' }] },
      'steps[0].on_error: must be one of',
    ],
    [
      'max_retries without retry',
      { workflow_type: 'sequential', steps: [{ ...STEP, max_retries: 2 }] },
      'steps[0].max_retries: goes with',
    ],
    [
      'too many retries',
      { workflow_type: 'sequential', steps: [{ ...STEP, on_error: 'retry', max_retries: 11 }] },
      'whole number from 1 to 10',
    ],
    [
      'a step_id that is no text',
      { workflow_type: 'sequential', steps: [{ ...STEP, step_id: 7 }] },
      'steps[0].step_id: must be a text of',
    ],
    [
      'drops_labels that is no truth value',
      { workflow_type: 'sequential', steps: [{ ...STEP, drops_labels: 'yes' }] },
      'steps[0].drops_labels',
    ],
    ['W-W6: a loop without loop_config', { workflow_type: 'loop', steps: [STEP] }, 'loop_config: must be an object'],
    [
      'an unknown key of loop_config',
      { workflow_type: 'loop', steps: [STEP], loop_config: { max: 3 } },
      'loop_config: has the unknown key "max"',
    ],
    [
      'no iterations',
      { workflow_type: 'loop', steps: [STEP], loop_config: { max_iterations: 0 } },
      'loop_config.max_iterations: must be a whole number from 1 to 10000',
    ],
    [
      'pre-steps without a loop',
      { workflow_type: 'sequential', steps: [STEP], pre_steps: [STEP] },
      'pre_steps: belongs to workflows of type loop',
    ],
    [
      'parallel_config without parallel',
      { workflow_type: 'sequential', steps: [STEP], parallel_config: {} },
      'parallel_config: belongs to',
    ],
    [
      'an unknown execution mode',
      { workflow_type: 'parallel', steps: [STEP], parallel_config: { execution_mode: 'race' } },
      'parallel_config.execution_mode: must be one of sequential, wait_all',
    ],
    [
      'an unknown aggregation',
      { workflow_type: 'parallel', steps: [STEP], aggregation_strategy: 'sum' },
      'aggregation_strategy: must be one of merge, array, first',
    ],
    [
      'two aggregations',
      {
        workflow_type: 'parallel',
        steps: [STEP],
        aggregation_strategy: 'array',
        parallel_config: { aggregation_strategy: 'first' },
      },
      'aggregation_strategy: is given twice',
    ],
    [
      'W-42: a condition that cannot be read',
      { workflow_type: 'sequential', steps: [{ ...STEP, condition: '1 <' }] },
      'steps[0].condition: character 4',
    ],
    [
      'W-37: a condition of the original',
      { workflow_type: 'loop', steps: [STEP], loop_config: { exit_condition: '{$.steps.draft} = 1' } },
      'loop_config.exit_condition: is written in CEL as: {$.steps.draft} == 1',
    ],
    [
      'W-42: a reference that cannot be read',
      { workflow_type: 'sequential', steps: [STEP], final_message: '{$.steps' },
      'final_message: has a reference at character 1 without a closing brace',
    ],
    [
      'W-W3: a path to an output that there is not',
      { workflow_type: 'sequential', steps: [STEP], final_message: '{$.steps.draught}' },
      'final_message: names {$.steps.draught}, and no step has that output_key; there are draft',
    ],
    [
      'W-W3: such a path in a mapping',
      { workflow_type: 'sequential', steps: [{ ...STEP, input_mapping: { text: '{$.steps.draught.x}' } }] },
      'step draft, parameter "text": names',
    ],
    [
      'W-W3: such a path in a condition',
      { workflow_type: 'sequential', steps: [{ ...STEP, condition: 'has({$.steps.draught})' }] },
      'step draft, condition: names',
    ],
    [
      'paths of conversations',
      { workflow_type: 'sequential', steps: [{ ...STEP, input_mapping: { text: '{$.chat_history}' } }] },
      'begins with "chat_history"',
    ],
  ] as [string, unknown, string][])('W-2: is refused with %s', async (_name, definition, fault) => {
    expect((await faultsOf(definition)).join('\n')).toContain(fault)
  })

  it('W-2, A-10: all its faults are told at once', async () => {
    const faults = await faultsOf({
      workflow_type: 'loop',
      steps: [{ agent_code: 'writer' }, { ...STEP, condition: '1 +', on_error: 'x' }],
      loop_config: { max_iterations: 0, exit_condition: '{$.foo}' },
      final_message: { path: 'x' },
    })
    expect(faults).toHaveLength(6)
  })

  it('a fault holds no control characters of the definition', async () => {
    const step = {
      ...STEP,
      step_id: '\u001b[2J',
      condition: '1 == \u001b',
      input_mapping: { '\u001b': null, a: '{$.input.\u001b}' },
      '\u001b': 1,
    }
    const faults = await faultsOf({
      workflow_type: '\u001b[2J',
      steps: [step],
      '\u001b': 1,
      final_message: '{$.\u001b}',
    })
    expect(faults.length).toBeGreaterThan(6)
    expect(faults.join('')).not.toContain('\u001b')
  })

  it('CASE-22: after all of this a fresh object has no property more', async () => {
    const text =
      '{"workflow_type":"sequential","steps":[{"agent_code":"writer","output_key":"draft","input_mapping":{"__proto__":{"path":"{$.input.x}"}}}],"__proto__":{"polluted":true}}'
    await faultsOf(JSON.parse(text))
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('WORKFLOW_INVALID, A-41: one that came into the store by another way and cannot be read is not run', async () => {
    const { runtime, store } = await open()
    const id = await runtime.agents.create(stored({ workflow_type: 'sequential', steps: [STEP] }))
    const record = await store.agents.get(id)
    if (record === undefined) throw new Error('there is no record')
    await store.agents.replace({
      ...record,
      definition: { ...record.definition, workflow_definition: { workflow_type: 'spiral', steps: [STEP] } },
    })
    const again = await house([], { store, agentTypes: [workflowType()] })
    const error = await failureOf(again.runtime.execute({ agent: 'stored', input: {} }))
    expect([error.code, error.details.faults]).toEqual(['WORKFLOW_INVALID', [expect.stringContaining('workflow_type')]])
  })

  it('WORKFLOW_MAPPING_FAILED: a parameter without a value fails the step, with parameter and path', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [{ agent: 'writer', outputKey: 'draft', stepId: 'first', inputMapping: { text: '{$.input.tpic}' } }],
      },
      { writer: [] },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { topic: 'rain' } }))
    expect([error.code, error.details]).toEqual([
      'WORKFLOW_MAPPING_FAILED',
      { workflow: 'flow', step: 'first', parameter: 'text', path: 'input.tpic' },
    ])
  })

  it('W-15, W-W3: a reference inside a text without a value is told to the logger', async () => {
    const { runtime, logger, sent } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [{ agent: 'writer', outputKey: 'draft', inputMapping: { text: 'On {$.input.tpic}.' } }],
        finalMessage: '<{$.input.x}>',
      },
      { writer: ['ok'] },
    )
    expect((await runtime.execute({ agent: 'flow', input: {} })).text).toBe('<>')
    expect(sent('writer')).toEqual(['On .'])
    expect(logger.matching('has no value').map((line) => [line.level, line.fields.path])).toEqual([
      ['warn', 'input.tpic'],
      ['warn', 'input.x'],
    ])
  })

  it('every code of the package is a SluiceError with a row that says what to do', () => {
    for (const row of Object.values(AGENTS_ERROR_CODES))
      expect([row.meaning, row.remedy].every((text) => text.length > 10)).toBe(true)
  })
})

describe('defineWorkflow', () => {
  it('takes agents and codes, and stores what the original would', () => {
    const flow = defineWorkflow({
      code: 'flow',
      description: 'A flow.',
      workflowType: 'parallel',
      parallelConfig: { executionMode: 'wait_all', aggregationStrategy: 'array' },
      steps: [
        { agent: member('writer'), outputKey: 'a', onError: 'retry', maxRetries: 2, stepId: 'one', dropsLabels: true },
        { agent: 'rater', outputKey: 'b', condition: 'true', inputMapping: { text: '{$.input.x}' } },
      ],
      finalMessage: '{$.steps.a}',
    })
    expect(flow.workflowDefinition).toEqual({
      workflow_type: 'parallel',
      parallel_config: { execution_mode: 'wait_all', aggregation_strategy: 'array' },
      steps: [
        {
          agent_code: 'writer',
          output_key: 'a',
          on_error: 'retry',
          max_retries: 2,
          step_id: 'one',
          drops_labels: true,
        },
        { agent_code: 'rater', output_key: 'b', condition: 'true', input_mapping: { text: '{$.input.x}' } },
      ],
      final_message: '{$.steps.a}',
    })
  })

  it('types its input and its answer by their schemas', () => {
    const flow = defineWorkflow({
      code: 'flow',
      description: 'A flow.',
      workflowType: 'sequential',
      steps: [{ agent: 'writer', outputKey: 'a' }],
      input: z.object({ topic: z.string() }),
      output: z.object({ score: z.number() }),
    })
    expectTypeOf(flow).toExtend<AgentDefinition<{ topic: string }, { score: number }>>()
    const wrong = () =>
      // @ts-expect-error a loop has to say where it ends
      defineWorkflow({
        code: 'a',
        description: 'b',
        workflowType: 'loop',
        steps: [{ agent: 'writer', outputKey: 'a' }],
      })
    expect(wrong).toThrow(SluiceError)
  })

  it('A-10: tells the faults of the agent and of the workflow together', () => {
    const wrong = () =>
      defineWorkflow({ code: 'a b', description: '', workflowType: 'sequential', steps: [], mode: 1 } as never)
    expect(wrong).toThrow(/code:[^]*description:[^]*steps:/)
    expect(wrong).toThrow(/mode: is not an option/)
  })

  it('registered twice it is one version; changed, it is the next', async () => {
    const { runtime } = await open()
    const flow = (text: string) =>
      defineWorkflow({
        code: 'twice',
        description: 'A flow.',
        workflowType: 'sequential',
        steps: [{ agent: 'writer', outputKey: 'a', inputMapping: { text } }],
      }) as unknown as AgentDefinition
    await runtime.agents.register([flow('a')])
    await runtime.agents.register([flow('a')])
    expect((await runtime.agents.get({ code: 'twice' })).version).toBe(1)
    await runtime.agents.register([flow('b')])
    expect((await runtime.agents.get({ code: 'twice' })).version).toBe(2)
  })

  it('A-39, CASE-25: a workflow that runs itself ends at the bound of levels', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: [{ agent: 'flow', outputKey: 'again', onError: 'continue' }] },
      {},
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: {} }))
    expect([error.code, error.details.bound]).toEqual(['MAX_NESTING_DEPTH', 25])
  })

  it.each([
    ['followUp', { followUp: 'And now?', sessionId: 's-1' }],
    ['output', { input: {}, output: z.object({}) }],
    ['files', { input: {}, files: [{ type: 'file', mediaType: 'image/png', data: 'aGk=' }] }],
  ])('A-36, A-37, A-38: %s is not for workflows', async (_name, options) => {
    const { runtime } = await open()
    expect((await failureOf(runtime.execute({ agent: 'flow', ...options } as never))).code).toBe('INVALID_CONFIG')
  })
})

describe('the helpers', () => {
  it('A-18, W-W6, W-20: createSequentialWorkflow stores steps step_1 to step_n, which run on the input as it is', async () => {
    const { runtime, sent } = await open({ writer: ['One.'], rater: ['Good.'] })
    const id = await createSequentialWorkflow(runtime.agents, {
      code: 'row',
      description: 'Writer, then rater.',
      agentCodes: ['writer', { agentCode: 'rater', inputMapping: { text: '{$.steps.step_1}' } }],
      status: 'active',
    })
    expect((await runtime.agents.get({ id })).workflowDefinition).toEqual({
      workflow_type: 'sequential',
      steps: [
        { step_id: 'step_1', agent_code: 'writer', output_key: 'step_1' },
        { step_id: 'step_2', agent_code: 'rater', output_key: 'step_2', input_mapping: { text: '{$.steps.step_1}' } },
      ],
    })
    const run = await runtime.execute({ agent: 'row', input: { text: 'rain' } })
    expect([run.text, sent('writer'), sent('rater')]).toEqual(['Good.', ['rain'], ['One.']])
  })

  it('A-18: createParallelWorkflow adds the aggregation, merge by default', async () => {
    const { runtime } = await open({ writer: ['One.', 'Two.'], rater: ['Good.', 'Bad.'] })
    const options = { description: 'Both.', agentCodes: ['writer', 'rater'], status: 'active' } as const
    await createParallelWorkflow(runtime.agents, { code: 'both', ...options })
    await createParallelWorkflow(runtime.agents, {
      code: 'list',
      ...options,
      aggregationStrategy: 'array',
      executionMode: 'wait_all',
    })
    expect((await runtime.execute({ agent: 'both', input: { text: 'a' } })).output).toEqual({
      step_1: 'One.',
      step_2: 'Good.',
    })
    const list = await runtime.execute({ agent: 'list', input: { text: 'a' } })
    expect([list.output, list.details?._parallel_execution_mode]).toEqual([['Two.', 'Bad.'], 'wait_all'])
  })

  it('A-4: without a status they store a draft, which runs by its version only', async () => {
    const { runtime } = await open({ writer: ['One.'] })
    await createSequentialWorkflow(runtime.agents, { code: 'row', description: 'One.', agentCodes: ['writer'] })
    expect((await failureOf(runtime.execute({ agent: 'row', input: { text: 'a' } }))).code).toBe('NOT_FOUND')
    expect((await runtime.execute({ agent: 'row', version: 1, input: { text: 'a' } })).text).toBe('One.')
  })
})

describe('values of a megabyte', () => {
  it('W-W8: go through state, mapping, answer and log', async () => {
    const large = 'ö'.repeat(500_000)
    const { runtime, sent } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [
          { agent: 'writer', outputKey: 'draft', inputMapping: { text: '{$.input.text}' } },
          { agent: 'rater', outputKey: 'rating', inputMapping: { text: '{$.steps.draft}!' } },
        ],
        finalMessage: '{$.steps.draft}',
      },
      { writer: [large], rater: ['ok'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: large }, sessionId: 's-1' })
    expect([run.text === large, sent('rater')[0] === `${large}!`]).toEqual([true, true])
    const { items } = await runtime.sessions.messages('s-1', ALL)
    expect(items.map((row) => row.content === large)).toEqual([true, true])
  })
})
