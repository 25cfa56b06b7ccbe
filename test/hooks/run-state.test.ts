import type { JsonValue, PluginHost, RunState } from '@sluice/core'
import { createMemoryStore, definePlugin, defineTool, Pause, Veto } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { ALL, desk, gate, notes, rig } from './support/rig.js'

type Change = (state: RunState, context: never) => unknown

/** A plugin that does something with its state at some points. */
function stateful(at: Readonly<Record<string, Change>>, name = 'keeper') {
  let host: PluginHost | undefined
  const seen: [string, JsonValue | undefined][] = []
  const made = definePlugin({
    name,
    hookApi: 1,
    apply(hooks, given) {
      host = given
      for (const [point, change] of Object.entries(at)) {
        const hook = hooks[point as 'beforeModelCall'] as unknown as {
          tap(name: string, fn: (context: never) => unknown): void
        }
        hook.tap('state', (context) => {
          const run = given.run
          if (run === undefined) throw new Error(`no run state at ${point}`)
          const result = change(run.state, context)
          seen.push([point, run.state.get()])
          return result instanceof Promise ? result : undefined
        })
      }
    },
  })()
  return { plugin: made, seen, host: () => host as PluginHost }
}

const count: Change = (state) => void state.update((current) => ((current as number | undefined) ?? 0) + 1)

