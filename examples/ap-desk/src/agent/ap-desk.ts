import { defineAgent } from '@sluice/core'
import { approveInvoice } from './approve-invoice.js'
import { getInvoice } from './get-invoice.js'
import { getVendor } from './get-vendor.js'
import { listOpenInvoices } from './list-open-invoices.js'

/** The agent of the desk on a model: `openai/gpt-5.6`. Invoice and vendor come from the run context, never from the model. */
export const apDesk = (model: string) =>
  defineAgent({
    code: 'ap_desk',
    description: 'Answers questions about one invoice and approves it when a clerk asks for it.',
    model,
    system:
      'You work at the accounts-payable desk. This conversation is about invoice {invoice} of vendor {vendor}. ' +
      'Use the tools for every figure. Approve only when the clerk asks for it. Answer in one or two plain sentences.',
    user: '{question}',
    requiredContext: ['invoice', 'vendor'],
    tools: [getInvoice, getVendor, listOpenInvoices, approveInvoice],
    // small limits until the flow is trusted
    maxToolCalls: 5,
    settings: { maxOutputTokens: 4_096 },
  })
