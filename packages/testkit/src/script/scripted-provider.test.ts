import { describe, expect, it } from 'vitest'
import type { ModelRequest, StreamPart } from '@sluice/core'
import { ProviderError, SluiceError, USAGE_NOT_REPORTED } from '@sluice/core'
import { latch } from '../time/latch.js'
import { PROVIDER_ROWS } from './provider-rows.js'
import type { EmulatedProtocol } from './provider-rows.js'
import { reply } from './reply.js'
import { on } from './script.js'
import { hang, held, providerError, rawReply, repeat, throwing } from './script-step.js'
import { scriptedProvider } from './scripted-provider.js'

const never = new AbortController().signal

function request(text: string, change: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: 'small',
    messages: [{ role: 'user', content: [{ type: 'text', text }] }],
    tools: [],
    hostedTools: [],
    maxOutputTokens: 100,
    ...change,
  }
}

async function collect(stream: AsyncIterable<StreamPart>): Promise<StreamPart[]> {
  const parts: StreamPart[] = []
  for await (const part of stream) parts.push(part)
  return parts
}

async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'no failure',
    (error: unknown) => error,
  )
}

describe('scriptedProvider: replies', () => {
  it('T-10: answers in order with defaults for usage, finish reason and model', async () => {
    const provider = scriptedProvider(['Hello.', reply('Bye.').finish('length')])
    expect(await provider.generate(request('a'), never)).toEqual({
      parts: [{ type: 'text', text: 'Hello.' }],
      finishReason: 'stop',
      rawFinishReason: 'stop',
      usage: {
        inputTokens: 10,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        outputTokens: 5,
        reasoningTokens: 0,
        unreportedCalls: 0,
      },
      model: 'small',
    })
    expect((await provider.generate(request('b'), never)).finishReason).toBe('length')
    provider.assertDone()
  })

  it('T-10: several calls in one round get ids of their own, over all replies', async () => {
    const twice = reply
      .reasoning('Look first.')
      .toolCall('ap_get_invoice', { invoice: 'INV-1' })
      .toolCall('ap_get_vendor')
    const provider = scriptedProvider([twice, twice])
    const parts = [
      ...(await provider.generate(request('a'), never)).parts,
      ...(await provider.generate(request('a'), never)).parts,
    ]
    expect(
      parts.map((part) => (part.type === 'tool_call' ? `${part.toolCallId} ${part.toolName} ${part.args}` : part.type)),
    ).toEqual([
      'reasoning',
      'call_1 ap_get_invoice {"invoice":"INV-1"}',
      'call_2 ap_get_vendor {}',
      'reasoning',
      'call_3 ap_get_invoice {"invoice":"INV-1"}',
      'call_4 ap_get_vendor {}',
    ])
    expect((await scriptedProvider([twice]).generate(request('a'), never)).finishReason).toBe('tool_calls')
  })

  it('T-10: plays malformed payloads as they are: arguments that are no JSON, missing and repeated ids, replies of any shape', async () => {
    const provider = scriptedProvider([
      reply
        .toolCall('no_such_tool', '{', { id: null })
        .toolCall('x', '[]', { id: 'same' })
        .toolCall('y', '', { id: 'same' }),
      rawReply({ parts: 'nonsense' }),
    ])
    const first = await provider.generate(request('a'), never)
    expect(first.parts).toEqual([
      { type: 'tool_call', toolCallId: '', toolName: 'no_such_tool', args: '{' },
      { type: 'tool_call', toolCallId: 'same', toolName: 'x', args: '[]' },
      { type: 'tool_call', toolCallId: 'same', toolName: 'y', args: '' },
    ])
    expect(await provider.generate(request('a'), never)).toEqual({ parts: 'nonsense' })
  })

  it('T-10: usage is given by class, by class as not reported, or not at all', async () => {
    const provider = scriptedProvider([
      reply('a').usage({ inputTokens: 700, reasoningTokens: null }),
      reply('b').usage('not reported'),
    ])
    expect((await provider.generate(request('a'), never)).usage).toMatchObject({
      inputTokens: 700,
      outputTokens: 5,
      reasoningTokens: null,
    })
    expect((await provider.generate(request('a'), never)).usage).toBe(USAGE_NOT_REPORTED)
  })

  it('a reply is immutable: steps can be shared and varied', async () => {
    const base = reply('a')
    base.text('b').usage({ inputTokens: 1 }).finish('length').with({ requestId: 'req' })
    const provider = scriptedProvider([base])
    expect(await provider.generate(request('x'), never)).toMatchObject({ parts: [{ text: 'a' }], finishReason: 'stop' })
  })

  it('T-10: a function answers by the request, a repeated step every further call', async () => {
    const provider = scriptedProvider([(asked, call) => `${call.mode} ${call.number} ${asked.model}`, repeat('again')])
    const texts: unknown[] = []
    for (let index = 0; index < 4; index++) texts.push((await provider.generate(request('a'), never)).parts[0])
    expect(texts).toMatchObject([{ text: 'generate 1 small' }, { text: 'again' }, { text: 'again' }, { text: 'again' }])
    provider.assertDone()
    const always = scriptedProvider(() => 'yes')
    await always.generate(request('a'), never)
    always.assertDone()
  })

  it('T-10: rules choose by the last user message, each with steps of its own', async () => {
    const provider = scriptedProvider([
      on('INV-1', reply.toolCall('ap_get_invoice'), 'INV-1 is open.'),
      on(/vendor \d+/g, 'Vendor found.', 'And found again.'),
      on((asked) => asked.model === 'large', 'Large.'),
    ])
    const ask = async (text: string, model = 'small') =>
      (await provider.generate(request(text, { model }), never)).parts[0]
    expect(await ask('vendor 7')).toMatchObject({ text: 'Vendor found.' })
    expect(await ask('vendor 7')).toMatchObject({ text: 'And found again.' })
    expect(await ask('What of INV-1?')).toMatchObject({ type: 'tool_call' })
    expect(await ask('anything', 'large')).toMatchObject({ text: 'Large.' })
    expect(await ask('What of INV-1?')).toMatchObject({ text: 'INV-1 is open.' })
    provider.assertDone()
    await expect(ask('What of INV-1?')).rejects.toThrow(/What of INV-1\?/)
  })

  it('a step function that gives no step is refused by name', async () => {
    const provider = scriptedProvider([() => undefined as never])
    expect(SluiceError.isInstance(await failure(provider.generate(request('a'), never)), 'SCRIPT_INVALID')).toBe(true)
  })

  it('refuses a script with something else than steps, naming every place', () => {
    const script = ['fine', 7, { kind: 'nonsense' }, null] as never
    expect(() => scriptedProvider(script)).toThrow(/script\[1\].*script\[2\].*script\[3\]/s)
    expect(() => scriptedProvider([on('a', 'b'), 'c'] as never)).toThrow(/mixes rules and steps/)
    for (const one of [reply('alone'), undefined, 7])
      expect(() => scriptedProvider(one as never)).toThrow(/The script is .*, not a list of steps or a function/)
  })

  it('refuses options that there are not, and a protocol that it does not know', () => {
    expect(() => scriptedProvider([], { name: 'x' } as never)).toThrow(/cannot have "name"; there are id, emulate/)
    expect(() => scriptedProvider([], { emulate: 'openai' } as never)).toThrow(
      /"openai" cannot be emulated; there are openai-responses/,
    )
  })
})

