import { definePlugin, defineTool, Pause, sealAgent } from '@sluice/core'
import { recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const input = z.object({ question: z.string() })
const ask = (agent: string) =>
  defineTool({ code: `ask_${agent}`, description: 'Asks another desk.', effect: 'read', input, agent }) as never

/** desk -> middle -> bottom; where `model` is that of the last one. */
const chain = (model: string, more: object = {}) => [
  desk([ask('middle')]),
  desk([ask('bottom')], { code: 'middle' }),
  // each may call the other
  desk([ask('middle')], { code: 'bottom', model, ...more }),
]

const profile = (more: object = {}) => ({
  code: 'p',
  provider: 'absent',
  model: 'm',
  user_prompt_template: '{question}',
  ...more,
})

/** desk -> an agent of another type, which names these. */
const routed = (agents: readonly string[], profiles: readonly { code: string; version: null }[]) => ({
  prompts: [profile() as never],
  agents: [
    desk([ask('middle')]),
    sealAgent({ agentType: 'router', code: 'middle', description: 'Routes.' } as never),
    desk([], { code: 'bottom', model: 'absent/m' }),
  ],
  agentTypes: [
    {
      type: 'router',
      accepts: { output: false, followUp: false, files: false },
      validate: () => [],
      references: () => ({ agents, profiles }),
      run: () => Promise.reject(new Error('never')),
    },
  ],
})

const WAYS: Readonly<Record<string, () => Parameters<typeof house>[1]>> = {
  'of the agent itself': () => ({ agents: [desk([], { model: 'absent/m' })] }),
  'of an agent behind a tool of an agent behind a tool': () => ({ agents: chain('absent/m') }),
  'named as a fallback of such an agent': () => ({
    agents: chain('scripted/m', { settings: { fallback: ['absent/m'] } }),
  }),
  'of the prompt profile of such an agent': () => ({
    prompts: [profile() as never],
    agents: [
      desk([ask('middle')]),
      desk([], { code: 'middle', model: undefined, system: undefined, user: undefined, profile: 'p' }),
    ],
  }),
  'of an agent that an agent of another type names': () => ({
    ...routed(['bottom'], []),
  }),
  'of a prompt profile that an agent of another type names': () => ({
    ...routed([], [{ code: 'p', version: null }]),
  }),
}

describe('UNKNOWN_PROVIDER: an adapter that is missing', () => {
  it.each(Object.keys(WAYS))('H-10: %s is found before any gate is asked and any record is written', async (way) => {
    const recorder = recordingPlugin({ points: ['beforeExecution', 'beforeModelCall', 'onStop'] })
    const { runtime } = await house([], { ...WAYS[way]?.(), plugins: [recorder.plugin] })
    for (const running of [
      () => runtime.execute({ agent: 'ap_desk', input: QUESTION }),
      () => runtime.stream({ agent: 'ap_desk', input: QUESTION }).run,
    ]) {
      const error = await failureOf(running())
      expect([error.code, error.message]).toEqual(['UNKNOWN_PROVIDER', expect.stringContaining('"absent')])
    }
    expect(recorder.lines).toEqual([])
    expect((await runtime.executions.list(ALL)).items).toEqual([])
  })

  it.each(['generateText', 'executeProfile'] as const)(
    'G-2: is found for a tool of %s before anything is asked',
    async (verb) => {
      const recorder = recordingPlugin({ points: ['beforeModelCall'] })
      const tool = ask('middle')
      const { runtime } = await house([], {
        agents: chain('absent/m').slice(1),
        prompts: [profile({ provider: 'scripted', model_config: { g_enable_tools: true } }) as never],
        tools: [tool],
        plugins: [recorder.plugin],
      })
      const call =
        verb === 'generateText'
          ? runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] })
          : runtime.executeProfile({ profile: 'p', parameters: { question: 'x' } })
      expect((await failureOf(call)).code).toBe('UNKNOWN_PROVIDER')
      expect(recorder.lines).toEqual([])
    },
  )

  it('is found for a run that a handler starts before that run has a record', async () => {
    const codes: string[] = []
    const look = defineTool({
      code: 'look',
      description: 'Looks.',
      effect: 'read',
      input: z.object({}),
      handler: async () => {
        codes.push((await failureOf(runtime.execute({ agent: 'middle', input: QUESTION }))).code)
        return 'seen'
      },
    })
    const { runtime, store } = await house([reply.toolCall('look'), 'Done.'], {
      agents: [desk([look as never]), ...chain('absent/m').slice(1)],
    })
    const { executionId } = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(codes).toEqual(['UNKNOWN_PROVIDER'])
    const rows = await store.executions.list({ rootExecutionId: executionId, limit: 10 })
    expect(rows.items.map(({ agentCode }) => agentCode)).toEqual(['ap_desk'])
  })

  it('of an agent below leaves a paused run paused, and nobody is asked', async () => {
    const { tool, calls } = noteTool()
    const approval = definePlugin({
      name: 'approval',
      hookApi: 1,
      apply: (hooks) =>
        hooks.inspectToolInput.tap('ask', ({ toolCode, decision }) => {
          if (toolCode === 'write_note' && decision === undefined) throw new Pause('APPROVE')
        }),
    })()
    const below = (model: string) => [desk([ask('middle'), tool]), desk([], { code: 'middle', model })]
    const one = await house([reply.toolCall('write_note')], { agents: below('scripted/m'), plugins: [approval] })
    const run = await one.runtime.execute({ agent: 'ap_desk', input: QUESTION })
    await one.runtime.decide(run.executionId, {
      ...ALL,
      effectId: run.pending[0]?.effectId as string,
      decision: 'approve',
      by: 'boss',
    })
    const two = await house([], { store: one.store, agents: below('absent/m'), plugins: [approval], seed: 1 })
    const error = await failureOf(two.runtime.resume(run.executionId, ALL))
    expect([error.code, calls]).toEqual(['UNKNOWN_PROVIDER', []])
    expect(await one.store.executions.get(run.executionId)).toMatchObject({ status: 'paused' })
  })

  it('that is there is found also where agents call each other', async () => {
    const { runtime } = await house(['Done.'], { agents: chain('scripted/m') })
    expect((await runtime.execute({ agent: 'ap_desk', input: QUESTION })).text).toBe('Done.')
  })

  it('O-12: an agent below that was archived is no fault of the run above: the model is told when it calls it', async () => {
    const { runtime } = await house([reply.toolCall('ask_middle', QUESTION), 'Nobody there.'], {
      agents: [desk([ask('middle')]), desk([], { code: 'middle' })],
    })
    await runtime.agents.changeStatus({ code: 'middle', version: 1 }, 'archived')
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([run.text, run.toolCalls.map(({ status }) => status)]).toEqual(['Nobody there.', ['error']])
  })
})
