import { Veto } from '@sluice/core'
import type { ScriptStep } from '@sluice/testkit'
import { latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { caught, desk, gate, notes, rig } from './support/rig.js'

const calls = (count: number): ScriptStep => {
  let step = reply('Let me see.')
  for (let number = 1; number <= count; number++) step = step.toolCall('write_note', { text: String(number) })
  return step
}

/** A gate that waits on a latch and then vetoes. */
function latched(
  point: 'beforeExecution' | 'beforeModelCall' | 'inspectReply' | 'beforeToolCall' | 'inspectToolInput',
) {
  const door = latch()
  const plugin = gate(point, async () => {
    await door.wait()
    throw new Veto('TOO_LATE', 'The guard took its time.')
  })
  return { door, plugin }
}

describe.each([
  ['beforeExecution', 0],
  ['beforeModelCall', 0],
  ['inspectReply', 1],
  ['beforeToolCall', 1],
  ['inspectToolInput', 1],
] as const)('CASE-02: a gate of %s that answers slowly', (point, sent) => {
  it.each([1, 2, 3])('holds back what it stands before, with %i tool calls in the reply', async (count) => {
    const { tool, calls: ran } = notes()
    const { door, plugin } = latched(point)
    const { runtime, provider, clock } = await rig(sent === 0 ? [] : [calls(count)], {
      agents: [desk([tool])],
      plugins: [plugin],
    })
    const running = caught(runtime.execute({ agent: 'desk' }))
    await door.reached()
    await clock.tick(4_000)
    expect([provider.calls.length, ran.length]).toEqual([sent, 0])
    door.open()
    expect((await running).code).toBe('TOO_LATE')
    expect([provider.calls.length, ran.length]).toEqual([sent, 0])
  })

  it('holds back a stream too: no text and no tool event before it has answered', async () => {
    const { tool, calls: ran } = notes()
    const { door, plugin } = latched(point)
    const { runtime, clock } = await rig(sent === 0 ? [] : [calls(2)], {
      agents: [desk([tool])],
      plugins: [plugin],
    })
    const stream = runtime.stream({ agent: 'desk', show: 'checked' })
    const seen: string[] = []
    const reading = (async () => {
      for await (const event of stream) seen.push(event.type)
    })()
    await door.reached()
    await clock.tick(1_000)
    const before = point === 'beforeToolCall' || point === 'inspectToolInput' ? ['receipt', 'assistant_text'] : []
    expect(seen).toEqual(before)
    door.open()
    expect((await caught(stream.run)).code).toBe('TOO_LATE')
    await reading
    expect(seen.filter((type) => type === 'tool_call')).toEqual([])
    expect(ran).toEqual([])
  })
})

describe('CASE-02: a checkpoint waits for gates in flight', () => {
  it('a reply is not final while whileInFlight is still being asked about its request', async () => {
    const { tool, calls: ran } = notes()
    const door = latch()
    const { runtime, clock } = await rig([async () => (await wait(clock.setTimeout, 1_500), calls(1))], {
      agents: [desk([tool])],
      plugins: [
        gate('whileInFlight', async () => {
          await door.wait()
          throw new Veto('TOO_LATE', 'The guard took its time.')
        }),
      ],
    })
    const running = caught(runtime.execute({ agent: 'desk' }))
    await clock.tick(3_000)
    expect(ran).toEqual([])
    door.open()
    expect((await running).code).toBe('TOO_LATE')
    expect(ran).toEqual([])
  })

  it('the result of a handler is not given to the model while whileInFlight is still being asked about it', async () => {
    const door = latch()
    const given = notes({ handler: () => wait(clock.setTimeout, 1_500).then(() => 'written') })
    const { runtime, clock, provider } = await rig([calls(1)], {
      agents: [desk([given.tool])],
      plugins: [
        gate('whileInFlight', async () => {
          await door.wait()
          throw new Veto('TOO_LATE', 'The guard took its time.')
        }),
      ],
    })
    const running = caught(runtime.execute({ agent: 'desk' }))
    await clock.tick(3_000)
    expect(provider.calls).toHaveLength(1)
    door.open()
    const { code, error } = await running
    expect(code).toBe('TOO_LATE')
    expect(error?.partial?.toolCalls).toMatchObject([{ status: 'ok' }])
  })

  it('two calls that only read and run together are both held by the gate of the first', async () => {
    const { tool, calls: ran } = notes({ effect: 'read' })
    const { door, plugin } = latched('beforeToolCall')
    const { runtime, clock } = await rig([calls(2)], {
      agents: [desk([tool])],
      plugins: [plugin],
      settings: { toolConcurrency: 4 },
    })
    const running = caught(runtime.execute({ agent: 'desk' }))
    await door.reached()
    await clock.tick(100)
    expect(ran).toEqual([])
    door.open()
    expect((await running).code).toBe('TOO_LATE')
    expect(ran).toEqual([])
  })
})

function wait(setTimeout: (fire: () => void, ms: number) => unknown, ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}
