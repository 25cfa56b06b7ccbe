import { defineTool, refuse } from '@sluice/core'
import { z } from 'zod'
import type { DeskTool } from './desk-resources.js'
import { onlyBound } from './only-bound.js'

/** Reads the invoice of the run. */
export const getInvoice = defineTool({
  code: 'ap_get_invoice',
  description: 'Reads one invoice: vendor, amount in cents, currency, due date, status.',
  effect: 'read',
  input: z.object({ invoice: z.string().describe('Number of the invoice, such as INV-1002') }),
  requiresContext: ['invoice'],
  authorize: ({ invoice }, tool: DeskTool) => onlyBound('invoice', invoice, tool),
  handler: ({ invoice }, tool: DeskTool) =>
    tool.resources.tx.invoice(invoice) ?? refuse(`There is no invoice ${invoice}.`),
})
