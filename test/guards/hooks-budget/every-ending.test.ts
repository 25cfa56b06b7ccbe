import type { Usage } from '@sluice/core'
import { defineAgent, definePlugin, defineTool, Stage, Veto } from '@sluice/core'
import type { ScriptStep } from '@sluice/testkit'
import { hang, providerError, rawReply, reply, throwing } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { budgetRig, CALL_NANO_USD, PETRA } from './rig.js'

/** Tokens that a call holds: 1 000 of input and 1 000 of output. */
const CALL_TOKENS = 2_000n
const USAGE: Usage = {
  inputTokens: 100,
  cacheReadTokens: 20,
  cacheWriteTokens: 5,
  outputTokens: 40,
  reasoningTokens: 30,
  unreportedCalls: 0,
}

/** What the provider writes into its own log when a request reaches it: what it bills, or that nobody is told. */
type Bill = { readonly usage: Usage } | 'never told' | 'nothing'
interface Logged {
  readonly name: string
  readonly bill: Bill
}
interface Ending {
  readonly name: string
  /** One for each attempt. */
  readonly steps: readonly (readonly [ScriptStep, Bill])[]
  readonly how?: 'stream' | 'abort' | 'timeout' | 'stopped before'
}

const told: Bill = { usage: USAGE }
const whole = reply('Done.').usage(USAGE)
const ENDINGS: readonly Ending[] = [
  { name: 'a whole reply', steps: [[whole, told]] },
  { name: 'a whole reply, streamed', steps: [[whole, told]], how: 'stream' },
  { name: 'a reply without usage', steps: [[reply('Done.').usage('not reported'), 'never told']] },
  {
    name: 'a reply with half a usage',
    steps: [[reply('Done.').usage({ ...USAGE, outputTokens: null }), 'never told']],
  },
  { name: 'a reply that a gate stops', steps: [[reply('Forbidden.').usage(USAGE), told]] },
  {
    name: 'a request that never left',
    steps: [[providerError('PROVIDER_UNREACHABLE', { sent: 'no', retryable: false }), 'nothing']],
  },
  {
    name: 'a request that may have left',
    steps: [[providerError('PROVIDER_UNREACHABLE', { retryable: false }), 'never told']],
  },
  { name: 'a refused key', steps: [[providerError(401), 'never told']] },
  {
    name: 'an overloaded provider, then a reply',
    steps: [
      [providerError(503, { retryable: true }), 'never told'],
      [providerError(429, { retryable: true, sent: 'no' }), 'nothing'],
      [whole, told],
    ],
  },
  {
    name: 'an overloaded provider to the end',
    steps: [0, 1, 2].map(() => [providerError(500, { retryable: true }), 'never told'] as const),
  },
  { name: 'a reply that is none', steps: [[rawReply({ parts: 'none' }), 'never told']] },
  { name: 'an adapter with a bug', steps: [[throwing(new TypeError('bug')), 'never told']] },
  {
    name: 'a stream that breaks before its usage',
    steps: [[whole.streamed({ chunkLength: 1, breakAfter: 2 }), 'never told']],
    how: 'stream',
  },
  {
    name: 'a stream that breaks after some usage',
    steps: [[whole.streamed({ chunkLength: 1, breakAfter: 2, usageBeforeBreak: true }), 'never told']],
    how: 'stream',
  },
  { name: 'an abort', steps: [[hang(), 'never told']], how: 'abort' },
  {
    name: 'an abort that the adapter does not hear',
    steps: [[hang({ ignoreSignal: true }), 'never told']],
    how: 'abort',
  },
  { name: 'a timeout', steps: [[hang(), 'never told']], how: 'timeout' },
  { name: 'a call that a later gate stops', steps: [], how: 'stopped before' },
]

/** What the ledger is to have booked for a line of the log, in nano-USD and tokens. */
function booked({ bill }: Logged): {
  readonly spent: readonly [bigint, bigint]
  readonly unknown: readonly [bigint, bigint]
} {
  if (bill === 'nothing') return { spent: [0n, 0n], unknown: [0n, 0n] }
  if (bill === 'never told') return { spent: [0n, 0n], unknown: [CALL_NANO_USD, CALL_TOKENS] }
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = bill.usage
  const [input, output] = [(inputTokens ?? 0) + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0), outputTokens ?? 0]
  return { spent: [BigInt(input * 1_000 + output * 2_000), BigInt(input + output)], unknown: [0n, 0n] }
}

const add = (rows: readonly (readonly [bigint, bigint])[]) =>
  rows.reduce(([usd, tokens], row) => [usd + row[0], tokens + row[1]], [0n, 0n] as readonly [bigint, bigint])

