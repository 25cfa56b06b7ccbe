import { defineTool, runContextValue } from '@sluice/core'
import { z } from 'zod'
import type { DeskTool } from './desk-resources.js'

/** Lists what is open of the vendor of the run. It takes no argument: whose invoices it shows is not the model's choice. */
export const listOpenInvoices = defineTool({
  code: 'ap_list_open_invoices',
  description: 'Lists the open invoices of the vendor that this conversation is about.',
  effect: 'read',
  input: z.object({}),
  requiresContext: ['vendor'],
  handler: (_, tool: DeskTool) => tool.resources.tx.openInvoices(runContextValue(tool.runContext, 'vendor') ?? ''),
})
