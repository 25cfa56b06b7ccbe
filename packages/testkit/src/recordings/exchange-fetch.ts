import type { RecordedResponse } from './recording.js'
import { responseHeaders, responseText } from './recording.js'

/** Where a body is cut: byte offsets in rising order. */
export type Cuts = readonly number[]

/**
 * A `fetch` that gives one recorded answer from memory, its body in pieces that end at the given byte offsets: cuts reach
 * the reader exactly as they are, which no socket promises.
 */
export function exchangeFetch(answer: RecordedResponse, cuts: Cuts = []): typeof fetch {
  return async () =>
    new Response(inPieces(new TextEncoder().encode(responseText(answer)), cuts), {
      status: answer.status,
      headers: responseHeaders(answer),
    })
}

function inPieces(bytes: Uint8Array, cuts: Cuts): ReadableStream<Uint8Array> {
  const ends = [...cuts.filter((cut) => cut > 0 && cut < bytes.length), bytes.length]
  let from = 0
  return new ReadableStream({
    pull(controller) {
      const end = ends.shift()
      if (end === undefined) {
        controller.close()
        return
      }
      controller.enqueue(bytes.slice(from, end))
      from = end
    },
  })
}
