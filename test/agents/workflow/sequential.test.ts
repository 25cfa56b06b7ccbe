import { providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf } from '../../runs/support/house.js'
import { ALL, openWorkflow, RATING } from './support/workflow-house.js'

const TWO = {
  workflowType: 'sequential',
  steps: [
    { agent: 'writer', outputKey: 'draft', inputMapping: { text: '{$.input.topic}' } },
    { agent: 'editor', outputKey: 'final', inputMapping: { text: 'Edit this: {$.steps.draft}' } },
  ],
} as const

describe('a sequential workflow', () => {
  it('W-21, W-5, W-6, W-46: runs its steps in order; the result is the state, and the answer that of the last step', async () => {
    const { runtime, sent } = await openWorkflow(TWO, {
      writer: [reply('A draft.').usage({ inputTokens: 7, outputTokens: 2 })],
      editor: ['Edited.'],
    })
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' }, sessionId: 's-1' })
    expect([run.text, run.output, run.finishReason]).toEqual(['Edited.', undefined, 'stop'])
    expect(run.details).toEqual({
      input: { topic: 'rain' },
      steps: { draft: 'A draft.', final: 'Edited.' },
      _workflow_iterations: 2,
    })
    expect([sent('writer'), sent('editor')]).toEqual([['rain'], ['Edit this: A draft.']])
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId })).items
    expect(
      rows.map((row) => [row.agentCode, row.status, row.inputTokens, row.parentExecutionId, row.sessionId]),
    ).toEqual([
      ['editor', 'completed', 10, run.executionId, 's-1'],
      ['writer', 'completed', 7, run.executionId, 's-1'],
      ['flow', 'completed', 0, null, 's-1'],
    ])
    expect(rows[2]?.output).toMatchObject({
      final_message: 'Edited.',
      _workflow_iterations: 2,
      steps: { draft: 'A draft.' },
    })
  })

  it('W-21: nothing is added up twice: the workflow has no tokens of its own, the tree those of its steps', async () => {
    const { runtime } = await openWorkflow(TWO, { writer: ['a'], editor: ['b'] })
    const run = await runtime.execute({ agent: 'flow', input: { topic: 'rain' } })
    expect([run.usage.inputTokens, run.treeUsage.inputTokens]).toEqual([0, 20])
  })

  it('S-44, S-43: the log has one row for the input and one for the result, which names the workflow', async () => {
    const { runtime } = await openWorkflow(TWO, { writer: ['a', 'c'], editor: ['b', 'd'] })
    await runtime.execute({ agent: 'flow', input: { topic: 'rain' }, sessionId: 's-1' })
    await runtime.execute({ agent: 'flow', input: { topic: 'rain', extra: 1 }, sessionId: 's-1' })
    const { items } = await runtime.sessions.messages('s-1', ALL)
    expect(items.map((row) => [row.seq, row.role, row.content, row.agentCode])).toEqual([
      [1, 'user', 'rain', null],
      [2, 'assistant', 'b', 'flow'],
      [3, 'user', '{"topic":"rain","extra":1}', null],
      [4, 'assistant', 'd', 'flow'],
    ])
  })

  it('W-6: the output of an agent with an answer schema is an object whose fields have paths of their own', async () => {
    const { runtime, sent } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [
          { agent: 'rater', outputKey: 'rating', inputMapping: { text: '{$.input.text}' } },
          {
            agent: 'writer',
            outputKey: 'answer',
            inputMapping: { text: '{$.steps.rating.notes} ({$.steps.rating.score})' },
          },
        ],
      },
      { rater: [reply.json({ score: 3, notes: 'dull' })], writer: ['ok'] },
      { members: { rater: { output: RATING } } },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect(run.details).toMatchObject({ steps: { rating: { score: 3, notes: 'dull' } } })
    expect(sent('writer')).toEqual(['dull (3)'])
  })

  it('W-7: a later step with the same output key writes over the earlier value', async () => {
    const { runtime, sent } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [
          { agent: 'writer', outputKey: 'draft' },
          { agent: 'editor', outputKey: 'draft', inputMapping: { text: '{$.steps.draft}!' } },
          { agent: 'writer', outputKey: 'last', inputMapping: { text: '{$.steps.draft}!' } },
        ],
      },
      { writer: ['one', 'three'], editor: ['two'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect(run.details).toMatchObject({ steps: { draft: 'two', last: 'three' } })
    expect([sent('writer'), sent('editor')]).toEqual([['a', 'two!'], ['one!']])
  })

  it('W-20: a step without a mapping gets the input of the workflow as it is', async () => {
    const { runtime, sent } = await openWorkflow(
      { workflowType: 'sequential', steps: [{ agent: 'writer', outputKey: 'draft' }] },
      { writer: ['ok'] },
    )
    await runtime.execute({ agent: 'flow', input: { text: 'as it is' } })
    expect(sent('writer')).toEqual(['as it is'])
  })

  it('W-11: a step gets exactly the parameters of its mapping', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [{ agent: 'writer', outputKey: 'draft', inputMapping: { text: 'a', n: 5, sure: true } }],
      },
      { writer: ['ok'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'b', secret: 'x' } })
    const { items } = await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId, level: 'nested' })
    expect(items.map((row) => row.input)).toEqual([{ text: 'a', n: 5, sure: true }])
  })
})

