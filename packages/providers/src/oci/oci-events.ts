import { boundedBodyOf } from '../shared/bounded-answer.js'
import { readLines } from '../shared/read-lines.js'

/**
 * The events of a streamed chat: each line of data is one, whether or not an empty line follows it. A line of bare JSON,
 * which takes the place of an event where something failed, is one too. The body is not touched before the first is asked
 * for; a line of data that is no JSON throws.
 */
export async function* ociEvents(response: Response): AsyncGenerator<unknown> {
  for await (const line of readLines(boundedBodyOf(response))) {
    const data = line.startsWith('data:') ? line.slice('data:'.length).trim() : line.startsWith('{') ? line : ''
    if (data !== '' && data !== '[DONE]') yield JSON.parse(data) as unknown
  }
}
