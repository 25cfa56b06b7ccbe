import type { PausedRun } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { audit } from '@sluice/hooks-audit'
import { killSwitch } from '@sluice/hooks-policy'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { ALL, guardedDesk, SPACE } from './guarded-desk.js'
import { watchedStore } from './watched-store.js'

type Desk = Awaited<ReturnType<typeof guardedDesk>>

const NOTE = reply.toolCall('write_note', { text: 'a' })
const OPS = { who: 'ops', reason: 'looping' }
const RATES = SPACE.rates.slice('plugin:'.length)

/** One line for each stop in the log: where, by whom, what and which code. */
async function stops(desk: Desk): Promise<readonly string[]> {
  const entries = await desk.entries()
  return entries
    .filter(({ event }) => event === 'stop')
    .map(({ data }) => `${data.point} ${data.plugin} ${data.answer} ${data.code}`)
}

/** The chain verifies, and every effect in it that has an intent has an outcome; that of a paused run is still open. */
async function sound(desk: Desk, open = 0): Promise<void> {
  const report = await desk.runtime.plugin(audit).verify()
  expect(report).toMatchObject({ ok: true, faults: [], pairs: { openCount: open } })
  expect(report.size).toBe((await desk.entries()).length)
}

describe('all guards together: a stop by each of them is in the log of the audit, and the log verifies', () => {
  it('the kill switch, before a run', async () => {
    const desk = await guardedDesk([])
    await desk.runtime.plugin(killSwitch).on({ agent: 'desk' }, OPS)
    expect((await desk.run()).code).toBe('KILL_SWITCH_ON')
    expect(await stops(desk)).toEqual(['beforeExecution hooks-policy/kill-switch vetoed KILL_SWITCH_ON'])
    await sound(desk)
  })

  it('the kill switch, set while a run goes on', async () => {
    const desk: Desk = await guardedDesk([
      async () => {
        await desk.runtime.plugin(killSwitch).on({ tool: 'write_note' }, OPS)
        return NOTE
      },
    ])
    expect([(await desk.run()).code, desk.happened]).toEqual(['KILL_SWITCH_ON', []])
    expect(await stops(desk)).toEqual(['beforeToolCall hooks-policy/kill-switch vetoed KILL_SWITCH_ON'])
    await sound(desk)
  })

  it('the rate limit, for a call too many', async () => {
    const desk = await guardedDesk([NOTE], {
      rates: { limits: [{ count: 'modelCalls', scope: 'user', max: 1, per: 'minute' }] },
    })
    expect([(await desk.run()).code, desk.happened.length]).toEqual(['RATE_LIMIT_EXCEEDED', 1])
    expect(await stops(desk)).toEqual([`beforeModelCall ${RATES} vetoed RATE_LIMIT_EXCEEDED`])
    await sound(desk)
  })

  it('the budget, for a model call', async () => {
    const desk = await guardedDesk([], { budget: { limits: [{ scope: 'user', usd: '0.0029' }] } })
    expect([(await desk.run()).code, desk.provider.calls.length]).toEqual(['BUDGET_EXHAUSTED', 0])
    expect(await stops(desk)).toEqual(['beforeModelCall hooks-budget vetoed BUDGET_EXHAUSTED'])
    await sound(desk)
  })

  it('the budget, for a tool call', async () => {
    const desk = await guardedDesk(
      [reply.toolCall('write_note', { text: 'a' }).usage({ inputTokens: 1_000, outputTokens: 1_000 })],
      {
        budget: { limits: [{ scope: 'run', usd: '0.0035' }] },
      },
    )
    expect([(await desk.run()).code, desk.happened]).toEqual(['BUDGET_EXHAUSTED', []])
    expect(await stops(desk)).toEqual(['inspectToolInput hooks-budget vetoed BUDGET_EXHAUSTED'])
    await sound(desk)
  })

  it('an approval that is asked for, and one that is denied', async () => {
    const desk = await guardedDesk([NOTE, 'Not done.'], { approve: 'write_note' })
    const run = (await desk.run()).run as PausedRun
    await sound(desk, 1)
    await desk.runtime.decide(run.executionId, {
      effectId: run.pending[0]?.effectId ?? '',
      decision: 'deny',
      by: 'boss',
      note: 'No.',
      ...ALL,
    })
    const { run: ended } = await desk.end(desk.runtime.resume(run.executionId, ALL))
    expect([ended?.status, desk.happened]).toEqual(['completed', []])
    expect(await stops(desk)).toEqual([
      'inspectToolInput hooks-policy/approval paused APPROVAL_REQUIRED',
      'inspectToolInput hooks-policy/approval refused DENIED',
    ])
    await sound(desk)
  })

  it('the audit itself: an intent that could not be written is a stop, which is written as soon as the log takes entries again', async () => {
    const clock = fakeClock()
    let appends = 0
    const store = watchedStore(createMemoryStore({ clock }), (call) =>
      call === `${SPACE.audit} log.append` && ++appends === 2 ? 'error' : undefined,
    )
    const desk = await guardedDesk([], { clock, store })
    expect([(await desk.run()).code, desk.provider.calls.length]).toEqual(['AUDIT_NOT_WRITTEN', 0])
    expect(await stops(desk)).toEqual(['beforeModelCall hooks-audit vetoed AUDIT_NOT_WRITTEN'])
    await sound(desk)
  })
})
