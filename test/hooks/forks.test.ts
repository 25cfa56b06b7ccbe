import type { Hooks, Run, Runtime } from '@sluice/core'
import { defineTool, Veto } from '@sluice/core'
import { latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { caught, desk, gate, notes, plugin, rig, stopLines, watcher } from './support/rig.js'

const input = z.object({})
const delegate = (code: string, agent: string) =>
  defineTool({ code, description: 'Asks another desk.', effect: 'read', input, agent })
const handled = (code: string, handler: () => unknown) =>
  defineTool({ code, description: 'Asks another desk.', effect: 'read', input, handler })
const deny = () => {
  throw new Veto('DENIED', 'Nobody writes.')
}

/** A fork of a runtime; both note which model calls their gate was asked about. */
async function twoSets(script: Parameters<typeof rig>[0], agents: NonNullable<Parameters<typeof rig>[1]>['agents']) {
  const asked: string[] = []
  const note = (name: string) =>
    gate('beforeModelCall', ({ agentCode }) => void asked.push(`${name} ${agentCode ?? 'plain'}`), { name })
  const base = note('base')
  const given = await rig(script, { ...(agents === undefined ? {} : { agents }), plugins: [base] })
  const fork = await given.runtime.fork({ plugins: [note('fork')] })
  return { ...given, fork, asked }
}

describe('a plain call on a fork, outside any run', () => {
  it.each([
    ['a tool with an agent behind it', () => delegate('go', 'below')],
    [
      'a handler that runs an agent on that fork',
      (fork: Runtime) => handled('go', async () => (await fork.execute({ agent: 'below' })).text),
    ],
  ])('H-29: a run that it starts by %s is asked by the gates of the fork, and by no others', async (_how, tool) => {
    const { fork, asked } = await twoSets(
      [reply.toolCall('go'), reply.toolCall('ask'), 'Bottom.', 'Below.', 'Done.'],
      [desk([delegate('ask', 'bottom')], { code: 'below' }), desk([], { code: 'bottom' })],
    )
    const done = await fork.generateText({ model: 'scripted/m', prompt: 'Go.', tools: [tool(fork) as never] })
    expect(done.text).toBe('Done.')
    expect(asked).toEqual(['fork plain', 'fork below', 'fork bottom', 'fork below', 'fork plain'])
  })

  it('H-29: nor does a broken set of the runtime it was forked from keep such a run from starting', async () => {
    const { runtime, fork, asked } = await twoSets(
      [reply.toolCall('go'), 'Below.', 'Done.'],
      [desk([], { code: 'below' })],
    )
    await runtime.setHooks([{} as never]).catch(() => {})
    const call = fork.generateText({ model: 'scripted/m', prompt: 'Go.', tools: [delegate('go', 'below') as never] })
    expect((await call).text).toBe('Done.')
    expect(asked).toEqual(['fork plain', 'fork below', 'fork plain'])
  })

  it('CASE-04: a handler that calls the runtime itself adds the gates of the runtime to those of the fork', async () => {
    const { runtime, fork, asked } = await twoSets(
      [reply.toolCall('go'), 'Below.', 'Done.'],
      [desk([], { code: 'below' })],
    )
    const tool = handled('go', async () => (await runtime.execute({ agent: 'below' })).text)
    await fork.generateText({ model: 'scripted/m', prompt: 'Go.', tools: [tool as never] })
    expect(asked.sort()).toEqual(['base below', 'fork below', 'fork plain', 'fork plain'])
  })
})

describe('close of a fork', () => {
  const disposing = (name: string, log: string[], apply: (hooks: Hooks) => void = () => {}) =>
    plugin(name, (hooks) => {
      hooks.beforeModelCall.tap('look', () => {})
      apply(hooks)
      return { dispose: () => void log.push(`${name} disposed`) }
    })

  it.each([
    'a handler',
    'a gate',
    'an observer',
    'a handler of a run below it',
    'a call on the fork in a handler of another run',
  ])(
    'called in %s of its own run does not wait for itself: the run goes on, and its plugins are disposed after it',
    async (where) => {
      const log: string[] = []
      const codes: unknown[] = []
      const close = async () => {
        await fork.close()
        log.push(`closed at ${given.clock.monotonic()}`)
        // from here on the fork takes no more calls from outside
        codes.push((await caught(given.runtime.detached(() => fork.execute({ agent: 'desk' })))).code)
      }
      const { tool } = notes({ handler: async () => (where.includes('handler') && (await close()), 'written') })
      const inner = handled(
        'inner',
        async () => (await fork.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] })).text,
      )
      const hooked = disposing('own', log, (hooks) => {
        if (where === 'a gate') hooks.beforeToolCall.tapPromise('close', close)
        if (where === 'an observer') hooks.afterExecution.tapPromise('close', close)
      })
      const below = where === 'a handler of a run below it'
      const other = where.startsWith('a call on the fork')
      const given = await rig(
        [
          ...(below ? [reply.toolCall('go')] : other ? [reply.toolCall('inner')] : []),
          reply.toolCall('write_note'),
          ...(below || other ? ['Below.'] : []),
          'Done.',
        ],
        {
          agents: [
            desk(other ? [inner as never] : below ? [delegate('go', 'below') as never] : [tool]),
            desk([tool], { code: 'below' }),
          ],
        },
      )
      const fork = await given.runtime.fork({ plugins: [hooked] })
      const running = given.end((other ? given.runtime : fork).execute({ agent: 'desk' }) as Promise<Run>)
      expect((await running).run?.text).toBe('Done.')
      // who asks from outside hears of the end as ever
      await fork.close()
      expect([log, codes]).toEqual([['closed at 0', 'own disposed'], ['RUNTIME_CLOSED']])
    },
  )

  it('inside a run: what that run calls on the fork afterwards is asked by its gates as before', async () => {
    const asked: string[] = []
    const own = gate('beforeModelCall', ({ model }) => void asked.push(model), { name: 'own' })
    const { tool } = notes({
      handler: async () => {
        await fork.close()
        const { text } = await fork.generateText({ model: 'scripted/plain', prompt: 'x' })
        return `${text} ${(await fork.executeProfile({ profile: 'p' })).text} ${(await fork.execute({ agent: 'below' })).text}`
      },
    })
    const given = await rig([reply.toolCall('write_note'), 'One.', 'Two.', 'Three.', 'Done.'], {
      agents: [desk([tool]), desk([], { code: 'below' })],
      prompts: [{ code: 'p', provider: 'scripted', model: 'profile', user_prompt_template: 'x' }],
    })
    const fork = await given.runtime.fork({ plugins: [own] })
    const { run } = await given.end(fork.execute({ agent: 'desk' }) as Promise<Run>)
    expect([run?.text, run?.toolCalls[0]?.status]).toEqual(['Done.', 'ok'])
    expect(asked).toEqual(['model-1', 'plain', 'profile', 'model-1', 'model-1'])
  })

  it('waits for runs of others, also when it is called inside a run', async () => {
    const log: string[] = []
    const door = latch()
    const { tool } = notes({ handler: async () => (await door.wait(), 'written') })
    const closes = handled('go', async () => {
      const closing = fork.close().then(() => log.push('closed'))
      door.open()
      await closing
      return 'closed'
    })
    const given = await rig([reply.toolCall('write_note'), reply.toolCall('go'), 'One.', 'Two.'], {
      agents: [desk([tool]), desk([closes as never], { code: 'closer' })],
    })
    const fork = await given.runtime.fork({ plugins: [disposing('own', log)] })
    const slow = fork.execute({ agent: 'desk' })
    await door.reached()
    await given.end(given.runtime.execute({ agent: 'closer' }) as Promise<Run>)
    await slow
    expect(log).toEqual(['own disposed', 'closed'])
  })

  it('ends the forks that were made of it; the close of a runtime ends all of them', async () => {
    const log: string[] = []
    const given = await rig([])
    const first = await given.runtime.fork({ plugins: [disposing('first', log)] })
    const second = await first.fork({ plugins: [disposing('second', log)] })
    await first.close()
    expect(log.sort()).toEqual(['first disposed', 'second disposed'])
    expect((await caught(second.execute({ agent: 'desk' }) as Promise<Run>)).code).toBe('RUNTIME_CLOSED')
    const third = await given.runtime.fork({ plugins: [disposing('third', log)] })
    await third.fork({ plugins: [disposing('fourth', log)] })
    await given.runtime.close()
    expect(log.sort()).toEqual(['first disposed', 'fourth disposed', 'second disposed', 'third disposed'])
  })

  it('while another fork is being made of it: that one is disposed and refused', async () => {
    const log: string[] = []
    const door = latch()
    const given = await rig([])
    const slow = plugin('slow', async (hooks) => {
      hooks.beforeModelCall.tap('look', () => {})
      await door.wait()
      return { dispose: () => void log.push('disposed') }
    })
    const making = caught(given.runtime.fork({ plugins: [slow] }) as never)
    await door.reached()
    const closing = given.runtime.close()
    door.open()
    expect((await making).code).toBe('RUNTIME_CLOSED')
    await closing
    expect(log).toEqual(['disposed'])
  })
})

