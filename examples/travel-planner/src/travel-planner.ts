import { defineOrchestrator } from '@sluice/agents'
import { defineAgent, defineTool } from '@sluice/core'
import { z } from 'zod'

/** Days on which something is planned already, by whom they belong to. */
const BUSY: Readonly<Record<string, readonly string[]>> = { 'petra.k': ['2026-05-08', '2026-05-09', '2026-05-10'] }

const readCalendar = defineTool({
  code: 'read_calendar',
  description: 'The days on which the traveller is busy.',
  effect: 'read',
  input: z.object({}),
  // whose calendar it is stands in the run context, where no model chooses it
  requiresContext: ['traveller'],
  handler: (_args, { runContext }) => ({ busy: BUSY[String(runContext.traveller)] ?? [] }),
})

const findFlights = defineTool({
  code: 'find_flights',
  description: 'Flights to a city on a day.',
  effect: 'read',
  input: z.object({ to: z.string(), day: z.iso.date() }),
  handler: ({ to, day }) => [
    { flight: 'SL 204', to, day, departs: '09:10', usd: 140 },
    { flight: 'SL 288', to, day, departs: '18:40', usd: 95 },
  ],
})

const findHotels = defineTool({
  code: 'find_hotels',
  description: 'Hotels in a city with a room for some nights.',
  effect: 'read',
  input: z.object({ city: z.string(), from: z.iso.date(), nights: z.int().positive() }),
  handler: ({ city, nights }) => [{ hotel: 'Albergo del Foro', city, usd: 120 * nights }],
})

/** Who each delegate is: its description is what the lead chooses by. */
export const calendar = defineAgent({
  code: 'calendar',
  description: 'Knows when the traveller has time. Knows nothing of flights and hotels.',
  model: 'calendar/small',
  system: 'You read the calendar of {traveller} and answer with days.',
  user: '{prompt}',
  requiredContext: ['traveller'],
  tools: [readCalendar],
})
export const flights = defineAgent({
  code: 'flights',
  description: 'Finds the flight that fits. Needs a city and a day.',
  model: 'flights/small',
  system: 'You find flights.',
  user: 'To {city} on {day}. {wish}',
  input: z.object({ city: z.string(), day: z.iso.date(), wish: z.string().default('') }),
  output: z.strictObject({ flight: z.string(), departs: z.string(), usd: z.number() }),
  tools: [findFlights],
})
export const hotels = defineAgent({
  code: 'hotels',
  description: 'Finds a hotel. Needs a city, the first night and how many nights.',
  model: 'hotels/small',
  system: 'You find hotels.',
  user: '{nights} nights in {city} from {from}.',
  input: z.object({ city: z.string(), from: z.iso.date(), nights: z.int().positive() }),
  tools: [findHotels],
})

/** The prompts of the model that decides whom to ask. */
export const travelLead = {
  code: 'travel_lead',
  description: 'Plans trips by asking those who know.',
  provider: 'lead',
  model: 'big',
  system_prompt_template: 'You plan trips. Ask for free days first, then for a flight and a hotel. Name prices.',
  user_prompt_template: '{question}',
} as const

export const travel = defineOrchestrator({
  code: 'travel',
  description: 'Plans trips.',
  profile: 'travel_lead',
  delegates: [
    { agent: calendar, effect: 'read' },
    { agent: flights, effect: 'read' },
    { agent: hotels, effect: 'read' },
  ],
  maxDelegations: 6,
  input: z.object({ question: z.string().min(1) }),
})
