import type { LoopSettings, Runtime } from '@sluice/core'
import { SluiceError } from '@sluice/core'
import type { EmulatedProtocol } from '@sluice/testkit'
import { PROVIDER_ROWS, repeat, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const calls = (count: number) =>
  Array.from({ length: count }).reduce((made: ReturnType<typeof reply>, _, index) => {
    return made.toolCall('write_note', { text: `note ${index + 1}` })
  }, reply.empty())

async function statuses(runtime: Runtime, sessionId: string) {
  const page = await runtime.sessions.messages(sessionId, { scope: 'all' })
  return page.items.filter((row) => row.role === 'tool_result').map((row) => row.toolStatus)
}

const PROTOCOLS = Object.keys(PROVIDER_ROWS) as EmulatedProtocol[]
/** Where the mode is said, the row of the provider makes no difference: one row of either default shows it. */
const ONE_OF_EACH: readonly EmulatedProtocol[] = ['openai-responses', 'anthropic-messages']

/** What the model asks for in each round, how many of it may run. */
const TABLE = [
  { limit: 0, rounds: [1], ran: 0, over: true },
  { limit: 0, rounds: [3], ran: 0, over: true },
  { limit: 1, rounds: [1], ran: 1, over: false },
  { limit: 1, rounds: [1, 1], ran: 1, over: true },
  { limit: 6, rounds: [1], ran: 1, over: false },
  { limit: 6, rounds: [6], ran: 6, over: false },
  { limit: 6, rounds: [3, 3], ran: 6, over: false },
  { limit: 6, rounds: [8], ran: 6, over: true },
  { limit: 6, rounds: [3, 4], ran: 6, over: true },
  { limit: 2, rounds: [3], ran: 2, over: true },
]

describe('the bound of tool calls', () => {
  for (const mode of ['throw', 'finish', 'provider'] as const) {
    for (const { limit, rounds, ran, over } of TABLE) {
      // cites: T-40, CASE-25, G-33, G-34, G-35, G-W1, G-W2, G-W3, G-W4
      it(`T-40: of ${rounds.join(' then ')} calls ${limit} run at most, and onToolLimit '${mode}' ends it, on every provider`, async () => {
        for (const protocol of mode === 'provider' ? PROTOCOLS : ONE_OF_EACH) {
          const { tool, calls: ranWith } = noteTool()
          const script = [...rounds.map(calls), ...(over ? [] : [reply('done')])]
          const { runtime } = await house(script, {
            agents: [desk([tool])],
            script: { emulate: protocol },
            settings: { maxToolCalls: limit, onToolLimit: mode },
          })
          const policy = mode === 'provider' ? PROVIDER_ROWS[protocol].defaults.onToolLimit : mode
          const started = runtime.execute({ agent: 'ap_desk', input: QUESTION, sessionId: 's-1' })
          if (!over) {
            const run = await started
            expect([run.finishReason, run.text]).toEqual(['stop', 'done'])
          } else if (policy === 'finish') {
            const run = await started
            expect([run.status, run.finishReason]).toEqual(['completed', 'max_tool_calls_exceeded'])
          } else {
            const error = await failureOf(started)
            expect(SluiceError.isInstance(error, 'MAX_TOOL_CALLS')).toBe(true)
            expect(error.details).toEqual({ maxToolCalls: limit })
            expect(error.message).toContain(String(limit))
            const row = await runtime.executions.get(error.partial.executionId, { scope: 'all' })
            expect([row.status, row.failureKind, row.toolCallsCount]).toEqual(['failed', 'limit', ran])
          }
          expect(ranWith).toHaveLength(ran)
          const asked = rounds.reduce((sum, count) => sum + count, 0)
          expect(await statuses(runtime, 's-1')).toEqual([
            ...Array.from({ length: ran }, () => 'ok'),
            ...Array.from({ length: asked - ran }, () => 'skipped_limit'),
          ])
        }
      })
    }
  }

  it('G-4, G-32: it is 10 a call where nobody says otherwise, the runtime sets it, the agent wins, a plain call wins', async () => {
    const many = repeat(calls(1))
    const ranWithin = async (settings: Partial<LoopSettings>, own?: number) => {
      const { tool, calls: ran } = noteTool()
      const { runtime } = await house([many], {
        agents: [desk([tool], own === undefined ? {} : { maxToolCalls: own })],
        settings,
      })
      await failureOf(runtime.execute({ agent: 'ap_desk', input: QUESTION }))
      return ran.length
    }
    expect([
      await ranWithin({}),
      await ranWithin({ maxToolCalls: 3 }),
      await ranWithin({ maxToolCalls: 3 }, 4),
    ]).toEqual([10, 3, 4])
    const { tool, calls: ran } = noteTool()
    const { runtime } = await house([many], { settings: { maxToolCalls: 3 } })
    await failureOf(runtime.generateText({ model: 'scripted/m', prompt: 'go', tools: [tool], maxToolCalls: 2 }))
    expect(ran).toHaveLength(2)
  })

  it('B-23: it bounds one call and not the tree: each nested run has its own', async () => {
    const { tool, calls: ran } = noteTool()
    const child = desk([tool], { code: 'child' })
    const { tool: ask } = noteTool({
      code: 'ask_child',
      handler: async () => (await runtime.execute({ agent: 'child', input: QUESTION })).text,
    })
    const { runtime } = await house(
      [
        reply.toolCall('ask_child').toolCall('ask_child'),
        calls(2),
        reply('first'),
        calls(2),
        reply('second'),
        reply('done'),
      ],
      { agents: [child, desk([ask])], settings: { maxToolCalls: 2 } },
    )
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([run.text, ran.length, run.toolCalls.length]).toEqual(['done', 4, 2])
  })

  it.each([-1, 1.5, Number.NaN, '3', null])('G-35: %s is refused as a bound', async (bound) => {
    const { runtime } = await house([])
    const refused = await failureOf(
      runtime.generateText({ model: 'scripted/m', prompt: 'go', maxToolCalls: bound as number }),
    )
    expect([refused.code, refused.details.faults[0]]).toEqual([
      'INVALID_CONFIG',
      expect.stringContaining('maxToolCalls'),
    ])
  })

  it('CASE-25: an answer with neither text nor calls ends the call', async () => {
    const { runtime, provider } = await house([reply.empty()], { agents: [desk()] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([run.status, run.text, run.finishReason, provider.requests.length]).toEqual(['completed', null, 'stop', 1])
  })

  it('CASE-25: a model that only thinks is not asked again', async () => {
    const { runtime, provider } = await house([reply.reasoning('hm')], { agents: [desk()] })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect([run.text, provider.requests.length]).toEqual([null, 1])
  })

  it('G-36: the calls that ran are told by the run and by the log, not by the bound', async () => {
    const { tool } = noteTool()
    const { runtime } = await house([calls(3)], {
      agents: [desk([tool])],
      settings: { maxToolCalls: 2, onToolLimit: 'finish' },
    })
    const run = await runtime.execute({ agent: 'ap_desk', input: QUESTION })
    expect(run.toolCalls.map((call) => call.status)).toEqual(['ok', 'ok', 'skipped_limit'])
    const last = run.messages.at(-1)
    expect(last?.role === 'tool' && last.content.map((part) => part.result)).toEqual([
      'written',
      'written',
      'This call was not run: the limit of tool calls was reached.',
    ])
  })
})
