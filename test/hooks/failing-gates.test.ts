import type { GatePoint } from '@sluice/core'
import { HookFailedError } from '@sluice/core'
import { FAILURES, failingPlugin, hang, held, latch, reply } from '@sluice/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hearRejections } from './property/hear-rejections.js'
import { desk, gate, notes, rig, stopLines, watcher } from './support/rig.js'

const POINTS = [
  'beforeExecution',
  'beforeModelCall',
  'whileInFlight',
  'inspectReply',
  'beforeToolCall',
  'inspectToolInput',
] as const
const VIAS = ['tap', 'tapPromise', 'tapAsync'] as const
/** What has been sent to the provider when a gate of this point is asked for the first time. */
const SENT: Readonly<Record<GatePoint, number>> = {
  beforeExecution: 0,
  beforeModelCall: 0,
  whileInFlight: 1,
  inspectReply: 1,
  beforeToolCall: 1,
  inspectToolInput: 1,
}

const rejections = hearRejections()
beforeAll(rejections.listen)
afterAll(rejections.stop)

describe.each(POINTS)('CASE-01, H-20: a gate at %s that fails stops the run', (point) => {
  describe.each(VIAS)('tapped with %s', (via) => {
    it.each(FAILURES)('$as', async ({ as, answer }) => {
      const { tool, calls } = notes()
      const seen = watcher()
      const failing = failingPlugin({ point, as, via })
      // a request that is open long enough to be watched
      const first = point === 'whileInFlight' ? hang() : reply.toolCall('write_note')
      const { run, provider, clock, receipts, logger } = await rig([...(SENT[point] === 0 ? [] : [first])], {
        agents: [desk([tool])],
        plugins: [failing, seen.plugin],
      })

      const { error } = await run()
      // what a late gate says afterwards changes nothing
      await clock.tick(60_000)

      expect(HookFailedError.isInstance(error)).toBe(true)
      expect(error).toMatchObject({ code: 'HOOK_FAILED', by: { plugin: 'failing-plugin', point } })
      expect([calls.length, provider.calls.length]).toEqual([0, SENT[point]])
      expect(stopLines(seen.onStop)).toEqual([`${point} failing-plugin ${answer} HOOK_FAILED`])
      const root = seen.onStop[0]?.rootExecutionId ?? ''
      const rows = (await receipts(root)).flatMap(({ askings }) => askings.flatMap(({ gates }) => gates))
      expect(rows.filter((row) => row.plugin === 'failing-plugin').map((row) => row.answer)).toEqual([answer])
      expect(rejections.take()).toEqual([])
      if (as.startsWith('late')) expect(logger.matching('answered after the asking had ended')).toHaveLength(1)
    })
  })
})

