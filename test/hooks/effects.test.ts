import type { GatePoint, Receipt } from '@sluice/core'
import { Refusal } from '@sluice/core'
import { providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { closingLines, desk, gate, notes, plugin, rig, watcher } from './support/rig.js'

const pathOf = (effectId: string) => effectId.split('/').slice(1).join('/')
const POINTS = ['beforeExecution', 'beforeModelCall', 'inspectReply', 'beforeToolCall', 'inspectToolInput'] as const

/** A plugin that notes each asking: point, effect and attempt. */
function noting() {
  const asked: string[] = []
  const noted = plugin('noting', (hooks) => {
    for (const point of POINTS)
      hooks[point].tap('note', ({ effectId, attempt }) => void asked.push(`${point} ${pathOf(effectId)}#${attempt}`))
  })
  return { plugin: noted, asked }
}

/** One line per receipt: the effect, its attempt, each asking as its answers, and how it ended. */
const receiptLines = (receipts: readonly Receipt[]) =>
  receipts.map(
    ({ effectId, attempt, askings, outcome, sent }) =>
      `${pathOf(effectId)}#${attempt} ${askings.map(({ gates }) => gates.map(({ answer }) => answer).join(',')).join(' | ')} ${outcome} ${sent}`,
  )

describe('identity of an effect', () => {
  it('comes from the root and the path of steps, and is the same for every gate of the effect', async () => {
    const { tool } = notes()
    const { plugin: noted, asked } = noting()
    const given = await rig([reply.toolCall('write_note'), 'Done.'], { agents: [desk([tool])], plugins: [noted] })
    const { run } = await given.run()
    expect(asked).toEqual([
      'beforeExecution execution#1',
      'beforeModelCall m1#1',
      'inspectReply m1#1',
      'beforeToolCall m1.t1#1',
      'inspectToolInput m1.t1#1',
      'beforeModelCall m2#1',
      'inspectReply m2#1',
    ])
    const ids = (await given.receipts(run?.executionId ?? '')).map(({ effectId }) => effectId)
    expect(ids.every((id) => id.startsWith(`${run?.executionId}/`))).toBe(true)
  })

  it('CASE-12: each retry and each fallback of a request is the next attempt of one effect, asked and closed on its own', async () => {
    const { plugin: noted, asked } = noting()
    const seen = watcher()
    const given = await rig([providerError(500), providerError(429), 'Done.'], {
      plugins: [noted, seen.plugin],
      settings: { retry: { attempts: 3, backoffMs: 10, maxBackoffMs: 10 } },
    })
    expect((await given.run()).run?.text).toBe('Done.')
    expect(asked.filter((line) => line.startsWith('beforeModelCall'))).toEqual([
      'beforeModelCall m1#1',
      'beforeModelCall m1#2',
      'beforeModelCall m1#3',
    ])
    expect(closingLines(seen.afterModelCall)).toEqual(['m1#1 error yes', 'm1#2 error yes', 'm1#3 ok yes'])
  })

  it('a gate that holds back the second attempt stops the retry', async () => {
    const given = await rig([providerError(500)], {
      plugins: [gate('beforeModelCall', ({ attempt }) => (attempt === 2 ? false : undefined))],
      settings: { retry: { attempts: 3, backoffMs: 10, maxBackoffMs: 10 } },
    })
    expect((await given.run()).code).toBe('HOOK_FAILED')
    expect(given.provider.calls).toHaveLength(1)
  })
})

describe('a round with several tool calls', () => {
  it('asks for all calls first, then runs them one at a time in call order', async () => {
    const order: string[] = []
    const { tool } = notes({ effect: 'read', handler: ({ text }) => (order.push(`run ${text}`), 'x') })
    const given = await rig(
      [reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' }), 'Done.'],
      {
        agents: [desk([tool])],
        plugins: [gate('inspectToolInput', ({ args }) => void order.push(`ask ${args.text}`))],
      },
    )
    await given.run()
    expect(order).toEqual(['ask a', 'ask b', 'run a', 'run b'])
  })

  it.each([
    ['write', ['ask a', 'ask b', 'ask c', 'run a', 'ask b', 'run b', 'ask c', 'run c']],
    ['send', ['ask a', 'ask b', 'ask c', 'run a', 'ask b', 'run b', 'ask c', 'run c']],
    ['read', ['ask a', 'ask b', 'ask c', 'run a', 'run b', 'run c']],
  ] as const)('asks again about a call when an earlier one with effect %s has run since', async (effect, expected) => {
    const order: string[] = []
    const { tool } = notes({ effect, handler: ({ text }) => (order.push(`run ${text}`), 'x') })
    const script = reply
      .toolCall('write_note', { text: 'a' })
      .toolCall('write_note', { text: 'b' })
      .toolCall('write_note', { text: 'c' })
    const given = await rig([script, 'Done.'], {
      agents: [desk([tool])],
      plugins: [gate('inspectToolInput', ({ args }) => void order.push(`ask ${args.text}`))],
    })
    await given.run()
    expect(order).toEqual(expected)
  })

  it('asks again when the last pass is older than gateFreshMs, at most once, under the same attempt; the receipt has both askings', async () => {
    const slow = notes({
      effect: 'read',
      handler: () => new Promise((resolve) => void given.clock.setTimeout(() => resolve('x'), 1_500)),
    })
    const { plugin: noted, asked } = noting()
    const script = reply.toolCall('write_note').toolCall('write_note').toolCall('write_note')
    const given = await rig([script, 'Done.'], {
      agents: [desk([slow.tool])],
      plugins: [noted],
      timeouts: { gateFreshMs: 2_000 },
    })
    const { run } = await given.run()
    // the second one is 1 500 ms old when it runs, the third one 3 000 ms
    expect(asked.filter((line) => line.startsWith('beforeToolCall'))).toEqual([
      'beforeToolCall m1.t1#1',
      'beforeToolCall m1.t2#1',
      'beforeToolCall m1.t3#1',
      'beforeToolCall m1.t3#1',
    ])
    expect(receiptLines(await given.receipts(run?.executionId ?? '')).filter((line) => line.includes('.t'))).toEqual([
      'm1.t1#1 passed,passed ok yes',
      'm1.t2#1 passed,passed ok yes',
      'm1.t3#1 passed,passed | passed,passed ok yes',
    ])
  })

  it('gateFreshMs 0 asks again about every call that does not run at the same moment', async () => {
    let asked = 0
    const { tool } = notes({
      effect: 'read',
      handler: () => new Promise((resolve) => void given.clock.setTimeout(() => resolve('x'), 1)),
    })
    const given = await rig([reply.toolCall('write_note').toolCall('write_note'), 'Done.'], {
      agents: [desk([tool])],
      plugins: [gate('beforeToolCall', () => void asked++)],
      timeouts: { gateFreshMs: 0 },
    })
    await given.run()
    expect(asked).toBe(3)
  })

  it('a refusal in the second asking gives its text and lets the rest go on', async () => {
    let asked = 0
    const { tool, calls } = notes()
    const seen = watcher()
    const script = reply
      .toolCall('write_note', { text: 'a' })
      .toolCall('write_note', { text: 'b' })
      .toolCall('write_note', { text: 'c' })
    const given = await rig([script, 'Done.'], {
      agents: [desk([tool])],
      plugins: [
        gate('inspectToolInput', ({ args }) => {
          if (args.text === 'b' && ++asked === 2) throw new Refusal('ENOUGH', 'One note is enough.')
        }),
        seen.plugin,
      ],
    })
    const { run } = await given.run()
    expect([calls, run?.toolCalls.map(({ status }) => status)]).toEqual([
      ['a', 'c'],
      ['ok', 'refused', 'ok'],
    ])
    expect(closingLines(seen.afterToolCall)).toEqual(['m1.t1#1 ok yes', 'm1.t2#1 refused no', 'm1.t3#1 ok yes'])
  })

  it('T-23: a stop on any call in the first phase means that no tool of the round runs, and no further call is asked', async () => {
    const { tool, calls } = notes()
    const seen = watcher()
    const asked: unknown[] = []
    const script = reply
      .toolCall('write_note', { text: 'a' })
      .toolCall('write_note', { text: 'b' })
      .toolCall('write_note', { text: 'c' })
    const given = await rig([script], {
      agents: [desk([tool])],
      plugins: [
        gate('inspectToolInput', ({ args }) => (asked.push(args.text), args.text === 'b' ? false : undefined)),
        seen.plugin,
      ],
    })
    const { error } = await given.run()
    expect([calls, asked, given.provider.calls.length]).toEqual([[], ['a', 'b'], 1])
    expect(closingLines(seen.afterToolCall).sort()).toEqual(['m1.t1#1 not_run no', 'm1.t2#1 stopped no'])
    expect(error?.partial?.toolCalls.map(({ status }) => status)).toEqual(['not_run', 'vetoed', 'not_run'])
  })

  it('calls that cannot be carried out are asked about by no gate', async () => {
    const { tool, calls } = notes()
    const { plugin: noted, asked } = noting()
    const script = reply.toolCall('nobody').toolCall('write_note', '{"text":7}').toolCall('write_note', { text: 'a' })
    const given = await rig([script, 'Done.'], { agents: [desk([tool])], plugins: [noted] })
    await given.run()
    expect([calls, asked.filter((line) => line.includes('ToolCall'))]).toEqual([['a'], ['beforeToolCall m1.t3#1']])
  })

  it('calls beyond maxToolCalls are on record as not run, and no gate is asked about them', async () => {
    const { tool, calls } = notes()
    const { plugin: noted, asked } = noting()
    const given = await rig([reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })], {
      agents: [desk([tool])],
      plugins: [noted],
      settings: { maxToolCalls: 1, onToolLimit: 'finish' },
    })
    const { run } = await given.run()
    expect([run?.finishReason, calls, asked.filter((line) => line.startsWith('beforeToolCall'))]).toEqual([
      'max_tool_calls_exceeded',
      ['a'],
      ['beforeToolCall m1.t1#1'],
    ])
    expect(run?.toolCalls.map(({ status }) => status)).toEqual(['ok', 'skipped_limit'])
  })

  it('reads that run together are each asked, and a stop in the second phase of one closes each of them once', async () => {
    const seen = watcher()
    const handler = ({ text }: { text: string }) =>
      new Promise((resolve) => void given.clock.setTimeout(() => resolve('x'), text === 'first' ? 1_500 : 10))
    const { tool } = notes({ effect: 'read', handler })
    let asked = 0
    const script = ['first', 'b', 'c', 'd'].reduce(
      (step, text) => step.toolCall('write_note', { text }),
      reply('Let me see.'),
    )
    const given = await rig([script], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeToolCall', async () => void (++asked > 5 && (await Promise.reject(new Error('a bug'))))),
        seen.plugin,
      ],
      settings: { toolConcurrency: 2 },
    })
    expect((await given.run()).code).toBe('HOOK_FAILED')
    const lines = closingLines(seen.afterToolCall)
    expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(['m1.t1#1', 'm1.t2#1', 'm1.t3#1', 'm1.t4#1'])
    expect(lines.filter((line) => line.includes('ok yes')).length).toBe(2)
  })
})

