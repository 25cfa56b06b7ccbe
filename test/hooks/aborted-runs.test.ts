import type { GatePoint, RunEvent } from '@sluice/core'
import { Veto, Wait } from '@sluice/core'
import { hang, latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { ALL, caught, closingLines, desk, gate, notes, plugin, rig, stopLines, watcher } from './support/rig.js'

const twoCalls = reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })
const ABORTED = 'run null aborted RUN_ABORTED'

async function statusOf({ runtime }: Awaited<ReturnType<typeof rig>>): Promise<string | undefined> {
  return (await runtime.executions.list({ ...ALL, level: 'top' })).items[0]?.status
}

describe('CASE-05: an abort', () => {
  it('(a) before execute asks, sends and writes nothing', async () => {
    const seen = watcher()
    let asked = 0
    const given = await rig([], { plugins: [gate('beforeExecution', () => void asked++), seen.plugin] })
    expect((await given.run({ signal: AbortSignal.abort() })).code).toBe('RUN_ABORTED')
    expect([asked, given.provider.calls.length, await statusOf(given)]).toEqual([0, 0, undefined])
  })

  const held: readonly (readonly [GatePoint, number])[] = [
    ['beforeExecution', 0],
    ['beforeModelCall', 0],
    ['inspectReply', 1],
    ['beforeToolCall', 1],
    ['inspectToolInput', 1],
  ]
  it.each(held)('(b) while a gate of %s waits, which then passes, lets nothing more through', async (point, sent) => {
    const door = latch()
    const behind: string[] = []
    const { tool, calls } = notes()
    const seen = watcher()
    const given = await rig(sent === 0 ? [] : [twoCalls], {
      agents: [desk([tool])],
      plugins: [
        gate(point, () => door.wait()),
        gate(point, () => void behind.push(point), { name: 'behind' }),
        seen.plugin,
      ],
    })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    await door.reached()
    controller.abort()
    door.open()
    expect((await running).code).toBe('RUN_ABORTED')
    expect(given.clock.monotonic()).toBe(0)
    expect([given.provider.calls.length, calls, behind]).toEqual([sent, [], []])
    expect(stopLines(seen.onStop)).toEqual([ABORTED])
    expect(await statusOf(given)).toBe(point === 'beforeExecution' ? undefined : 'aborted')
    const rows = (await given.receipts(seen.onStop[0]?.rootExecutionId ?? '')).flatMap(({ askings }) =>
      askings.flatMap(({ gates }) => gates),
    )
    expect(rows.map((row) => `${row.plugin} ${row.answer}`)).toEqual(['gate aborted', 'behind not_asked'])
  })

  it('(b) while a gate waits that then vetoes is an abort all the same', async () => {
    const door = latch()
    const given = await rig([], {
      plugins: [
        gate('beforeModelCall', async () => {
          await door.wait()
          throw new Veto('TOO_LATE', 'No.')
        }),
      ],
    })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    await door.reached()
    controller.abort()
    door.open()
    expect((await running).code).toBe('RUN_ABORTED')
  })

  it.each(['tap', 'tapAsync'] as const)(
    '(b) from inside a gate (%s) ends the asking there, whatever the gate says then',
    async (via) => {
      const behind: string[] = []
      const controller = new AbortController()
      const inside = (_context: unknown, callback?: () => void) => {
        controller.abort()
        callback?.()
      }
      const given = await rig([], {
        plugins: [
          gate('beforeModelCall', inside, { via }),
          gate('beforeModelCall', () => void behind.push('asked'), { name: 'behind' }),
        ],
      })
      expect((await given.run({ signal: controller.signal })).code).toBe('RUN_ABORTED')
      expect(behind).toEqual([])
    },
  )

  it('(c) during the first of two tools whose handler honours the signal ends the run at once; the second does not start', async () => {
    const door = latch()
    const { tool, calls } = notes({ handler: (_args, { signal }) => door.wait(signal) })
    const seen = watcher()
    const given = await rig([twoCalls], { agents: [desk([tool])], plugins: [seen.plugin] })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    await door.reached()
    controller.abort(new Error('enough'))
    const { error } = await running
    expect(given.clock.monotonic()).toBe(0)
    expect([error?.code, calls, await statusOf(given)]).toEqual(['RUN_ABORTED', ['a'], 'aborted'])
    expect(error?.partial?.toolCalls.map(({ status }) => status)).toEqual(['unknown', 'not_run'])
    expect(closingLines(seen.afterToolCall)).toEqual(['m1.t1#1 aborted yes', 'm1.t2#1 not_run no'])
  })

  it('(d) the same with a handler that never settles ends within abortGraceMs, and says that its effect is not known', async () => {
    const started = latch()
    const { tool, calls } = notes({
      handler: () => {
        void started.wait()
        return new Promise(() => {})
      },
    })
    const seen = watcher()
    const given = await rig([twoCalls], {
      agents: [desk([tool])],
      plugins: [seen.plugin],
      timeouts: { abortGraceMs: 2_000 },
    })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    await started.reached()
    controller.abort()
    await given.clock.tick(2_000)
    const { error } = await running
    expect(given.clock.monotonic()).toBe(2_000)
    expect([error?.code, calls, await statusOf(given)]).toEqual(['RUN_ABORTED', ['a'], 'aborted'])
    expect(closingLines(seen.afterToolCall)).toEqual(['m1.t1#1 unknown yes', 'm1.t2#1 not_run no'])
    const [row] = (await given.runtime.executions.list({ ...ALL, level: 'top' })).items
    expect(row?.inFlight.map((id) => id.split('/')[1])).toEqual(['m1.t1'])
  })

  it('(d) a request that never settles is left after the grace too', async () => {
    const seen = watcher()
    const given = await rig([hang({ ignoreSignal: true })], { plugins: [seen.plugin] })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    while (given.provider.calls.length === 0) await given.clock.tick()
    controller.abort()
    await given.clock.tick(5_000)
    expect((await running).code).toBe('RUN_ABORTED')
    expect(given.clock.monotonic()).toBe(5_000)
    expect(closingLines(seen.afterModelCall)).toEqual(['m1#1 unknown unknown'])
  })

  it('(e) during a stream ends it, and no event follows its last one', async () => {
    const given = await rig([
      reply('A long answer, told in several pieces.').streamed({ chunkLength: 4, hangAfter: 3 }),
    ])
    const controller = new AbortController()
    const stream = given.runtime.stream({ agent: 'desk', signal: controller.signal })
    const events: RunEvent[] = []
    for await (const event of stream) {
      events.push(event)
      if (events.length === 3) controller.abort()
    }
    expect((await caught(stream.run)).code).toBe('RUN_ABORTED')
    await given.clock.tick(60_000)
    expect(events.at(-1)).toMatchObject({ type: 'run_ended', data: { status: 'aborted' } })
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, place) => place + 1))
  })

  it('(f) between two rounds sends no second request', async () => {
    const controller = new AbortController()
    const { tool, calls } = notes({
      handler: () => {
        controller.abort()
        return 'written'
      },
    })
    const seen = watcher()
    const given = await rig([reply.toolCall('write_note', { text: 'a' })], {
      agents: [desk([tool])],
      plugins: [seen.plugin],
    })
    const { error } = await given.run({ signal: controller.signal })
    expect([error?.code, calls, given.provider.calls.length]).toEqual(['RUN_ABORTED', ['a'], 1])
    // the handler came to its end, and that stands on record
    expect(error?.partial?.toolCalls.map(({ status }) => status)).toEqual(['ok'])
    expect(stopLines(seen.onStop)).toEqual([ABORTED])
  })

  it('during a wait that a gate asked for ends the wait', async () => {
    const given = await rig([], {
      plugins: [
        gate('beforeModelCall', () => {
          throw new Wait('BUSY', 30_000)
        }),
      ],
      timeouts: { maxWaitMs: 60_000 },
    })
    const controller = new AbortController()
    const running = caught(given.runtime.execute({ agent: 'desk', signal: controller.signal }))
    await given.clock.tick(10)
    controller.abort()
    expect((await running).code).toBe('RUN_ABORTED')
    expect([given.clock.monotonic(), given.clock.timers]).toEqual([10, 0])
  })

  it('that comes when the run has ended changes nothing', async () => {
    const controller = new AbortController()
    const seen = watcher()
    const given = await rig(['Done.'], { plugins: [gate('beforeExecution', () => undefined), seen.plugin] })
    const { run } = await given.run({ signal: controller.signal })
    controller.abort()
    await given.clock.tick()
    expect([run?.status, seen.onStop.length]).toEqual(['completed', 0])
  })

  it('that comes while afterExecution is told is too late: the run has completed', async () => {
    const controller = new AbortController()
    const seen = watcher()
    const given = await rig(['Done.'], {
      plugins: [seen.plugin, plugin('late', (hooks) => hooks.afterExecution.tap('abort', () => controller.abort()))],
    })
    const { run } = await given.run({ signal: controller.signal })
    expect([run?.status, seen.onStop.length, await statusOf(given)]).toEqual(['completed', 0, 'completed'])
  })

  it('leaves a session that can be carried on', async () => {
    const controller = new AbortController()
    const { tool } = notes({ handler: () => (controller.abort(), 'written') })
    const given = await rig(['First.', reply.toolCall('write_note'), 'Third.'], { agents: [desk([tool])] })
    await given.run({ sessionId: 's-1' })
    expect((await given.run({ sessionId: 's-1', followUp: 'And?', signal: controller.signal })).code).toBe(
      'RUN_ABORTED',
    )
    expect((await given.run({ sessionId: 's-1', followUp: 'And now?' })).run?.text).toBe('Third.')
  })
})
