import { defineTool, refuse } from '@sluice/core'
import { z } from 'zod'
import type { SupportTool } from './support-resources.js'

/** Opens a ticket for a human. */
export const openTicket = defineTool({
  code: 'open_ticket',
  description: 'Opens a ticket about one order, for a human. Gives its number.',
  effect: 'write',
  input: z.object({ order: z.string(), problem: z.string().max(200) }),
  handler({ order, problem }, tool: SupportTool) {
    const { orders } = tool.resources
    if (orders.find(order) === undefined) return refuse(`There is no order ${order}.`)
    return { ticket: orders.openTicket(order, problem) }
  },
})
