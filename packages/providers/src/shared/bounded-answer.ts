/**
 * The longest body that is read of a whole answer, and the longest line of a stream. Long texts have a few hundred KB; images
 * that a model draws, a few MB.
 */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024

/** The longest stream, whose events are let go one by one: a text of 128 000 tokens comes in some 50 MB of them. */
export const MOST_STREAM_BYTES = 128 * 1024 * 1024

/** A body that says this length, and is what it says, cannot do harm in any form. */
const SHORT_BYTES = 1024 * 1024
const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d

/** The bounds of one body. */
interface Bounds {
  readonly most: number
  /** Bytes until a line must end; `null` where the body is no stream of lines. */
  readonly mostInLine: number | null
}

/** The body of an answer is longer than what is read. */
export class AnswerTooLarge extends Error {
  readonly most: number

  constructor(most: number) {
    super(`the body is longer than ${most} bytes`)
    this.most = most
  }
}

/**
 * The body of an answer that is a stream of events, of which no more than `most` bytes are read, and no more than
 * `mostInLine` until a line ends. Its pieces end where lines end: SDKs look through what they hold again with every piece,
 * so that one event in many pieces would cost the square of its length.
 */
export function boundedBodyOf(
  response: Response,
  most: number = MOST_STREAM_BYTES,
  mostInLine: number = Math.min(most, MOST_ANSWER_BYTES),
): ReadableStream<Uint8Array> | null {
  const { body } = response
  return body === null || isShort(response, most) ? body : boundedBody(body, { most, mostInLine }, response)
}

/** The text of an answer; @throws AnswerTooLarge where it is longer than `most` bytes. */
export async function boundedText(response: Response, most: number = MOST_ANSWER_BYTES): Promise<string> {
  if (response.body === null || isShort(response, most)) return response.text()
  return new Response(boundedBody(response.body, { most, mostInLine: null }, response)).text()
}

/** True where the answer says its length, and its bytes are what is read: nothing that unpacks to more. */
function isShort(response: Response, most: number): boolean {
  const length = lengthOf(response)
  return length !== undefined && length <= Math.min(most, SHORT_BYTES) && !response.headers.has('content-encoding')
}

function lengthOf({ headers }: Response): number | undefined {
  const length = headers.get('content-length')
  return length !== null && /^\d{1,15}$/.test(length) ? Number(length) : undefined
}

function boundedBody(body: ReadableStream<Uint8Array>, bounds: Bounds, response: Response): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const pieces = new Pieces(bounds)
  // what says of itself that it is too long need not be read
  const hopeless = (lengthOf(response) ?? 0) > bounds.most
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          if (hopeless) throw new AnswerTooLarge(bounds.most)
          for (;;) {
            const { done, value } = await reader.read()
            const piece = done ? pieces.rest() : pieces.next(value)
            if (piece !== undefined) controller.enqueue(piece)
            if (done) controller.close()
            if (done || piece !== undefined) return
          }
        } catch (fault) {
          pieces.clear()
          controller.error(fault)
          // not awaited: what is behind may never answer
          reader.cancel(fault).catch(() => {})
        }
      },
      cancel(reason) {
        pieces.clear()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Cuts a body anew, behind the last line end of each piece that has one. */
class Pieces {
  readonly #bounds: Bounds
  #left: number
  #held: Uint8Array[] = []
  #heldBytes = 0

  constructor(bounds: Bounds) {
    this.#bounds = bounds
    this.#left = bounds.most
  }

  /** What can go on of everything that came; `undefined` while no line ended. */
  next(piece: Uint8Array): Uint8Array | undefined {
    const { most, mostInLine } = this.#bounds
    this.#left -= piece.byteLength
    if (this.#left < 0) throw new AnswerTooLarge(most)
    if (mostInLine === null) return piece
    const end = lineEnd(piece)
    if (end === piece.byteLength && this.#heldBytes === 0) return piece
    const ready = end === 0 ? undefined : this.#with(piece.subarray(0, end))
    if (end < piece.byteLength) {
      this.#held.push(end === 0 ? piece : piece.subarray(end))
      this.#heldBytes += piece.byteLength - end
    }
    if (this.#heldBytes > mostInLine) throw new AnswerTooLarge(mostInLine)
    return ready
  }

  /** What is left where the body ends. */
  rest(): Uint8Array | undefined {
    return this.#heldBytes === 0 ? undefined : this.#with(new Uint8Array(0))
  }

  #with(last: Uint8Array): Uint8Array {
    const whole = this.#heldBytes === 0 ? last : Buffer.concat([...this.#held, last])
    this.clear()
    return whole
  }

  /** Lets go of what is held: a stream that failed may live on with the connection that it came from. */
  clear(): void {
    this.#held = []
    this.#heldBytes = 0
  }
}

/** The place behind the last line end of a piece; 0 where it has none. */
function lineEnd(piece: Uint8Array): number {
  return piece.lastIndexOf(LINE_FEED) + 1 || piece.lastIndexOf(CARRIAGE_RETURN) + 1
}