describe('receipts', () => {
  it('list every gate that stood there, so that "4 stood, 4 passed" can be told from "nobody was asked"', async () => {
    const { tool } = notes()
    const stand = (point: GatePoint, name: string) => gate(point, () => undefined, { name })
    const given = await rig([reply.toolCall('write_note'), 'Done.'], {
      agents: [desk([tool])],
      plugins: [
        stand('beforeToolCall', 'a'),
        stand('beforeToolCall', 'b'),
        stand('inspectToolInput', 'c'),
        stand('inspectToolInput', 'd'),
      ],
    })
    const { run } = await given.run()
    expect(receiptLines(await given.receipts(run?.executionId ?? ''))).toEqual([
      'm1#1  ok yes',
      'm1.t1#1 passed,passed,passed,passed ok yes',
      'm2#1  ok yes',
      'execution#1  ok yes',
    ])
    expect(run?.receipts).toEqual({ effects: 4, asked: 4, passed: 4, stopped: 0 })
  })

  it('of a stopped effect name the gate, its code and those behind it that were not asked, over all points', async () => {
    const { tool } = notes({ authorize: () => undefined })
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeToolCall', () => false, { name: 'b' }),
        gate('inspectToolInput', () => undefined, { name: 'c' }),
        gate('beforeToolCall', () => undefined, { name: 'a', stage: -1 }),
      ],
    })
    const { error } = await given.run()
    expect(error?.partial?.receipts).toMatchObject({ effects: 3, asked: 3, passed: 2, stopped: 1 })
    const stop = error?.partial?.receipts.stop as unknown as Receipt
    expect(stop).toMatchObject({
      effect: 'tool_call',
      subject: 'write_note',
      agentCode: 'desk',
      outcome: 'stopped',
      sent: 'no',
    })
    expect(stop.askings[0]?.gates.map(({ plugin: by, point, answer, code }) => [by, point, answer, code])).toEqual([
      ['tool:write_note', 'authorize', 'passed', undefined],
      ['a', 'beforeToolCall', 'passed', undefined],
      ['b', 'beforeToolCall', 'failed', 'HOOK_FAILED'],
      ['c', 'inspectToolInput', 'not_asked', undefined],
    ])
  })

  it('of whileInFlight keep the first and the last asking, and a count', async () => {
    let asked = 0
    const given = await rig(
      [async () => (await new Promise<void>((resolve) => void given.clock.setTimeout(resolve, 5_500)), 'Done.')],
      {
        plugins: [gate('whileInFlight', () => void asked++)],
      },
    )
    const { run } = await given.run()
    const [receipt] = (await given.receipts(run?.executionId ?? '')).filter(({ effect }) => effect === 'model_call')
    const watched = receipt?.askings.filter(({ gates }) => gates.length > 0) ?? []
    expect([asked, receipt?.inFlightAskings]).toEqual([5, 5])
    expect(watched.map(({ at }) => at - (receipt?.at ?? 0))).toEqual([1_000, 5_000])
  })

  it('of a vetoed start stand in the store under its root id, where no record exists', async () => {
    const seen = watcher()
    const given = await rig([], { plugins: [gate('beforeExecution', () => false), seen.plugin] })
    await given.run()
    const root = seen.onStop[0]?.rootExecutionId ?? ''
    expect(receiptLines(await given.receipts(root))).toEqual(['execution#1 failed stopped no'])
    expect(await given.store.executions.get(root)).toBeUndefined()
  })

  it('of a plain call outside any run stand under its root id too', async () => {
    const given = await rig(['Done.'], { plugins: [gate('beforeModelCall', () => undefined)] })
    const { rootExecutionId } = await given.runtime.generateText({ model: 'scripted/m', prompt: 'x' })
    expect(receiptLines(await given.receipts(rootExecutionId))).toEqual(['m1#1 passed ok yes'])
  })

  it('go to a stream as they are closed, and cannot be changed by who is shown one', async () => {
    const { tool } = notes()
    const changed: boolean[] = []
    const meddler = plugin('meddler', (hooks) => {
      const meddle = ({ receipt }: { receipt: Receipt | null }) => {
        const [row] = receipt?.askings[0]?.gates ?? []
        if (row !== undefined)
          changed.push(Reflect.set(row, 'answer', 'changed'), Reflect.set(receipt as object, 'outcome', 'changed'))
      }
      hooks.afterToolCall.tap('x', meddle)
      hooks.afterModelCall.tap('x', meddle)
    })
    const given = await rig([reply.toolCall('write_note'), 'Done.'], {
      agents: [desk([tool])],
      plugins: [
        meddler,
        gate('beforeToolCall', () => undefined),
        gate('beforeModelCall', () => undefined, { name: 'model' }),
      ],
    })
    const stream = given.runtime.stream({ agent: 'desk' })
    const told: string[] = []
    for await (const event of stream)
      if (event.type === 'receipt') told.push(...receiptLines([event.data as unknown as Receipt]))
    const run = await stream.run
    expect(changed.length > 0 && changed.every((done) => !done)).toBe(true)
    expect(receiptLines(await given.receipts(run.executionId))).toEqual(told)
  })
})
