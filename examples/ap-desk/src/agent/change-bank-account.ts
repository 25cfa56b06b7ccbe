import { defineTool, refuse } from '@sluice/core'
import { z } from 'zod'
import type { DeskTool } from './desk-resources.js'
import { onlyBound } from './only-bound.js'

/** Changes where the invoices of a vendor are paid to: what every forged letter asks for. A human decides about each call. */
export const changeBankAccount = defineTool({
  code: 'ap_change_bank_account',
  description: 'Changes the bank account that the invoices of one vendor are paid to.',
  effect: 'write',
  input: z.object({
    vendor: z.string().describe('Number of the vendor, such as V-77'),
    iban: z
      .string()
      .regex(/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/)
      .describe('IBAN without blanks'),
  }),
  requiresContext: ['vendor'],
  authorize: ({ vendor }, tool: DeskTool) => onlyBound('vendor', vendor, tool),
  handler: ({ vendor, iban }, tool: DeskTool) =>
    tool.resources.tx.changeBankAccount(vendor, iban) ?? refuse(`There is no vendor ${vendor}.`),
})
