import type { Message, ModelRequest, Store } from '@sluice/core'
import { createMemoryStore, definePlugin, Pause, Veto } from '@sluice/core'
import {
  fakeClock,
  hang,
  latch,
  providerError,
  recordingPlugin,
  repeat,
  reply,
  scriptedProvider as makeProvider,
} from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const followUp = (text: string) => ({ agent: 'ap_desk', followUp: text, sessionId: 's-1' }) as const
const first = { agent: 'ap_desk', input: QUESTION, sessionId: 's-1' } as const

/** Holds a request to what every protocol wants of a history: each call one result, in one tool message, at once. */
function assertValid(request: ModelRequest | undefined): void {
  const messages = request?.messages ?? []
  const faults: string[] = []
  messages.forEach((message, index) => {
    if (message.role === 'system' && index > 0) faults.push(`${index}: a system message inside`)
    const calls = message.role === 'assistant' ? message.content.filter((part) => part.type === 'tool_call') : []
    const next = messages[index + 1]
    if (calls.length > 0) {
      const results = next?.role === 'tool' ? next.content : []
      if (calls.map((call) => call.toolCallId).join() !== results.map((result) => result.toolCallId).join())
        faults.push(
          `${index}: calls ${calls.map((call) => call.toolCallId).join()} have results ${results.map((result) => result.toolCallId).join()}`,
        )
    }
    if (message.role === 'tool') {
      const before = messages[index - 1]
      if (before?.role !== 'assistant' || !before.content.some((part) => part.type === 'tool_call'))
        faults.push(`${index}: results without calls`)
    }
  })
  if (messages.find((message) => message.role !== 'system')?.role !== 'user')
    faults.push('does not begin with the user')
  expect(faults).toEqual([])
}

const textsOf = (messages: readonly Message[] | undefined) =>
  (messages ?? []).map((message) =>
    typeof message.content === 'string'
      ? message.content
      : message.content.map((part: any) => part.text ?? part.result ?? part.args).join('|'),
  )