describe('a call on a fork, inside a run', () => {
  it.each(['an agent run', 'a stream', 'an agent run with a run behind a tool'])(
    'CASE-04: %s is asked by the gates of the run and by those that the fork adds',
    async (way) => {
      const { runtime, fork, asked, clock } = await twoSets(
        [
          reply.toolCall('go'),
          ...(way.includes('behind') ? [reply.toolCall('ask'), 'Bottom.'] : []),
          'Below.',
          'Done.',
        ],
        [
          desk([
            handled('go', async () =>
              way === 'a stream'
                ? (await fork.stream({ agent: 'below' }).run).text
                : (await fork.execute({ agent: way.includes('behind') ? 'between' : 'below' })).text,
            ) as never,
          ]),
          desk([], { code: 'below' }),
          desk([delegate('ask', 'below')], { code: 'between' }),
        ],
      )
      await clock.settle(runtime.execute({ agent: 'desk' }))
      const inner = way.includes('behind') ? ['between', 'below', 'between'] : ['below']
      expect(asked).toEqual(['base desk', ...inner.flatMap((agent) => [`base ${agent}`, `fork ${agent}`]), 'base desk'])
    },
  )

  it('CASE-04: a veto of a gate that the fork adds ends the top run, and its observers are told', async () => {
    const { tool, calls } = notes()
    const seen = watcher()
    const added = gate('beforeToolCall', ({ toolCode }) => (toolCode === 'write_note' ? deny() : undefined), {
      name: 'added',
    })
    const go = handled('go', async () => {
      const fork = await given.runtime.fork({ plugins: [added, seen.plugin] })
      return fork.execute({ agent: 'below' }).then(({ text }) => text, String)
    })
    const given = await rig([reply.toolCall('go'), reply.toolCall('write_note')], {
      agents: [desk([go as never]), desk([tool], { code: 'below' })],
    })
    expect((await given.run()).error).toMatchObject({ code: 'DENIED', by: { plugin: 'added' } })
    expect([calls, stopLines(seen.onStop)]).toEqual([[], ['beforeToolCall added vetoed DENIED']])
  })
})
