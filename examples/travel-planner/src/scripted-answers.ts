import { reply } from '@sluice/testkit'

const used = (inputTokens: number, outputTokens: number) => ({ inputTokens, outputTokens })

/** The side of each model: that of the lead, and those of its delegates. A second turn follows the first. */
export const ANSWERS = {
  lead: [
    reply.toolCall('calendar', { prompt: 'Which weekend in May is free?' }).usage(used(210, 18)),
    reply
      .toolCall('flights', { city: 'Rome', day: '2026-05-15', wish: 'As cheap as possible.' })
      .toolCall('hotels', { city: 'Rome', from: '2026-05-15', nights: 2 })
      .usage(used(262, 44)),
    reply('15 to 17 May is free. SL 288 at 18:40 for $95, Albergo del Foro for $240.').usage(used(371, 35)),
    reply.toolCall('flights', { city: 'Rome', day: '2026-05-15', wish: 'In the morning.' }).usage(used(420, 21)),
    reply('Then SL 204 at 09:10 for $140.').usage(used(462, 16)),
  ],
  calendar: [
    reply.toolCall('read_calendar').usage(used(60, 8)),
    reply('15 to 17 May is free; the weekend before is not.').usage(used(92, 14)),
  ],
  flights: [
    reply.toolCall('find_flights', { to: 'Rome', day: '2026-05-15' }).usage(used(75, 16)),
    reply.json({ flight: 'SL 288', departs: '18:40', usd: 95 }).usage(used(140, 20)),
    reply.toolCall('find_flights', { to: 'Rome', day: '2026-05-15' }).usage(used(74, 16)),
    reply.json({ flight: 'SL 204', departs: '09:10', usd: 140 }).usage(used(139, 20)),
  ],
  hotels: [
    reply.toolCall('find_hotels', { city: 'Rome', from: '2026-05-15', nights: 2 }).usage(used(66, 19)),
    reply('Albergo del Foro, $240 for two nights.').usage(used(101, 13)),
  ],
} as const
