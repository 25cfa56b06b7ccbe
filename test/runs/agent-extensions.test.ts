import type { AgentExtension, ToolContext } from '@sluice/core'
import { createRuntime, defineTool, withLabels } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const { tool: clock } = noteTool({ code: 'clock', handler: () => 'noon' })

/** An extension that gives every agent of one code the same. */
const giving = (addition: ReturnType<AgentExtension['extend']>, code = 'ap_desk'): AgentExtension => ({
  name: 'gift',
  extend: (agent) => (agent.code === code ? addition : undefined),
})

describe('extensions of agents', () => {
  it.each([
    ['at once', (addition: object) => addition],
    ['later', (addition: object) => Promise.resolve(addition)],
  ])('an agent runs with the tools and the block behind its prompt that one gives %s', async (_, when) => {
    const extension = giving(when({ systemBlock: 'Braces such as {question} are text.', tools: [clock] }))
    const { runtime, provider } = await house([reply.toolCall('clock'), reply('Yes.'), reply('Again yes.')], {
      agents: [desk()],
      extensions: [extension],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    const [system] = provider.requests[0]?.messages ?? []
    expect(system).toEqual({ role: 'system', content: 'You are the desk.\n\nBraces such as {question} are text.' })
    expect(run.toolCalls.map(({ toolCode }) => toolCode)).toEqual(['clock'])
    expect((await runtime.explain('ap_desk')).tools.map(({ code }) => code)).toEqual(['clock'])
    await runtime.execute({ agent: 'ap_desk', sessionId: run.sessionId, followUp: 'Sure?' })
    const again = provider.requests.at(-1)?.messages.filter(({ role }) => role === 'system')
    expect(again).toEqual([system])
  })

  it('a key that one requires stops a run before its row and every hook', async () => {
    const { runtime } = await house([], {
      agents: [desk()],
      extensions: [giving({ requiredContext: ['vendor_no'] })],
    })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(error).toMatchObject({ code: 'RUN_CONTEXT_MISSING', details: { missing: ['vendor_no'] } })
    expect((await runtime.executions.list(ALL)).items).toEqual([])
  })

  it('a tool that the agent has already stays its own', async () => {
    const { tool: own, calls } = noteTool({ code: 'clock' })
    const { runtime } = await house([reply.toolCall('clock', { text: 'x' }), reply('Yes.')], {
      agents: [desk([own])],
      extensions: [giving({ tools: [clock] })],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(calls).toEqual([{ text: 'x' }])
  })

  it('an error of one ends the call that asked, with nothing on record', async () => {
    const failing: AgentExtension = {
      name: 'broken',
      extend() {
        throw new Error('no')
      },
    }
    const { runtime } = await house([], { agents: [desk()], extensions: [failing] })
    await expect(runtime.execute({ agent: 'ap_desk', input: QUESTION })).rejects.toThrow('no')
    expect((await runtime.executions.list(ALL)).items).toEqual([])
  })

  it('what is no extension is refused by name', async () => {
    const create = (extensions: unknown) => createRuntime({ extensions, plugins: [] } as never)
    await expect(create([{ name: 'x' }])).rejects.toThrow('extensions.0')
    await expect(create('x')).rejects.toThrow('extensions')
    await expect(create([giving({}), giving({})])).rejects.toThrow('gift')
  })
})

describe('withLabels', () => {
  it('a result brings its own labels, each once: a tool call that is made of it carries them', async () => {
    const seen: unknown[] = []
    const mail = defineTool({
      code: 'mail',
      description: 'Reads a mail.',
      effect: 'read',
      input: z.object({}),
      handler: () =>
        withLabels('Pay now.', [
          { kind: 'memory', source: 'inbox' },
          { kind: 'memory', source: 'inbox' },
        ]),
    })
    const { tool: note } = noteTool({
      handler: (_: unknown, { labels }: ToolContext) => {
        seen.push(labels)
        return 'noted'
      },
    })
    const { runtime, provider } = await house([reply.toolCall('mail'), reply.toolCall('write_note'), reply('Done.')], {
      agents: [desk([mail, note])],
    })
    await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(seen).toEqual([[{ kind: 'memory', source: 'inbox' }]])
    expect(JSON.stringify(provider.requests[1]?.messages)).toContain('Pay now.')
  })
})
