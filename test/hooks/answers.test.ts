import type { GatePoint, JsonObject } from '@sluice/core'
import { defineTool, GATE_ANSWERS, HookFailedError, Land, Pause, Refusal, SluiceError, Veto, Wait } from '@sluice/core'
import { reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { closingLines, desk, gate, notes, rig, stopLines, watcher } from './support/rig.js'

const POINTS = Object.keys(GATE_ANSWERS).filter(
  (point) => point !== 'authorize' && point !== 'whileInFlight',
) as GatePoint[]
const thrower = (thrown: unknown) => () => {
  throw thrown
}
const sentBefore = (point: GatePoint) => (point === 'beforeExecution' || point === 'beforeModelCall' ? 0 : 1)

/** A run whose gate at `point` answers once, and passes from then on. */
async function once(point: GatePoint, thrown: unknown, script: Parameters<typeof rig>[0], options: JsonObject = {}) {
  const { tool, calls } = notes()
  const seen = watcher()
  let asked = 0
  const given = await rig(script, {
    agents: [desk([tool])],
    plugins: [gate(point, () => (asked++ === 0 ? thrower(thrown)() : undefined)), seen.plugin],
    ...(options as object),
  })
  return { ...given, calls, seen, asked: () => asked }
}

describe('Veto', () => {
  it.each(POINTS)(
    'B-10: leaves execute from %s as its own error, with who gave it, and the model never sees it',
    async (point) => {
      const veto = new Veto('OVER_BUDGET', 'The budget is spent.', {
        spent: '1.20',
        limit: '1.00',
        retryAfterMs: 60_000,
      })
      const given = await once(point, veto, sentBefore(point) === 0 ? [] : [reply.toolCall('write_note')])
      const { error } = await given.run()
      expect(Veto.isInstance(error, 'OVER_BUDGET')).toBe(true)
      expect(error).toMatchObject({
        message: 'The budget is spent.',
        details: { spent: '1.20', limit: '1.00', retryAfterMs: 60_000 },
        by: { plugin: 'gate', point },
      })
      expect(error).not.toBe(veto)
      expect(error?.cause).toBe(veto)
      expect(given.provider.calls).toHaveLength(sentBefore(point))
      expect(given.calls).toEqual([])
      expect(given.seen.onStop).toMatchObject([
        { reason: 'The budget is spent.', details: { limit: '1.00' }, answer: 'vetoed' },
      ])
    },
  )

  it('CASE-27: one object that is thrown in many runs is a new error in each', async () => {
    const veto = Object.freeze(new Veto('NO', 'No.'))
    const given = await rig([], { plugins: [gate('beforeExecution', thrower(veto))] })
    const errors = [await given.run(), await given.run()].map(({ error }) => error)
    expect(errors[0]).not.toBe(errors[1])
    expect(errors[0]?.partial).not.toBe(errors[1]?.partial)
    expect(veto.partial).toBeUndefined()
  })

  it('B-11, H-W4: the record of a run that was vetoed has its code and text, and the tokens up to there', async () => {
    const given = await once('beforeToolCall', new Veto('NO_NOTES', 'Nobody writes.'), [reply.toolCall('write_note')])
    const { error } = await given.run()
    const row = await given.store.executions.get(error?.partial?.executionId ?? '')
    expect(row).toMatchObject({
      status: 'failed',
      failureKind: 'veto',
      error: { code: 'NO_NOTES', message: 'Nobody writes.' },
    })
    expect(row?.usage).toMatchObject({ inputTokens: 10, outputTokens: 5 })
    expect(given.seen.afterExecution).toMatchObject([{ status: 'failed', inputTokens: 10, outputTokens: 5 }])
    expect(error?.partial).toMatchObject({
      usage: { inputTokens: 10 },
      toolCalls: [{ toolCode: 'write_note', status: 'vetoed' }],
    })
    expect(error?.partial?.receipts.stop).toMatchObject({
      effect: 'tool_call',
      outcome: 'stopped',
      subject: 'write_note',
    })
  })

  it('a handler that throws one ends the run too, whatever onToolError says', async () => {
    for (const onToolError of ['throw', 'return', 'provider'] as const) {
      const { tool } = notes({ handler: thrower(new Veto('HANDLER', 'Stop here.')) })
      const seen = watcher()
      const given = await rig([reply.toolCall('write_note')], {
        agents: [desk([tool])],
        plugins: [seen.plugin],
        settings: { onToolError },
      })
      expect((await given.run()).error).toMatchObject({
        code: 'HANDLER',
        by: { plugin: 'tool:write_note', point: 'handler' },
      })
      expect(stopLines(seen.onStop)).toEqual(['handler tool:write_note vetoed HANDLER'])
      expect(closingLines(seen.afterToolCall)).toEqual(['m1.t1#1 stopped yes'])
    }
  })

  it('a stop is sticky: what user code catches makes no difference', async () => {
    const { tool, calls } = notes({
      handler: async () => {
        await given.runtime.generateText({ model: 'scripted/judge', prompt: 'Is it?' }).catch(() => 'caught')
        return 'written'
      },
    })
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeModelCall', ({ model }) =>
          model === 'judge' ? thrower(new Veto('NO_JUDGE', 'No.'))() : undefined,
        ),
      ],
    })
    expect((await given.run()).code).toBe('NO_JUDGE')
    expect(calls).toHaveLength(1)
  })
})