describe('scriptedProvider: too many and too few calls', () => {
  it('T-10: a call too many fails by name, and again at the end where its error was swallowed', async () => {
    const provider = scriptedProvider(['only one'])
    await provider.generate(request('a'), never)
    const error = await failure(provider.generate(request('And INV-7?'), never))
    expect(SluiceError.isInstance(error, 'SCRIPT_EXHAUSTED')).toBe(true)
    expect(String(error)).toContain('Call 2 of the scripted provider "scripted" has no reply: the script has 1 reply')
    expect(String(error)).toContain('And INV-7?')
    expect(() => provider.assertDone()).toThrow(expect.objectContaining({ code: 'SCRIPT_EXHAUSTED' }))
    expect(
      SluiceError.isInstance(await failure(collect(provider.stream(request('b'), never))), 'SCRIPT_EXHAUSTED'),
    ).toBe(true)
  })

  it('T-10: replies left over fail by name and are listed', async () => {
    const provider = scriptedProvider(['a', reply.toolCall('ap_approve_invoice'), providerError(429)])
    await provider.generate(request('a'), never)
    expect(() => provider.assertDone()).toThrow(
      expect.objectContaining({
        code: 'SCRIPT_LEFT_OVER',
        message: expect.stringMatching(
          /called 1 time.*1\. call of ap_approve_invoice.*2\. error PROVIDER_RATE_LIMITED/s,
        ),
      }),
    )
  })

  it('T-10: concurrent calls take their steps in the order in which they came', async () => {
    const provider = scriptedProvider(Array.from({ length: 50 }, (_, index) => `reply ${index}`))
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) => provider.generate(request(`q${index}`), never)),
    )
    expect(replies.map((each) => each.parts[0])).toEqual(
      Array.from({ length: 50 }, (_, index) => ({ type: 'text', text: `reply ${index}` })),
    )
    expect(provider.requests[49]?.messages).toEqual(request('q49').messages)
  })
})

