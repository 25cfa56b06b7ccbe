import { defineHandoff } from '@sluice/agents'
import { defineAgent, defineTool } from '@sluice/core'
import { z } from 'zod'

/** Invoices by customer. */
const INVOICES: Readonly<Record<string, readonly { readonly invoice: string; readonly usd: number }[]>> = {
  'C-17': [
    { invoice: 'INV-31', usd: 49 },
    { invoice: 'INV-32', usd: 49 },
  ],
}

const listInvoices = defineTool({
  code: 'list_invoices',
  description: 'The invoices of the customer of this conversation.',
  effect: 'read',
  input: z.object({}),
  // which customer it is stands in the run context: a summary of another agent cannot change it
  requiresContext: ['customer'],
  handler: (_args, { runContext }) => ({ invoices: INVOICES[String(runContext.customer)] ?? [] }),
})

const refund = defineTool({
  code: 'refund',
  description: 'Refunds one invoice of the customer.',
  effect: 'write',
  input: z.object({ invoice: z.string() }),
  requiresContext: ['customer'],
  handler: ({ invoice }, { runContext }) => `${invoice} of ${String(runContext.customer)} is refunded.`,
})

const ABOUT = 'Handed over by {handoff_from}: {handoff_context}\nEarlier answers: {conversation_history}'

export const triage = defineAgent({
  code: 'triage',
  description: 'Finds out whom a question belongs to.',
  model: 'triage/small',
  system: 'Hand over to the specialist for the question. Answer yourself where none fits.',
  user: '{prompt}',
})
export const billing = defineAgent({
  code: 'billing',
  description: 'Invoices, payments and refunds.',
  model: 'billing/small',
  system: `You are the specialist for billing.\n${ABOUT}`,
  user: '{prompt}',
  tools: [listInvoices, refund],
})
export const technical = defineAgent({
  code: 'technical',
  description: 'Faults of the product.',
  model: 'technical/small',
  system: `You are the specialist for technical questions.\n${ABOUT}`,
  user: '{prompt}',
})

export const support = defineHandoff({
  code: 'support',
  description: 'Answers customers.',
  initial: triage,
  members: [
    { agent: billing, description: 'Invoices, payments and refunds.' },
    { agent: technical, description: 'The product does not do what it should.' },
  ],
  maxHandoffs: 2,
  requiredContext: ['customer'],
  input: z.object({ prompt: z.string().min(1) }),
})