describe('Refusal', () => {
  it.each(['beforeToolCall', 'inspectToolInput'] as const)(
    'at %s: the tool does not run, the model reads the text and the run goes on',
    async (point) => {
      const given = await once(point, new Refusal('NOT_NOW', 'Ask again tomorrow.'), [
        reply.toolCall('write_note'),
        'Then tomorrow.',
      ])
      const { run } = await given.run()
      expect([run?.text, given.calls]).toEqual(['Then tomorrow.', []])
      expect(given.provider.requests[1]?.messages.at(-1)).toMatchObject({
        role: 'tool',
        content: [{ result: 'Ask again tomorrow.', status: 'refused' }],
      })
      expect(stopLines(given.seen.onStop)).toEqual([`${point} gate refused NOT_NOW`])
      expect(closingLines(given.seen.afterToolCall)).toEqual(['m1.t1#1 refused no'])
      expect(run?.toolCalls).toMatchObject([{ status: 'refused' }])
    },
  )

  it('of one call of a round lets the others go on', async () => {
    const script = [
      reply
        .toolCall('write_note', { text: 'a' })
        .toolCall('write_note', { text: 'b' })
        .toolCall('write_note', { text: 'c' }),
      'Done.',
    ]
    const given = await once('beforeToolCall', new Refusal('NOT_A', 'Not that one.'), script)
    const { run } = await given.run()
    expect(given.calls).toEqual(['b', 'c'])
    expect(run?.toolCalls.map(({ status }) => status)).toEqual(['refused', 'ok', 'ok'])
  })

  it('counts against maxToolCalls like every call with a result', async () => {
    const given = await once(
      'beforeToolCall',
      new Refusal('NO', 'No.'),
      [reply.toolCall('write_note').toolCall('write_note')],
      {
        settings: { maxToolCalls: 1, onToolLimit: 'throw' },
      },
    )
    expect((await given.run()).code).toBe('MAX_TOOL_CALLS')
    expect(given.calls).toEqual([])
  })

  it.each(['beforeExecution', 'beforeModelCall'] as const)(
    'is no answer at %s: the run ends as a failure',
    async (point) => {
      const refusal = new Refusal('NO', 'No.')
      const given = await once(point, refusal, [])
      expect((await given.run()).error).toMatchObject({ code: 'HOOK_FAILED', failure: 'wrong_answer', cause: refusal })
    },
  )
})

