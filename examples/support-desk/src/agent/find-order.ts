import { defineTool, refuse } from '@sluice/core'
import { z } from 'zod'
import type { SupportTool } from './support-resources.js'

/** Reads an order of the tenant that asks. */
export const findOrder = defineTool({
  code: 'find_order',
  description: 'Reads one order: status and carrier.',
  effect: 'read',
  input: z.object({ order: z.string().describe('Number of the order, such as A-100') }),
  handler: ({ order }, tool: SupportTool) => tool.resources.orders.find(order) ?? refuse(`There is no order ${order}.`),
})
