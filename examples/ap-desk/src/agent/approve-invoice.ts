import { defineTool, refuse, runContextValue } from '@sluice/core'
import { z } from 'zod'
import type { DeskTool } from './desk-resources.js'
import { onlyBound } from './only-bound.js'

/**
 * Approves the invoice of the run in the name of its clerk: draws a number, writes the approval, posts to the ledger. It
 * writes in the transaction of the caller and never commits: whoever started the run decides that.
 */
export const approveInvoice = defineTool({
  code: 'ap_approve_invoice',
  description: 'Approves one open invoice for payment. Gives the approval number.',
  effect: 'write',
  input: z.object({ invoice: z.string().describe('Number of the invoice, such as INV-1002') }),
  requiresContext: ['invoice'],
  authorize: ({ invoice }, tool: DeskTool) => onlyBound('invoice', invoice, tool),
  handler({ invoice: code }, tool: DeskTool) {
    const { tx, numbers } = tool.resources
    const invoice = tx.invoice(code)
    if (invoice === undefined) return refuse(`There is no invoice ${code}.`)
    if (invoice.status !== 'open') return refuse(`Invoice ${code} is ${invoice.status} already.`)
    if (tx.vendor(invoice.vendor)?.blocked !== false) return refuse(`Vendor ${invoice.vendor} is blocked.`)
    const approvalNo = numbers.next()
    tx.insertApproval(approvalNo, code, runContextValue(tool.runContext, 'clerk') ?? '')
    tx.postToLedger(approvalNo, invoice)
    tx.markApproved(code)
    return { approved: code, approvalNo }
  },
})
