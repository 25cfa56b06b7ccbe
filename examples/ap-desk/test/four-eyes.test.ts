import type { Run } from '@sluice/core'
import { runInTransaction } from '@sluice/core'
import { callGate, expectVeto, reply } from '@sluice/testkit'
import { sluiceMatchers } from '@sluice/testkit/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDesk } from '../src/desk/open-desk.js'
import { deskRules } from '../src/gates/desk-rules.js'
import { fourEyes } from '../src/gates/four-eyes.js'
import type { TestDeskOptions } from './test-desk.js'
import { BOUND, errorOf, openTestDesk } from './test-desk.js'

expect.extend(sluiceMatchers)

const LARGE = { ...BOUND, invoice: 'INV-2040' }
const TENANT = { scope: { tenant: null } } as const
const approval = () => reply.toolCall('ap_approve_invoice', { invoice: 'INV-2040' })
const both: TestDeskOptions = {
  plugins: ({ files }) => [
    deskRules({ controlFile: files.controls }),
    fourEyes({ booksFile: files.books, uptoCents: 1_000_000 }),
  ],
}

async function openPausedRun(...afterwards: readonly (string | ReturnType<typeof approval>)[]) {
  const opened = await openTestDesk([approval(), ...afterwards], both)
  const paused = await opened.run(LARGE)
  const { executionId } = paused
  const decide = (run: Run, decision: 'approve' | 'deny', by: string, note?: string) =>
    opened.runtime.decide(executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision,
      by,
      ...(note === undefined ? {} : { note }),
      ...TENANT,
    })
  const resume = () =>
    runInTransaction(opened.desk.books, (tx) =>
      opened.runtime.resume(executionId, { ...TENANT, resources: opened.resources(tx) }),
    )
  return { ...opened, paused, decide, resume }
}

describe('a large write waits for a second person', () => {
  it('the run pauses before the write, and says what waits and for whom', async () => {
    const { paused, desk } = await openPausedRun()
    expect(paused).toBePaused({ code: 'AP_SECOND_PERSON', plugin: 'four-eyes', toolCode: 'ap_approve_invoice' })
    expect(paused.pending[0]?.details).toEqual({
      invoice: 'INV-2040',
      amountCents: 4_800_000,
      currency: 'EUR',
      clerk: 'petra.k',
    })
    expect(desk.numbers.last()).toBe(1000)
  })

  it('CASE-06: once another person has approved, exactly this call runs, once', async () => {
    const { paused, decide, resume, desk } = await openPausedRun('Approved.')
    await decide(paused, 'approve', 'ap.lead')
    const run = await resume()
    expect(run).toMatchObject({ status: 'completed', text: 'Approved.' })
    expect(desk.books.findInvoice('INV-2040')?.status).toBe('approved')
    expect(await errorOf(resume())).toMatchObject({ code: 'NOT_PAUSED' })
    expect(desk.numbers.last()).toBe(1001)
  })

  it('the clerk cannot be the second person: the run goes on waiting', async () => {
    const { paused, decide, resume, desk } = await openPausedRun('Approved.')
    await decide(paused, 'approve', 'petra.k')
    const still = await resume()
    expect(still).toBePaused({ code: 'AP_SECOND_PERSON' })
    await decide(still, 'approve', 'ap.lead')
    expect((await resume()).status).toBe('completed')
    expect(desk.books.countApprovals()).toBe(2)
  })

  it('after a no the model reads the reason, and nothing is written', async () => {
    const { paused, decide, resume, desk, provider } = await openPausedRun('It was not approved.')
    await decide(paused, 'deny', 'ap.lead', 'The goods have not arrived.')
    expect((await resume()).text).toBe('It was not approved.')
    expect(JSON.stringify(provider.requests[1])).toContain('The goods have not arrived.')
    expect(desk.numbers.last()).toBe(1000)
  })

  it('B-4: a no counts as the attempt of this run', async () => {
    const { paused, decide, resume } = await openPausedRun(approval())
    await decide(paused, 'deny', 'ap.lead')
    await expectVeto(resume(), { code: 'AP_SECOND_ATTEMPT' })
  })

  it('outside any agent nobody can be waited for: the call is vetoed', async () => {
    const { call } = await openTestDesk([approval()], both)
    await expectVeto(call(LARGE), { code: 'PAUSE_STANDALONE' })
  })

  it('the limit is the largest amount that a clerk approves alone', async () => {
    const desk = openDesk()
    onTestFinished(() => desk.close())
    const ask = (uptoCents: number) =>
      callGate(
        fourEyes,
        'inspectToolInput',
        { agentCode: 'ap_desk', toolCode: 'ap_approve_invoice', args: { invoice: 'INV-1002' } },
        { options: { booksFile: desk.files.books, uptoCents } },
      )
    expect((await ask(125_000)).answer).toBe('passed')
    expect((await ask(124_999)).answer).toBe('paused')
  })
})
