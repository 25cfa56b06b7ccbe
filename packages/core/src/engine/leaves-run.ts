import { Interrupt } from './interrupt.js'
import { isJournalMismatch } from './journal-mismatch.js'

/**
 * True for what leaves a run without ending it: a pause, and a journal that does not fit. It is recorded nowhere, and a resume
 * comes to the same place. For types of agents whose parts go on side by side: what has failed ends the run, before this does.
 */
export function leavesRun(error: unknown): boolean {
  return Interrupt.isInstance(error) || isJournalMismatch(error)
}
