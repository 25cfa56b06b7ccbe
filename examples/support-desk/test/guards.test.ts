import { SluiceError } from '@sluice/core'
import { audit, verifyLines } from '@sluice/hooks-audit'
import { on, reply } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { planOf } from '../src/desk/plans.js'
import { createOrderBook } from '../src/desk/orders.js'
import { openScriptedDesk } from '../src/scenes/play-scenes.js'
import type { Customer } from '../src/support-desk.js'

const ANNA: Customer = { tenant: 'acme', user: 'anna' }
const GUS: Customer = { tenant: 'globex', user: 'gus' }
const ASKED = reply('Yes.').usage({ inputTokens: 1_000, outputTokens: 500 })

const QUESTION = 'Well? '.repeat(60)

/** A desk that says yes to so many questions; each costs $0.0105. */
async function desk(questions: number) {
  const scripted = await openScriptedDesk([on(/.*/, ...Array.from({ length: questions }, () => ASKED))])
  onTestFinished(() => scripted.desk.close())
  const ask = (customer: Customer) => scripted.clock.settle(codeOf(scripted.desk.ask(customer, QUESTION)))
  return { ...scripted, ask }
}

async function codeOf(asking: Promise<string>): Promise<string> {
  try {
    return await asking
  } catch (error) {
    return SluiceError.isInstance(error) ? error.code : String(error)
  }
}

describe('two tenants on one desk', () => {
  it('what one of them has spent stops that one only, until its month is over', async () => {
    const { ask, clock, desk: support } = await desk(5)
    expect([await ask(GUS), await ask(GUS), await ask(GUS)]).toEqual(['Yes.', 'Yes.', 'Yes.'])
    expect(await ask(GUS)).toBe('BUDGET_EXHAUSTED')
    expect(await ask(ANNA)).toBe('Yes.')
    clock.advance(31 * 24 * 3_600_000)
    expect(await ask(GUS)).toBe('Yes.')
    expect(await support.spent('globex')).toMatchObject({ spent: 10_500_000n })
  })

  it('how often one of them asks is not counted for the other', async () => {
    const { ask, desk: support, clock, provider } = await desk(5)
    await support.topUp('globex', '1', { key: 'k', who: 'billing', why: 'test' })
    const answers = []
    for (let run = 0; run < 5; run++) answers.push(await ask(GUS))
    expect(answers).toEqual(['Yes.', 'Yes.', 'Yes.', 'Yes.', 'RATE_LIMIT_EXCEEDED'])
    expect([await ask(ANNA), provider.calls.length]).toEqual(['Yes.', 5])
    clock.advance(59_999)
    expect(await ask(GUS)).toBe('RATE_LIMIT_EXCEEDED')
  })

  it('a top-up with the same key adds once', async () => {
    const { desk: support } = await desk(0)
    const by = { key: 'invoice-1', who: 'billing', why: 'bought more' }
    await support.topUp('globex', '0.05', by)
    await support.topUp('globex', '0.05', by)
    expect(await support.spent('globex')).toMatchObject({ amount: 90_000_000n, toppedUp: 50_000_000n })
  })

  it('a tenant that nobody has put on a plan is on the small one', async () => {
    const { ask, orders } = await desk(4)
    orders.set('newcomer', createOrderBook('NEW', []))
    const nora: Customer = { tenant: 'newcomer', user: 'nora' }
    expect(planOf('newcomer')).toBe('starter')
    expect([await ask(nora), await ask(nora), await ask(nora), await ask(nora)].at(-1)).toBe('BUDGET_EXHAUSTED')
  })

  it('B-26: explain shows where each of them stands, in the order in which they are asked', async () => {
    const { desk: support } = await desk(0)
    const { taps } = (await support.runtime.explain('support')).hooks
    const at = (point: string) => taps.filter((tap) => tap.point === point).map(({ plugin }) => plugin)
    expect(at('beforeExecution')).toEqual(['hooks-rate-limit', 'hooks-audit'])
    expect(at('beforeModelCall')).toEqual(['hooks-budget', 'hooks-audit'])
  })

  it('a run without a tenant sends nothing', async () => {
    const { desk: support, clock, provider } = await desk(0)
    const running = support.runtime.execute({
      agent: 'support',
      input: { question: 'Well?' },
      caller: { user: 'nobody' },
    })
    await expect(clock.settle(codeOf(running.then(({ text }) => text ?? '')))).resolves.toBe('SCOPE_UNRESOLVED')
    expect(provider.calls).toEqual([])
  })
})

describe('the logs', () => {
  it('hold the runs and stops of one tenant each, and verify on their own', async () => {
    const { ask, desk: support } = await desk(4)
    await ask(ANNA)
    for (let run = 0; run < 4; run++) await ask(GUS)
    const log = support.runtime.plugin(audit)
    expect((await log.logs()).toSorted()).toEqual(['tenant-acme', 'tenant-globex'])
    const acme = await textOf(log.export('jsonl', { log: 'tenant-acme' }))
    expect(acme).not.toContain('globex')
    const globex = await textOf(log.export('jsonl', { log: 'tenant-globex' }))
    expect(globex).toContain('BUDGET_EXHAUSTED')
    for (const tenant of ['acme', 'globex'])
      expect(await support.verify(tenant)).toMatchObject({ ok: true, faults: [] })
  })

  it('an export in which one amount was changed does not verify', async () => {
    const { ask, desk: support } = await desk(1)
    await ask(GUS)
    const lines = await textOf(support.runtime.plugin(audit).export('jsonl', { log: 'tenant-globex' }))
    expect(verifyLines(lines).ok).toBe(true)
    const changed = lines.replace('"outputTokens":500', '"outputTokens":5')
    expect(changed).not.toBe(lines)
    expect(verifyLines(changed)).toMatchObject({ ok: false, faults: [{ kind: 'changed' }] })
  })
})

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const line of lines) text += line
  return text
}
