import type { GatePoint } from '@sluice/core'
import { Stage, Veto } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, gate, notes, plugin, rig, stopLines, watcher } from './support/rig.js'

const deny = () => {
  throw new Veto('DENIED', 'Not this tool.')
}
const allow = () => undefined
const STAGES = [Stage.identity, Stage.policy, Stage.limit, 3.5, Stage.approve, Stage.reserve, Stage.record]

describe('CASE-03: one deny stops, whatever stands before or after it', () => {
  const stagePairs = STAGES.flatMap((first) =>
    [Stage.policy, Stage.limit, Stage.record].map((second) => [first, second] as const),
  )
  it.each(stagePairs)(
    'allow at stage %d and deny at stage %d, in both orders of registration',
    async (first, second) => {
      for (const denyFirst of [true, false]) {
        const { tool, calls } = notes()
        const plugins = [
          gate('beforeToolCall', allow, { name: 'allows', stage: first }),
          gate('beforeToolCall', deny, { name: 'denies', stage: second }),
        ]
        const { run } = await rig([reply.toolCall('write_note')], {
          agents: [desk([tool])],
          plugins: denyFirst ? plugins.toReversed() : plugins,
        })
        expect((await run()).error).toMatchObject({ code: 'DENIED', by: { plugin: 'denies', point: 'beforeToolCall' } })
        expect(calls).toEqual([])
      }
    },
  )

  it.each([0, 1, 2])(
    'three plugins, the deny in position %i: the ones before are asked, the ones behind are not',
    async (at) => {
      const asked: string[] = []
      const { tool, calls } = notes()
      const plugins = ['a', 'b', 'c'].map((name, place) =>
        gate(
          'beforeToolCall',
          () => {
            asked.push(name)
            if (place === at) deny()
          },
          { name },
        ),
      )
      const { run } = await rig([reply.toolCall('write_note')], { agents: [desk([tool])], plugins })
      expect((await run()).code).toBe('DENIED')
      expect([calls.length, asked]).toEqual([0, ['a', 'b', 'c'].slice(0, at + 1)])
    },
  )

  it.each(['beforeExecution', 'beforeModelCall', 'inspectReply', 'beforeToolCall', 'inspectToolInput'] as const)(
    'a pass at every point and every stage grants nothing at %s',
    async (point: GatePoint) => {
      const { tool, calls } = notes()
      const allower = plugin('allows', (hooks) => {
        for (const stage of STAGES)
          for (const at of [
            'beforeExecution',
            'beforeModelCall',
            'inspectReply',
            'beforeToolCall',
            'inspectToolInput',
          ] as const)
            hooks[at].tap({ name: `pass at ${stage}`, stage }, allow)
      })
      const sent = point === 'beforeExecution' || point === 'beforeModelCall' ? [] : [reply.toolCall('write_note')]
      const { run } = await rig(sent, {
        agents: [desk([tool])],
        plugins: [allower, gate(point, deny, { stage: Stage.record }), allower].slice(0, 2),
      })
      expect((await run()).code).toBe('DENIED')
      expect(calls).toEqual([])
    },
  )

  it('a switch that is thrown between two tool calls stops the second one', async () => {
    let on = true
    const { tool, calls } = notes({
      handler: () => {
        on = false
        return 'written'
      },
    })
    const seen = watcher()
    const { run } = await rig([reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })], {
      agents: [desk([tool])],
      plugins: [gate('beforeToolCall', () => (on ? undefined : deny()), { name: 'switch' }), seen.plugin],
    })
    const { code, error } = await run()
    expect([code, calls]).toEqual(['DENIED', ['a']])
    expect(stopLines(seen.onStop)).toEqual(['beforeToolCall switch vetoed DENIED'])
    expect(error?.partial?.toolCalls.map(({ status }) => status)).toEqual(['ok', 'vetoed'])
  })

  it('H-36: explain shows which gates stand before a tool, in the order in which they are asked', async () => {
    const { tool } = notes()
    const order: string[] = []
    const note = (name: string) => () => void order.push(name)
    const plugins = [
      gate('beforeToolCall', note('late'), { name: 'late', stage: Stage.reserve }),
      gate('beforeToolCall', note('early'), { name: 'early', stage: Stage.identity }),
      gate('beforeToolCall', note('middle'), { name: 'middle' }),
      gate('beforeToolCall', note('middle-too'), { name: 'middle-too' }),
    ]
    const { run, runtime } = await rig([reply.toolCall('write_note'), 'Done.'], { agents: [desk([tool])], plugins })
    expect((await run()).run?.status).toBe('completed')
    const { taps } = (await runtime.explain('desk')).hooks
    const told = taps.filter(({ point }) => point === 'beforeToolCall').map((tap) => tap.plugin)
    expect(told).toEqual(['early', 'middle', 'middle-too', 'late'])
    expect(order).toEqual(told)
  })
})