describe('the answer of a workflow', () => {
  const STEPS = [
    { agent: 'writer', outputKey: 'draft' },
    { agent: 'rater', outputKey: 'rating' },
  ]
  const SCRIPTS = { writer: ['A haiku.'], rater: [reply.json({ score: 3, notes: '"dull"' })] }
  const MEMBERS = { members: { rater: { output: RATING } } }

  it.each([
    ['a reference to a text', '{$.steps.draft}', 'A haiku.', undefined],
    ['a reference to an object', '{$.steps.rating}', '{"score":3,"notes":"\\"dull\\""}', { score: 3, notes: '"dull"' }],
    ['a reference to a number', '{$.steps.rating.score}', '3', 3],
    ['a text with references', '{$.steps.draft} {$.steps.rating.score}/10', 'A haiku. 3/10', undefined],
    ['a constant', 'Done.', 'Done.', undefined],
    ['a path with a default', { path: '{$.steps.rating.more}', default: 'none' }, 'none', undefined],
    ['an optional path that leads nowhere', { path: '{$.steps.rating.more}', optional: true }, null, undefined],
  ])('W-24, W-35, W-W5: final_message as %s', async (_name, finalMessage, text, output) => {
    const { runtime } = await openWorkflow({ workflowType: 'sequential', steps: STEPS, finalMessage }, SCRIPTS, MEMBERS)
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect([run.text, run.output]).toEqual([text, output])
  })

  it('without final_message the structured output of the last step is the answer', async () => {
    const { runtime } = await openWorkflow({ workflowType: 'sequential', steps: STEPS }, SCRIPTS, MEMBERS)
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' }, sessionId: 's-1' })
    expect(run.output).toEqual({ score: 3, notes: '"dull"' })
    const row = await runtime.executions.get(run.executionId, ALL)
    expect(row.output).toMatchObject({ final_message: { score: 3, notes: '"dull"' } })
  })

  it('WORKFLOW_FINAL_MESSAGE_FAILED: a final_message that leads nowhere fails the run, with its path', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS, finalMessage: '{$.steps.rating.more}' },
      SCRIPTS,
      MEMBERS,
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a' } }))
    expect([error.code, error.details]).toEqual([
      'WORKFLOW_FINAL_MESSAGE_FAILED',
      { workflow: 'flow', path: 'steps.rating.more' },
    ])
  })

  it.each([
    ['fits', { score: 3 }, true],
    ['does not fit', { score: 'three' }, false],
  ])('A-42: the answer is held to the output schema of the workflow: one that %s', async (_name, rating, fits) => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [{ agent: 'rater', outputKey: 'rating' }],
        output: z.object({ score: z.number() }),
      },
      { rater: [reply.json(rating)] },
      { members: { rater: { output: z.object({ score: z.unknown() }) } } },
    )
    const running = runtime.execute({ agent: 'flow', input: { text: 'a' } })
    if (fits) expect((await running).output).toEqual(rating)
    else expect((await failureOf(running)).code).toBe('OUTPUT_INVALID')
  })

  it('A-42: a text does not fit a schema of objects either, nor does the lack of an answer', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'sequential',
        steps: [{ agent: 'writer', outputKey: 'draft', condition: '{$.input.go}' }],
        output: RATING,
      },
      { writer: ['only text'] },
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a', go: true } }))).code).toBe(
      'OUTPUT_INVALID',
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a', go: false } }))).code).toBe(
      'OUTPUT_INVALID',
    )
  })

  it('A-42: the input is held to the input schema before anything runs', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS, input: z.object({ text: z.string() }) },
      { writer: [], rater: [] },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 7 } as never }))
    expect(error.code).toBe('INVALID_CONFIG')
  })
})

