/** The longest body that is read of an answer. Long texts have a few hundred KB; images that a model draws, a few MB. */
export const MOST_ANSWER_BYTES = 16 * 1024 * 1024

/** The body of an answer is longer than what is read. */
export class AnswerTooLarge extends Error {
  readonly most: number

  constructor(most: number) {
    super(`the body is longer than ${most} bytes`)
    this.most = most
  }
}

/** The bytes of `body`, which fails with `AnswerTooLarge` at the first piece beyond `most` and lets the connection go. */
function boundedBody(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let left = most
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        left -= value.byteLength
        if (left >= 0) return controller.enqueue(value)
        const fault = new AnswerTooLarge(most)
        controller.error(fault)
        // not awaited: what is behind may never answer
        reader.cancel(fault).catch(() => {})
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The body of an answer, of which no more than `most` bytes are read. */
export function boundedBodyOf(response: Response, most: number = MOST_ANSWER_BYTES): ReadableStream<Uint8Array> | null {
  return response.body === null || isShort(response, most) ? response.body : boundedBody(response.body, most)
}

/** The text of an answer; @throws AnswerTooLarge where it is longer than `most` bytes. */
export async function boundedText(response: Response, most: number = MOST_ANSWER_BYTES): Promise<string> {
  if (isShort(response, most)) return response.text()
  return new Response(boundedBodyOf(response, most)).text()
}

/** True where the answer says its length, and its bytes are what is read: nothing that unpacks to more. */
function isShort({ headers }: Response, most: number): boolean {
  const length = headers.get('content-length')
  return length !== null && /^\d{1,15}$/.test(length) && Number(length) <= most && !headers.has('content-encoding')
}
