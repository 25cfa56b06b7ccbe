// The same handler failure, bound and veto on every protocol, over a server in its own wire format: each ends as its row says
// (G-33, G-37), and one setting of the runtime makes them all equal (G-34, G-39, CASE-15).
import type { Generated, ModelProvider, PluginInstance, RuntimeOptions, ToolStatus } from '@sluice/core'
import { createMemoryStore, createRuntime, definePlugin, defineTool, refuse, SluiceError, Veto } from '@sluice/core'
import { PROTOCOL_BEHAVIOUR } from '@sluice/providers/behaviour'
import { serveExchanges } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { WiredAdapter } from '../wire/adapters.js'
import { WIRED } from '../wire/adapters.js'
import type { WireReply } from '../wire/wire-reply.js'

const SECRET = 'ORA-00942: table AP_SECRET does not exist'
const CALL: WireReply = { calls: [{ id: 'call_1', name: 'approve', args: '{"invoice":"INV-1"}' }] }
const DONE: WireReply = { text: 'All is done.' }
const ROWS = Object.values(PROTOCOL_BEHAVIOUR).flatMap((row) => {
  const adapter = WIRED.find(({ protocol }) => protocol === row.protocol)
  return adapter === undefined ? [] : [[row.protocol, row, adapter] as const]
})

type Settings = NonNullable<RuntimeOptions['settings']>

interface Setup {
  readonly replies: readonly WireReply[]
  readonly handler?: () => unknown
  readonly plugins?: readonly PluginInstance[]
  /** Of the runtime, so that they hold on every provider. */
  readonly settings?: Settings
  readonly call?: { readonly maxToolCalls: number }
}

interface Outcome {
  readonly result: Generated | undefined
  readonly error: unknown
  readonly entered: number
  /** Bodies of the requests, as text. */
  readonly bodies: readonly string[]
  readonly statuses: readonly ToolStatus[]
  /** The error that is on record under the reference. */
  recorded(reference: string): Promise<string | undefined>
}

async function run(adapter: WiredAdapter, setup: Setup): Promise<Outcome> {
  const server = await serveExchanges(setup.replies.map((reply) => adapter.wire.whole(reply)))
  const provider: ModelProvider = adapter.make({ baseUrl: server.url })
  const store = createMemoryStore()
  const runtime = await createRuntime({
    store,
    providers: [provider],
    plugins: setup.plugins ?? [],
    logger: SILENT,
    ...(setup.settings === undefined ? {} : { settings: setup.settings }),
  })
  let entered = 0
  const approve = defineTool({
    code: 'approve',
    description: 'Approves an invoice.',
    effect: 'write',
    input: { type: 'object', properties: { invoice: { type: 'string' } }, required: ['invoice'] },
    handler: () => {
      entered += 1
      return setup.handler === undefined ? 'approved' : setup.handler()
    },
  })
  try {
    const outcome = await runtime
      .generateText({ model: `${provider.id}/test-model`, prompt: 'Approve it.', tools: [approve], ...setup.call })
      .then(
        (result) => ({ result, error: undefined }),
        (error: unknown) => ({ result: undefined, error }),
      )
    return {
      ...outcome,
      entered,
      bodies: server.requests.map(({ body }) => body),
      statuses: (outcome.result?.messages ?? partialOf(outcome.error)).flatMap((message) =>
        message.role === 'tool' ? message.content.map(({ status }) => status ?? 'ok') : [],
      ),
      recorded: async (reference) => (await store.toolErrors.get(reference))?.message,
    }
  } finally {
    await runtime.close()
    await server.close()
  }
}

function partialOf(error: unknown): Generated['messages'] {
  return (error as { partial?: { messages?: Generated['messages'] } }).partial?.messages ?? []
}

const fails = () => {
  throw new Error(SECRET)
}
const vetoes = definePlugin({
  name: 'vetoes',
  hookApi: 1,
  apply: (hooks) =>
    hooks.beforeToolCall.tap('vetoes', () => {
      throw new Veto('NOT_TODAY', 'No approvals today.')
    }),
})
const ignore = () => {}
const SILENT = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** How a handler that throws ends: the run fails, or the model reads a reference and goes on. */
async function expectToolError(mode: 'throw' | 'return', outcome: Outcome): Promise<void> {
  expect(outcome.entered).toBe(1)
  let reference: string
  if (mode === 'throw') {
    if (!SluiceError.isInstance(outcome.error, 'TOOL_FAILED')) throw outcome.error ?? new Error('it did not fail')
    expect(outcome.bodies).toHaveLength(1)
    reference = String(outcome.error.details?.errorReference)
  } else {
    expect(outcome.error).toBeUndefined()
    expect(outcome.result).toMatchObject({ finishReason: 'stop', text: 'All is done.' })
    expect(outcome.bodies).toHaveLength(2)
    reference = String(outcome.result?.toolCalls[0]?.errorReference)
    expect(outcome.bodies[1]).toContain(reference)
    expect(outcome.statuses).toEqual(['error'])
  }
  expect(reference).toMatch(/^ERR-/)
  expect(outcome.bodies.join()).not.toContain('AP_SECRET')
  expect(await outcome.recorded(reference)).toBe(SECRET)
}

