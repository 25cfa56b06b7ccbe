import type { Documents } from '@sluice/core'
import { createMemoryStore, defineAgent, definePlugin, defineTool, Pause, Stage } from '@sluice/core'
import { hang, providerError, reply, scriptedProvider } from '@sluice/testkit'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { budgetRig, CALL_NANO_USD, PETRA, watchedStore } from './rig.js'

const nano = (input: number, output: number) => BigInt(input) * 1_000n + BigInt(output) * 2_000n
const pay = (handler: () => unknown = () => 'paid') =>
  defineTool({
    code: 'pay',
    description: 'Pays an invoice.',
    effect: 'write',
    repeat: 'by-key',
    input: z.object({}),
    cost: { usd: '0.01' },
    handler: handler as () => string,
  })
const desk = (tools: readonly ReturnType<typeof pay>[], code = 'payer') =>
  defineAgent({ code, description: 'Pays.', model: 'scripted/any', user: '{question}', tools: [...tools] })

it('the ledger equals the sum of the attempts in the log of the provider, over rounds, tools, retries and fallbacks', async () => {
  const other = scriptedProvider([reply('From the other one.').usage({ inputTokens: 30, outputTokens: 3 })], {
    id: 'other',
    inputTokensAtMost: () => 1_000,
  })
  const { run, api, provider } = await budgetRig(
    [
      reply.toolCall('pay', {}).usage({ inputTokens: 100, cacheReadTokens: 20, cacheWriteTokens: 5, outputTokens: 7 }),
      providerError(429, { retryable: true }),
      reply('Half.').usage('not reported'),
      providerError(503, { retryable: true }),
      providerError(503, { retryable: true }),
    ],
    [
      { id: 'usd', scope: 'user', per: 'month', usd: '1' },
      { id: 'tokens', scope: 'app', tokens: 100_000 },
    ],
    {
      runtime: {
        agents: [desk([pay()])],
        providers: [other],
        settings: { retry: { attempts: 2, backoffMs: 500, maxBackoffMs: 30_000 }, fallback: ['other/any'] },
      },
    },
  )
  expect((await run({ agent: 'payer' })).run?.status).toBe('completed')
  expect((await run({ agent: 'payer' })).run?.text).toBe('From the other one.')
  expect(provider.calls).toHaveLength(5)
  const [usd, tokens] = await api.status(PETRA)
  // one reply without usage, a 429 and two 503: each may have been billed, and is booked at what was held
  const certain = nano(125, 7) + 10_000_000n + 30n * 10_000n + 3n * 20_000n
  expect(usd).toMatchObject({ spent: certain, unknown: 4n * CALL_NANO_USD, held: 0n, overrun: 0n })
  expect(tokens).toMatchObject({ spent: 132n + 33n, held: 0n })
})

it('CASE-12: an attempt that hangs and is aborted is booked as unknown, and an operator says what it was', async () => {
  const { start, api, clock, runtime } = await budgetRig([hang()], [{ id: 'l', scope: 'user', usd: '0.0031' }])
  const stop = new AbortController()
  const running = start({ signal: stop.signal })
  while ((await api.status(PETRA))[0]?.held === 0n) await new Promise((resolve) => setImmediate(resolve))
  stop.abort()
  const { error } = await clock.settle(running)
  expect(error?.code).toBe('RUN_ABORTED')
  const [before] = await api.status(PETRA)
  expect(before).toMatchObject({ held: 0n, spent: 0n, unknown: CALL_NANO_USD })
  const root = error?.partial?.executionId ?? ''
  const [receipt] = await runtime.executions.receipts(root, { scope: 'all' })
  const effectId = String(receipt?.effectId)
  expect(receipt).toMatchObject({ effect: 'model_call', outcome: 'aborted' })
  await api.resolve({ effectId, amount: { usd: '0.0001' }, who: 'boss', why: 'the invoice of the provider' })
  expect((await api.status(PETRA))[0]).toMatchObject({ held: 0n, spent: 100_000n, unknown: 0n })
  expect(await api.charges(effectId)).toMatchObject([{ attempt: 1, state: 'settled', held: { model: 'scripted/any' } }])
})

it('a run limit counts the whole tree, and a tool that is an agent holds nothing of its own', async () => {
  const ask = defineTool({
    code: 'ask_clerk',
    description: 'Asks the clerk.',
    effect: 'read',
    input: z.object({ question: z.string() }),
    agent: 'clerk',
  })
  const clerk = defineAgent({ code: 'clerk', description: 'The clerk.', model: 'scripted/any', user: '{question}' })
  const boss = defineAgent({
    code: 'boss',
    description: 'Asks.',
    model: 'scripted/any',
    user: '{question}',
    tools: [ask],
  })
  const script = [reply.toolCall('ask_clerk', { question: 'Open?' }), reply('Yes.'), reply('It is open.')]
  const limits = (usd: string) => [{ id: 'run', scope: 'run', usd }] as const
  const wide = await budgetRig(script, limits('0.00304'), { runtime: { agents: [clerk, boss] } })
  const { run } = await wide.run({ agent: 'boss' })
  expect(run?.text).toBe('It is open.')
  const scope = { rootExecutionId: run?.executionId ?? '' }
  expect((await wide.api.status(scope))[0]).toMatchObject({ spent: nano(30, 15), held: 0n, unknown: 0n })
  const tight = await budgetRig(script, limits('0.00301'), { runtime: { agents: [clerk, boss] } })
  const { error } = await tight.run({ agent: 'boss' })
  expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', details: { spent: '20000', left: '2990000' } })
  expect(tight.provider.calls).toHaveLength(1)
})