describe('scriptedProvider: failures, hangs, latches', () => {
  it('T-10: provider errors carry code, status, provider and model', async () => {
    const provider = scriptedProvider([
      providerError(429, { retryAfterMs: 1_500 }),
      providerError(529),
      providerError(400, { message: 'bad schema' }),
      providerError('PROVIDER_UNREACHABLE', { sent: 'no' }),
    ])
    const errors: unknown[] = []
    for (let index = 0; index < 4; index++) errors.push(await failure(provider.generate(request('a'), never)))
    expect(errors.every((error) => ProviderError.isInstance(error))).toBe(true)
    expect(errors).toMatchObject([
      {
        code: 'PROVIDER_RATE_LIMITED',
        status: 429,
        retryAfterMs: 1_500,
        retryable: true,
        provider: 'scripted',
        model: 'small',
        sent: 'yes',
      },
      { code: 'PROVIDER_OVERLOADED', status: 529 },
      { code: 'PROVIDER_RESPONSE_ERROR', status: 400, message: 'bad schema' },
      { code: 'PROVIDER_UNREACHABLE', sent: 'no' },
    ])
  })

  it('throws any value as it is', async () => {
    const values = [new TypeError('bug'), 'text', undefined, null, 0]
    const provider = scriptedProvider(values.map(throwing))
    for (const value of values) expect(await failure(provider.generate(request('a'), never))).toBe(value)
  })

  it.each(['generate', 'stream'] as const)(
    'CASE-05: %s that hangs ends with the reason of its signal',
    async (mode) => {
      const provider = scriptedProvider([hang()])
      const controller = new AbortController()
      const running =
        mode === 'generate'
          ? provider.generate(request('a'), controller.signal)
          : collect(provider.stream(request('a'), controller.signal))
      const ended = failure(running)
      await Promise.resolve()
      expect([provider.open, provider.calls[0]?.outcome]).toEqual([1, 'open'])
      controller.abort(new Error('owner stopped it'))
      expect(await ended).toMatchObject({ message: 'owner stopped it' })
      expect([provider.open, provider.calls[0]?.outcome]).toEqual([0, 'aborted'])
    },
  )

  it('CASE-05: a request whose signal has fired is not answered', async () => {
    const provider = scriptedProvider(['a', 'b'])
    const gone = AbortSignal.abort(new Error('gone'))
    expect(await failure(provider.generate(request('a'), gone))).toMatchObject({ message: 'gone' })
    expect(await failure(collect(provider.stream(request('a'), gone)))).toMatchObject({ message: 'gone' })
  })

  it('a latch holds a reply until the test opens it', async () => {
    const door = latch()
    const provider = scriptedProvider([held(door, 'through')])
    let answered = false
    const running = provider.generate(request('a'), never).finally(() => {
      answered = true
    })
    await door.reached()
    expect(answered).toBe(false)
    door.open()
    expect((await running).parts).toEqual([{ type: 'text', text: 'through' }])
  })
})

