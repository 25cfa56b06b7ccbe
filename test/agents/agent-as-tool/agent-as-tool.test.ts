import type { Runtime, ToolContext } from '@sluice/core'
import { defineTool } from '@sluice/core'
import { providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { failureOf, noteTool } from '../../runs/support/house.js'
import { ALL, logOf, member, openTeam, rowsOf, vetoAt } from '../support/team.js'

const asking = (more: object = {}) =>
  defineTool({
    code: 'ask_expert',
    description: 'Asks somebody who knows.',
    effect: 'read',
    tags: ['experts'],
    input: z.object({ prompt: z.string() }),
    agent: 'expert',
    ...more,
  })
const ask = (prompt: string) => reply.toolCall('ask_expert', { prompt })
const INPUT = { prompt: 'Is it safe?' }

describe('an agent as a tool', () => {
  it('O-17, O-18, O-19, O-21, O-26: stands beside ordinary tools; each call is a fresh run below the caller, in its session', async () => {
    const { tool, calls } = noteTool()
    const { runtime, providers, sent } = await openTeam(
      [member('desk', { tools: [asking(), tool] }), member('expert')],
      {
        desk: [ask('First?'), reply.toolCall('write_note', { text: 'x' }), ask('Second?'), 'Safe.'],
        expert: ['Yes.', 'Still yes.'],
      },
    )
    const files = [{ type: 'file', mediaType: 'application/pdf', data: 'JVBERi0=' }] as const
    const run = await runtime.execute({
      agent: 'desk',
      input: INPUT,
      files,
      sessionId: 's-1',
      runContext: { clerk: 'p' },
    })
    const [offered] = providers.desk?.requests[0]?.tools ?? []
    expect([offered?.name, offered?.description, calls.length]).toEqual(['ask_expert', 'Asks somebody who knows.', 1])
    expect(sent('expert')).toEqual([
      ['system', 'You are expert.'],
      ['user', 'Second?'],
    ])
    const rows = await rowsOf(runtime, run.executionId)
    expect(rows.map((row) => [row.agentCode, row.parentExecutionId, row.sessionId, row.runContext])).toEqual([
      ['desk', null, 's-1', { clerk: 'p' }],
      ['expert', run.executionId, 's-1', { clerk: 'p' }],
      ['expert', run.executionId, 's-1', { clerk: 'p' }],
    ])
    expect((await logOf(runtime, 's-1')).map(([role, by]) => [role, by])).toEqual([
      ['system', null],
      ['user', null],
      ['user', null],
      ...Array.from({ length: 3 }, () => [
        ['tool_call', 'desk'],
        ['tool_result', 'desk'],
      ]).flat(),
      ['assistant', 'desk'],
    ])
  })

  it('O-18, O-23, CASE-22: its arguments are the input, without what a model may not choose; a structured answer is JSON text', async () => {
    const { runtime, sent } = await openTeam(
      [
        member('desk', { tools: [asking()] }),
        member('expert', {
          output: z.object({ safe: z.boolean() }),
          user: '{prompt} {clerk}',
          requiredContext: ['clerk'],
        }),
      ],
      {
        desk: [
          reply.toolCall('ask_expert', '{"prompt":"x","_ctx":{"clerk":"m"},"__proto__":{"clerk":"m"}}' as never),
          'Ok.',
        ],
        expert: [reply.json({ safe: true })],
      },
    )
    const run = await runtime.execute({ agent: 'desk', input: INPUT, runContext: { clerk: 'petra.k' } })
    expect([sent('expert')[1], sent('desk').at(-1)]).toEqual([
      ['user', 'x petra.k'],
      ['tool', '{"safe":true}'],
    ])
    expect((await rowsOf(runtime, run.executionId))[1]?.input).toEqual({ prompt: 'x' })
  })

  it('O-17: a plain call that is offered it by itself runs it too', async () => {
    const { runtime } = await openTeam([member('expert')], { expert: ['Yes.'], desk: [ask('Safe?'), 'It is.'] })
    const { text } = await runtime.generateText({ model: 'desk/x', prompt: 'Is it?', tools: [asking()] })
    expect(text).toBe('It is.')
    const { items } = await runtime.executions.list({ ...ALL, agentCode: 'expert' })
    expect(items.map((row) => [row.depth, row.turnIndex])).toEqual([[0, 1]])
  })

  it.each([true, false])(
    'O-22, O-W3: a failed run is a reference for the model, whatever the policy (raw %s)',
    async (exposeToolErrors) => {
      const { runtime, sent } = await openTeam(
        [member('desk', { tools: [asking()] }), member('expert')],
        { desk: [ask('x'), 'I do not know.'], expert: [providerError(500, { message: 'host db-7' })] },
        { settings: { onToolError: 'throw', exposeToolErrors } },
      )
      expect((await runtime.execute({ agent: 'desk', input: INPUT })).text).toBe('I do not know.')
      expect(JSON.stringify(sent('desk').at(-1))).toMatch(/ERR-\d{17}/)
      expect(JSON.stringify(sent('desk').at(-1))).not.toContain('db-7')
    },
  )

  it('O-22, H-20, CASE-04: a veto inside it is never a text: it ends the top run', async () => {
    const { runtime, count } = await openTeam(
      [member('desk', { tools: [asking()] }), member('expert')],
      { desk: [ask('x')] },
      { plugins: [vetoAt({ point: 'beforeModelCall', agent: 'expert' })], settings: { onToolError: 'return' } },
    )
    expect((await failureOf(runtime.execute({ agent: 'desk', input: INPUT }))).code).toBe('NO_beforeModelCall')
    expect([count('desk'), count('expert')]).toEqual([1, 0])
  })

  it('O-20, O-23, O-24: a handler may start the run itself and add keys of the run context, but change none', async () => {
    let runtime: Runtime | undefined
    const started: unknown[] = []
    const byHand = defineTool({
      code: 'ask_expert',
      description: 'Asks somebody who knows.',
      input: z.object({ prompt: z.string(), clerk: z.string().optional() }),
      handler: async ({ prompt, clerk }, tool: ToolContext) => {
        const added = clerk === undefined ? { vendor: 'V-1' } : { clerk }
        const run = await (runtime as Runtime).execute({ agent: 'expert', input: { prompt }, runContext: added })
        started.push(tool.executionId)
        return run.text ?? ''
      },
    })
    const made = await openTeam([member('desk', { tools: [byHand] }), member('expert')], {
      desk: [ask('x'), reply.toolCall('ask_expert', { prompt: 'y', clerk: 'mallory' })],
      expert: ['Yes.'],
    })
    runtime = made.runtime
    const error = await failureOf(runtime.execute({ agent: 'desk', input: INPUT, runContext: { clerk: 'petra.k' } }))
    expect(error.code).toBe('RUN_CONTEXT_CONFLICT')
    const rows = await rowsOf(runtime, error.partial.executionId)
    expect(rows.map((row) => [row.agentCode, row.parentExecutionId, row.runContext])).toEqual([
      ['desk', null, { clerk: 'petra.k' }],
      ['expert', started[0], { clerk: 'petra.k', vendor: 'V-1' }],
    ])
  })

  it('O-25, CASE-25: agents that call each other as tools end at the bound of levels', async () => {
    const other = (agent: string) =>
      defineTool({
        code: `ask_${agent}`,
        description: 'Asks.',
        effect: 'read',
        input: z.object({ prompt: z.string() }),
        agent,
      })
    const calls = (agent: string) => Array.from({ length: 2 }, () => reply.toolCall(`ask_${agent}`, { prompt: 'x' }))
    const { runtime } = await openTeam(
      [member('a', { tools: [other('b')] }), member('b', { tools: [other('a')] })],
      { a: calls('b'), b: calls('a') },
      { limits: { levels: 3 } },
    )
    expect((await failureOf(runtime.execute({ agent: 'a', input: INPUT }))).code).toBe('MAX_NESTING_DEPTH')
  })
})
