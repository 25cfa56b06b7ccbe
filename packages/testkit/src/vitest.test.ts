import type { Message, ModelRequest, Receipt, ToolCallRecord } from '@sluice/core'
import { HookFailedError, Pause, Veto, definePlugin } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { callGate } from './gates/call-gate.js'
import { replay, scriptedProvider, sluiceMatchers } from './vitest.js'

expect.extend(sluiceMatchers)

const request: ModelRequest = { model: 'm', messages: [], tools: [], hostedTools: [], maxOutputTokens: 10 }
const signal = new AbortController().signal
const by = { plugin: 'budget', point: 'beforeModelCall' }

async function refused(work: () => unknown): Promise<string> {
  try {
    await work()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('the matcher passed')
}

describe('toBeVetoed', () => {
  const veto = new Veto('BUDGET_EXCEEDED', 'spent', undefined, { by })

  it('passes for a run, an error, a function or a gate that vetoes', async () => {
    await expect(Promise.reject(veto)).toBeVetoed()
    await expect(veto).toBeVetoed({ code: 'BUDGET_EXCEEDED', by: 'budget', point: 'beforeModelCall' })
    await expect(() => {
      throw veto
    }).toBeVetoed({ code: 'BUDGET_EXCEEDED' })
    await expect(Promise.resolve({ status: 'completed' })).not.toBeVetoed()
  })

  it('fails for a pass, another stop, and a gate that failed instead of answering', async () => {
    expect(await refused(() => expect(Promise.resolve({ status: 'completed' })).toBeVetoed())).toContain(
      'the run ended with status "completed"',
    )
    expect(await refused(() => expect(veto).toBeVetoed({ code: 'OTHER' }))).toContain('the code is BUDGET_EXCEEDED')
    expect(await refused(() => expect(veto).toBeVetoed({ by: 'audit' }))).toContain('it came from budget')
    const failed = new HookFailedError(by, 'threw', 'it broke', new Error('x'))
    expect(await refused(() => expect(failed).toBeVetoed())).toContain('failed instead of answering')
    expect(await refused(() => expect(veto).not.toBeVetoed())).toContain('not to be so')
  })
})

describe('toBePaused', () => {
  const pending = [{ code: 'NEEDS_APPROVAL', plugin: 'approval', toolCode: 'ap_approve_invoice' }]

  it('passes for a run that waits, and for a gate that paused', async () => {
    expect({ status: 'paused', pending }).toBePaused({
      code: 'NEEDS_APPROVAL',
      plugin: 'approval',
      toolCode: 'ap_approve_invoice',
    })
    const asks = definePlugin({
      name: 'asks',
      hookApi: 1,
      apply: (hooks) =>
        hooks.inspectToolInput.tap('ask', () => {
          throw new Pause('NEEDS_APPROVAL')
        }),
    })
    expect(await callGate(asks, 'inspectToolInput')).toBePaused({ code: 'NEEDS_APPROVAL' })
  })

  it('fails for another status, code or tool', async () => {
    expect(await refused(() => expect({ status: 'completed' }).toBePaused())).toContain('the status is completed')
    expect(await refused(() => expect({ status: 'paused', pending }).toBePaused({ code: 'X' }))).toContain(
      'ap_approve_invoice (NEEDS_APPROVAL by approval)',
    )
    expect(await refused(() => expect(undefined).toBePaused())).toContain('the status is undefined')
  })
})

describe('toHaveCalledTool', () => {
  const call = (toolCallId: string, toolName: string, args: string): Message => ({
    role: 'assistant',
    content: [{ type: 'tool_call', toolCallId, toolName, args }],
  })
  const messages = [
    call('1', 'ap_get_invoice', '{"invoice":"INV-1","full":true}'),
    call('2', 'ap_approve_invoice', '{"invoice":"INV-1"}'),
  ]
  const toolCalls: readonly ToolCallRecord[] = [
    { callId: '1', toolCode: 'ap_get_invoice', status: 'ok' },
    { callId: '2', toolCode: 'ap_approve_invoice', status: 'vetoed' },
  ]
  const run = { status: 'completed', messages, toolCalls }

  it('passes by tool, by arguments as far as they are given, and by outcome', () => {
    expect(run).toHaveCalledTool('ap_get_invoice')
    expect(run).toHaveCalledTool('ap_get_invoice', { invoice: 'INV-1' }, 'ok')
    expect(run).toHaveCalledTool('ap_get_invoice', { invoice: expect.stringMatching(/^INV-/) })
    expect(Object.assign(new Error('x'), { partial: run })).toHaveCalledTool('ap_approve_invoice', undefined, 'vetoed')
    expect({ messages }).toHaveCalledTool('ap_approve_invoice')
  })

  it('a call that came to nothing is no call', async () => {
    expect(run).not.toHaveCalledTool('ap_approve_invoice')
    expect(await refused(() => expect(run).toHaveCalledTool('ap_approve_invoice'))).toContain(
      'these were called: ap_get_invoice',
    )
    expect(await refused(() => expect(run).toHaveCalledTool('ap_get_invoice', { invoice: 'INV-2' }))).toContain(
      'with {"invoice":"INV-2"}',
    )
    expect(await refused(() => expect({}).toHaveCalledTool('x'))).toContain('no tool was called')
  })

  it('toHaveCalledToolsInOrder wants the order, with others between', async () => {
    const three = {
      toolCalls: ['a', 'b', 'c'].map((toolCode, index) => ({ toolCode, callId: String(index), status: 'ok' })),
    }
    expect(three).toHaveCalledToolsInOrder(['a', 'c'])
    expect(await refused(() => expect(three).toHaveCalledToolsInOrder(['c', 'a']))).toContain('the calls were a, b, c')
  })
})

describe('toHaveReceipt', () => {
  const gate = (plugin: string, answer: 'passed' | 'waited') => ({
    plugin,
    point: 'beforeToolCall',
    stage: 0,
    answer,
    ms: 1,
  })
  const receipt: Receipt = {
    effect: 'tool_call',
    effectId: 'e',
    attempt: 1,
    rootExecutionId: 'r',
    executionId: 'r',
    agentCode: 'ap_desk',
    subject: 'ap_get_invoice',
    at: 0,
    askings: [
      { at: 0, gates: [gate('limit', 'waited')] },
      { at: 1, gates: [gate('limit', 'passed'), gate('audit', 'passed')] },
    ],
    outcome: 'ok',
    sent: 'yes',
    tenant: null,
  }

  it('passes where one fits, with the last answer of each plugin', () => {
    expect([receipt]).toHaveReceipt({
      effect: 'tool_call',
      subject: 'ap_get_invoice',
      answers: { limit: 'passed', audit: 'passed' },
    })
    expect(receipt).toHaveReceipt({ outcome: 'ok', sent: 'yes', attempt: 1 })
  })

  it('fails where none fits, and shows those that are there', async () => {
    expect(await refused(() => expect([receipt]).toHaveReceipt({ answers: { budget: 'passed' } }))).toContain(
      'tool_call ap_get_invoice #1: ok, sent yes (limit waited, limit passed, audit passed)',
    )
    expect(await refused(() => expect([]).toHaveReceipt({}))).toContain('there is none')
    expect(await refused(() => expect(undefined).toHaveReceipt({ outcome: 'ok' }))).toContain(
      'something that is no receipt',
    )
  })
})

describe('toHaveEmitted', () => {
  const events = [{ type: 'tool_call', data: { toolCode: 'ap_get_invoice', n: 1 } }]
  it('finds an event by type and data', async () => {
    expect(events).toHaveEmitted('tool_call', { toolCode: 'ap_get_invoice' })
    expect(await refused(() => expect(events).toHaveEmitted('tool_result'))).toContain('the events were tool_call')
    expect(await refused(() => expect(events).toHaveEmitted('tool_call', { n: 2 }))).toContain('with {"n":2}')
  })
})

describe('scripts and replays that end with their test', () => {
  it('T-10: a script that was played passes', async () => {
    await scriptedProvider(['done']).generate(request, signal)
  })

  it.fails('T-10: a script with a reply left over fails its test', () => {
    scriptedProvider(['left over'])
  })

  it.fails('T-10: a call too many fails its test, also where its error was swallowed', async () => {
    await scriptedProvider([])
      .generate(request, signal)
      .catch(() => undefined)
  })

  it.fails('T-10: a replay with an exchange left over fails its test', () => {
    replay('openai-chat/text')
  })

  it('a replay of the test before was restored at its end', () => {
    const ends: ((context: never) => unknown)[] = []
    const test = { onTestFinished: (end: (context: never) => unknown) => void ends.push(end) } as never
    replay('openai-chat/text', { test })
    ends[0]?.({ task: { result: { state: 'fail' } } } as never)
    replay('openai-chat/text', { test })
    expect(() => ends[1]?.({ task: { result: { state: 'pass' } } } as never)).toThrow(
      expect.objectContaining({ code: 'REPLAY_LEFT_OVER' }),
    )
  })

  it('a test that has failed is not told what it left over', () => {
    const ends: ((context: never) => unknown)[] = []
    const test = { onTestFinished: (end: (context: never) => unknown) => void ends.push(end) } as never
    scriptedProvider(['left over'], { test })
    expect(() => ends[0]?.({ task: { result: { state: 'pass' } } } as never)).toThrow(
      expect.objectContaining({ code: 'SCRIPT_LEFT_OVER' }),
    )
    ends[0]?.({ task: { result: { state: 'fail' } } } as never)
  })
})
