import { defineTool, refuse } from '@sluice/core'
import { z } from 'zod'
import type { DeskTool } from './desk-resources.js'
import { onlyBound } from './only-bound.js'

/** Reads the vendor of the run. */
export const getVendor = defineTool({
  code: 'ap_get_vendor',
  description: 'Reads one vendor: name, and whether it is blocked for payments.',
  effect: 'read',
  input: z.object({ vendor: z.string().describe('Number of the vendor, such as V-77') }),
  requiresContext: ['vendor'],
  authorize: ({ vendor }, tool: DeskTool) => onlyBound('vendor', vendor, tool),
  handler: ({ vendor }, tool: DeskTool) => tool.resources.tx.vendor(vendor) ?? refuse(`There is no vendor ${vendor}.`),
})