describe('host.run.state', () => {
  it('lives from beforeExecution to afterExecution, at every point, and nowhere else', async () => {
    const { tool } = notes()
    const points = [
      'beforeExecution',
      'augmentSystemPrompt',
      'beforeModelCall',
      'inspectReply',
      'afterModelCall',
      'beforeToolCall',
      'inspectToolInput',
      'afterToolCall',
      'afterExecution',
      'onEvent',
    ]
    const keeper = stateful(Object.fromEntries(points.map((point) => [point, count])))
    const given = await rig([reply.toolCall('write_note'), 'x'], { agents: [desk([tool])], plugins: [keeper.plugin] })
    expect(keeper.host().run).toBeUndefined()
    expect((await given.run()).run?.status).toBe('completed')
    expect(new Set(keeper.seen.map(([point]) => point))).toEqual(new Set(points))
    expect(keeper.seen[0]).toEqual(['beforeExecution', 1])
    expect(keeper.seen.at(-1)).toEqual(['afterExecution', keeper.seen.length])
    expect(keeper.host().run).toBeUndefined()
    expect(given.runtime.health().observers.errors).toBe(0)
  })

  it('starts anew in every run, and runs beside each other do not see each other', async () => {
    const keeper = stateful({ beforeModelCall: count, afterExecution: () => undefined })
    const given = await rig(['a', 'b', 'c'], { plugins: [keeper.plugin] })
    await given.clock.settle(Promise.all([1, 2, 3].map(() => given.runtime.execute({ agent: 'desk' }))))
    expect(keeper.seen.filter(([point]) => point === 'afterExecution').map(([, state]) => state)).toEqual([1, 1, 1])
  })

  it('is one for the whole tree: nested runs, agents behind tools and plain calls count in it', async () => {
    const keeper = stateful({ beforeModelCall: count, afterExecution: () => undefined })
    const handler = async () => {
      await given.runtime.execute({ agent: 'below' })
      return (await given.runtime.generateText({ model: 'scripted/m', prompt: 'x' })).text
    }
    const input = z.object({})
    const tools = [
      defineTool({ code: 'by_hand', description: 'x', effect: 'read', input, handler }),
      defineTool({ code: 'by_agent', description: 'x', effect: 'read', input, agent: 'below' }),
    ]
    const given = await rig([reply.toolCall('by_hand').toolCall('by_agent'), 'below', 'plain', 'below', 'Done.'], {
      agents: [desk(tools), desk([], { code: 'below' })],
      plugins: [keeper.plugin],
    })
    await given.run()
    expect(keeper.seen.at(-1)).toEqual(['afterExecution', 5])
  })

  it('belongs to one plugin: two plugins, and two instances, have a state each', async () => {
    const one = stateful({ beforeModelCall: count }, 'one')
    const two = stateful({ beforeModelCall: (state) => void state.update(() => 'mine') }, 'two')
    const given = await rig(['x'], { plugins: [one.plugin, two.plugin] })
    await given.run()
    expect([one.seen, two.seen]).toEqual([[['beforeModelCall', 1]], [['beforeModelCall', 'mine']]])
  })

  it('a vetoed start drops it', async () => {
    let veto = true
    const keeper = stateful({
      beforeExecution: (state) => {
        count(state, undefined as never)
        if (veto) throw new Veto('NO', 'No.')
      },
    })
    const given = await rig(['x'], { plugins: [keeper.plugin] })
    expect((await given.run()).code).toBe('NO')
    veto = false
    await given.run()
    expect(keeper.seen).toEqual([['beforeExecution', 1]])
  })

  it('in a plain call outside any run it lives in memory, for that call', async () => {
    const keeper = stateful({ beforeModelCall: count })
    const { tool } = notes()
    const given = await rig([reply.toolCall('write_note'), 'x', 'y'], { plugins: [keeper.plugin] })
    await given.runtime.generateText({ model: 'scripted/m', prompt: 'x', tools: [tool] })
    await given.runtime.generateText({ model: 'scripted/m', prompt: 'y' })
    expect(keeper.seen.map(([, state]) => state)).toEqual([1, 2, 1])
  })

  it('is carried over a pause, also into another runtime', async () => {
    const store = createMemoryStore()
    const { tool } = notes()
    const keeper = stateful({ beforeModelCall: count, afterExecution: () => undefined })
    const human = gate(
      'inspectToolInput',
      ({ decision }) => {
        if (decision === undefined) throw new Pause('APPROVE')
      },
      { name: 'approval' },
    )
    const shared = { store, agents: [desk([tool])], plugins: [keeper.plugin, human] }
    const here = await rig([reply.toolCall('write_note')], shared)
    const { run } = await here.run()
    const there = await rig(['x'], { ...shared, seed: 1 })
    await there.runtime.decide(run?.executionId ?? '', {
      effectId: run?.pending[0]?.effectId ?? '',
      decision: 'approve',
      by: 'boss',
      ...ALL,
    })
    await there.end(there.runtime.resume(run?.executionId ?? '', ALL))
    expect(keeper.seen).toEqual([
      ['beforeModelCall', 1],
      ['beforeModelCall', 2],
      ['afterExecution', 2],
    ])
  })

  it('is there for the observers when a paused run is cancelled', async () => {
    const { tool } = notes()
    const keeper = stateful({ beforeModelCall: count, afterExecution: () => undefined, onStop: () => undefined })
    const human = gate(
      'inspectToolInput',
      () => {
        throw new Pause('APPROVE')
      },
      { name: 'approval' },
    )
    const given = await rig([reply.toolCall('write_note')], { agents: [desk([tool])], plugins: [keeper.plugin, human] })
    const { run } = await given.run()
    await given.runtime.cancel(run?.executionId ?? '', ALL)
    expect(keeper.seen.at(-1)).toEqual(['afterExecution', 1])
    expect(given.runtime.health().observers.errors).toBe(0)
  })

  it('is there for onStop when the run is aborted from outside', async () => {
    const controller = new AbortController()
    const keeper = stateful({ beforeModelCall: count, onStop: () => undefined })
    const { tool } = notes({ handler: () => (controller.abort(), 'written') })
    const given = await rig([reply.toolCall('write_note')], { agents: [desk([tool])], plugins: [keeper.plugin] })
    await given.run({ signal: controller.signal })
    expect(keeper.seen.at(-1)).toEqual(['onStop', 1])
  })

  describe('update', () => {
    const updated = async (change: (current: JsonValue | undefined) => unknown) => {
      const keeper = stateful({ beforeModelCall: (state) => void state.update(change as never) })
      return (await rig([], { plugins: [keeper.plugin] })).run()
    }
    it.each([
      ['a promise', () => Promise.resolve(1)],
      ['undefined', () => undefined],
      ['a function', () => () => 1],
      ['NaN', () => Number.NaN],
      ['a date', () => new Date(0)],
      [
        'a circle',
        () => {
          const circle: Record<string, unknown> = {}
          circle.self = circle
          return circle
        },
      ],
    ])('refuses %s, and the gate that gave it fails', async (_what, change) => {
      const { error } = await updated(change)
      expect(error).toMatchObject({ code: 'HOOK_FAILED', cause: { code: 'STORE_VALUE_INVALID' } })
    })

    it('refuses more than 64 KiB', async () => {
      expect((await updated(() => 'x'.repeat(65_536))).error).toMatchObject({
        code: 'HOOK_FAILED',
        cause: { code: 'LIMIT_EXCEEDED' },
      })
    })

    it('keeps a frozen copy: what the plugin does to its object afterwards changes nothing', async () => {
      const mine = { list: [1] }
      let kept: unknown
      const keeper = stateful({
        beforeModelCall: (state) => {
          state.update(() => mine)
          mine.list.push(2)
          kept = state.get()
          expect(Reflect.set((kept as { list: object }).list, 0, 'changed')).toBe(false)
        },
      })
      const given = await rig(['x'], { plugins: [keeper.plugin] })
      expect((await given.run()).run?.status).toBe('completed')
      expect(kept).toEqual({ list: [1] })
    })
  })

  it('an accessor that a plugin kept from a run is of no use in the next one', async () => {
    let kept: RunState | undefined
    const keeper = stateful({
      beforeModelCall: (state) => {
        kept ??= state
      },
    })
    const given = await rig(['x', 'y'], { plugins: [keeper.plugin] })
    await given.run()
    kept?.update(() => 'from the last run')
    await given.run()
    expect(keeper.seen).toEqual([
      ['beforeModelCall', undefined],
      ['beforeModelCall', undefined],
    ])
  })
})