describe('CASE-01: what a failure carries', () => {
  it.each([
    ['an error', new Error('a bug')],
    ['a string', 'a string'],
    ['undefined', undefined],
    ['null', null],
    ['0', 0],
    ['an object without a message', { without: 'a message' }],
  ])('%s is the cause as it was thrown, and as it was rejected with', async (_what, value) => {
    for (const fail of [
      () => {
        throw value
      },
      () => Promise.reject(value),
    ]) {
      const { run } = await rig([], { plugins: [gate('beforeExecution', fail)] })
      const { error } = await run()
      expect(error).toMatchObject({ code: 'HOOK_FAILED', failure: 'threw' })
      expect('cause' in (error as Error)).toBe(true)
      expect((error as Error).cause).toBe(value)
    }
  })

  it('a value that was returned is the cause, and the message says how a gate passes', async () => {
    const { run } = await rig([], { plugins: [gate('beforeModelCall', () => false)] })
    const { error } = await run()
    expect(error).toMatchObject({ failure: 'returned_value', cause: false })
    expect(error?.message).toContain('A gate passes by returning nothing; to stop, throw a Veto.')
  })

  it('a missed deadline is a failure of its own kind, at its deadline and not later', async () => {
    const { run, clock } = await rig([], {
      plugins: [gate('beforeExecution', () => new Promise(() => {}), { timeoutMs: 1_234 })],
    })
    const { error } = await run()
    expect(error).toMatchObject({ failure: 'timed_out' })
    expect(clock.monotonic()).toBe(1_234)
  })

  it('the deadline of a gate is hookTimeoutMs of the runtime where the tap has none of its own', async () => {
    const { run, clock } = await rig([], {
      plugins: [gate('beforeExecution', () => new Promise(() => {}))],
      timeouts: { hookTimeoutMs: 77 },
    })
    expect((await run()).code).toBe('HOOK_FAILED')
    expect(clock.monotonic()).toBe(77)
  })

  it('a gate that keeps the thread beyond its deadline is stopped when it returns, also when it promises to go on', async () => {
    const { run, clock } = await rig([], {
      plugins: [
        gate(
          'beforeExecution',
          () => {
            clock.block(80)
            return new Promise(() => {})
          },
          { timeoutMs: 50 },
        ),
      ],
    })
    expect((await run()).error).toMatchObject({ failure: 'timed_out' })
    expect(clock.monotonic()).toBe(80)
  })

  it('the deadline counts from the call of the gate, also where it kept the thread for a part of it', async () => {
    const { run, clock } = await rig([], {
      plugins: [
        gate(
          'beforeExecution',
          () => {
            clock.block(30)
            return new Promise(() => {})
          },
          { timeoutMs: 50 },
        ),
      ],
    })
    expect((await run()).error).toMatchObject({ failure: 'timed_out' })
    expect(clock.monotonic()).toBe(50)
  })

  it('the signal of the asking fires at the deadline, so that a gate can give up its work', async () => {
    let reason: unknown
    const { run } = await rig([], {
      plugins: [
        gate('beforeExecution', ({ signal }) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
          })
          return new Promise(() => {})
        }),
      ],
    })
    const { error } = await run()
    expect(reason).toBe(error)
  })
})

describe('CASE-01: `authorize` of a tool answers like a gate', () => {
  it.each([
    [
      'throws',
      () => {
        throw new Error('a bug')
      },
      'failed',
    ],
    [
      'throws undefined',
      () => {
        throw undefined
      },
      'failed',
    ],
    ['returns false', () => false, 'failed'],
    ['rejects', () => Promise.reject(new Error('a bug')), 'failed'],
    ['gives true', () => Promise.resolve(true), 'failed'],
    ['never settles', () => new Promise(() => {}), 'timed_out'],
  ])('one that %s stops the run', async (_what, authorize, answer) => {
    const { tool, calls } = notes({ authorize })
    const seen = watcher()
    const { run } = await rig([reply.toolCall('write_note')], { agents: [desk([tool])], plugins: [seen.plugin] })
    expect((await run()).code).toBe('HOOK_FAILED')
    expect(calls).toEqual([])
    expect(stopLines(seen.onStop)).toEqual([`authorize tool:write_note ${answer} HOOK_FAILED`])
  })
})

describe('CASE-01: a gate is stopped also where', () => {
  it('its point is asked a second time before the tool runs, and it fails then', async () => {
    const { tool, calls } = notes()
    let asked = 0
    const { run } = await rig([reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeToolCall', () => {
          if (++asked === 3) throw new Error('a bug')
        }),
      ],
    })
    expect((await run()).code).toBe('HOOK_FAILED')
    expect([asked, calls]).toEqual([3, ['a']])
  })

  it('a later asking of whileInFlight fails while a handler is open', async () => {
    const door = latch()
    const { tool } = notes({ handler: (_args, { signal }) => door.wait(signal) })
    let asked = 0
    const { run } = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [
        gate('whileInFlight', () => {
          if (++asked === 3) throw new Error('a bug')
        }),
      ],
    })
    expect((await run()).code).toBe('HOOK_FAILED')
    expect(asked).toBe(3)
  })

  it('the reply has arrived while the gate that watched it was still being asked', async () => {
    const door = latch()
    const { run, clock, runtime, end } = await rig([held(door, 'The answer.')], {
      plugins: [
        gate(
          'whileInFlight',
          () => new Promise((_resolve, reject) => void clock.setTimeout(() => reject(new Error('late')), 500)),
        ),
      ],
    })
    void run
    const running = end(runtime.execute({ agent: 'desk' }))
    await clock.tick(1_200)
    door.open()
    expect((await running).code).toBe('HOOK_FAILED')
  })
})
