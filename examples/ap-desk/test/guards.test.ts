import type { Runtime } from '@sluice/core'
import { createMemoryStore, SluiceError } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import { budget, formatUsd } from '@sluice/hooks-budget'
import { killSwitch } from '@sluice/hooks-policy'
import type { Script } from '@sluice/testkit'
import { capturedLogger, expectVeto, failingStore, fakeClock, reply } from '@sluice/testkit'
import { sluiceMatchers } from '@sluice/testkit/vitest'
import { describe, expect, it } from 'vitest'
import { changeBankAccount } from '../src/agent/change-bank-account.js'
import { vendorDesk } from '../src/agent/vendor-desk.js'
import { APPROVALS_ENABLED } from '../src/desk/control-table.js'
import type { Desk } from '../src/desk/open-desk.js'
import { deskRules } from '../src/gates/desk-rules.js'
import { fourEyes } from '../src/gates/four-eyes.js'
import { CLERK_MONTH, deskGuards } from '../src/gates/guards.js'
import { withDesk } from '../src/scenes/desk-at-work.js'
import { PROVIDER_CHOICES } from '../src/scenes/provider-choice.js'
import type { TestDeskOptions } from './test-desk.js'
import { APPROVE, BOUND, openTestDesk } from './test-desk.js'

expect.extend(sluiceMatchers)

// A scripted model under the name of one that the price table knows.
const MODEL = 'openai/gpt-5.6'
const USAGE = { inputTokens: 300, outputTokens: 25 }
const NEW_ACCOUNT = 'AT611904300234573201'
const ALL = { scope: 'all' } as const

const approving = () => reply.toolCall(...APPROVE).usage(USAGE)
const changing = () => reply.toolCall('ap_change_bank_account', { vendor: 'V-77', iban: NEW_ACCOUNT }).usage(USAGE)

const everything = ({ files, keys }: Desk) => [
  deskRules({ controlFile: files.controls }),
  fourEyes({ booksFile: files.books, uptoCents: 1_000_000 }),
  ...deskGuards(keys),
]

const openGuardedDesk = (script: Script, options: TestDeskOptions = {}) =>
  openTestDesk(script, { plugins: everything, model: MODEL, agents: [vendorDesk(MODEL)], ...options })

async function stopsOf(runtime: Runtime): Promise<readonly string[]> {
  const codes: string[] = []
  for await (const line of runtime.plugin(audit).export('jsonl')) {
    const { event, data } = JSON.parse(line) as { event: string; data: { code?: string } }
    if (event === 'stop') codes.push(data.code ?? '')
  }
  return codes
}