/** A budget that nothing reaches, over a provider that writes its own log of what came and what it bills. */
async function ledgerRig(endings: readonly Ending[]) {
  const log: Logged[] = []
  const queue = endings.flatMap(({ name, steps }) => steps.map(([step, bill]) => ({ name, step, bill })))
  const door = { shut: false }
  const gates = definePlugin({
    name: 'gates',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeModelCall.tap({ name: 'door', stage: Stage.record }, () => {
        if (door.shut) throw new Veto('SHUT', 'The door is shut.')
      })
      hooks.inspectReply.tap('words', ({ text }) => {
        if (text === 'Forbidden.') throw new Veto('WORDS', 'Not that.')
      })
    },
  })
  const rig = await budgetRig(
    () => {
      const next = queue.shift()
      if (next === undefined) throw new Error('A request more than was planned.')
      log.push(next)
      return next.step
    },
    [
      { id: 'usd', scope: 'user', usd: '1' },
      { id: 'tokens', scope: 'tenant', per: 'month', tokens: 1_000_000 },
    ],
    { runtime: { plugins: [gates()], settings: { retry: { attempts: 3, backoffMs: 10, maxBackoffMs: 10 } } } },
  )
  async function play(how: Ending['how']): Promise<string> {
    const stop = new AbortController()
    door.shut = how === 'stopped before'
    const before = log.length
    if (how === 'stream') {
      const stream = rig.runtime.stream({ agent: 'desk', input: { question: 'Well?' }, caller: PETRA, show: 'live' })
      return rig.clock.settle(
        stream.run.then(
          ({ status }) => status,
          (error: { code: string }) => error.code,
        ),
      )
    }
    const running = rig.start({ signal: stop.signal, ...(how === 'timeout' ? { limits: { durationMs: 1_000 } } : {}) })
    if (how === 'abort') {
      while (log.length === before) await new Promise((resolve) => setImmediate(resolve))
      stop.abort()
    }
    const { run, error } = await rig.clock.settle(running)
    return run?.status ?? error?.code ?? 'nothing'
  }
  async function compare() {
    const rows = log.map(booked)
    const [usd, tokens] = await rig.api.status(PETRA)
    const [spent, unknown] = [add(rows.map((row) => row.spent)), add(rows.map((row) => row.unknown))]
    expect(usd).toMatchObject({ spent: spent[0], unknown: unknown[0], held: 0n, overrun: 0n, open: [] })
    expect(tokens).toMatchObject({ spent: spent[1], unknown: unknown[1], held: 0n, overrun: 0n, open: [] })
    const waiting = (await rig.api.unknowns()).items
    expect(waiting).toHaveLength(log.filter(({ bill }) => bill === 'never told').length)
  }
  return { ...rig, log, play, compare }
}

it.each(ENDINGS.map((ending) => [ending.name, ending] as const))(
  'CASE-12: the ledger is the log of the provider after %s, exactly',
  async (_name, ending) => {
    const { log, play, compare } = await ledgerRig([ending])
    await play(ending.how)
    expect(log).toHaveLength(ending.steps.length)
    await compare()
  },
)

it('CASE-12: the ledger is the log of the provider after all endings one behind the other, and an operator settles the rest', async () => {
  const { api, log, play, compare } = await ledgerRig(ENDINGS)
  const seen = new Set<string>()
  for (const ending of ENDINGS) {
    seen.add(await play(ending.how))
    await compare()
  }
  expect(log).toHaveLength(ENDINGS.flatMap(({ steps }) => steps).length)
  expect([...seen].toSorted()).toEqual(expect.arrayContaining(['RUN_ABORTED', 'SHUT', 'WORDS', 'completed']))
  const waiting = (await api.unknowns()).items
  const by = { who: 'boss', why: 'the invoice' }
  for (const { effectId, attempt } of waiting) {
    await api.resolve({ effectId, attempt, amount: { usd: '0.000205', tokens: 165 }, ...by })
  }
  const [spent, tokens] = add(
    log.map((line) => booked(line.bill === 'never told' ? { ...line, bill: told } : line).spent),
  )
  expect(await api.status(PETRA)).toMatchObject([
    { spent, unknown: 0n, held: 0n, overrun: 0n },
    { spent: tokens, unknown: 0n, held: 0n, overrun: 0n },
  ])
  expect((await api.unknowns()).items).toEqual([])
})

it('CASE-12: the cost of a tool is in the ledger where its handler has started, whatever became of it', async () => {
  const pay = (code: string, usd: string, handler: () => string) =>
    defineTool({
      code,
      description: 'Pays.',
      effect: 'write',
      repeat: 'by-key',
      cost: { usd },
      input: z.object({}),
      handler,
    })
  const tools = [
    pay('pays', '0.01', () => 'paid'),
    pay('fails', '0.02', () => {
      throw new Error('no')
    }),
    pay('stopped', '0.04', () => 'never'),
  ]
  const door = definePlugin({
    name: 'door',
    hookApi: 1,
    apply(hooks) {
      hooks.inspectToolInput.tap({ name: 'door', stage: Stage.record }, ({ toolCode }) => {
        if (toolCode === 'stopped') throw new Veto('SHUT', 'The door is shut.')
      })
    },
  })
  const payer = defineAgent({ code: 'payer', description: 'Pays.', model: 'scripted/any', user: '{question}', tools })
  const { run, api } = await budgetRig(
    [reply.toolCall('pays', {}), reply.toolCall('fails', {}), reply.toolCall('pays', {}).toolCall('stopped', {})],
    [{ id: 'usd', scope: 'user', usd: '1' }],
    { runtime: { agents: [payer], plugins: [door()], settings: { onToolError: 'return' } } },
  )
  expect((await run({ agent: 'payer' })).error?.code).toBe('SHUT')
  // three replies of the script, 10 tokens in and 5 out; nothing of the last round ran
  expect((await api.status(PETRA))[0]).toMatchObject({ spent: 30_000_000n + 60_000n, held: 0n, unknown: 0n })
})