describe('scriptedProvider: streams', () => {
  it('T-10: deltas add up to the reply that generate gives', async () => {
    const step = reply
      .reasoning('Think about it.')
      .text('The invoice INV-1002 is open: 1 250.00 €. 🧾')
      .toolCall('ap_get_invoice', { invoice: 'INV-1002' })
      .toolCall('ap_get_vendor', { vendor: 'V-7' })
      .streamed({ chunkLength: 7 })
    const parts = await collect(scriptedProvider([step]).stream(request('a'), never))
    const last = parts.at(-1)
    expect(last).toEqual({ type: 'reply', reply: await scriptedProvider([step]).generate(request('a'), never) })
    const joined = (type: string, key: string) =>
      parts.flatMap((part) => (part.type === type ? [(part as unknown as Record<string, string>)[key]] : [])).join('')
    expect(joined('text_delta', 'text')).toBe('The invoice INV-1002 is open: 1 250.00 €. 🧾')
    expect(joined('reasoning_delta', 'text')).toBe('Think about it.')
    const calls = parts.filter((part) => part.type === 'tool_call_delta')
    expect(calls.filter((part) => part.toolName !== undefined).map((part) => [part.index, part.toolCallId])).toEqual([
      [0, 'call_1'],
      [1, 'call_2'],
    ])
    expect(parts.every((part) => part.type !== 'text_delta' || Buffer.from(part.text).toString() === part.text)).toBe(
      true,
    )
  })

  it('no delta holds half a character', async () => {
    const parts = await collect(
      scriptedProvider([reply('a🧾b').streamed({ chunkLength: 1 })]).stream(request('a'), never),
    )
    expect(parts.flatMap((part) => (part.type === 'text_delta' ? [part.text] : []))).toEqual(['a', '🧾', 'b'])
  })

  it('CASE-12: a stream breaks after n deltas and says what it had delivered', async () => {
    const step = reply('one two three').toolCall('ap_get_invoice', { invoice: 'INV-1' })
    for (const [breakAfter, text] of [
      [0, undefined],
      [1, 'one '],
      [2, 'one two '],
    ] as const) {
      const provider = scriptedProvider([step.streamed({ chunkLength: 4, breakAfter })])
      const seen: StreamPart[] = []
      const error = await failure(
        (async () => {
          for await (const part of provider.stream(request('a'), never)) seen.push(part)
        })(),
      )
      expect(seen).toHaveLength(breakAfter)
      expect(error).toMatchObject({ code: 'PROVIDER_STREAM_BROKEN', sent: 'yes' })
      expect((error as ProviderError).delivered).toEqual({
        parts: text === undefined ? [] : [{ type: 'text', text }],
        usage: null,
        model: 'small',
      })
    }
  })

  it('CASE-12: a break behind the last delta may come after usage was reported', async () => {
    const step = reply('ab').toolCall('t', { a: 1 }).streamed({ breakAfter: 99, usageBeforeBreak: true })
    const error = await failure(collect(scriptedProvider([step]).stream(request('a'), never)))
    expect((error as ProviderError).delivered).toMatchObject({
      parts: [
        { type: 'text', text: 'ab' },
        { type: 'tool_call', toolName: 't', args: '{"a":1}' },
      ],
      usage: { inputTokens: 10 },
    })
    const own = new Error('mine')
    const provider = scriptedProvider([reply('a').streamed({ breakAfter: 0, breakWith: own }), step])
    expect(await failure(collect(provider.stream(request('a'), never)))).toBe(own)
    expect(await failure(provider.generate(request('a'), never))).toMatchObject({ code: 'PROVIDER_UNREACHABLE' })
  })

  it('a stream waits for a latch and hangs where the script says', async () => {
    const door = latch()
    const provider = scriptedProvider([
      reply('abcd').streamed({ chunkLength: 1, holdAfter: { deltas: 2, latch: door }, hangAfter: 3 }),
    ])
    const controller = new AbortController()
    const seen: StreamPart[] = []
    const running = failure(
      (async () => {
        for await (const part of provider.stream(request('a'), controller.signal)) {
          seen.push(part)
          if (seen.length === 3) queueMicrotask(() => controller.abort(new Error('stop')))
        }
      })(),
    )
    await door.reached()
    expect(seen).toHaveLength(2)
    door.open()
    expect(await running).toMatchObject({ message: 'stop' })
    expect(seen).toHaveLength(3)
  })

  it('CASE-26: a consumer that leaves early closes the stream', async () => {
    const provider = scriptedProvider([reply('a long text of several deltas')])
    for await (const _part of provider.stream(request('a'), never)) break
    expect([provider.open, provider.calls[0]?.outcome]).toEqual([0, 'abandoned'])
  })
})