describe('the guards beside the rules of the desk', () => {
  it('B-26: explain shows one order: switch, rules, people, money, record', async () => {
    const { runtime } = await openGuardedDesk([])
    const { taps } = (await runtime.explain('ap_desk')).hooks
    const at = (...points: readonly string[]) =>
      taps.filter(({ point }) => points.includes(point)).map(({ plugin }) => plugin)
    expect(at('beforeExecution')).toEqual(['hooks-policy/kill-switch', 'hooks-audit'])
    expect(at('beforeModelCall')).toEqual(['hooks-policy/kill-switch', 'hooks-budget', 'hooks-audit'])
    expect(at('beforeToolCall', 'inspectToolInput')).toEqual([
      'hooks-policy/kill-switch',
      'desk-rules',
      'four-eyes',
      'hooks-policy/approval',
      'hooks-budget',
      'hooks-audit',
    ])
  })

  it('B-5: what a rule of the desk stops asks nobody, holds no money and leaves no intent', async () => {
    const { run, desk, runtime } = await openGuardedDesk([approving()])
    desk.controls.write(APPROVALS_ENABLED, 'N')
    const veto = await expectVeto(run(), { code: 'AP_SWITCHED_OFF', by: 'desk-rules' })
    expect(await runtime.executions.receipts(veto.partial?.executionId ?? '', ALL)).toHaveReceipt({
      subject: 'ap_approve_invoice',
      answers: {
        'hooks-policy/kill-switch': 'passed',
        'desk-rules': 'vetoed',
        'hooks-budget': 'not_asked',
        'hooks-policy/approval': 'not_asked',
        'hooks-audit': 'not_asked',
      },
    })
    expect(await stopsOf(runtime)).toEqual(['AP_SWITCHED_OFF'])
  })

  it('a job in nobody’s name falls under the month of the desk, and under that of no clerk', async () => {
    const { runtime, desk, resources } = await openGuardedDesk([reply('It is open.').usage(USAGE)])
    const tx = await desk.books.begin()
    await runtime.execute({
      agent: 'ap_desk',
      input: { question: 'Is it open?' },
      runContext: BOUND,
      resources: resources(tx),
    })
    desk.books.rollback(tx)
    const rows = await runtime.plugin(budget).status({ user: 'petra.k' })
    expect(rows.map(({ limit, spent }) => [limit, formatUsd(spent)])).toEqual([
      ['desk-month', '0.0017'],
      ['clerk-month', '0.00'],
    ])
  })

  it('CASE-09: a model that the price table does not know is not asked: the veto says how to price it', async () => {
    const { run, provider } = await openGuardedDesk([], { model: 'scripted/desk', agents: [] })
    const veto = await expectVeto(run(), { code: 'PRICE_UNKNOWN', by: 'hooks-budget' })
    expect(veto.message).toContain('scripted/desk')
    expect(provider.requests).toEqual([])
  })
})

describe('a stop in the middle of a run takes its write back', () => {
  it('B-25: the kill switch, thrown when the approval was written; taken off, the next run approves', async () => {
    const opened = await openGuardedDesk([
      approving(),
      async () => {
        expect(opened.desk.numbers.last()).toBe(1001)
        await opened.runtime.plugin(killSwitch).on('all', { who: 'ops.lead', reason: 'wrong postings' })
        return approving()
      },
      approving(),
      reply('Approved.').usage(USAGE),
    ])
    const { run, desk, runtime } = opened
    await expectVeto(run(), { code: 'KILL_SWITCH_ON', by: 'hooks-policy/kill-switch', point: 'beforeToolCall' })
    expect(desk.books.countApprovals()).toBe(1)
    expect(desk.books.findInvoice('INV-1002')?.status).toBe('open')

    await runtime.plugin(killSwitch).off('all', { who: 'ops.lead', reason: 'mended' })
    expect((await run()).text).toBe('Approved.')
    expect(desk.books.countApprovals()).toBe(2)
    expect(await stopsOf(runtime)).toEqual(['KILL_SWITCH_ON'])
  })

  it('CASE-08: the budget, which has no room for the request after the write; what was sent stays booked', async () => {
    const opened = await openGuardedDesk([
      async () => {
        const change = { who: 'controller', why: 'the quarter is spent', scope: { user: 'petra.k' } }
        await opened.runtime.plugin(budget).set({ limit: CLERK_MONTH, amount: '0.05', ...change })
        return approving()
      },
    ])
    const { run, desk, runtime, provider } = opened
    const veto = await expectVeto(run(), { code: 'BUDGET_EXHAUSTED', by: 'hooks-budget', point: 'beforeModelCall' })
    expect(veto.partial?.toolCalls.map((call) => call.status)).toEqual(['ok'])
    expect(veto.details).toMatchObject({ limit: CLERK_MONTH, spent: '1700000', held: '0', left: '48300000' })
    expect(provider.requests).toHaveLength(1)
    expect([desk.books.countApprovals(), desk.numbers.last()]).toEqual([1, 1001])
    const [, clerk] = await runtime.plugin(budget).status({ user: 'petra.k' })
    expect(clerk).toMatchObject({ spent: 1_700_000n, held: 0n, unknown: 0n })
    expect(await runtime.plugin(audit).verify()).toMatchObject({ ok: true, pairs: { openCount: 0 } })
  })

  it('CASE-28: the audit, where the intent of the write cannot be recorded: the tool does not run', async () => {
    // the run, the model call and its outcome are the first three entries
    const fault = { on: 'log.append', namespace: 'plugin:hooks-audit', nth: 4, as: 'full' } as const
    const { run, desk } = await openGuardedDesk([approving()], { store: failingStore(createMemoryStore(), [fault]) })
    await expectVeto(run(), { code: 'AUDIT_NOT_WRITTEN', by: 'hooks-audit', point: 'inspectToolInput' })
    expect([desk.books.countApprovals(), desk.numbers.last()]).toEqual([1, 1000])
  })
})

