import type { PluginInstance, Runtime } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, definePlugin, defineTool, Veto } from '@sluice/core'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { EmulatedProtocol, ScriptedProvider } from './index.js'
import {
  callGate,
  capturedLogger,
  expectVeto,
  failingPlugin,
  fakeClock,
  fakeIds,
  hang,
  latch,
  PROVIDER_ROWS,
  providerError,
  recordingPlugin,
  reply,
} from './index.js'
import { scriptedProvider, sluiceMatchers } from './vitest.js'

expect.extend(sluiceMatchers)

let runtime: Runtime | undefined
afterEach(() => runtime?.close())

const clerkRule = definePlugin({
  name: 'clerk-rule',
  hookApi: 1,
  apply: (hooks) =>
    hooks.beforeToolCall.tap('clerk', (context) => {
      if (context.toolCode === 'ap_approve_invoice' && context.createdBy === null) {
        throw new Veto('AP_CLERK_REQUIRED', 'A named clerk is required.')
      }
    }),
})

async function desk(provider: ScriptedProvider, plugins: readonly PluginInstance[], handled: string[] = []) {
  const tools = ['ap_get_invoice', 'ap_approve_invoice'].map((code) =>
    defineTool({
      code,
      description: code,
      effect: code === 'ap_get_invoice' ? 'read' : 'write',
      input: z.object({ invoice: z.string() }),
      handler: ({ invoice }) => {
        handled.push(code)
        if (invoice === 'INV-FAILS') throw new Error('the database is down')
        return `${invoice} done`
      },
    }),
  )
  const agent = defineAgent({
    code: 'ap_desk',
    description: 'The desk.',
    model: 'scripted/test',
    system: 'Be brief.',
    user: '{question}',
    tools,
  })
  const clock = fakeClock()
  const store = createMemoryStore({ clock })
  runtime = await createRuntime({
    providers: [provider],
    agents: [agent],
    plugins,
    store,
    clock,
    ids: fakeIds(),
    logger: capturedLogger(),
  })
  return { runtime, clock, store }
}

const question = { agent: 'ap_desk', input: { question: 'INV-1002?' } }
const approves = () => reply.toolCall('ap_approve_invoice', { invoice: 'INV-1002' })

