import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { ALL, guardedDesk, guards, SPACE } from './guarded-desk.js'

/** Name of the rate limiter in explain. */
const RATES = SPACE.rates.slice('plugin:'.length)
const GATES = new Set(['beforeExecution', 'beforeModelCall', 'beforeToolCall', 'inspectToolInput'])

/** Gates before an effect, in the order of the points. */
const POINTS = {
  execution: ['beforeExecution'],
  model_call: ['beforeModelCall'],
  tool_call: ['beforeToolCall', 'inspectToolInput'],
} as const

describe('all guards together: the composed set', () => {
  it('explain shows it in the order in which it is asked: switch, limits, approvals, budget, audit', async () => {
    const desk = await guardedDesk([])
    const { hooks } = await desk.runtime.explain('desk')
    const at = (point: string) => hooks.taps.filter((tap) => tap.point === point).map((tap) => tap.plugin)
    expect(at('beforeExecution')).toEqual(['hooks-policy/kill-switch', RATES, 'hooks-audit'])
    expect(at('beforeModelCall')).toEqual(['hooks-policy/kill-switch', RATES, 'hooks-budget', 'hooks-audit'])
    expect(at('beforeToolCall')).toEqual(['hooks-policy/kill-switch', RATES])
    expect(at('inspectToolInput')).toEqual(['hooks-policy/approval', 'hooks-budget', 'hooks-audit'])
    for (const point of GATES) {
      const stages = hooks.taps.filter((tap) => tap.point === point).map((tap) => tap.stage)
      expect(stages).toEqual(stages.toSorted((a, b) => a - b))
    }
    expect(hooks.plugins.map(({ plugin, shadow }) => [plugin, shadow])).toEqual([
      ['hooks-audit', false],
      ['hooks-budget', false],
      ['hooks-policy/approval', false],
      [RATES, false],
      ['hooks-policy/kill-switch', false],
    ])
  })

  it('the receipts of a run have the gates in the order that explain shows', async () => {
    const desk = await guardedDesk([reply.toolCall('write_note', { text: 'a' }), reply('Done.')])
    const { run } = await desk.run()
    const { hooks } = await desk.runtime.explain('desk')
    const receipts = await desk.runtime.executions.receipts(run?.executionId ?? '', ALL)
    const shown = (points: readonly string[]) =>
      points.flatMap((point) =>
        hooks.taps.filter((tap) => tap.point === point).map(({ plugin }) => `${point} ${plugin}`),
      )
    const rows = receipts.map(({ effect, askings }) => ({
      effect,
      asked: askings[0]?.gates.filter(({ point }) => GATES.has(point)) ?? [],
    }))
    expect(rows.map(({ effect }) => effect).toSorted()).toEqual(['execution', 'model_call', 'model_call', 'tool_call'])
    for (const { effect, asked } of rows) {
      expect(asked.map(({ point, plugin }) => `${point} ${plugin}`)).toEqual(shown(POINTS[effect]))
      expect(asked.map(({ answer }) => answer)).toEqual(asked.map(() => 'passed'))
    }
  })

  it('in whatever order they are given, they are asked in the same one', async () => {
    const order = async (plugins: ReturnType<typeof guards>) => {
      const desk = await guardedDesk([], { plugins })
      const { hooks } = await desk.runtime.explain('desk')
      return hooks.taps.filter(({ point }) => GATES.has(point)).map(({ point, plugin }) => `${point} ${plugin}`)
    }
    expect(await order(guards().toReversed())).toEqual(await order(guards()))
  })
})
