/** What both subjects are given: the same prompts, tools and handlers. */

export const SYSTEM = [
  'You work at the accounts-payable desk of a company. You look up invoices and vendors, compare them with the purchase',
  'order, and approve an invoice when everything agrees. Amounts are in euro. Never approve an invoice whose vendor is',
  'blocked, whose amount differs from its purchase order by more than two per cent, or which was paid before. Say in one',
  'or two sentences what you did and which documents you looked at. Answer in the language of the question.',
].join(' ')

export const QUESTION =
  'Invoice 4711 of Hartmann Office Supplies came in this morning. Does it agree with its purchase order, and can it be paid?'

/** The parameters of a tool as a provider reads them. */
export const INVOICE_PARAMETERS = {
  type: 'object',
  properties: { invoice: { type: 'string', description: 'Number of the invoice' } },
  required: ['invoice'],
  additionalProperties: false,
} as const

export const VENDOR_PARAMETERS = {
  type: 'object',
  properties: { vendor: { type: 'string', description: 'Number or name of the vendor' } },
  required: ['vendor'],
  additionalProperties: false,
} as const

export const TOOL_TEXTS = {
  get_invoice: 'Reads one invoice: amount, date, vendor, purchase order, payment status.',
  get_vendor: 'Reads the master data of one vendor: address, bank account, whether it is blocked.',
  approve_invoice: 'Approves one invoice for payment. Only after it was compared with its purchase order.',
} as const

const INVOICE = {
  number: '4711',
  vendor: 'V-2041',
  vendorName: 'Hartmann Office Supplies',
  purchaseOrder: 'PO-88213',
  amount: '1284.50',
  currency: 'EUR',
  date: '2026-03-14',
  due: '2026-04-13',
  status: 'open',
  lines: [
    { position: 1, text: 'Paper A4, 500 sheets', quantity: 120, price: '4.25' },
    { position: 2, text: 'Toner black', quantity: 9, price: '86.05' },
  ],
}

export function readInvoice({ invoice }: { readonly invoice: string }): object {
  return { ...INVOICE, number: invoice }
}

export function readVendor({ vendor }: { readonly vendor: string }): object {
  return { vendor, name: 'Hartmann Office Supplies', city: 'Kassel', iban: 'DE02120300000000202051', blocked: false }
}

export function approveInvoice({ invoice }: { readonly invoice: string }): object {
  return { invoice, approved: true, approval: 'A-90017' }
}