describe('the testkit on a whole run', () => {
  it('T-10, T-14: a scripted run is answered, recorded and told in one timeline', async () => {
    const provider = scriptedProvider([
      reply('Looking.').toolCall('ap_get_invoice', { invoice: 'INV-1002' }),
      'It is open.',
    ])
    const recorder = recordingPlugin()
    const { runtime } = await desk(provider, [recorder.plugin])
    const run = await runtime.execute(question)
    expect(run.text).toBe('It is open.')
    expect(run).toHaveCalledTool('ap_get_invoice', { invoice: 'INV-1002' }, 'ok')
    expect(run).toHaveCalledToolsInOrder(['ap_get_invoice'])
    expect(await runtime.executions.receipts(run.executionId, { scope: 'all' })).toHaveReceipt({
      effect: 'tool_call',
      subject: 'ap_get_invoice',
      outcome: 'ok',
      answers: { 'recording-plugin': 'passed' },
    })
    recorder.assertOrder(
      'beforeExecution',
      'beforeModelCall test',
      'inspectReply test',
      'beforeToolCall ap_get_invoice',
      'inspectToolInput ap_get_invoice',
      'onEvent tool_call',
      'afterToolCall ap_get_invoice',
      'onEvent tool_result',
      'beforeModelCall test',
      'onEvent response_complete',
      'afterExecution completed',
    )
    expect(provider.requests[1]?.messages.map((message) => message.role)).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
    ])
    expect([run.usage.inputTokens, run.usage.outputTokens]).toEqual([20, 10])
  })

  it('T-6: the veto of a rule leaves the run, and callGate gives the same answer with no run', async () => {
    const handled: string[] = []
    const { runtime, store } = await desk(scriptedProvider([approves()]), [clerkRule()], handled)
    const veto = await expectVeto(runtime.execute(question), {
      code: 'AP_CLERK_REQUIRED',
      by: 'clerk-rule',
      point: 'beforeToolCall',
    })
    expect(handled).toEqual([])
    expect((await store.executions.get(String(veto.partial?.executionId)))?.status).toBe('failed')
    const asked = await callGate(clerkRule, 'beforeToolCall', { toolCode: 'ap_approve_invoice', agentCode: 'ap_desk' })
    expect([asked.answer, asked.code, asked.error?.message]).toEqual(['vetoed', veto.code, veto.message])
  })

  it.each(Object.keys(PROVIDER_ROWS) as EmulatedProtocol[])(
    'T-13: an emulated %s does what its row says',
    async (emulate) => {
      const { onToolError, onToolLimit } = PROVIDER_ROWS[emulate].defaults
      const fails = reply.toolCall('ap_approve_invoice', { invoice: 'INV-FAILS' })
      const failing = scriptedProvider(onToolError === 'return' ? [fails, 'I am sorry.'] : [fails], { emulate })
      const first = await (await desk(failing, [])).runtime.execute(question).catch((error: unknown) => error)
      if (onToolError === 'throw') expect(first).toMatchObject({ code: 'TOOL_FAILED' })
      else expect(first).toMatchObject({ text: 'I am sorry.' })
      await runtime?.close()
      const looping = scriptedProvider([approves(), approves()], { emulate })
      const { runtime: second } = await desk(looping, [])
      const options = {
        model: 'scripted/test',
        prompt: 'x',
        maxToolCalls: 1,
        tools: [
          defineTool({
            code: 'ap_approve_invoice',
            description: 'x',
            input: z.object({ invoice: z.string() }),
            handler: () => 'ok',
          }),
        ],
      }
      const limited = await second.generateText(options).catch((error: unknown) => error)
      if (onToolLimit === 'throw') expect(limited).toMatchObject({ code: 'MAX_TOOL_CALLS' })
      else expect(limited).toMatchObject({ finishReason: 'max_tool_calls_exceeded' })
    },
  )

  it('CASE-01: a gate that hangs is stopped by the fake clock, and the handler never runs', async () => {
    const handled: string[] = []
    const { runtime, clock } = await desk(
      scriptedProvider([approves()]),
      [failingPlugin({ point: 'inspectToolInput', as: 'hang' })],
      handled,
    )
    const run = runtime.execute(question)
    await expect(clock.settle(run)).rejects.toMatchObject({ code: 'HOOK_FAILED', failure: 'timed_out' })
    expect(handled).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('CASE-02: while a latch holds a gate, no request is sent', async () => {
    const door = latch()
    const holds = definePlugin({
      name: 'holds',
      hookApi: 1,
      apply: (hooks) => hooks.beforeModelCall.tapPromise('wait', () => door.wait()),
    })
    const provider = scriptedProvider(['hello'])
    const { runtime } = await desk(provider, [holds()])
    const running = runtime.execute(question)
    await door.reached()
    expect(provider.requests).toEqual([])
    door.open()
    expect((await running).text).toBe('hello')
  })

  it('CASE-05: an abort reaches a provider that hangs', async () => {
    const provider = scriptedProvider([hang()])
    const { runtime, clock } = await desk(provider, [])
    const controller = new AbortController()
    const running = runtime.execute({ ...question, signal: controller.signal }).catch((error: unknown) => error)
    await clock.tick()
    expect(provider.open).toBe(1)
    controller.abort()
    expect(await clock.settle(running)).toMatchObject({ code: 'RUN_ABORTED' })
    expect([provider.open, provider.calls[0]?.outcome, clock.timers, clock.monotonic()]).toEqual([0, 'aborted', 0, 0])
  })

  it('CASE-12: a scripted failure is retried above the provider, in fake time', async () => {
    const provider = scriptedProvider([providerError(429, { retryAfterMs: 2_000 }), 'second try'])
    const { runtime, clock } = await desk(provider, [])
    const settings = { retry: { attempts: 2, backoffMs: 500, maxBackoffMs: 30_000 } }
    const started = clock.monotonic()
    const result = await clock.settle(runtime.generateText({ model: 'scripted/test', prompt: 'x', settings }))
    expect([result.text, provider.requests.length]).toEqual(['second try', 2])
    expect(clock.monotonic() - started).toBeGreaterThanOrEqual(2_000)
  })

  it('T-10: a scripted stream gives its deltas to the consumer of a run', async () => {
    const { runtime } = await desk(scriptedProvider([reply('one two three').streamed({ chunkLength: 4 })]), [])
    const stream = runtime.stream({ ...question, show: 'live' })
    const texts: unknown[] = []
    for await (const event of stream) if (event.type === 'assistant_text_delta') texts.push(event.data)
    expect(texts).toMatchObject([{ text: 'one ' }, { text: 'two ' }, { text: 'thre' }, { text: 'e' }])
    expect((await stream.run).text).toBe('one two three')
  })
})
