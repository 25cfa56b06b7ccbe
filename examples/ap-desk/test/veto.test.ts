import { definePlugin } from '@sluice/core'
import { expectVeto, reply } from '@sluice/testkit'
import { sluiceMatchers } from '@sluice/testkit/vitest'
import { describe, expect, it } from 'vitest'
import { approveInvoice } from '../src/agent/approve-invoice.js'
import { APPROVALS_ENABLED } from '../src/desk/control-table.js'
import { APPROVE, BOUND, errorOf, openTestDesk } from './test-desk.js'

expect.extend(sluiceMatchers)

const approval = () => reply.toolCall(...APPROVE)
const { clerk: _, ...NO_CLERK } = BOUND
const ALL = { scope: 'all' } as const

describe('what a veto looks like', () => {
  it('T-6, B-10: it leaves execute as the hook’s own, and the model is not asked again', async () => {
    const { run, provider } = await openTestDesk([approval()])
    const veto = await expectVeto(run(NO_CLERK), {
      code: 'AP_CLERK_REQUIRED',
      by: 'desk-rules',
      point: 'beforeToolCall',
    })
    expect(veto.message).toBe('A named clerk is required.')
    expect(provider.requests).toHaveLength(1)
  })

  it('T-6, B-11: the row is failed with the hook’s error, and keeps what the run had used', async () => {
    const { run, runtime } = await openTestDesk([approval().usage({ inputTokens: 330, outputTokens: 25 })])
    const veto = await expectVeto(run(NO_CLERK))
    const row = await runtime.executions.get(veto.partial?.executionId ?? '', ALL)
    expect(row).toMatchObject({ status: 'failed', failureKind: 'veto', inputTokens: 330, outputTokens: 25 })
    expect(row.error).toMatchObject({ code: 'AP_CLERK_REQUIRED', message: 'A named clerk is required.' })
  })

  it('B-10: the receipt tells which gate said no, and which was not asked any more', async () => {
    const { run, runtime } = await openTestDesk([approval()])
    const veto = await expectVeto(run(NO_CLERK))
    expect(await runtime.executions.receipts(veto.partial?.executionId ?? '', ALL)).toHaveReceipt({
      subject: 'ap_approve_invoice',
      answers: { 'tool:ap_approve_invoice': 'passed', 'desk-rules': 'vetoed' },
      outcome: 'stopped',
      sent: 'no',
    })
  })

  it('B-2: the switch is read at each call: thrown between two calls of a run, it stops the second', async () => {
    const { run, desk } = await openTestDesk([
      reply.toolCall('ap_get_invoice', { invoice: 'INV-1002' }),
      () => {
        desk.controls.write(APPROVALS_ENABLED, 'N')
        return approval()
      },
    ])
    await expectVeto(run(), { code: 'AP_SWITCHED_OFF' })
  })

  it('B-2: the switch can be thrown while a run holds the books', async () => {
    const { run, desk } = await openTestDesk([
      approval(),
      () => {
        desk.controls.write(APPROVALS_ENABLED, 'N')
        return 'Approved.'
      },
    ])
    await run()
    expect(desk.controls.read(APPROVALS_ENABLED)).toBe('N')
  })

  it('B-12: a key that the agent requires stops a run earlier: no row, no gate, no request', async () => {
    const { run, runtime, provider } = await openTestDesk([])
    expect(await errorOf(run({ clerk: 'petra.k' }))).toMatchObject({ code: 'RUN_CONTEXT_MISSING' })
    expect((await runtime.executions.list(ALL)).items).toEqual([])
    expect(provider.requests).toEqual([])
  })
})

describe('rules about values', () => {
  it('H-21: the hook is told the tool and the caller, and no argument', async () => {
    let told: readonly string[] = []
    const listening = definePlugin({
      name: 'listening',
      hookApi: 1,
      apply: (hooks) =>
        hooks.beforeToolCall.tap('listen', (call) => {
          told = Object.keys(call)
        }),
    })
    const { run } = await openTestDesk([approval(), 'Approved.'], { plugins: () => [listening()] })
    await run()
    expect(told).toEqual(expect.arrayContaining(['toolCode', 'agentCode', 'createdBy', 'sessionId']))
    expect(told).not.toContain('args')
  })

  it('B-W3: a rule of the tool about values is asked first, and stands in the receipt', async () => {
    const { run, runtime } = await openTestDesk([reply.toolCall('ap_approve_invoice', { invoice: 'INV-1003' }), 'No.'])
    const { executionId } = await run()
    const [receipt] = (await runtime.executions.receipts(executionId, ALL)).filter(
      (each) => each.effect === 'tool_call',
    )
    expect(receipt?.askings[0]?.gates.map((gate) => [gate.plugin, gate.answer])).toEqual([
      ['tool:ap_approve_invoice', 'refused'],
      ['desk-rules', 'not_asked'],
    ])
  })

  it('R-18: what a run is about comes from the run context: another invoice is refused, and the run goes on', async () => {
    const { run, provider, desk } = await openTestDesk([
      reply.toolCall('ap_approve_invoice', { invoice: 'INV-1003' }),
      'I may not do that.',
    ])
    expect((await run()).text).toBe('I may not do that.')
    expect(JSON.stringify(provider.requests[1])).toContain('This run is about invoice INV-1002, not INV-1003.')
    expect(desk.books.findInvoice('INV-1003')?.status).toBe('open')
  })

  it('G-40: a blocked vendor is refused by the tool itself', async () => {
    const { run, provider, desk } = await openTestDesk([
      reply.toolCall('ap_approve_invoice', { invoice: 'INV-1004' }),
      'The vendor is blocked.',
    ])
    const { toolCalls } = await run({ invoice: 'INV-1004', vendor: 'V-31', clerk: 'petra.k' })
    expect(toolCalls.map((call) => call.status)).toEqual(['refused'])
    expect(JSON.stringify(provider.requests[1])).toContain('Vendor V-31 is blocked.')
    expect(desk.numbers.last()).toBe(1000)
  })

  it('B-26: explain lists what the agent can reach, what of it writes, and the gates in their order', async () => {
    const { runtime } = await openTestDesk([])
    const { writes, hooks, requiredContext, tools } = await runtime.explain('ap_desk')
    expect(writes).toEqual([approveInvoice.code])
    expect(hooks.taps.map(({ plugin, point }) => `${plugin} ${point}`)).toEqual(['desk-rules beforeToolCall'])
    expect([...requiredContext].sort()).toEqual(['invoice', 'vendor'])
    expect(tools.filter((tool) => tool.ignoresRunContext)).toEqual([])
  })
})
