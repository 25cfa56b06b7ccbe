import { definePlugin, getExecutionContext, Pause, Refusal, runContextValue, Stage } from '@sluice/core'
import { z } from 'zod'
import { openBooks } from '../desk/books.js'

/**
 * Above an amount a second person decides: the run pauses, and goes on when somebody other than its clerk has approved. This
 * rule needs the arguments, so it stands at `inspectToolInput`; its stage comes behind that of the rules, so that nobody
 * is asked about a call that may not be made anyway.
 */
export const fourEyes = definePlugin({
  name: 'four-eyes',
  hookApi: 1,
  version: '1.0.0',
  options: z.object({
    /** Database file of the books. */
    booksFile: z.string(),
    /** The largest amount that a clerk approves alone. */
    uptoCents: z.number().int().nonnegative(),
    tool: z.string().default('ap_approve_invoice'),
  }),
  apply(hooks, host) {
    const { booksFile, uptoCents, tool } = host.options
    const books = openBooks(booksFile)
    hooks.inspectToolInput.tap({ name: 'second-person', stage: Stage.approve }, (call) => {
      if (call.toolCode !== tool) return
      const invoice = books.findInvoice(String(call.args.invoice))
      if (invoice === undefined || invoice.amountCents <= uptoCents) return

      const { decision } = call
      const clerk = runContextValue(getExecutionContext().runContext, 'clerk')
      if (decision === undefined || (decision.decision === 'approve' && decision.by === clerk)) {
        const { invoice: code, amountCents, currency } = invoice
        throw new Pause('AP_SECOND_PERSON', { details: { invoice: code, amountCents, currency, clerk } })
      }
      if (decision.decision === 'deny') throw new Refusal('DENIED', decision.note ?? 'The second person said no.')
    })
    return { dispose: () => books.close() }
  },
})