describe('conditions of steps', () => {
  const STEPS = [
    { agent: 'sorter', outputKey: 'kind' },
    { agent: 'writer', outputKey: 'answer', condition: "{$.steps.kind} == 'question'" },
    { agent: 'editor', outputKey: 'complaint', condition: "{$.steps.kind} == 'complaint'" },
  ]

  it.each(['sequential', 'conditional'] as const)(
    'W-22, W-23: in a %s workflow a false condition skips the step, and its key stays unset',
    async (workflowType) => {
      const { runtime } = await openWorkflow(
        { workflowType, steps: STEPS },
        { sorter: ['complaint'], writer: [], editor: ['Sorry.'] },
      )
      const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
      expect([run.text, run.details]).toEqual([
        'Sorry.',
        { input: { text: 'a' }, steps: { kind: 'complaint', complaint: 'Sorry.' }, _workflow_iterations: 2 },
      ])
      const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId, level: 'nested' })).items
      expect(rows.map((row) => row.agentCode)).toEqual(['editor', 'sorter'])
    },
  )

  it('W-23: it is not the first match that wins: every step whose condition holds runs', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'conditional',
        steps: [
          { agent: 'writer', outputKey: 'a', condition: '{$.input.n} > 1' },
          { agent: 'editor', outputKey: 'b', condition: '{$.input.n} > 2' },
          { agent: 'sorter', outputKey: 'c', condition: '{$.input.n} > 3' },
        ],
      },
      { writer: ['A'], editor: ['B'], sorter: [] },
    )
    expect((await runtime.execute({ agent: 'flow', input: { text: 'x', n: 3 } })).details).toMatchObject({
      steps: { a: 'A', b: 'B' },
      _workflow_iterations: 2,
    })
  })

  it('W-25: where no step ran, the answer is null', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'conditional', steps: [{ agent: 'writer', outputKey: 'a', condition: 'false' }] },
      { writer: [] },
    )
    const run = await runtime.execute({ agent: 'flow', input: {}, sessionId: 's-1' })
    expect([run.text, run.output, run.details]).toEqual([
      null,
      undefined,
      { input: {}, steps: {}, _workflow_iterations: 0 },
    ])
    expect((await runtime.executions.get(run.executionId, ALL)).output).toMatchObject({ final_message: null })
  })

  it('WORKFLOW_CONDITION_FAILED: values that cannot be compared fail the run, with the condition', async () => {
    const { runtime } = await openWorkflow(
      {
        workflowType: 'conditional',
        steps: [
          { agent: 'sorter', outputKey: 'kind' },
          { agent: 'writer', outputKey: 'answer', condition: '{$.steps.kind} > 3' },
        ],
      },
      { sorter: ['five'], writer: [] },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a' } }))
    expect([error.code, error.details.condition]).toEqual(['WORKFLOW_CONDITION_FAILED', '{$.steps.kind} > 3'])
  })

  it('W-W1: text of a model is data, whatever it looks like', async () => {
    const evil = "question' || true || '"
    const { runtime } = await openWorkflow(
      { workflowType: 'conditional', steps: STEPS },
      { sorter: [evil], writer: [], editor: [] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect(run.details).toMatchObject({ steps: { kind: evil }, _workflow_iterations: 1 })
  })
})

describe('a step that fails', () => {
  const STEPS = (more: object) => [
    { agent: 'writer', outputKey: 'draft', ...more },
    { agent: 'editor', outputKey: 'final', inputMapping: { text: { path: '{$.steps.draft}', default: 'nothing' } } },
  ]

  it('W-44, A-44: fails the workflow at once with its own error; both rows are failed and nothing behind it runs', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({}) },
      { writer: [providerError(500)], editor: [] },
    )
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a' }, sessionId: 's-1' }))
    expect(error.code).toBe('PROVIDER_OVERLOADED')
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: error.partial.executionId })).items
    expect(rows.map((row) => [row.agentCode, row.status, row.error?.code])).toEqual([
      ['writer', 'failed', 'PROVIDER_OVERLOADED'],
      ['flow', 'failed', 'PROVIDER_OVERLOADED'],
    ])
    const { items } = await runtime.sessions.messages('s-1', ALL)
    expect(items.map((row) => [row.role, row.content])).toEqual([['user', 'a']])
  })

  it("W-45: on_error 'continue' sets the key to null and keeps the reference of the error, and nothing else of it", async () => {
    const { runtime, store, sent } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({ onError: 'continue' }), finalMessage: '{$.steps_errors.draft}' },
      { writer: [providerError(500, { message: 'secret table' })], editor: ['ok'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect(run.details).toMatchObject({ steps: { draft: null, final: 'ok' }, steps_errors: { draft: run.text } })
    expect(JSON.stringify(run.details)).not.toContain('secret')
    expect(sent('editor')).toEqual(['nothing'])
    expect(await store.toolErrors.get(run.text ?? '')).toMatchObject({
      agentCode: 'flow',
      effectId: `${run.executionId}/s1.draft`,
    })
  })

  it("W-45: on_error 'retry' runs the step again, as runs of their own, at most max_retries times", async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({ onError: 'retry', maxRetries: 2 }) },
      { writer: [providerError(500), providerError(500), 'third'], editor: ['ok'] },
    )
    const run = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect(run.details).toMatchObject({ steps: { draft: 'third' }, _workflow_iterations: 2 })
    expect(run.details).not.toHaveProperty('steps_errors')
    const rows = (await runtime.executions.list({ ...ALL, rootExecutionId: run.executionId, level: 'nested' })).items
    expect(rows.map((row) => [row.agentCode, row.status])).toEqual([
      ['editor', 'completed'],
      ['writer', 'completed'],
      ['writer', 'failed'],
      ['writer', 'failed'],
    ])
  })

  it('W-45: the last failure of a retried step is that of the workflow', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({ onError: 'retry' }) },
      { writer: [providerError(500), providerError(429)], editor: [] },
    )
    expect((await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a' } }))).code).toBe(
      'PROVIDER_RATE_LIMITED',
    )
  })

  it('W-45: a timeout of the agent of a step is a failure like any other', async () => {
    const { hang } = await import('@sluice/testkit')
    const { runtime, clock } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({ onError: 'continue' }) },
      { writer: [hang()], editor: ['ok'] },
      { members: { writer: { timeoutSeconds: 5 } } },
    )
    const run = await clock.settle(runtime.execute({ agent: 'flow', input: { text: 'a' } }))
    expect(run.details).toMatchObject({ steps: { draft: null, final: 'ok' } })
  })

  it('W-48: the row keeps the last state of a run that failed, and none of one that completed', async () => {
    const { runtime } = await openWorkflow(
      { workflowType: 'sequential', steps: STEPS({}) },
      { writer: ['one', 'two'], editor: ['ok', providerError(500)] },
    )
    const done = await runtime.execute({ agent: 'flow', input: { text: 'a' } })
    expect((await runtime.executions.get(done.executionId, ALL)).currentState).toBeNull()
    const error = await failureOf(runtime.execute({ agent: 'flow', input: { text: 'a' } }))
    expect((await runtime.executions.get(error.partial.executionId, ALL)).currentState).toEqual({
      input: { text: 'a' },
      steps: { draft: 'two' },
    })
  })
})
