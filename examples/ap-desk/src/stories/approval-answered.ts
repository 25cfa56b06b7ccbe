import { approval } from '@sluice/hooks-policy'
import type { DeskAtWork, Ended } from '../scenes/desk-at-work.js'
import { said } from './said.js'
import type { Story } from './story.js'
import { CLERK, clerkAsks } from './the-clerk.js'

const VENDOR = 'V-77'

/** The run waits until somebody other than the one who started it has said yes; then exactly this call runs, once. */
export const approvalAnswered: Story = {
  code: 'approval-answered',
  title: 'The approval: somebody else decides where a vendor is paid',
  fixtures: [{ own: 'bank-account' }],
  expected: ['paused', 'paused', 'completed', 'NOT_PAUSED'],
  async play(at, tell) {
    const account = () => at.desk.books.bankAccountOf(VENDOR) ?? 'none'
    const before = account()
    const question = 'V-77 has a new bank account, AT611904300234573201. Please change it.'
    const asked = await tell.asks({ ...clerkAsks(question), agent: 'ap_vendor_desk' })
    await tell.ended(asked, ...waiting(asked))
    if (!isPaused(asked)) return
    const { executionId } = asked.run

    // an answer may take days: nothing of the run has to stay in memory until then
    await at.reopen()
    await decide(at, asked, CLERK, 'It is right.')
    tell.note('decides', `${CLERK}: approve; another runtime resumes`)
    const again = await at.resume(executionId)
    await tell.ended(again, ...waiting(again))
    if (!isPaused(again)) return

    await decide(at, again, 'ap.lead', 'I have called them back.')
    tell.note('decides', 'ap.lead: approve, "I have called them back."')
    const done = await at.resume(executionId)
    await tell.ended(done, said(done))

    const twice = await at.resume(executionId)
    await tell.ended(twice, said(twice))
    for (const record of await at.runtime.plugin(approval).list(executionId)) {
      if (record === 'forged') continue
      tell.note('approval', `${record.state}, question ${record.ask}, decided by ${record.decision?.by ?? 'nobody'}`)
    }
    tell.note('books', `${VENDOR} is paid to ${account()}, was ${before}`)
  },
}

type Paused = Extract<Ended, { readonly run: unknown }>

const isPaused = (ended: Ended): ended is Paused => 'run' in ended && ended.run.status === 'paused'

/** Answers everything that a paused run waits for. */
async function decide(at: DeskAtWork, { run }: Paused, by: string, note: string): Promise<void> {
  for (const { effectId } of run.pending)
    await at.runtime.decide(run.executionId, { effectId, decision: 'approve', by, note, scope: { tenant: null } })
}

/** What a paused run waits for; what it said, where it is not paused. */
function waiting(ended: Ended): readonly string[] {
  if (!isPaused(ended)) return [said(ended)]
  return ended.run.pending.map(({ toolCode, plugin, code }) =>
    code === 'APPROVAL_DECIDER'
      ? `${code} of ${plugin}: who asked for it may not decide it; ${toolCode} waits for somebody else`
      : `${code} of ${plugin}: ${toolCode} waits for a human`,
  )
}