describe('a follow-up turn', () => {
  // cites, H-24, S-46, S-W4, T-53
  it('A-45: carries the whole conversation on, calls and results included; the templates are not rendered again', async () => {
    const { tool } = noteTool()
    const recorder = recordingPlugin({ points: ['augmentSystemPrompt', 'beforeExecution'] })
    const augment = definePlugin({
      name: 'augment',
      hookApi: 1,
      apply(hooks) {
        hooks.augmentSystemPrompt.tap({ name: 'augment' }, (prompt) => `${prompt} Be brief.`)
      },
    })
    const { runtime, provider } = await house(
      [reply.toolCall('write_note', { text: 'a' }), reply('It is due.'), reply('Yes.'), reply('Really.')],
      { agents: [desk([tool])], plugins: [augment(), recorder.plugin] },
    )
    await runtime.execute(first)
    await runtime.execute(followUp('Sure?'))
    const run = await runtime.execute(followUp('Really?'))
    expect(textsOf(provider.requests[3]?.messages)).toEqual([
      'You are the desk. Be brief.',
      'Is INV-7 due?',
      '{"text":"a"}',
      'written',
      'It is due.',
      'Sure?',
      'Yes.',
      'Really?',
    ])
    provider.requests.forEach(assertValid)
    expect(textsOf(run.messages).at(-1)).toBe('Really.')
    expect(recorder.lines).toEqual(['beforeExecution', 'augmentSystemPrompt', 'beforeExecution', 'beforeExecution'])
    const rows = (await runtime.executions.list({ ...ALL, sessionId: 's-1' })).items
    expect(rows.map((row) => [row.turnIndex, row.followUp, row.input])).toEqual([
      [3, 'Really?', {}],
      [2, 'Sure?', {}],
      [1, null, QUESTION],
    ])
  })

  it('A-46: model and settings are those of the profile as it is now, the system message is that of the session', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const before = await house([reply('one')], { agents: [desk()], store, clock })
    await before.runtime.execute(first)
    const after = await house([reply('two')], {
      store,
      clock,
      seed: 3,
      agents: [desk([], { model: 'scripted/model-2', system: 'You are another desk.', temperature: 0.1 })],
    })
    const run = await after.runtime.execute(followUp('And?'))
    const [request] = after.provider.requests
    expect([request?.model, request?.temperature, textsOf(request?.messages)[0]]).toEqual([
      'model-2',
      0.1,
      'You are the desk.',
    ])
    expect((await after.runtime.executions.get(run.executionId, ALL)).agentVersion).toBe(2)
  })

  // cites, T-53, X-W1
  it('A-37: is refused without a session, without a completed run of this agent in it, and beside input; all faults by reason', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const { runtime, provider } = await house([reply('x'), providerError(400)], {
      agents: [desk(), desk([], { code: 'other' })],
      plugins: [recorder.plugin],
    })
    await runtime.execute({ ...first, agent: 'other' })
    await failureOf(runtime.execute({ ...first, sessionId: 's-2' }))
    recorder.clear()
    const reasons = [
      await failureOf(runtime.execute({ agent: 'ap_desk', followUp: 'And?' })),
      await failureOf(runtime.execute(followUp('And?'))),
      await failureOf(runtime.execute({ ...followUp('And?'), sessionId: 's-2' })),
      await failureOf(runtime.execute({ ...followUp('And?'), input: { question: 'x' } })),
      await failureOf(runtime.execute(followUp(''))),
    ]
    expect(reasons.map((error) => [error.code, error.reason])).toEqual([
      ['INVALID_CONFIG', 'follow_up.no_session'],
      ['INVALID_CONFIG', 'follow_up.no_history'],
      ['INVALID_CONFIG', 'follow_up.no_history'],
      ['INVALID_CONFIG', 'execute.options'],
      ['INVALID_CONFIG', 'execute.options'],
    ])
    expect([recorder.entries, provider.requests.length, (await runtime.executions.list(ALL)).items.length]).toEqual([
      [],
      2,
      2,
    ])
  })

  it('A-49: after a failed follow-up the conversation goes on from what it had got to', async () => {
    const { runtime, provider } = await house([reply('one'), providerError(400), reply('three')], { agents: [desk()] })
    await runtime.execute(first)
    await failureOf(runtime.execute(followUp('two?')))
    await runtime.execute(followUp('three?'))
    expect(textsOf(provider.requests[2]?.messages)).toEqual([
      'You are the desk.',
      'Is INV-7 due?',
      'one',
      'two?',
      'three?',
    ])
  })

  it('A-49: input in a later turn of the session begins a new conversation; the follow-up after it carries that one on', async () => {
    const { runtime, provider } = await house([reply('one'), reply('two'), reply('three')], { agents: [desk()] })
    await runtime.execute(first)
    await runtime.execute({ ...first, input: { question: 'And INV-8?' } })
    await runtime.execute(followUp('Sure?'))
    expect(textsOf(provider.requests[1]?.messages)).toEqual(['You are the desk.', 'And INV-8?'])
    expect(textsOf(provider.requests[2]?.messages)).toEqual(['You are the desk.', 'And INV-8?', 'two', 'Sure?'])
  })

  // cites: S-40, S-39, S-W6, T-53, CASE-13, T-72
  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'S-40: with a window of %i the system message stays, rounds stay whole, and the log is not touched',
    async (maxHistoryMessages) => {
      const { tool } = noteTool()
      const round = reply.toolCall('write_note', { text: 'a' }).toolCall('write_note', { text: 'b' })
      const { runtime, provider } = await house(
        [round, reply('one'), reply('two'), round, reply('three'), reply('four')],
        {
          agents: [desk([tool], { maxHistoryMessages })],
        },
      )
      await runtime.execute(first)
      await runtime.execute(followUp('two?'))
      await runtime.execute(followUp('three?'))
      await runtime.execute(followUp('four?'))
      provider.requests.forEach(assertValid)
      const last = provider.requests.at(-1)?.messages ?? []
      expect([textsOf(last)[0], textsOf(last).at(-1)]).toEqual(['You are the desk.', 'four?'])
      // a whole history has 11 messages behind the system message; a round of two is never cut
      expect(last.length - 1).toBeLessThanOrEqual(maxHistoryMessages + 2)
      const whole = (await runtime.sessions.messages('s-1', ALL)).items.filter((row) => row.executionId !== undefined)
      expect(whole.filter((row) => row.role === 'user').map((row) => row.content)).toEqual([
        'Is INV-7 due?',
        'two?',
        'three?',
        'four?',
      ])
      expect(whole.filter((row) => row.role === 'tool_result')).toHaveLength(4)
      expect(whole.map((row) => row.seq)).toEqual(whole.map((_, index) => index + 1))
    },
  )

  it('CASE-13: a history that needs no cut is sent unchanged', async () => {
    const { tool } = noteTool()
    const script = [reply.toolCall('write_note'), reply('one'), reply('two')]
    const open = await house(script, { agents: [desk([tool])] })
    const bound = await house(script, { agents: [desk([tool], { maxHistoryMessages: 6 })] })
    for (const { runtime } of [open, bound]) {
      await runtime.execute(first)
      await runtime.execute(followUp('two?'))
    }
    expect(bound.provider.requests[2]?.messages).toEqual(open.provider.requests[2]?.messages)
  })

  it('CASE-13: a session carried on with another provider sends it the same neutral history', async () => {
    const { tool } = noteTool()
    const other = makeProvider([reply('from there')], { id: 'elsewhere', emulate: 'anthropic-messages' })
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const options = { scripted: { signature: 'c2ln' } }
    const here = await house([reply.reasoning('hm', options).toolCall('write_note', {}, { id: null }), reply('one')], {
      agents: [desk([tool])],
      store,
      clock,
    })
    await here.runtime.execute(first)
    const there = await house([], {
      agents: [desk([tool], { model: 'elsewhere/big' })],
      store,
      clock,
      seed: 3,
      others: [other],
    })
    await there.runtime.execute(followUp('And?'))
    assertValid(other.requests[0])
    // what belongs to a provider is keyed by its id, so that no other adapter reads it
    expect(JSON.stringify(other.requests[0]?.messages)).toContain('"providerOptions":{"scripted":{"signature":"c2ln"}}')
  })
})

