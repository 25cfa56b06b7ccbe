import { defineAgent } from '@sluice/core'
import { findOrder } from './find-order.js'
import { openTicket } from './open-ticket.js'

/** The model that the desk asks. Its price stands in `guards.ts`. */
export const MODEL = 'house/small-1'

/** The one agent of the desk, for all tenants. */
export const supportAgent = defineAgent({
  code: 'support',
  description: 'Answers questions about orders, and opens tickets.',
  model: MODEL,
  system:
    'You answer customers of a shop. Use the tools for every fact about an order. Answer in one or two sentences.',
  user: '{question}',
  tools: [findOrder, openTicket],
  maxToolCalls: 4,
  settings: { maxOutputTokens: 500 },
})