/** How the bound of one call ends, met in the second round. */
function expectLimit(mode: 'throw' | 'finish', outcome: Outcome): void {
  expect([outcome.entered, outcome.bodies.length]).toEqual([1, 2])
  if (mode === 'finish') expect(outcome.result?.finishReason).toBe('max_tool_calls_exceeded')
  else expect(outcome.error).toMatchObject({ code: 'MAX_TOOL_CALLS' })
  expect(outcome.statuses.filter((status) => status === 'ok')).toHaveLength(1)
}

const AGAIN: WireReply = { calls: [{ id: 'call_2', name: 'approve', args: '{"invoice":"INV-2"}' }] }

// cites: G-33, G-34, G-35, G-37, G-39, G-40, G-44, CASE-15
describe.each(ROWS)('%s', (_protocol, { defaults }, adapter) => {
  const failing = (settings?: Settings) =>
    run(adapter, { replies: [CALL, DONE], handler: fails, ...(settings === undefined ? {} : { settings }) })
  const limited = (settings?: Settings) =>
    run(adapter, { replies: [CALL, AGAIN], call: { maxToolCalls: 1 }, ...(settings === undefined ? {} : { settings }) })

  it(`G-37: a handler that throws ends in "${defaults.onToolError}", as its row says`, async () => {
    await expectToolError(defaults.onToolError, await failing())
    await expectToolError(defaults.onToolError, await failing({ onToolError: 'provider' }))
  })

  it.each(['throw', 'return'] as const)('G-39, CASE-15: one setting makes it "%s" here as everywhere', async (mode) => {
    await expectToolError(mode, await failing({ onToolError: mode }))
  })

  it(`G-33: the bound of tool calls ends in "${defaults.onToolLimit}", as its row says`, async () => {
    expectLimit(defaults.onToolLimit, await limited())
    expectLimit(defaults.onToolLimit, await limited({ onToolLimit: 'provider' }))
  })

  it.each(['throw', 'finish'] as const)('G-34: one setting makes it "%s" here as everywhere', async (mode) => {
    expectLimit(mode, await limited({ onToolLimit: mode }))
  })

  it('G-34: a round beyond the bound runs as many calls as it allows, in call order', async () => {
    const calls = ['a', 'b', 'c'].map((id) => ({ id, name: 'approve', args: `{"invoice":"${id}"}` }))
    const outcome = await run(adapter, {
      replies: [{ calls }],
      call: { maxToolCalls: 2 },
      settings: { onToolLimit: 'finish' },
    })
    expect([outcome.entered, outcome.result?.finishReason]).toEqual([2, 'max_tool_calls_exceeded'])
    expect(outcome.statuses).toEqual(['ok', 'ok', 'skipped_limit'])
  })

  it.each(['throw', 'return', 'provider'] as const)(
    'G-44: a veto ends the call whatever the settings say (%s), and the model never reads of it',
    async (onToolError) => {
      const settings: Settings = { onToolError, onToolLimit: 'finish' }
      const gate = await run(adapter, { replies: [CALL], plugins: [vetoes()], settings })
      const handler = await run(adapter, {
        replies: [CALL],
        settings,
        handler: () => {
          throw new Veto('NOT_TODAY', 'No approvals today.')
        },
      })
      for (const [outcome, entered] of [
        [gate, 0],
        [handler, 1],
      ] as const) {
        expect(Veto.isInstance(outcome.error, 'NOT_TODAY')).toBe(true)
        expect([outcome.entered, outcome.bodies.length]).toEqual([entered, 1])
      }
    },
  )

  it('G-40: a refusal is an answer of the application: the model reads its text, whatever the settings say', async () => {
    for (const onToolError of ['throw', 'return'] as const) {
      const outcome = await run(adapter, {
        replies: [CALL, DONE],
        handler: () => refuse('Only the clerk may do that.'),
        settings: { onToolError },
      })
      expect(outcome.result?.text).toBe('All is done.')
      expect(outcome.bodies[1]).toContain('Only the clerk may do that.')
      expect(outcome.statuses).toEqual(['refused'])
    }
  })
})

describe('all protocols together', () => {
  it('CASE-15: with one setting each, they leave the same statuses, text and finish reason', async () => {
    const settings: Settings = { onToolError: 'return', onToolLimit: 'finish' }
    const seen = new Set<string>()
    for (const [, , adapter] of ROWS) {
      const failed = await run(adapter, { replies: [CALL, DONE], handler: fails, settings })
      const limit = await run(adapter, { replies: [CALL, AGAIN], call: { maxToolCalls: 1 }, settings })
      seen.add(
        JSON.stringify(
          [failed, limit].map(({ result, statuses }) => [
            result?.text,
            result?.finishReason,
            statuses,
            result?.toolCalls.length,
          ]),
        ),
      )
    }
    expect([...seen]).toHaveLength(1)
    expect(ROWS).toHaveLength(Object.keys(PROTOCOL_BEHAVIOUR).length)
  })

  it('G-39: without it, the rows are not all alike', () => {
    const rows = Object.values(PROTOCOL_BEHAVIOUR).map(({ defaults }) => JSON.stringify(defaults))
    expect(new Set(rows).size).toBe(3)
  })
})
