import { SluiceError } from '@sluice/core'
import { budget, formatUsd, parseUsd } from '@sluice/hooks-budget'
import { month } from '../account/write-account.js'
import { CLERK_MONTH, DESK_MONTH } from '../gates/guards.js'
import type { Ended } from '../scenes/desk-at-work.js'
import { said } from './said.js'
import type { Story } from './story.js'
import { CLERK, clerkAsks, IS_IT_OPEN } from './the-clerk.js'

/** What is left to the clerk: less than one request can cost. */
const LEFT = '0.02'

/** A request that does not fit into the month of a clerk is not sent, however little it would have cost in the end. */
export const budgetStop: Story = {
  code: 'budget-stop',
  title: 'The budget: a request that might not fit is not sent',
  fixtures: [{ testkit: 'several-calls' }, { testkit: 'several-calls' }],
  expected: ['completed', 'BUDGET_EXHAUSTED', 'completed'],
  async play(at, tell) {
    const money = () => at.runtime.plugin(budget)
    const scope = { user: CLERK }
    const statusOf = async (limit: string) => (await money().status(scope)).find((row) => row.limit === limit)

    const first = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(first, said(first))

    const spent = (await statusOf(CLERK_MONTH))?.spent ?? 0n
    const amount = formatUsd(spent + (parseUsd(LEFT) ?? 0n))
    await money().set({ limit: CLERK_MONTH, scope, amount, who: 'controller', why: 'the quarter is spent' })
    tell.note('operator', `controller sets the month of ${CLERK} to $${amount}: $${LEFT} more than is spent`)

    const second = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(second, ...shortage(second))

    const by = { who: 'controller', why: 'the audit has to be finished', key: 'ticket-311' }
    const added = await money().topUp({ limit: CLERK_MONTH, scope, amount: '1', ...by })
    tell.note('operator', `controller adds $1.00 (${by.key}): $${formatUsd(added.left)} left`)

    const third = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(third, said(third))

    for (const [whose, limit] of [
      [CLERK, CLERK_MONTH],
      ['the desk', DESK_MONTH],
    ] as const) {
      const row = await statusOf(limit)
      if (row !== undefined) tell.note('money', `${whose}: ${month(row)}`)
    }
  },
}

/** What the veto says of money: how much is left, how much it could have taken, and what would fit. */
function shortage(ended: Ended): readonly string[] {
  if ('run' in ended || !SluiceError.isInstance(ended.error)) return [said(ended)]
  const { left, asked, maxOutputTokens } = ended.error.details ?? {}
  if (typeof left !== 'string' || typeof asked !== 'string') return [said(ended)]
  const [usdLeft, usdAsked] = [formatUsd(BigInt(left)), formatUsd(BigInt(asked))]
  return [
    `$${usdLeft} left, and the request could cost up to $${usdAsked}`,
    maxOutputTokens === null
      ? 'no output cap would make it fit'
      : `with maxOutputTokens: ${String(maxOutputTokens)} it would fit`,
  ]
}
