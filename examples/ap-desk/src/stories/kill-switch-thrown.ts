import { killSwitch } from '@sluice/hooks-policy'
import { said } from './said.js'
import type { Story } from './story.js'
import { clerkAsks, IS_IT_OPEN } from './the-clerk.js'

const HOURS = 2
const HOUR_MS = 3_600_000

/** An operator stops the desk, and lets it work again; no restart does that for him. */
export const killSwitchThrown: Story = {
  code: 'kill-switch',
  title: 'The kill switch: nothing runs until somebody takes it off',
  fixtures: [{ testkit: 'several-calls' }],
  expected: ['KILL_SWITCH_ON', 'KILL_SWITCH_ON', 'completed'],
  async play(at, tell) {
    const who = 'ops.lead'
    const reason = 'wrong postings were reported'
    await at.runtime.plugin(killSwitch).on('all', { who, reason, expiresInMs: HOURS * HOUR_MS })
    tell.note('operator', `${who} switches everything off for ${HOURS} hours: "${reason}"`)
    const stopped = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(stopped, said(stopped))

    await at.reopen()
    tell.note('restart', 'the runtime is closed, and another one opened: the switch lies in the store')
    const still = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(still, said(still))

    await at.runtime.plugin(killSwitch).off('all', { who, reason: 'the postings were right' })
    tell.note('operator', `${who} takes it off: "the postings were right"`)
    const works = await tell.asks(clerkAsks(IS_IT_OPEN))
    await tell.ended(works, said(works))
    for (const { kind, state, row } of await at.runtime.plugin(killSwitch).status())
      tell.note('switch', `${kind}: ${state}, by ${row?.who ?? 'nobody'}`)
  },
}
