import type { JsonObject, RunEvent, RunStream } from '@sluice/core'
import {
  currentRequestId,
  definePlugin,
  EventType,
  getExecutionContext,
  Pause,
  Refusal,
  SluiceError,
  Veto,
} from '@sluice/core'
import { deferred, drain, hang, held, latch, providerError, recordingPlugin, repeat, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const ASK = { agent: 'ap_desk', input: QUESTION } as const

async function collect(stream: RunStream<unknown>): Promise<RunEvent[]> {
  const events: RunEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
/** The data of an event of any type. */
const dataOf = (event: RunEvent | undefined) => event?.data as JsonObject | undefined
const types = (events: readonly RunEvent[]) => events.map((event) => event.type)
const deltas = (events: readonly RunEvent[], type: string) =>
  events.filter((event) => event.type === type).map((event) => dataOf(event)?.text ?? dataOf(event)?.argsDelta)

const phrase = (how: 'refuse' | 'veto') =>
  definePlugin({
    name: 'phrase',
    hookApi: 1,
    apply(hooks) {
      hooks.inspectReply.tap({ name: 'phrase' }, (context) => {
        if (context.text?.includes('forbidden phrase') !== true) return
        if (how === 'veto') throw new Veto('PHRASE', 'No.')
        throw new Refusal('PHRASE', 'Leave the phrase out.')
      })
    },
  })()

describe('types of events', () => {
  it('comparing the type of an event tells what its data holds', () => {
    const told = (event: RunEvent): string => {
      if (event.type === 'assistant_text_delta') return event.data.text
      if (event.type === EventType.toolResult) return `${event.data.toolName}: ${event.data.status}`
      if (event.type === 'run_ended') return event.data.error?.message ?? event.data.status
      // @ts-expect-error a tool call has no text
      if (event.type === 'tool_call') return event.data.text
      return ''
    }
    const common = { requestId: null, sessionId: null, executionId: null, agentCode: null, depth: 0, seq: 1, at: 0 }
    const delta: RunEvent = { ...common, type: 'assistant_text_delta', data: { text: 'Hi', checked: false } }
    expect(told(delta)).toBe('Hi')
  })
})

describe('events of a call', () => {
  // cites: E-8, E-9, E-10, E-11, E-12, E-13, E-14, E-16, E-17, E-W4, E-W5, T-31, T-32
  it('T-31: content events follow the reply, each call precedes its result, response_complete is the last; all frozen JSON', async () => {
    const { tool } = noteTool({ handler: (args: { text?: string }) => `did ${args.text}` })
    const events: RunEvent[] = []
    const { runtime } = await house(
      [
        reply
          .reasoning('Hm.')
          .text('I look.')
          .toolCall('write_note', { text: 'a' })
          .toolCall('write_note', { text: 'b' }),
        reply('Due.'),
      ],
      { agents: [desk([tool])] },
    )
    runtime.events.set((event) => void events.push(event))
    const run = await runtime.execute({ ...ASK, sessionId: 's-1', runContext: { clerk: 'petra.secret' } })
    expect(
      events.map((event) => [
        event.type,
        dataOf(event)?.text ?? dataOf(event)?.result ?? dataOf(event)?.args ?? dataOf(event)?.finalMessage,
      ]),
    ).toEqual([
      ['assistant_reasoning', 'Hm.'],
      ['assistant_text', 'I look.'],
      ['tool_call', '{"text":"a"}'],
      ['tool_result', 'did a'],
      ['tool_call', '{"text":"b"}'],
      ['tool_result', 'did b'],
      ['assistant_text', 'Due.'],
      ['response_complete', 'Due.'],
    ])
    expect(events.map((event) => event.seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    const ids = new Set(events.map((event) => event.requestId))
    expect([ids.size, [...ids][0]]).toEqual([1, expect.stringMatching(/^[0-9a-f]{32}$/)])
    for (const event of events) {
      expect(event).toMatchObject({ executionId: run.executionId, sessionId: 's-1', agentCode: 'ap_desk', depth: 0 })
      expect([Object.isFrozen(event), Object.isFrozen(event.data)]).toEqual([true, true])
      expect(JSON.parse(JSON.stringify(event))).toEqual(event)
      expect(JSON.stringify(event)).not.toContain('petra.secret')
    }
    // content events carry the item in the message format, with its type
    expect(events[0]?.data).toEqual({ type: 'reasoning', text: 'Hm.' })
    expect(events[2]?.data).toEqual({
      type: 'tool_call',
      toolCallId: 'call_1',
      toolName: 'write_note',
      args: '{"text":"a"}',
    })
    expect(events[3]?.data).toMatchObject({
      type: 'tool_result',
      toolCallId: 'call_1',
      toolName: 'write_note',
      result: 'did a',
      status: 'ok',
    })
    expect(events.at(-1)?.data).toMatchObject({
      finishReason: 'stop',
      toolCallsCount: 2,
      model: 'model-1',
      provider: 'scripted',
    })
    expect(Object.values(EventType).slice(0, 5)).toEqual([
      'assistant_text',
      'assistant_reasoning',
      'tool_call',
      'tool_result',
      'response_complete',
    ])
  })

  // cites: E-15, E-18, E-W2, E-W3, E-13, T-31
  it('E-18: two calls have two request ids, a nested one has its own, and the outer one is current again, also after an error', async () => {
    const seen: (string | null)[] = []
    const events: RunEvent[] = []
    const { tool } = noteTool({
      handler: async () => {
        seen.push(currentRequestId())
        await runtime.generateText({ model: 'scripted/m', prompt: 'nested prompt' })
        seen.push(currentRequestId())
        await failureOf(runtime.generateText({ model: 'scripted/m', prompt: 'fails' }))
        seen.push(currentRequestId())
        return 'ok'
      },
    })
    const { runtime } = await house(
      [reply.toolCall('write_note'), reply('nested'), providerError(400), reply('done'), reply('again')],
      {
        agents: [desk([tool])],
      },
    )
    runtime.events.set((event) => void events.push(event))
    await runtime.execute(ASK)
    await runtime.execute(ASK)
    expect([new Set(seen).size, currentRequestId()]).toEqual([1, null])
    expect(events.map((event) => [event.type, dataOf(event)?.text ?? null])).toEqual([
      ['tool_call', null],
      ['assistant_text', 'nested'],
      ['response_complete', null],
      ['tool_result', null],
      ['assistant_text', 'done'],
      ['response_complete', null],
      ['assistant_text', 'again'],
      ['response_complete', null],
    ])
    const requestIds = events.map((event) => event.requestId)
    expect(new Set(requestIds).size).toBe(3)
    expect(requestIds[0]).toBe(requestIds[3])
    // input is never told, that of a nested call neither
    expect(JSON.stringify(events.filter((event) => event.type !== 'response_complete'))).not.toContain('prompt')
  })

  it('E-10: a call that throws emits no response_complete, and a call that a gate stopped no tool_call', async () => {
    const { tool } = noteTool()
    const stops = definePlugin({
      name: 'stops',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeToolCall.tap({ name: 'stops' }, () => {
          throw new Veto('NO', 'No.')
        })
      },
    })
    const events: string[] = []
    const { runtime } = await house([reply('I write.').toolCall('write_note')], {
      agents: [desk([tool])],
      plugins: [stops()],
    })
    runtime.events.set((event) => void events.push(event.type))
    await failureOf(runtime.execute(ASK))
    expect(events).toEqual(['assistant_text'])
  })

  it('at the bound of tool calls response_complete carries the finish reason', async () => {
    const { tool } = noteTool()
    const events: RunEvent[] = []
    const { runtime } = await house([reply.toolCall('write_note')], {
      agents: [desk([tool])],
      settings: { maxToolCalls: 0, onToolLimit: 'finish' },
    })
    runtime.events.set((event) => void events.push(event))
    await runtime.execute(ASK)
    expect(events.map((event) => [event.type, dataOf(event)?.finishReason ?? null])).toEqual([
      ['response_complete', 'max_tool_calls_exceeded'],
    ])
  })

  // cites: E-1, E-6, E-13, E-21, T-30, Z-6
  it('E-1: one callback, replaced or cleared at any time; reset keeps it and turns fatal off', async () => {
    const { runtime } = await house([reply('a'), reply('b'), reply('c'), reply('d')], { agents: [desk()] })
    const first: string[] = []
    const second: string[] = []
    const one = (event: RunEvent) => void first.push(event.type)
    runtime.events.set(one)
    await runtime.execute(ASK)
    runtime.events.set((event) => void second.push(event.type))
    await runtime.execute(ASK)
    runtime.events.fatal = true
    runtime.reset()
    expect([runtime.events.fatal, runtime.events.callback]).toEqual([false, expect.any(Function)])
    runtime.events.clear()
    await runtime.execute(ASK)
    runtime.events.set(one)
    runtime.events.set(null)
    await runtime.execute(ASK)
    expect([first.length, second.length, runtime.events.callback]).toEqual([2, 2, null])
  })

  it.each([undefined, 'name.of.it', 7, {}, [() => {}], true])(
    'T-30: %o is no callback: refused when it is registered',
    async (value) => {
      const { runtime } = await house([])
      expect(() => runtime.events.set(value as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_CONFIG', reason: 'events.callback' }),
      )
    },
  )

  // cites: E-19, E-W1, CASE-26, T-30
  it.each([
    ['throws', () => Promise.reject(new Error('bad callback')), 'sync'],
    ['rejects', () => Promise.reject(new Error('bad callback')), 'async'],
    ['rejects with nothing', () => Promise.reject(), 'async'],
  ])(
    'E-19: an error of a callback that %s is logged, counted and readable; the run goes on',
    async (_how, fail, kind) => {
      const { runtime, logger } = await house([reply('Due.')], { agents: [desk()] })
      runtime.events.set(
        kind === 'sync'
          ? () => {
              throw new Error('bad callback')
            }
          : (fail as never),
      )
      expect((await runtime.execute(ASK)).text).toBe('Due.')
      const { observers } = runtime.health()
      expect([observers.errors, observers.lastError?.source]).toEqual([2, 'event callback'])
      expect(logger.matching('an observer failed').length).toBe(2)
    },
  )

  it('CASE-26: a callback that never settles is late: counted, and the run goes on', async () => {
    const { runtime, clock } = await house([reply('Due.')], { agents: [desk()] })
    runtime.events.set(() => new Promise(() => {}))
    expect((await clock.settle(runtime.execute(ASK))).text).toBe('Due.')
    expect(runtime.health().observers.late).toBe(2)
  })

  it('CASE-26: one that replaces or clears the callback while it is called does not disturb the run', async () => {
    const seen: string[] = []
    const { runtime } = await house([reply('one').text('two')], { agents: [desk()] })
    runtime.events.set((event) => {
      seen.push(event.type)
      runtime.events.set((next) => {
        seen.push(`next ${next.type}`)
        runtime.events.clear()
      })
    })
    await runtime.execute(ASK)
    expect(seen).toEqual(['assistant_text', 'next assistant_text'])
  })

  // cites: E-20, E-22, T-30, CASE-26
  it.each([
    ['an error of its own', new RangeError('mine')],
    ['a text', 'mine'],
  ])('E-22: with fatal, %s ends the call and leaves it unchanged', async (_how, thrown) => {
    for (const sync of [true, false]) {
      const { tool, calls } = noteTool()
      const { runtime } = await house([reply('I write.').toolCall('write_note')], { agents: [desk([tool])] })
      runtime.events.set(() => {
        if (sync) throw thrown
        return Promise.reject(thrown)
      })
      runtime.events.fatal = true
      const error = await failureOf(runtime.execute(ASK))
      expect([error, calls]).toEqual([thrown, []])
      const row = (await runtime.executions.list(ALL)).items[0]
      expect([row?.status, row?.failureKind]).toEqual(['failed', 'hook'])
    }
  })

  it('E-22: a fatal callback ends the call in which it failed; a handler that does not catch it hands it on, under every policy', async () => {
    const mine = new Error('mine')
    for (const catches of [true, false]) {
      const { tool } = noteTool({
        handler: async () => {
          const call = runtime.generateText({ model: 'scripted/m', prompt: 'x' })
          if (catches) await call.catch((error: unknown) => expect(error).toBe(mine))
          else await call
          return 'ok'
        },
      })
      const { runtime } = await house(
        [reply.toolCall('write_note'), reply('nested'), ...(catches ? [reply('done')] : [])],
        {
          agents: [desk([tool])],
          settings: { onToolError: 'return' },
        },
      )
      let nested = true
      runtime.events.set((event) => {
        if (event.type === 'assistant_text' && nested) {
          nested = false
          throw mine
        }
      })
      runtime.events.fatal = true
      if (catches) expect((await runtime.execute(ASK)).text).toBe('done')
      else expect(await failureOf(runtime.execute(ASK))).toBe(mine)
    }
  })
})

describe('a stream', () => {
  // cites: T-31, E-10, CASE-07
  it('gives deltas, then the events of the call, and ends after run_ended; its numbers have no gap', async () => {
    const { tool } = noteTool()
    const { runtime } = await house(
      [
        reply.reasoning('Let me think of it.').toolCall('write_note', { text: 'a' }),
        reply('It is due today, all of it.'),
      ],
      {
        agents: [desk([tool])],
      },
    )
    const stream = runtime.stream({ ...ASK, show: 'live' })
    const events = await collect(stream)
    const run = await stream.run
    expect(types(events).filter((type, index, all) => type !== all[index - 1])).toEqual([
      'assistant_reasoning_delta',
      'tool_call_delta',
      'receipt',
      'assistant_reasoning',
      'tool_call',
      'receipt',
      'tool_result',
      'assistant_text_delta',
      'receipt',
      'assistant_text',
      'response_complete',
      'receipt',
      'run_ended',
    ])
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
    expect([deltas(events, 'assistant_text_delta').join(''), deltas(events, 'tool_call_delta').join('')]).toEqual([
      'It is due today, all of it.',
      '{"text":"a"}',
    ])
    expect(
      events.filter((event) => event.type.endsWith('_delta')).every((event) => dataOf(event)?.checked === false),
    ).toBe(true)
    expect(events.at(-1)).toMatchObject({
      type: 'run_ended',
      requestId: null,
      data: { status: 'completed', finishReason: 'stop' },
    })
    expect([run.text, run.status]).toEqual(['It is due today, all of it.', 'completed'])
    // as execute: the same row and the same log
    const row = await runtime.executions.get(run.executionId, ALL)
    expect([row.status, row.toolCallsCount, row.inputTokens]).toEqual(['completed', 1, 20])
  })

  it('CASE-07: shows checked text only where a plugin taps inspectReply, live where none does; show says otherwise', async () => {
    const shown = async (plugins: readonly any[], show?: 'live' | 'checked') => {
      const { runtime } = await house([reply('It is due today.')], { agents: [desk()], plugins })
      const events = await collect(runtime.stream(show === undefined ? ASK : { ...ASK, show }))
      return [types(events).includes('assistant_text_delta'), types(events).includes('assistant_text')]
    }
    expect(await shown([])).toEqual([true, true])
    expect(await shown([phrase('veto')])).toEqual([false, true])
    expect(await shown([phrase('veto')], 'live')).toEqual([true, true])
    expect(await shown([], 'checked')).toEqual([false, true])
  })

  it.each(['refuse', 'veto', 'schema'] as const)(
    'CASE-07: execute and stream end alike when a check says no (%s), and live text is retracted',
    async (how) => {
      const text = 'here is the forbidden phrase for you'
      const go = async (mode: 'execute' | 'live' | 'checked') => {
        const { runtime } = await house(
          [reply(text).streamed({ chunkLength: 20 }), ...(how === 'refuse' ? [reply('{"ok":true}')] : [])],
          {
            agents: [desk([], how === 'schema' ? { output: z.object({ ok: z.boolean() }) } : {})],
            plugins: how === 'schema' ? [] : [phrase(how)],
          },
        )
        const given = { ...ASK, sessionId: 's-1' }
        const stream = mode === 'execute' ? undefined : runtime.stream({ ...given, show: mode })
        const events = stream === undefined ? [] : await collect(stream)
        const outcome = await (stream?.run ?? runtime.execute(given)).then(
          (run) => [run.status, run.text],
          (error: unknown) => [SluiceError.isInstance(error) ? error.code : error],
        )
        const rows = (await runtime.sessions.messages('s-1', { ...ALL, withheld: true })).items
        const log = rows.map((row) => [row.role, row.content, row.part?.withheld ?? false])
        return { outcome, log, events }
      }
      const [executed, live, checked] = [await go('execute'), await go('live'), await go('checked')]
      expect([live.outcome, checked.outcome]).toEqual([executed.outcome, executed.outcome])
      expect([live.log, checked.log]).toEqual([executed.log, executed.log])
      expect(types(live.events)).toContain('retracted')
      expect(types(live.events).indexOf('retracted')).toBeGreaterThan(
        types(live.events).lastIndexOf('assistant_text_delta') === -1
          ? -1
          : types(live.events).indexOf('assistant_text_delta'),
      )
      for (const event of checked.events.filter((one) => one.type !== 'run_ended'))
        expect(JSON.stringify(event.data)).not.toContain('forbidden')
      expect(types(checked.events)).not.toContain('retracted')
    },
  )

  it('the error of a run is in `run`, handled where nobody awaits it; the iteration ends after run_ended and does not throw', async () => {
    const { runtime } = await house([providerError(400), providerError(400)], { agents: [desk()] })
    const stream = runtime.stream(ASK)
    const events = await collect(stream)
    expect(events.at(-1)).toMatchObject({
      type: 'run_ended',
      data: { status: 'failed', error: { code: 'PROVIDER_RESPONSE_ERROR' } },
    })
    expect((await failureOf(stream.run)).code).toBe('PROVIDER_RESPONSE_ERROR')
    // nobody looks at this one at all
    runtime.stream(ASK)
    await drain()
  })

  it('one that is refused before it began ends without an event, and says why in `run`', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    for (const given of [
      { agent: 'nobody' },
      { agent: 'ap_desk', inputs: {} },
      { agent: 'ap_desk', version: 9 },
    ] as any[]) {
      const stream = runtime.stream(given)
      expect(await collect(stream)).toEqual([])
      expect(SluiceError.isInstance(await failureOf(stream.run))).toBe(true)
    }
    expect(() => runtime.stream({ ...ASK, show: 'all' as never })).toThrow(
      expect.objectContaining({ reason: 'stream.show' }),
    )
  })

  it('starts at once, and ends well where nobody reads it', async () => {
    const { runtime } = await house([reply('Due.')], { agents: [desk()] })
    const stream = runtime.stream(ASK)
    expect((await stream.run).text).toBe('Due.')
    // what waited can still be read afterwards
    expect(types(await collect(stream)).at(-1)).toBe('run_ended')
  })

  it('a consumer that leaves early does not end the run', async () => {
    const { runtime } = await house([reply('one two three four five six seven')], { agents: [desk()] })
    const stream = runtime.stream(ASK)
    for await (const event of stream) if (event.type === 'assistant_text_delta') break
    expect((await stream.run).status).toBe('completed')
  })

  it('is read once: a second reader is refused by name', async () => {
    const { runtime } = await house([reply('x')], { agents: [desk()] })
    const stream = runtime.stream(ASK)
    await collect(stream)
    expect(() => stream[Symbol.asyncIterator]()).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG', reason: 'stream.read_twice' }),
    )
  })

  it('a consumer that stops reading for streamIdleMs ends the run as aborted', async () => {
    const { runtime, clock } = await house(
      [reply('one two three four five six').streamed({ chunkLength: 4, holdAfter: { deltas: 3, latch: latch() } })],
      {
        agents: [desk()],
      },
    )
    const stream = runtime.stream(ASK)
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    await clock.tick(59_000)
    expect(runtime.health().runsInFlight).toBe(1)
    await clock.tick(2_000)
    const error = await clock.settle(failureOf(stream.run))
    expect([error.code, error.message]).toEqual(['RUN_ABORTED', expect.stringContaining('60000 ms')])
    expect(await iterator.next()).toMatchObject({ done: true })
  })

  it('a consumer that waits for the next event is not idle, however long the model takes', async () => {
    const gate = latch()
    const { runtime, clock } = await house([held(gate, reply('late'))], { agents: [desk()] })
    const stream = runtime.stream(ASK)
    const reading = collect(stream)
    await gate.reached()
    await clock.tick(600_000)
    gate.open()
    expect(types(await reading).at(-1)).toBe('run_ended')
  })

  it('what waits for a consumer is bounded', async () => {
    const { runtime, clock } = await house([reply('x'.repeat(400)).streamed({ chunkLength: 1 })], {
      agents: [desk()],
      limits: { streamBuffer: 100 },
    })
    const stream = runtime.stream(ASK)
    const iterator = stream[Symbol.asyncIterator]()
    await iterator.next()
    const error = await clock.settle(failureOf(stream.run))
    expect([error.code, error.message]).toEqual(['RUN_ABORTED', expect.stringContaining('at most 100')])
  })

  it('CASE-05: aborted with events already buffered, it ends, and nothing follows its last event', async () => {
    const controller = new AbortController()
    const { runtime, clock } = await house([reply('one two three four').streamed({ chunkLength: 4, hangAfter: 2 })], {
      agents: [desk()],
    })
    const stream = runtime.stream({ ...ASK, signal: controller.signal })
    await clock.tick()
    controller.abort()
    const events = await clock.settle(collect(stream))
    expect([types(events).at(-1), dataOf(events.at(-1))?.status]).toEqual(['run_ended', 'aborted'])
    expect((await failureOf(stream.run)).code).toBe('RUN_ABORTED')
  })

  it('pauses: it ends after run_paused, which names what waits, and `run` is the paused run', async () => {
    const asks = definePlugin({
      name: 'asks',
      hookApi: 1,
      apply(hooks) {
        hooks.inspectToolInput.tap({ name: 'asks' }, () => {
          throw new Pause('APPROVE', { details: { sum: 7 } })
        })
      },
    })
    const { tool } = noteTool()
    const { runtime } = await house([reply.toolCall('write_note')], { agents: [desk([tool])], plugins: [asks()] })
    const stream = runtime.stream(ASK)
    const events = await collect(stream)
    const run = await stream.run
    expect(events.at(-1)).toMatchObject({
      type: 'run_paused',
      data: { pending: [{ toolCode: 'write_note', code: 'APPROVE', details: { sum: 7 } }] },
    })
    expect(run.status).toBe('paused')
  })

  it('a fatal callback is the one thing that the iteration throws: with its own error, after run_ended', async () => {
    const mine = new Error('mine')
    const { runtime } = await house([reply('x')], { agents: [desk()] })
    runtime.events.set(() => {
      throw mine
    })
    runtime.events.fatal = true
    const stream = runtime.stream(ASK)
    const seen: string[] = []
    const thrown = await failureOf(
      (async () => {
        for await (const event of stream) seen.push(event.type)
      })(),
    )
    expect([thrown, await failureOf(stream.run), seen.at(-1)]).toEqual([mine, mine, 'run_ended'])
  })

  it('carries the events of nested runs, by their depth; a nested stream has those of its own run', async () => {
    const { tool: ask } = noteTool({
      code: 'ask',
      handler: async () => {
        const events = await collect(runtime.stream({ agent: 'child', input: QUESTION }))
        return `${types(events).includes('assistant_text')} ${types(events).at(-1)} ${new Set(events.map((event) => event.depth)).size}`
      },
    })
    const { runtime } = await house([reply.toolCall('ask'), reply('child text'), reply('done')], {
      agents: [desk([ask]), desk([], { code: 'child' })],
    })
    const stream = runtime.stream(ASK)
    const events = await collect(stream)
    const run = await stream.run
    expect(run.messages.find((message) => message.role === 'tool')?.content[0]).toMatchObject({
      result: 'true run_ended 1',
    })
    expect(
      events.filter((event) => event.type === 'assistant_text').map((event) => [event.depth, event.agentCode]),
    ).toEqual([
      [1, 'child'],
      [0, 'ap_desk'],
    ])
    expect(events.filter((event) => event.type === 'run_ended')).toHaveLength(1)
    expect(events.map((event) => event.seq)).toEqual(events.map((_, index) => index + 1))
  })

  it('observers of onEvent get the five events of a call and no delta', async () => {
    const recorder = recordingPlugin({ points: ['onEvent'] })
    const { runtime } = await house([reply('one two three')], { agents: [desk()], plugins: [recorder.plugin] })
    await collect(runtime.stream({ ...ASK, show: 'live' }))
    expect(recorder.lines).toEqual(['onEvent assistant_text', 'onEvent response_complete'])
  })

  it('leaves no timer behind, however it ended', async () => {
    const { runtime, clock } = await house([repeat(reply('one two three'))], { agents: [desk()] })
    await collect(runtime.stream(ASK))
    const early = runtime.stream(ASK)
    for await (const _ of early) break
    await early.run
    const unread = runtime.stream(ASK)
    await unread.run
    const left = runtime.stream(ASK)
    await left[Symbol.asyncIterator]().next()
    await left.run
    expect(clock.timers).toBe(0)
  })
})

describe('close, reset and health', () => {
  it('close ends all runs as aborted, waits for them and for the plugins, and is safe to call twice', async () => {
    const disposed = deferred()
    const plugin = definePlugin({
      name: 'slow-to-go',
      hookApi: 1,
      apply(hooks) {
        hooks.onStop.tap({ name: 'x' }, () => {})
        return { dispose: () => disposed.resolve() }
      },
    })
    const { runtime, clock } = await house([hang(), hang({ ignoreSignal: true })], {
      agents: [desk()],
      plugins: [plugin()],
    })
    const runs = [failureOf(runtime.execute(ASK)), failureOf(runtime.execute(ASK))]
    await clock.tick()
    expect(runtime.health()).toMatchObject({
      runsInFlight: 2,
      closed: false,
      store: 'memory',
      engine: 'inline',
      hooks: { status: 'ok', origin: 'explicit', plugins: ['slow-to-go'] },
    })
    const closing = runtime.close()
    expect(runtime.close()).toBe(closing)
    await clock.settle(closing)
    expect((await Promise.all(runs)).map((error) => error.code)).toEqual(['RUN_ABORTED', 'RUN_ABORTED'])
    expect([disposed.settled, runtime.health().closed, runtime.health().runsInFlight]).toEqual([true, true, 0])
    for (const late of [
      () => runtime.execute(ASK),
      () => runtime.generateText({ model: 'scripted/m', prompt: 'x' }),
      () => runtime.executeProfile({ profile: 'p' }),
      () => runtime.resume('x', ALL),
      () => runtime.setHooks([]),
      () => runtime.fork({ plugins: [] }),
    ])
      expect((await failureOf(late())).code).toBe('RUNTIME_CLOSED')
  })

  it('a provider that fails to close is logged, and the rest goes on', async () => {
    const { runtime, logger } = await house([], {
      others: [
        {
          ...(await import('@sluice/testkit')).scriptedProvider([], { id: 'other' }),
          close: () => Promise.reject(new Error('stuck')),
        },
      ],
    })
    await runtime.close()
    expect(logger.matching('failed while it was closed')[0]?.fields).toMatchObject({
      provider: 'other',
      error: 'stuck',
    })
  })

  it('BUSY: a run beyond runsInFlight is refused and may be tried again', async () => {
    const gate = latch()
    const { runtime } = await house([held(gate, reply('a')), held(gate, reply('b')), reply('c')], {
      agents: [desk()],
      limits: { runsInFlight: 2 },
    })
    const running = [runtime.execute(ASK), runtime.generateText({ model: 'scripted/m', prompt: 'x' })]
    await gate.reached(2)
    for (const more of [
      () => runtime.execute(ASK),
      () => runtime.generateText({ model: 'scripted/m', prompt: 'x' }),
      () => runtime.resume('x', ALL),
    ]) {
      const busy = await failureOf(more())
      expect([busy.code, busy.retryable, busy.details]).toEqual(['BUSY', true, { limit: 'runsInFlight', bound: 2 }])
    }
    expect((await runtime.executions.list(ALL)).items).toHaveLength(1)
    gate.open()
    await Promise.all(running)
    expect((await runtime.execute(ASK)).text).toBe('c')
  })

  it('getExecutionContext is filled inside and empty outside, after success and after failure', async () => {
    const { runtime } = await house([reply('x'), providerError(400)], { agents: [desk()] })
    await runtime.execute(ASK)
    await failureOf(runtime.execute(ASK))
    expect(getExecutionContext()).toEqual({
      agentId: null,
      agentCode: null,
      executionId: null,
      rootExecutionId: null,
      depth: 0,
      sessionId: null,
      requestId: null,
      createdBy: null,
      runContext: {},
    })
  })
})