/** Ways to end a turn between "the assistant message asks for tools" and "all results are there". */
const STOPS: Readonly<
  Record<string, (calls: number) => Promise<{ store: Store; clock: ReturnType<typeof fakeClock> }>>
> = {
  'a veto on the first call': (calls) => stoppedBy(calls, { gate: 1 }),
  'a veto on the last call': (calls) => stoppedBy(calls, { gate: calls }),
  'a handler that fails': (calls) => stoppedBy(calls, { fails: 1 }),
  'a later handler that fails': (calls) => stoppedBy(calls, { fails: calls }),
  'an abort during the first handler': (calls) => stoppedBy(calls, { hangs: 1 }),
  'an abort during the last handler': (calls) => stoppedBy(calls, { hangs: calls }),
  'the bound of tool calls': (calls) => stoppedBy(calls, { limit: 0 }),
  'the bound inside the round': (calls) => stoppedBy(calls, { limit: calls - 1 }),
  'an unusable call with onInvalidCall throw': (calls) => stoppedBy(calls, { invalid: true }),
  'a provider that fails in the next round': (calls) => stoppedBy(calls, { next: providerError(400) }),
  'an abort in the next round': (calls) => stoppedBy(calls, { next: hang() }),
  'a reply that is stopped at inspectReply': (calls) => stoppedBy(calls, { inspect: true }),
}

async function stoppedBy(
  calls: number,
  how: {
    gate?: number
    fails?: number
    hangs?: number
    limit?: number
    invalid?: boolean
    next?: never | unknown
    inspect?: boolean
  },
) {
  const clock = fakeClock()
  const store = createMemoryStore({ clock })
  let asked = 0
  let entered = 0
  const { tool } = noteTool({
    handler: () => {
      entered += 1
      if (entered === how.fails) throw new Error('down')
      if (entered === how.hangs) return new Promise(() => {})
      return 'written'
    },
  })
  const stops = definePlugin({
    name: 'stops',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeToolCall.tap({ name: 'stops' }, () => {
        if (++asked === how.gate) throw new Veto('STOP', 'Stop.')
      })
      if (how.inspect === true)
        hooks.inspectReply.tap({ name: 'stops' }, (context) => {
          if (context.toolCalls.length > 0) throw new Veto('STOP', 'Stop.')
        })
    },
  })
  const round = Array.from({ length: calls }).reduce(
    (made: ReturnType<typeof reply>, _, index) =>
      made.toolCall(how.invalid === true && index === calls - 1 ? 'nothing' : 'write_note'),
    reply('I write.'),
  )
  const { runtime } = await house([reply('one'), round, ...(how.next === undefined ? [] : [how.next as never])], {
    agents: [desk([tool])],
    plugins: [stops()],
    store,
    clock,
    settings: {
      ...(how.limit === undefined ? {} : { maxToolCalls: how.limit }),
      ...(how.invalid === true ? { onInvalidCall: 'throw' } : {}),
    },
  })
  await runtime.execute(first)
  const controller = new AbortController()
  const running = failureOf(runtime.execute({ ...followUp('Write.'), signal: controller.signal }))
  await clock.tick()
  controller.abort()
  await clock.settle(running)
  return { store, clock }
}

