import type { Asking } from '../scenes/desk-at-work.js'

/** The clerk of all stories. */
export const CLERK = 'petra.k'

/** She asks about the invoice that the run is bound to. */
export const clerkAsks = (question: string): Asking => ({
  question,
  caller: { user: CLERK, audience: 'authenticated' },
  runContext: { invoice: 'INV-1002', vendor: 'V-77', clerk: CLERK },
})

export const IS_IT_OPEN = 'Is invoice INV-1002 open, and is its vendor V-77 blocked?'