it('lands: the last request has no tools and the cap of the limit, and the run completes', async () => {
  const limits = [{ id: 'l', scope: 'run', usd: '0.013', landing: { maxOutputTokens: 100 } }] as const
  const script = [reply.toolCall('pay', {}), reply('All I can say.')]
  const { run, provider, api } = await budgetRig(script, limits, { runtime: { agents: [desk([pay()])] } })
  const ended = await run({ agent: 'payer' })
  expect(ended.run).toMatchObject({ status: 'completed', finishReason: 'landed', text: 'All I can say.' })
  expect(provider.requests[1]).toMatchObject({ maxOutputTokens: 100 })
  const [status] = await api.status({ rootExecutionId: ended.run?.executionId ?? '' })
  expect(status).toMatchObject({ spent: 10_000_000n + nano(20, 10), held: 0n })
})

it('a paused call frees its hold and is held anew after the resume, once', async () => {
  const second = definePlugin({
    name: 'second-person',
    hookApi: 1,
    apply(hooks) {
      hooks.inspectToolInput.tap({ name: 'ask', stage: Stage.approve }, (call) => {
        if (call.decision === undefined) throw new Pause('SECOND_PERSON')
      })
    },
  })
  let paid = 0
  const handler = () => {
    paid += 1
    return 'paid'
  }
  const { run, runtime, api, clock } = await budgetRig(
    [reply.toolCall('pay', {}), reply('Paid.')],
    [{ id: 'l', scope: 'user', usd: '0.02' }],
    { runtime: { agents: [desk([pay(handler)])], plugins: [second()] } },
  )
  const paused = (await run({ agent: 'payer' })).run
  expect(paused?.status).toBe('paused')
  expect((await api.status(PETRA))[0]).toMatchObject({ held: 0n, spent: nano(10, 5) })
  if (paused?.status !== 'paused') throw new Error('not paused')
  const scope = { tenant: 'acme' }
  for (const { effectId } of paused.pending) {
    await runtime.decide(paused.executionId, { effectId, decision: 'approve', by: 'boss', scope })
  }
  const done = await clock.settle(runtime.resume(paused.executionId, { scope }))
  expect([done.status, paid]).toEqual(['completed', 1])
  expect((await api.status(PETRA))[0]).toMatchObject({ held: 0n, unknown: 0n, spent: 10_000_000n + nano(20, 10) })
})

it('a model call takes one step of the store before it and one after it', async () => {
  const steps: string[] = []
  const seen = async (_documents: Documents) => void steps.push('step')
  const store = watchedStore(createMemoryStore(), seen)
  const limits = [
    { scope: 'run', usd: '1' },
    { scope: 'user', per: 'day', usd: '1' },
    { scope: 'tenant', per: 'month', tokens: 1_000_000 },
  ] as const
  const answer = () => {
    steps.push('sent')
    return reply('Done.')
  }
  const { run } = await budgetRig(answer, limits, { store })
  expect((await run()).run?.status).toBe('completed')
  expect(steps).toEqual(['step', 'sent', 'step'])
})

it('a plain call is held for its own caller, and one without a caller is stopped', async () => {
  const limits = [{ id: 'l', scope: 'user', usd: '0.004' }] as const
  const { runtime, api, clock } = await budgetRig([reply('Done.')], limits)
  const ask = { model: 'scripted/any', prompt: 'Well?' }
  await expect(clock.settle(runtime.generateText(ask))).rejects.toMatchObject({ code: 'SCOPE_UNRESOLVED' })
  await clock.settle(runtime.generateText({ ...ask, caller: PETRA }))
  expect((await api.status(PETRA))[0]).toMatchObject({ spent: nano(10, 5), held: 0n })
  expect(await api.status({ user: 'other', tenant: 'acme' })).toMatchObject([{ spent: 0n, left: 4_000_000n }])
})

it('the veto leaves execute by its name, with what the run had, and explain shows the gate at its stage', async () => {
  const { run, runtime } = await budgetRig([], [{ scope: 'user', usd: '0.001' }])
  const { error } = await run()
  expect(error).toMatchObject({ code: 'BUDGET_EXHAUSTED', by: { plugin: 'hooks-budget', point: 'beforeModelCall' } })
  expect(error?.partial?.toolCalls).toEqual([])
  expect(JSON.stringify(await runtime.explain('desk'))).toContain('hooks-budget')
})
