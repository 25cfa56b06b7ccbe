import type { ScriptRule } from '@sluice/testkit'
import { on, reply } from '@sluice/testkit'

/** What each request is said to have used. At $3 and $15 per million tokens it costs $0.0081. */
const USAGE = { inputTokens: 700, outputTokens: 400 } as const

/** A question about an order: the model reads it, then answers. */
const asks = (question: string, order: string, answer: string): ScriptRule =>
  on(question, reply.toolCall('find_order', { order }).usage(USAGE), reply(answer).usage(USAGE))

/** The model's side of all scenes. It answers each of these questions once. */
export const ANSWERS: readonly ScriptRule[] = [
  asks('Where is A-100?', 'A-100', 'A-100 was shipped with Nordpost.'),
  asks('Where is G-1?', 'G-1', 'G-1 is packed and waits for Blitz.'),
  asks('Has G-2 arrived?', 'G-2', 'G-2 was delivered by Blitz.'),
  on(
    'A-101 came broken.',
    reply.toolCall('open_ticket', { order: 'A-101', problem: 'came broken' }).usage(USAGE),
    reply('I am sorry. A colleague will look into it: ticket ACME-1.').usage(USAGE),
  ),
  asks('And G-3?', 'G-3', 'G-3 was shipped with Blitz.'),
  asks('And once more: G-1?', 'G-1', 'G-1 is packed and waits for Blitz.'),
]
