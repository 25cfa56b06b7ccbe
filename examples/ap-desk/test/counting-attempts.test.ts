import { defineAgent, defineTool } from '@sluice/core'
import { expectVeto, held, latch, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fourEyes } from '../src/gates/four-eyes.js'
import { deskRules } from '../src/gates/desk-rules.js'
import { naiveCounter } from './naive/naive-counter.js'
import { naiveNarrowing } from './naive/naive-narrowing.js'
import type { TestDeskOptions } from './test-desk.js'
import { APPROVE, BOUND, CALLER, openTestDesk } from './test-desk.js'

const approval = () => reply.toolCall(...APPROVE)

describe('rule 3: one attempt a run', () => {
  it('B-4: a second attempt in a run is vetoed, also in a later round', async () => {
    const { run, desk } = await openTestDesk([approval(), approval()])
    const veto = await expectVeto(run(), { code: 'AP_SECOND_ATTEMPT', by: 'desk-rules' })
    expect(veto.partial?.toolCalls.map((call) => call.status)).toEqual(['ok', 'vetoed'])
    expect(desk.books.findInvoice('INV-1002')?.status).toBe('open')
  })

  it('B-4: two attempts in one round are stopped before either runs', async () => {
    const { run, desk } = await openTestDesk([reply.toolCall(...APPROVE).toolCall(...APPROVE)])
    await expectVeto(run(), { code: 'AP_SECOND_ATTEMPT' })
    expect(desk.numbers.last()).toBe(1000)
  })

  it('B-4: attempts are counted, not successes: one that was refused or broke is one', async () => {
    const { run, desk } = await openTestDesk([approval(), approval()], { settings: { onToolError: 'return' } })
    desk.books.closePeriod('2026-01')
    const veto = await expectVeto(run(), { code: 'AP_SECOND_ATTEMPT' })
    expect(veto.partial?.toolCalls.map((call) => call.status)).toEqual(['error', 'vetoed'])
  })

  it('B-6, B-9, B-W1: the count begins with each run, for runs of the agent and for calls outside it', async () => {
    const { run, call, desk } = await openTestDesk([approval(), 'Done.', approval(), 'Done.', approval(), 'Done.'])
    await run()
    await run()
    await call()
    // the second and third find the invoice approved, and were let through to find it
    expect(desk.books.countApprovals()).toBe(2)
  })

  it('B-9: the unit is the tree: nested runs of one run share the count', async () => {
    const desk = defineTool({
      code: 'ask_desk',
      description: 'Hands a question to the desk.',
      effect: 'write',
      input: z.object({ question: z.string() }),
      agent: 'ap_desk',
    })
    const close = defineAgent({
      code: 'month_end',
      description: 'Closes the month.',
      model: 'scripted/desk',
      user: '{question}',
      tools: [desk],
    })
    const ask = reply.toolCall('ask_desk', { question: 'Approve it.' })
    const { run } = await openTestDesk([ask, approval(), 'Approved.', ask, approval()], { agents: [close] })
    await expectVeto(run(BOUND, 'month_end'), { code: 'AP_SECOND_ATTEMPT' })
  })

  it('B-4: a call that a human has approved in between is still the first attempt', async () => {
    const { runtime, desk, resources, run } = await openTestDesk(
      [reply.toolCall('ap_approve_invoice', { invoice: 'INV-2040' }), 'Approved.'],
      {
        plugins: ({ files }) => [
          deskRules({ controlFile: files.controls }),
          fourEyes({ booksFile: files.books, uptoCents: 1_000_000 }),
        ],
      },
    )
    const paused = await run({ ...BOUND, invoice: 'INV-2040' })
    const [pending] = paused.pending
    await runtime.decide(paused.executionId, {
      effectId: pending?.effectId ?? '',
      decision: 'approve',
      by: 'ap.lead',
      scope: { tenant: null },
    })
    const tx = await desk.books.begin()
    const resumed = await runtime.resume(paused.executionId, { scope: { tenant: null }, resources: resources(tx) })
    desk.books.commit(tx)
    expect(resumed.status).toBe('completed')
    expect(desk.books.findInvoice('INV-2040')?.status).toBe('approved')
  })
})

describe('the naive counter, which must fail', () => {
  const naive = { plugins: () => [naiveCounter()] }

  it('T-28, B-7: it vetoes the second call outside any agent, although it is a new call; the rules do not', async () => {
    const wrong = await openTestDesk([approval(), 'Done.', approval()], naive)
    await wrong.call()
    await expectVeto(wrong.call(), { code: 'AP_SECOND_ATTEMPT' })

    const right = await openTestDesk([approval(), 'Done.', approval(), 'Done.'])
    await right.call()
    expect((await right.call()).text).toBe('Done.')
  })

  it('T-28, B-6: a run that begins meanwhile gives another a second attempt; under the rules it does not', async () => {
    const twoRuns = async (options: TestDeskOptions, end: readonly string[]) => {
      const gate = latch()
      const script = [approval(), held(gate, approval()), 'Hello.', ...end]
      const { runtime, desk, resources } = await openTestDesk(script, options)
      const tx = await desk.books.begin()
      const common = { agent: 'ap_desk', caller: CALLER, runContext: BOUND, resources: resources(tx) }
      const first = runtime.execute({ ...common, input: { question: 'Approve it twice.' } })
      first.catch(() => undefined)
      await expect.poll(() => desk.numbers.last()).toBe(1001)
      await runtime.execute({ ...common, input: { question: 'Hello?' } })
      gate.open()
      return first.finally(() => desk.books.rollback(tx))
    }
    // the second attempt got as far as the handler, which found the invoice approved
    expect((await twoRuns(naive, ['Done.'])).toolCalls.map((call) => call.status)).toEqual(['ok', 'refused'])
    await expectVeto(twoRuns({}, []), { code: 'AP_SECOND_ATTEMPT' })
  })
})

describe('the naive narrowing, which must fail', () => {
  it('T-28, B-8: outside any agent it lets a write through in nobody’s name; the rules do not', async () => {
    const { clerk: _, ...nobody } = BOUND
    const wrong = await openTestDesk([approval(), 'Done.'], { plugins: () => [naiveNarrowing()] })
    await wrong.call(nobody)
    expect(wrong.desk.books.countApprovals()).toBe(2)

    const right = await openTestDesk([approval()])
    await expectVeto(right.call(nobody), { code: 'AP_CLERK_REQUIRED' })
    expect(right.desk.books.countApprovals()).toBe(1)
  })
})
