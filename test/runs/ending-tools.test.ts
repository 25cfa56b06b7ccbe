import { definePlugin, defineTool, Refusal } from '@sluice/core'
import { recordingPlugin, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const transfer = (code = 'transfer_to_b', handler: () => unknown = () => 'Transferred.') =>
  defineTool({
    code,
    description: 'Hands the conversation over.',
    effect: 'read',
    input: z.object({ context: z.string() }),
    endsCall: true,
    handler,
  })

describe('a tool with endsCall', () => {
  it('F-7: ends the call: the model is not asked again, the calls behind it do not run, and the history is whole', async () => {
    const { tool, calls } = noteTool()
    const recorder = recordingPlugin({ points: ['beforeToolCall', 'afterToolCall'] })
    const { runtime, provider } = await house(
      [
        reply('I hand over.')
          .toolCall('write_note', { text: 'before' })
          .toolCall('transfer_to_b', { context: 'A bill.' })
          .toolCall('write_note', { text: 'behind' })
          .toolCall('transfer_to_b', { context: 'Again.' }),
      ],
      { agents: [desk([tool, transfer()])], plugins: [recorder.plugin] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
    expect([run.finishReason, run.text, provider.requests.length]).toEqual(['ended_by_tool', 'I hand over.', 1])
    expect(calls).toEqual([{ text: 'before' }])
    const results = run.messages.at(-1)
    expect(results).toMatchObject({
      role: 'tool',
      content: [{ status: 'ok' }, { status: 'ok' }, { status: 'not_run' }, { status: 'not_run' }],
    })
    // every call was asked, and told how it ended
    const asked = recorder.at('beforeToolCall').map((entry) => (entry.context as { callId: string }).callId)
    expect(new Set(asked).size).toBe(4)
    expect(recorder.at('afterToolCall').map((entry) => (entry.context as { outcome: string }).outcome)).toEqual([
      'ok',
      'ok',
      'not_run',
      'not_run',
    ])
    const row = await runtime.executions.get(run.executionId, { scope: 'all' })
    expect([row.status, row.finishReason, row.toolCallsCount]).toEqual(['completed', 'ended_by_tool', 2])
  })

  it('F-12: its calls do not count against maxToolCalls', async () => {
    const { tool } = noteTool()
    const { runtime } = await house(
      [reply.toolCall('write_note').toolCall('write_note').toolCall('transfer_to_b', { context: 'x' })],
      { agents: [desk([tool, transfer()], { maxToolCalls: 2 })] },
    )
    expect((await runtime.execute({ agent: 'ap_desk', input: QUESTION })).finishReason).toBe('ended_by_tool')
    const beyond = await house(
      [reply.toolCall('write_note').toolCall('write_note').toolCall('transfer_to_b', { context: 'x' })],
      { agents: [desk([tool, transfer()], { maxToolCalls: 1, settings: { onToolLimit: 'throw' } })] },
    )
    // calls behind the bound do not run, whatever they are
    const error = await failureOf(beyond.runtime.execute({ agent: 'ap_desk', input: QUESTION }))
    expect(error.code).toBe('MAX_TOOL_CALLS')
  })

  it('F-19: one that is refused, or whose handler says no, ends nothing: the model is asked again', async () => {
    const refusing = definePlugin({
      name: 'rules',
      hookApi: 1,
      apply(hooks) {
        let asked = 0
        hooks.beforeToolCall.tap({ name: 'rules' }, ({ toolCode }) => {
          if (toolCode === 'transfer_to_b' && asked++ === 0) throw new Refusal('NOT_THERE', 'Nobody is there.')
        })
      },
    })
    const again = () => reply.toolCall('transfer_to_b', { context: 'x' })
    const { runtime, provider } = await house([again(), again()], {
      agents: [desk([transfer()])],
      plugins: [refusing()],
    })
    expect((await runtime.execute({ agent: 'ap_desk', input: QUESTION })).finishReason).toBe('ended_by_tool')
    expect(provider.requests.length).toBe(2)
    const invalid = await house([reply.toolCall('transfer_to_b', {}), reply('I stay.')], {
      agents: [desk([transfer()])],
    })
    expect((await invalid.runtime.execute({ agent: 'ap_desk', input: QUESTION })).text).toBe('I stay.')
  })

  it('a call behind it that a gate has refused stays refused, in the history and for whoever was asked', async () => {
    const { tool } = noteTool()
    const refusing = definePlugin({
      name: 'rules',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeToolCall.tap({ name: 'rules' }, ({ toolCode }) => {
          if (toolCode === 'write_note') throw new Refusal('NO_NOTES', 'No notes today.')
        })
      },
    })
    const recorder = recordingPlugin({ points: ['afterToolCall'] })
    const { runtime } = await house([reply.toolCall('transfer_to_b', { context: 'x' }).toolCall('write_note')], {
      agents: [desk([tool, transfer()])],
      plugins: [refusing(), recorder.plugin],
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(run.toolCalls.map((call) => call.status)).toEqual(['ok', 'refused'])
    expect(recorder.at('afterToolCall').map((entry) => (entry.context as { outcome: string }).outcome)).toEqual([
      'ok',
      'refused',
    ])
  })

  it('F-8: of several in one round the first counts', async () => {
    const { runtime } = await house(
      [reply.toolCall('transfer_to_b', { context: 'x' }).toolCall('transfer_to_c', { context: 'y' })],
      { agents: [desk([transfer(), transfer('transfer_to_c')])] },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(run.toolCalls.map((call) => [call.toolCode, call.status])).toEqual([
      ['transfer_to_b', 'ok'],
      ['transfer_to_c', 'not_run'],
    ])
  })

  it('options that cannot be meant are refused', () => {
    const make = (more: object) =>
      defineTool({ code: 'x', description: 'X.', input: z.object({}), handler: () => 'x', ...more } as never)
    expect(() => make({ endsCall: 'yes' })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
    expect(() => make({ dropsLabels: true })).toThrow('is for tools with an agent behind them')
    expect(() => make({ dropsLabels: 1 })).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG' }))
  })
})