describe('the bank account of a vendor', () => {
  it('CASE-06: after a no the model reads why, and the account is as before', async () => {
    const { run, runtime, desk, resources, provider } = await openGuardedDesk([changing(), 'It was not changed.'])
    const paused = await run(BOUND, 'ap_vendor_desk')
    expect(paused).toBePaused({ code: 'APPROVAL_REQUIRED', plugin: 'hooks-policy/approval' })
    const { executionId, pending } = paused
    expect(pending[0]?.details).toMatchObject({ requestedBy: 'petra.k', args: { vendor: 'V-77', iban: NEW_ACCOUNT } })
    const answer = { decision: 'deny', by: 'ap.lead', note: 'They know of no new account.' } as const
    await runtime.decide(executionId, { effectId: pending[0]?.effectId ?? '', ...answer, scope: { tenant: null } })
    const tx = await desk.books.begin()
    const run2 = await runtime.resume(executionId, { scope: { tenant: null }, resources: resources(tx) })
    desk.books.commit(tx)
    expect(run2.text).toBe('It was not changed.')
    expect(JSON.stringify(provider.requests[1])).toContain('They know of no new account.')
    expect(desk.books.bankAccountOf('V-77')).toBe('DE89370400440532013000')
  })

  it('R-18: only the vendor of the run can be changed, whoever says yes: nobody is asked', async () => {
    const other = reply.toolCall('ap_change_bank_account', { vendor: 'V-31', iban: NEW_ACCOUNT })
    const { run, desk, provider } = await openGuardedDesk([other, 'I may not do that.'])
    expect((await run(BOUND, 'ap_vendor_desk')).status).toBe('completed')
    expect(JSON.stringify(provider.requests[1])).toContain('This run is about vendor V-77, not V-31.')
    expect(desk.books.bankAccountOf('V-31')).toBe('FI2112345600000785')
  })

  it('B-8: outside any agent nobody can be waited for: the call is vetoed', async () => {
    const { call, desk } = await openGuardedDesk([changing()])
    await expectVeto(call(BOUND, changeBankAccount), { code: 'PAUSE_STANDALONE' })
    expect(desk.books.bankAccountOf('V-77')).toBe('DE89370400440532013000')
  })
})

describe('the end of a month', () => {
  it('what a clerk has spent is gone with the month, in the time zone of the desk', async () => {
    const [choice] = PROVIDER_CHOICES
    if (choice === undefined) throw new Error('There is no provider.')
    // one minute before December begins in Vienna
    const clock = fakeClock({ now: Date.UTC(2026, 10, 30, 22, 59) })
    const fixture = { testkit: 'several-calls' } as const
    await withDesk(choice, [fixture], { logger: capturedLogger(), clock }, async (at) => {
      const caller = { user: 'petra.k', audience: 'authenticated' } as const
      const ended = await at.ask({ question: 'Is it open?', caller, runContext: BOUND })
      expect(SluiceError.isInstance('error' in ended ? ended.error : undefined)).toBe(false)
      const spent = async () =>
        (await at.runtime.plugin(budget).status({ user: 'petra.k' })).map((row) => formatUsd(row.spent))
      expect(await spent()).toEqual(['0.0036664', '0.0036664'])
      clock.advance(60_000)
      expect(await spent()).toEqual(['0.00', '0.00'])
    })
  })
})
