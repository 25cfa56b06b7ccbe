import type { Effect, OracleBook } from './oracle-book.js'
import type { Answer } from './oracle-taps.js'

/** The run is over; how, stands in the book. */
export class Ended extends Error {}

/** The run waits for a human. */
export class Paused extends Error {}

/** A stop closes its effect and ends the run. */
export function stopEffect(book: OracleBook, effect: Effect, stop: Answer, sent: string): never {
  book.end(stop)
  book.close(effect, stop.word === 'aborted' ? 'aborted' : 'stopped', sent)
  book.tell(stop)
  throw new Ended()
}