describe('a history that a provider will accept', () => {
  // cites: CASE-13, S-22, S-40
  it.each(Object.keys(STOPS))(
    'CASE-13: after %s the next turn sends a valid history, with one and with three calls',
    async (how) => {
      for (const calls of [1, 3]) {
        const { store, clock } = await (STOPS[how] as (calls: number) => ReturnType<typeof stoppedBy>)(calls)
        const { tool } = noteTool()
        const again = await house([reply('again'), reply('and again')], {
          agents: [desk([tool])],
          store,
          clock,
          seed: 9,
          plugins: [],
        })
        await again.runtime.execute(followUp('And now?'))
        assertValid(again.provider.requests[0])
        await again.runtime.execute(followUp('And then?'))
        assertValid(again.provider.requests[1])
        const log = (await again.runtime.sessions.messages('s-1', { ...ALL, withheld: true })).items
        expect(log.map((row) => row.seq)).toEqual(log.map((_, index) => index + 1))
        expect((await again.runtime.sessions.get('s-1', ALL)).messageCount).toBe(log.length)
      }
    },
  )

  it('CASE-13: a crash between the calls and their results is repaired once in the store, and told to the model', async () => {
    const { tool } = noteTool()
    const given = await house([reply('one')], { agents: [desk([tool])] })
    const run = await given.runtime.execute(first)
    // what a process left behind that died after it had stored the assistant message
    const row = await given.store.executions.get(run.executionId)
    const log = await given.store.messages.list('s-1')
    const like = log.at(-1)
    if (row === undefined || like === undefined) throw new Error('nothing was recorded')
    await given.store.executions.insert({
      ...row,
      id: 'crashed-1',
      rootExecutionId: 'crashed-1',
      turnIndex: 2,
      followUp: 'Write.',
      status: 'failed',
    })
    const { seq: _, ...base } = { ...like, executionId: 'crashed-1' }
    await given.store.messages.append('s-1', [
      { ...base, id: 'r-1', role: 'user', agentCode: null, content: 'Write.', messageIndex: 0, round: 0, part: null },
      {
        ...base,
        id: 'r-2',
        role: 'tool_call',
        content: null,
        toolName: 'write_note',
        toolCallId: 'lost',
        toolInput: '{}',
        messageIndex: 1,
        round: 0,
      },
    ])
    const again = await house([reply('again'), reply('more')], {
      agents: [desk([tool])],
      store: given.store,
      clock: given.clock,
      seed: 5,
    })
    await again.runtime.execute(followUp('And now?'))
    await again.runtime.execute(followUp('And then?'))
    again.provider.requests.forEach(assertValid)
    const told = again.provider.requests[0]?.messages.find((message) => message.role === 'tool')
    expect(told?.content[0]).toMatchObject({
      toolCallId: 'lost',
      status: 'unknown',
      result: expect.stringContaining('interrupted'),
    })
    const repaired = (await given.store.messages.list('s-1')).filter(
      (entry) => entry.toolCallId === 'lost' && entry.role === 'tool_result',
    )
    expect(repaired).toHaveLength(1)
  })
})