describe('Wait', () => {
  const before = ['beforeExecution', 'beforeModelCall', 'beforeToolCall', 'inspectToolInput'] as const
  const whole = [reply.toolCall('write_note'), 'Done.']

  it.each(before)('at %s within maxWaitMs: the runtime waits and asks all gates of the effect again', async (point) => {
    const asked: string[] = []
    const { tool } = notes()
    let first = true
    const given = await rig(whole, {
      agents: [desk([tool])],
      plugins: [
        gate(point, () => void asked.push('before'), { name: 'before', stage: -1 }),
        gate(
          point,
          () => {
            asked.push('waits')
            if (first) {
              first = false
              throw new Wait('BUSY', 700)
            }
          },
          { name: 'waits' },
        ),
        gate(point, () => void asked.push('behind'), { name: 'behind', stage: 1 }),
      ],
      timeouts: { maxWaitMs: 1_000 },
    })
    const { run } = await given.run()
    expect([run?.status, given.clock.monotonic()]).toEqual(['completed', 700])
    expect(asked.slice(0, 5)).toEqual(['before', 'waits', 'before', 'waits', 'behind'])
  })

  it.each(before)(
    'at %s is a veto with its own code where maxWaitMs does not allow it, which is the default',
    async (point) => {
      const given = await once(
        point,
        new Wait('BUSY', 1),
        sentBefore(point) === 0 ? [] : [reply.toolCall('write_note')],
      )
      const { error } = await given.run()
      expect(Veto.isInstance(error, 'BUSY')).toBe(true)
      expect(error).toMatchObject({ by: { plugin: 'gate', point } })
      expect(error?.message).toContain('This run may wait 0 ms in all (timeouts.maxWaitMs)')
      expect([given.calls, given.clock.monotonic()]).toEqual([[], 0])
      expect(stopLines(given.seen.onStop)).toEqual([`${point} gate vetoed BUSY`])
    },
  )

  it('waits of one run add up: what is left is for all of its effects together', async () => {
    const { tool, calls } = notes()
    const asked = new Set<string>()
    const given = await rig([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeModelCall', ({ effectId }) =>
          asked.has(effectId) ? undefined : (asked.add(effectId), thrower(new Wait('MODEL', 600))()),
        ),
        gate('beforeToolCall', thrower(new Wait('TOOL', 600)), { name: 'tools' }),
      ],
      timeouts: { maxWaitMs: 1_000 },
    })
    expect((await given.run()).code).toBe('TOOL')
    expect([calls, given.clock.monotonic()]).toEqual([[], 600])
  })

  it('of 0 ms costs something too, so that a gate cannot be asked for ever', async () => {
    let asked = 0
    const given = await rig([], {
      plugins: [gate('beforeModelCall', () => (asked++, thrower(new Wait('SPIN', 0))()))],
      timeouts: { maxWaitMs: 50 },
    })
    expect((await given.run()).code).toBe('SPIN')
    expect(asked).toBe(51)
  })

  it('the receipt tells every asking', async () => {
    const given = await once('beforeModelCall', new Wait('BUSY', 20), ['Done.'], { timeouts: { maxWaitMs: 100 } })
    const { run } = await given.run()
    const receipt = (await given.receipts(run?.executionId ?? '')).find(({ effect }) => effect === 'model_call')
    expect(receipt?.askings.map(({ gates }) => gates.map(({ answer, code }) => [answer, code]))).toEqual([
      [['waited', 'BUSY']],
      [['passed', undefined]],
    ])
    expect(given.seen.onStop).toEqual([])
  })

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '20' as never])('of %s ms is a failure', async (ms) => {
    const given = await once('beforeModelCall', new Wait('BUSY', ms), [], { timeouts: { maxWaitMs: 100 } })
    expect((await given.run()).error).toMatchObject({ code: 'HOOK_FAILED', failure: 'wrong_answer' })
  })

  it.each(['inspectReply'] as const)('is no answer at %s', async (point) => {
    const given = await once(point, new Wait('BUSY', 1), ['x'], { timeouts: { maxWaitMs: 100 } })
    expect((await given.run()).code).toBe('HOOK_FAILED')
  })
})

