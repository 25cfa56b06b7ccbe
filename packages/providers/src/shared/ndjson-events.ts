import { readLines } from './read-lines.js'

/** The values of a body that holds one JSON value a line. A line that is no JSON throws: nothing is passed over unseen. */
export async function* ndjsonEvents(body: ReadableStream<Uint8Array> | null): AsyncGenerator<unknown> {
  for await (const line of readLines(body)) {
    if (line.trim() !== '') yield JSON.parse(line) as unknown
  }
}
