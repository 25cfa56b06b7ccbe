import { describe, expect, it } from 'vitest'
import { createHookBench, createMemoryStore } from '@sluice/core'
import { capturedLogger } from '../captured-logger.js'
import { fakeIds } from '../fake-ids.js'
import { fakeClock } from '../time/fake-clock.js'
import { FAILURES, failingPlugin } from './failing-plugin.js'
import { recordingPlugin } from './recording-plugin.js'

const parts = () => ({ store: createMemoryStore(), clock: fakeClock(), ids: fakeIds(), logger: capturedLogger() })

describe('recordingPlugin', () => {
  it('T-14: records hooks and events in one timeline and passes everywhere', async () => {
    const recorder = recordingPlugin()
    const bench = await createHookBench([recorder.plugin], parts())
    expect((await bench.ask('beforeExecution')).answer).toBe('passed')
    expect((await bench.ask('beforeToolCall', { toolCode: 'ap_get_invoice' })).answer).toBe('passed')
    await bench.tell('onEvent', { type: 'tool_result' })
    recorder.callback({ type: 'response_complete' } as never)
    await bench.augment('You are kind.')
    await bench.tell('afterExecution', { status: 'completed' })
    expect(recorder.lines).toEqual([
      'beforeExecution',
      'beforeToolCall ap_get_invoice',
      'onEvent tool_result',
      'callback response_complete',
      'augmentSystemPrompt',
      'afterExecution completed',
    ])
    expect(recorder.at('augmentSystemPrompt')[0]?.context).toBe('You are kind.')
    await bench.dispose()
  })

  it('T-14: asserts an order across hooks and events, and shows the timeline where it differs', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution', 'onEvent'] })
    const bench = await createHookBench([recorder.plugin], parts())
    await bench.ask('beforeExecution')
    await bench.tell('onEvent', { type: 'tool_call' })
    await bench.tell('onEvent', { type: 'tool_result' })
    recorder.assertOrder('beforeExecution', 'onEvent tool_result')
    expect(() => recorder.assertOrder('onEvent tool_result', 'onEvent tool_call')).toThrow(
      expect.objectContaining({ code: 'ORDER_DIFFERS', message: expect.stringContaining('2. onEvent tool_call') }),
    )
    recorder.clear()
    expect(recorder.entries).toEqual([])
    await bench.dispose()
  })
})

describe('failingPlugin', () => {
  it.each(FAILURES)('CASE-26: an observer that does "$as" is counted at most, and the telling ends', async ({ as }) => {
    const given = parts()
    for (const via of ['tap', 'tapPromise', 'tapAsync'] as const) {
      const bench = await createHookBench([failingPlugin({ point: 'onStop', as, via })], given)
      await given.clock.settle(bench.tell('onStop', { code: 'X' }))
      await given.clock.tick(1_000)
      await bench.dispose()
    }
    expect(given.clock.timers).toBe(0)
  })

  it('refuses a way of failing and a point that are not known', () => {
    expect(() => failingPlugin({ point: 'beforeTool' as never, as: 'throw' })).toThrow('"beforeTool" is no hook point')
    expect(() => failingPlugin({ point: 'onStop', as: 'toString' as never })).toThrow(
      expect.objectContaining({ code: 'FAILURE_UNKNOWN' }),
    )
  })

  it('tells when it is asked', async () => {
    let asked = 0
    const plugin = failingPlugin({ point: 'beforeModelCall', as: 'throw', onAsked: () => void (asked += 1) })
    const bench = await createHookBench([plugin], parts())
    await bench.ask('beforeModelCall')
    await bench.ask('beforeModelCall')
    expect(asked).toBe(2)
    await bench.dispose()
  })
})
