import { defineAgent } from '@sluice/core'
import { changeBankAccount } from './change-bank-account.js'
import { getVendor } from './get-vendor.js'

/** The agent that keeps the data of vendors. It approves nothing; the desk's own rules are not about it, the guards are. */
export const vendorDesk = (model: string) =>
  defineAgent({
    code: 'ap_vendor_desk',
    description: 'Keeps the data of one vendor.',
    model,
    system:
      'You keep the data of vendor {vendor} at the accounts-payable desk. Change a bank account only when the clerk asks ' +
      'for it, with the account that the clerk names. Answer in one or two plain sentences.',
    user: '{question}',
    requiredContext: ['vendor'],
    tools: [getVendor, changeBankAccount],
    maxToolCalls: 5,
    settings: { maxOutputTokens: 4_096 },
  })
