import type { Message, ToolDefinition } from '@sluice/core'
import { defineTool, runInTransaction, withErrorReference } from '@sluice/core'
import { fakeClock, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { approveInvoice } from '../src/agent/approve-invoice.js'
import type { DeskTool } from '../src/agent/desk-resources.js'
import { APPROVE, BOUND, errorOf, openTestDesk } from './test-desk.js'

// Part 3: what the model is told when code breaks. The ledger refuses the posting of a closed period, with an error that
// names a table and a column.

const approval = () => reply.toolCall(...APPROVE)
const SECRET = /AP_LEDGER_POSTINGS/
const ALL = { scope: 'all' } as const

type Handler = (args: { invoice: string }, tool: DeskTool) => unknown
const work = approveInvoice.handler as unknown as Handler

/** The tool of the desk with another handler. */
const withHandler = (handler: Handler) =>
  defineTool({
    code: 'ap_approve_invoice',
    description: 'Approves one open invoice.',
    effect: 'write',
    input: z.object({ invoice: z.string() }),
    handler,
  }) as ToolDefinition

/** The raw text of the error as the result of the tool: short to write, and told to whoever asks the model. */
const raw = withHandler((args, tool) => {
  try {
    return work(args, tool)
  } catch (error) {
    return `Error: ${(error as Error).message}`
  }
})
const sanitised = withHandler(withErrorReference(work))

const resultIn = (messages: readonly Message[]): string =>
  messages.flatMap((message) => (message.role === 'tool' ? message.content : [])).map((part) => part.result)[0] ?? ''

async function ask(tool: ToolDefinition): Promise<string> {
  const { call, desk, provider } = await openTestDesk([approval(), 'It did not work.'])
  desk.books.closePeriod('2026-01')
  await call(BOUND, tool)
  return resultIn(provider.requests[1]?.messages ?? [])
}

describe('what the model is told when code breaks', () => {
  it('T-5, B-20: a handler that returns the raw error shows table and column to the model', async () => {
    expect(await ask(raw)).toBe('Error: AP_LEDGER_POSTINGS.PERIOD is closed')
  })

  it('T-5, B-21, B-22: withErrorReference gives a neutral sentence with a reference, and nothing else', async () => {
    const text = await ask(sanitised)
    expect(text).not.toMatch(SECRET)
    expect(text).toMatch(/ERR-\d{17}\b/)
  })

  it('B-22: so does the runtime itself, where it turns an error into text', async () => {
    const { run, desk, provider } = await openTestDesk([approval(), 'It did not work.'], {
      settings: { onToolError: 'return' },
    })
    desk.books.closePeriod('2026-01')
    await run()
    const text = resultIn(provider.requests[1]?.messages ?? [])
    expect(text).not.toMatch(SECRET)
    expect(text).toMatch(/ERR-\d{17}\b/)
  })

  it('T-5, B-15, B-21: after a rollback the real error is found under the reference that the model was given', async () => {
    const { desk, runtime, resources, provider } = await openTestDesk([approval(), 'It did not work.'], {
      settings: { onToolError: 'return' },
    })
    desk.books.closePeriod('2026-01')
    const work = runInTransaction(desk.books, async (tx) => {
      const options = {
        agent: 'ap_desk',
        input: { question: 'Approve it.' },
        runContext: BOUND,
        resources: resources(tx),
      }
      const { toolCalls } = await runtime.execute(options)
      // the run came to an end of its own; its caller looks at what happened, and takes everything back
      if (toolCalls.some((call) => call.status === 'error')) throw new Error('nothing is kept of a run with errors')
    })
    expect(await errorOf(work)).toMatchObject({ message: 'nothing is kept of a run with errors' })
    expect(desk.books.countApprovals()).toBe(1)
    expect(desk.numbers.last()).toBe(1001)

    const [reference = ''] = /ERR-\d{17}/.exec(resultIn(provider.requests[1]?.messages ?? [])) ?? []
    const error = await runtime.executions.toolError(reference, ALL)
    expect(error).toMatchObject({ reference, toolCode: 'ap_approve_invoice', name: 'SqliteError' })
    expect(error.message).toMatch(SECRET)
    expect(error.stack).toContain('approve-invoice')
  })

  it('G-37, B-21: where a handler’s error ends the run, the model reads nothing, and the reference is in the error', async () => {
    const { run, desk, provider, runtime } = await openTestDesk([approval()])
    desk.books.closePeriod('2026-01')
    const error = (await errorOf(run())) as { code: string; details: { errorReference: string } }
    expect(error.code).toBe('TOOL_FAILED')
    expect(provider.requests).toHaveLength(1)
    const { message } = await runtime.executions.toolError(error.details.errorReference, ALL)
    expect(message).toMatch(SECRET)
  })

  it('B-21: two errors of one millisecond have two references', async () => {
    const { run, desk } = await openTestDesk([approval(), 'No.', approval(), 'No.'], {
      settings: { onToolError: 'return' },
      clock: fakeClock(),
    })
    desk.books.closePeriod('2026-01')
    const references = [await run(), await run()].flatMap(({ toolCalls }) =>
      toolCalls.map((call) => call.errorReference),
    )
    expect(references[0]).toMatch(/^ERR-\d{17}/)
    expect(references[1]).toMatch(/^ERR-\d{17}/)
    expect(references[0]).not.toBe(references[1])
  })
})