describe('several writers, one session', () => {
  async function twoRuntimes(sameSession: 'queue' | 'refuse', runtimes: 1 | 2) {
    const gate = latch()
    let inside = 0
    let most = 0
    const { tool } = noteTool({
      handler: async () => {
        most = Math.max(most, ++inside)
        await gate.wait()
        inside -= 1
        return 'written'
      },
    })
    const script = (request: ModelRequest) =>
      request.messages.at(-1)?.role === 'tool' ? reply('done') : reply.toolCall('write_note')
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const options = { agents: [desk([tool])], store, clock, settings: { sameSession } }
    const one = await house(script, options)
    const two = runtimes === 1 ? one : await house(script, { ...options, seed: 4 })
    return { one: one.runtime, two: two.runtime, gate, most: () => most, clock }
  }

  // cites: CASE-19
  it.each([1, 2] as const)(
    'CASE-19: two turns of one session on %i runtime(s) are queued, and never mixed',
    async (runtimes) => {
      const { one, two, gate, most } = await twoRuntimes('queue', runtimes)
      const both = [one.execute(first), two.execute({ ...first, input: { question: 'And INV-8?' } })]
      await gate.reached()
      gate.open()
      const runs = await Promise.all(both)
      expect(most()).toBe(1)
      const log = (await one.sessions.messages('s-1', ALL)).items
      expect(log.map((row) => row.seq)).toEqual(log.map((_, index) => index + 1))
      const owners = log.map((row) => row.executionId)
      const half = owners.length / 2
      expect([new Set(owners.slice(0, half)).size, new Set(owners.slice(half)).size]).toEqual([1, 1])
      const header = await one.sessions.get('s-1', ALL)
      expect([header.turnCount, header.messageCount]).toEqual([2, log.length])
      expect(runs.map((run) => run.status)).toEqual(['completed', 'completed'])
      const rows = (await one.executions.list({ ...ALL, sessionId: 's-1' })).items
      expect(rows.map((row) => row.turnIndex).sort()).toEqual([1, 2])
    },
  )

  it.each([1, 2] as const)(
    "CASE-19: with sameSession 'refuse' on %i runtime(s) the later one is refused by name, and nothing is written for it",
    async (runtimes) => {
      const { one, two, gate } = await twoRuntimes('refuse', runtimes)
      const running = one.execute(first)
      await gate.reached()
      const refused = await failureOf(two.execute(first))
      expect([refused.code, refused.retryable]).toEqual(['SESSION_BUSY', true])
      gate.open()
      await running
      expect((await one.executions.list(ALL)).items).toHaveLength(1)
      expect((await two.execute(first)).status).toBe('completed')
    },
  )

  it('CASE-19: a session that a run opened without naming it is taken by that run too', async () => {
    const { one, gate } = await twoRuntimes('refuse', 1)
    const running = one.execute({ agent: 'ap_desk', input: QUESTION })
    await gate.reached()
    const [row] = (await one.executions.list(ALL)).items
    const refused = await failureOf(one.execute({ ...first, sessionId: row?.sessionId as string }))
    expect(refused.code).toBe('SESSION_BUSY')
    gate.open()
    await running
  })

  it('CASE-19: 25 turns at once are taken one after another, each message is there once', async () => {
    const { runtime } = await house([repeat(reply('ok'))], { agents: [desk()] })
    await Promise.all(
      Array.from({ length: 25 }, (_, index) => runtime.execute({ ...first, input: { question: `q${index}` } })),
    )
    const log = (await runtime.sessions.messages('s-1', { ...ALL, limit: 1_000 })).items
    const questions = log.filter((row) => row.role === 'user').map((row) => row.content)
    expect([questions.length, new Set(questions).size]).toEqual([25, 25])
    expect((await runtime.sessions.get('s-1', ALL)).turnCount).toBe(25)
  })

  it('CASE-19: a caller that waits in line and is aborted leaves it, and the line goes on', async () => {
    const { one, gate } = await twoRuntimes('queue', 1)
    const controller = new AbortController()
    const running = one.execute(first)
    await gate.reached()
    const waiting = failureOf(one.execute({ ...first, signal: controller.signal }))
    const behind = one.execute(first)
    controller.abort(new Error('no longer wanted'))
    const error = await waiting
    expect(error.code).toBe('RUN_ABORTED')
    gate.open()
    await Promise.all([running, behind])
    expect((await one.sessions.get('s-1', ALL)).turnCount).toBe(2)
  })

  // cites: H-9
  it('a paused turn holds its session until it is resumed or cancelled', async () => {
    const asks = definePlugin({
      name: 'asks',
      hookApi: 1,
      apply(hooks) {
        hooks.inspectToolInput.tap({ name: 'asks' }, (context) => {
          if (context.decision === undefined) throw new Pause('APPROVE')
        })
      },
    })
    const { tool } = noteTool()
    const { runtime } = await house([reply.toolCall('write_note'), reply('done'), reply('next')], {
      agents: [desk([tool])],
      plugins: [asks()],
    })
    const paused = await runtime.execute(first)
    expect(paused.status).toBe('paused')
    const busy = await failureOf(runtime.execute(first))
    expect([busy.code, busy.details.pausedExecutionId]).toEqual(['SESSION_BUSY', paused.executionId])
    expect((await runtime.sessions.get('s-1', ALL)).status).toBe('paused')
    await runtime.decide(paused.executionId, {
      effectId: paused.pending[0]?.effectId as string,
      decision: 'approve',
      by: 'tom',
      ...ALL,
    })
    await runtime.resume(paused.executionId, ALL)
    expect((await runtime.execute(first)).text).toBe('next')
    expect((await runtime.sessions.get('s-1', ALL)).turnCount).toBe(2)
  })
})