describe('scriptedProvider: what it keeps and what it emulates', () => {
  it('T-10: keeps every request, frozen, as it was at the time', async () => {
    const provider = scriptedProvider(['a'])
    const mutable = request('first') as { model: string }
    await provider.generate(mutable as ModelRequest, never)
    mutable.model = 'changed later'
    expect(provider.requests).toHaveLength(1)
    expect(provider.requests[0]?.model).toBe('small')
    expect(Object.isFrozen(provider.requests[0]?.messages[0])).toBe(true)
    const quiet = scriptedProvider(['a'], { record: false })
    await quiet.generate(request('x'), never)
    expect(quiet.requests).toEqual([])
    quiet.assertDone()
  })

  it.each(Object.keys(PROVIDER_ROWS) as EmulatedProtocol[])('T-13: emulates %s', async (emulate) => {
    const row = PROVIDER_ROWS[emulate]
    const provider = scriptedProvider(['done', reply.toolCall('x')], { emulate })
    expect([provider.id, provider.protocol, provider.defaults]).toEqual(['scripted', emulate, row.defaults])
    const given = [await provider.generate(request('a'), never), await provider.generate(request('a'), never)]
    expect(given.map((each) => each.finishReason)).toEqual(['stop', 'tool_calls'])
    expect(given[0]?.rawFinishReason).toBe(row.finishReasons.stop ?? 'stop')
    expect(provider.checkSchema).toBeUndefined()
  })

  it('G-45: refuses answer schemas, and no others, where it is told to', () => {
    const provider = scriptedProvider([], { structuredOutput: false })
    expect(() => provider.checkSchema?.({}, 'output')).toThrow(expect.objectContaining({ code: 'SCHEMA_UNSUPPORTED' }))
    provider.checkSchema?.({}, 'tool')
  })

  it('T-13: G-33 and G-37 as the design has them: who returns tool errors, who finishes at the limit', () => {
    const rows = Object.entries(PROVIDER_ROWS)
    expect(rows.filter(([, row]) => row.defaults.onToolError === 'return').map(([name]) => name)).toEqual([
      'google-generate-content',
      'oci-generic',
      'oci-cohere',
    ])
    expect(rows.filter(([, row]) => row.defaults.onToolLimit === 'finish').map(([name]) => name)).toEqual([
      'openai-responses',
    ])
  })

  it('an option wins over the emulated row', () => {
    const provider = scriptedProvider([], {
      id: 'desk',
      emulate: 'oci-generic',
      protocol: 'mine',
      defaults: { onToolError: 'throw', onToolLimit: 'finish' },
      inputTokensAtMost: () => 42,
    })
    expect([provider.id, provider.protocol, provider.defaults, provider.inputTokensAtMost?.(request('a'))]).toEqual([
      'desk',
      'mine',
      { onToolError: 'throw', onToolLimit: 'finish' },
      42,
    ])
  })
})
