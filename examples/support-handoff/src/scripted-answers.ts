import { reply } from '@sluice/testkit'

const used = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

/** The side of each model, over three turns. */
export const ANSWERS = {
  triage: [
    reply
      .toolCall('transfer_to_billing', { context: 'Was charged twice in May.', reason: 'an invoice' })
      .usage(used(120, 24)),
  ],
  billing: [
    reply.toolCall('list_invoices').usage(used(150, 9)),
    reply('INV-31 and INV-32 are the same charge. Shall I refund INV-32?').usage(used(190, 21)),
    reply.toolCall('refund', { invoice: 'INV-32' }).usage(used(215, 14)),
    reply('INV-32 is refunded.').usage(used(240, 8)),
    reply
      .toolCall('transfer_to_technical', { context: 'Cannot sign in since yesterday. The double charge is settled.' })
      .usage(used(262, 26)),
  ],
  technical: [reply('Please reset your password; the old ones ended yesterday.').usage(used(170, 15))],
} as const

/** What the customer says, turn by turn, and who should answer it. */
export const TURNS = [
  { text: 'I was charged twice in May.', answeredBy: 'billing' },
  { text: 'Yes, please.', answeredBy: 'billing' },
  { text: 'Thanks. And I cannot sign in any more.', answeredBy: 'technical' },
] as const
