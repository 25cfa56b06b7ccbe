import { runInTransaction } from '@sluice/core'
import { held, latch, providerError, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { BooksTransaction } from '../src/desk/books.js'
import { APPROVE, BOUND, CALLER, errorOf, openTestDesk } from './test-desk.js'

const approval = () => reply.toolCall(...APPROVE)
const ALL = { scope: 'all' } as const

describe('undo', () => {
  it('B-13: a write of a run that succeeds is committed by its caller, not by its tool', async () => {
    const { run, desk } = await openTestDesk([
      approval(),
      () => {
        // the tool has written, and another connection does not see it yet
        expect(desk.books.countApprovals()).toBe(1)
        return 'Approved.'
      },
    ])
    await run()
    expect(desk.books.countApprovals()).toBe(2)
  })

  it('T-4, B-15: after a rollback the rows are as before, and the counter is one further than they show', async () => {
    const { run, desk } = await openTestDesk([approval(), providerError(500)])
    const rows = desk.books.countApprovals()
    const drawn = desk.numbers.last()
    expect(await errorOf(run())).toMatchObject({ code: 'PROVIDER_OVERLOADED' })
    expect(desk.books.countApprovals()).toBe(rows)
    expect(desk.books.findInvoice('INV-1002')?.status).toBe('open')
    expect(desk.numbers.last() - drawn).toBe(desk.books.countApprovals() - rows + 1)
  })

  it('T-4: the next approval gets the number after the gap', async () => {
    const { run, desk } = await openTestDesk([approval(), providerError(500), approval(), 'Approved.'])
    await errorOf(run())
    const { messages } = await run()
    expect(JSON.stringify(messages)).toContain('\\"approvalNo\\":1002')
    expect(desk.numbers.last()).toBe(1002)
    expect(desk.books.countApprovals()).toBe(2)
  })

  it('B-14: without a rollback, the write of a run that failed would stay', async () => {
    const { runtime, desk, resources } = await openTestDesk([approval(), providerError(500)])
    const tx = await desk.books.begin()
    const options = { agent: 'ap_desk', input: { question: 'Approve it.' }, caller: CALLER, runContext: BOUND }
    await errorOf(runtime.execute({ ...options, resources: resources(tx) }))
    desk.books.commit(tx)
    expect(desk.books.countApprovals()).toBe(2)
  })

  it('B-15, T-75: the row of the run and its messages stay when its writes are rolled back', async () => {
    const { run, runtime } = await openTestDesk([approval(), providerError(500)])
    await errorOf(run())
    const [row] = (await runtime.executions.list(ALL)).items
    expect(row).toMatchObject({ status: 'failed', failureKind: 'provider', toolCallsCount: 1 })
    const log = await runtime.sessions.messages(row?.sessionId ?? '', ALL)
    expect(log.items.filter((item) => item.role === 'tool_result').map((item) => item.toolStatus)).toEqual(['ok'])
  })

  it('B-16: commit on success, rollback and rethrow on an error, and the runtime itself does neither', async () => {
    const { runtime, desk } = await openTestDesk(['Hello.', 'Hello.'])
    const seen: string[] = []
    const unit = {
      begin: () => (seen.push('begin'), {} as BooksTransaction),
      commit: () => void seen.push('commit'),
      rollback: () => void seen.push('rollback'),
    }
    const execute = (tx: BooksTransaction) =>
      runtime.execute({
        agent: 'ap_desk',
        input: { question: 'Hello?' },
        runContext: BOUND,
        resources: { tx, numbers: desk.numbers },
      })
    await runInTransaction(unit, execute)
    expect(seen).toEqual(['begin', 'commit'])

    const cause = new Error('the caller changed its mind')
    const failing = runInTransaction(unit, async (tx) => {
      await execute(tx)
      throw cause
    })
    expect(await errorOf(failing)).toBe(cause)
    expect(seen).toEqual(['begin', 'commit', 'begin', 'rollback'])
  })

  it('B-13: two runs at once have a transaction each, one after the other', async () => {
    const gate = latch()
    const { run, desk } = await openTestDesk([
      approval(),
      held(gate, 'Approved.'),
      approval(),
      'It was approved already.',
    ])
    const first = run()
    const second = run()
    await expect.poll(() => desk.numbers.last()).toBe(1001)
    gate.open()
    const statuses = (await Promise.all([first, second])).map(({ toolCalls }) => toolCalls.map((call) => call.status))
    expect(statuses).toEqual([['ok'], ['refused']])
    expect(desk.books.countApprovals()).toBe(2)
  })
})
