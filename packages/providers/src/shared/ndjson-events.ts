import { boundedBodyOf } from './bounded-answer.js'
import { readLines } from './read-lines.js'

/**
 * The values of an answer that holds one JSON value a line; the body is not touched before the first is asked for. A line
 * that is no JSON throws: nothing is passed over unseen.
 */
export async function* ndjsonEvents(response: Response): AsyncGenerator<unknown> {
  for await (const line of readLines(boundedBodyOf(response))) {
    if (line.trim() !== '') yield JSON.parse(line) as unknown
  }
}