describe('Land', () => {
  it('closes the request as not run, and the execution makes one last request without tools and with at most that output', async () => {
    const given = await once('beforeModelCall', new Land('NEARLY_SPENT', { maxOutputTokens: 200 }), ['In short: done.'])
    const { run } = await given.run()
    expect(run).toMatchObject({ status: 'completed', text: 'In short: done.', finishReason: 'landed' })
    expect(given.provider.requests).toMatchObject([{ tools: [], maxOutputTokens: 200 }])
    expect(closingLines(given.seen.afterModelCall)).toEqual(['m1#1 not_run no', 'm2#1 ok yes'])
    expect(given.seen.onStop).toEqual([])
  })

  it('the last request is told to its gates as a landing, and never gets more output than before', async () => {
    const told: (readonly [boolean, number, readonly string[]])[] = []
    const { tool } = notes()
    const given = await rig(['Done.'], {
      agents: [desk([tool])],
      plugins: [
        gate('beforeModelCall', ({ landing, maxOutputTokens, tools }) => {
          told.push([landing, maxOutputTokens, tools])
          if (!landing) throw new Land('LAND', { maxOutputTokens: 1_000_000 })
        }),
      ],
    })
    await given.run()
    expect(told).toEqual([
      [false, 8_192, ['write_note']],
      [true, 8_192, []],
    ])
  })

  it('a second one in the same execution is a veto, told as such', async () => {
    const seen = watcher()
    const given = await rig([], { plugins: [gate('beforeModelCall', thrower(new Land('LAND'))), seen.plugin] })
    expect((await given.run()).error).toMatchObject({
      code: 'LANDED_TWICE',
      by: { plugin: 'gate', point: 'beforeModelCall' },
    })
    expect(stopLines(seen.onStop)).toEqual(['beforeModelCall gate vetoed LANDED_TWICE'])
    expect(closingLines(seen.afterModelCall)).toEqual(['m1#1 not_run no', 'm2#1 stopped no'])
  })

  it('of a nested run lands that one and not its parent', async () => {
    const ask = defineTool({ code: 'ask', description: 'Asks.', effect: 'read', input: z.object({}), agent: 'below' })
    const given = await rig([reply.toolCall('ask'), 'Landed below.', 'And on.'], {
      agents: [desk([ask]), desk([], { code: 'below' })],
      plugins: [
        gate('beforeModelCall', ({ agentCode, landing }) =>
          agentCode === 'below' && !landing ? thrower(new Land('LAND'))() : undefined,
        ),
      ],
    })
    const { run } = await given.run()
    expect(run).toMatchObject({ text: 'And on.', finishReason: 'stop' })
    expect(given.provider.requests[2]?.tools).toHaveLength(1)
  })

  it.each([0, -1, 1.5, Number.NaN])('with maxOutputTokens %s is a failure', async (maxOutputTokens) => {
    const given = await once('beforeModelCall', new Land('LAND', { maxOutputTokens }), [])
    expect((await given.run()).error).toMatchObject({ code: 'HOOK_FAILED', failure: 'wrong_answer' })
  })
})

describe('an answer with a value that is none', () => {
  it.each([
    ['beforeModelCall', new Wait('W', Number.NaN), 'answered Wait at beforeModelCall with ms NaN; it has to be'],
    [
      'beforeModelCall',
      new Land('L', { maxOutputTokens: 0 }),
      'with maxOutputTokens 0; it has to be a whole number from 1',
    ],
    [
      'inspectToolInput',
      new Pause('P', { expiresAt: new Date(0) as never }),
      'with expiresAt an object; it has to be milliseconds since the epoch',
    ],
    ['inspectToolInput', new Refusal('R', 7 as never), 'with text 7; it has to be a text'],
  ] as const)(
    'at %s: the failure names the field, the value and what it has to be (%#)',
    async (point, answer, text) => {
      const given = await once(point, answer, sentBefore(point) === 0 ? [] : [reply.toolCall('write_note')])
      const { error } = await given.run()
      expect(error).toMatchObject({ code: 'HOOK_FAILED', failure: 'wrong_answer', cause: answer })
      expect(error?.message).toContain(text)
    },
  )
})

describe('an answer where it is none', () => {
  const ANSWERS = {
    Refusal: () => new Refusal('R', 'No.'),
    Pause: () => new Pause('P', { expiresAt: 1 }),
    Wait: () => new Wait('W', 1),
    Land: () => new Land('L'),
  } as const
  const rows = POINTS.flatMap((point) =>
    (Object.keys(ANSWERS) as (keyof typeof ANSWERS)[])
      .filter((name) => !(GATE_ANSWERS[point] as readonly string[]).includes(name))
      .map((name) => [name, point] as const),
  )
  it.each(rows)('%s at %s ends the run as a failure that names what the point takes', async (name, point) => {
    const answer = ANSWERS[name]()
    const given = await once(point, answer, sentBefore(point) === 0 ? [] : [reply.toolCall('write_note')], {
      timeouts: { maxWaitMs: 100 },
    })
    const { error } = await given.run()
    expect(HookFailedError.isInstance(error)).toBe(true)
    expect(error).toMatchObject({ failure: 'wrong_answer', cause: answer })
    expect(error?.message).toContain(GATE_ANSWERS[point].join(', '))
    expect(given.calls).toEqual([])
  })

  it('an error of another kind that says it were a veto is a failure', async () => {
    const given = await once('beforeExecution', new SluiceError('NOT_FOUND', 'No such rule.'), [])
    expect((await given.run()).code).toBe('HOOK_FAILED')
  })
})
