import type { AgentType, Runtime, ToolDefinition } from '@sluice/core'
import { defineTool } from '@sluice/core'
import { on, reply } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { ALL, desk, gate, notes, rig } from './support/rig.js'

const input = z.object({})
const delegate = (agent: string) =>
  defineTool({ code: 'go', description: 'Asks another desk.', effect: 'read', input, agent }) as ToolDefinition
const handled = (handler: () => unknown) =>
  defineTool({ code: 'go', description: 'Asks another desk.', effect: 'read', input, handler }) as ToolDefinition

/** What came of the call of the gate: its error, or what the models inside it read of one. */
const heard = async (given: Awaited<ReturnType<typeof rig>>, errors: readonly unknown[]): Promise<string> => {
  // what a model reads of an agent that failed is a reference; the words stand in the error log
  const read = JSON.stringify(given.provider.requests)
  const references = new Set([...read.matchAll(/"errorReference":"(ERR-[^"]+)"/g)].map(([, reference]) => reference))
  const logged = await Promise.all(
    [...references].map((reference) => given.runtime.executions.toolError(String(reference), ALL)),
  )
  return [...errors.map(String), ...logged.map(({ message }) => message)].join('\n')
}

const reentered = (point: string) => `that call reached ${point} again`

const ask = (runtime: Runtime, prompt: string, tools: readonly ToolDefinition[]) =>
  runtime.generateText({ model: 'scripted/judge', prompt, tools: tools as never })

/** An agent type whose run makes a plain call. */
const caller = (call: () => Promise<{ text: string | null; usage: never }>): AgentType => ({
  type: 'caller',
  accepts: { output: false, followUp: false, files: false },
  validate: () => [],
  references: () => ({ agents: [], profiles: [] }),
  run: async () => {
    const { text, usage } = await call()
    return { text, output: undefined, messages: [], usage, finishReason: 'stop', iterationCount: 0 }
  },
})

const WAYS: Readonly<Record<string, (runtime: Runtime, tool: ToolDefinition) => Promise<unknown>>> = {
  'an agent run': (runtime) => runtime.execute({ agent: 'below' }),
  'an agent run with a run behind a tool': (runtime) => runtime.execute({ agent: 'between' }),
  'a plain call with a run behind a tool': (runtime) => ask(runtime, 'Pass', [delegate('below')]),
  'a plain call whose handler makes another one': (runtime, tool) =>
    ask(runtime, 'Pass', [handled(() => ask(runtime, 'Write', [tool]))]),
  'an agent run of another type that makes a plain call': (runtime) => runtime.execute({ agent: 'other' }),
}

it.each(Object.keys(WAYS))(
  'GATE_REENTERED: a gate that calls the runtime does not come back to itself by %s',
  async (way) => {
    let asked = 0
    const errors: unknown[] = []
    const { tool, calls } = notes({
      authorize: async () => {
        asked += 1
        // a gate that takes every failure for a yes
        await WAYS[way]?.(given.runtime, tool).catch((error: unknown) => errors.push(error))
      },
    })
    const given = await rig(
      [
        ...(way.includes('another one') ? [on('Pass', reply.toolCall('go'))] : []),
        // a run behind a tool that fails is told to the model
        ...(way.includes('behind') ? [on('Pass', reply.toolCall('go')), on('Pass', 'It failed.')] : []),
        on('Write', reply.toolCall('write_note', { text: 'from the gate' })),
        on('Go on.', reply.toolCall('write_note', { text: 'of the run' })),
        on('Go on.', 'Done.'),
      ],
      {
        agentTypes: [caller(() => ask(given.runtime, 'Write', [tool]) as never)],
        agents: [
          desk([tool]),
          desk([tool], { code: 'below', user: 'Write' }),
          desk([delegate('below')], { code: 'between', user: 'Pass' }),
        ],
      },
    )
    if (way.includes('another type'))
      await given.runtime.agents.create({
        code: 'other',
        description: 'Calls.',
        agentType: 'caller',
        status: 'active',
      } as never)
    const { run } = await given.run()
    expect([run?.text, asked, calls]).toEqual(['Done.', 1, ['of the run']])
    expect(await heard(given, errors)).toContain(reentered('authorize'))
  },
)

it('GATE_REENTERED: nor does beforeExecution, by a plain call with a run behind a tool', async () => {
  let asked = 0
  const errors: unknown[] = []
  const given = await rig([on('Pass', reply.toolCall('go')), on('Pass', 'It failed.'), on('Go on.', 'Done.')], {
    agents: [desk(), desk([], { code: 'below', user: 'Write' })],
    plugins: [
      gate('beforeExecution', async () => {
        asked += 1
        await ask(given.runtime, 'Pass', [delegate('below')]).catch((error: unknown) => errors.push(error))
      }),
    ],
  })
  const { run } = await given.run()
  expect([run?.text, asked]).toEqual(['Done.', 1])
  expect(await heard(given, errors)).toContain(reentered('beforeExecution'))
  expect((await given.runtime.executions.list(ALL)).items.map(({ agentCode }) => agentCode)).toEqual(['desk'])
})
