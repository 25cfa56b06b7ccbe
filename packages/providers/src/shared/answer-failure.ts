import { isWire } from './wire-json.js'

/**
 * An error answer of a provider whose SDK would lose its headers, or write to the console what it cannot read. The members
 * have the names that the official SDKs give them, so that all errors are translated in one place.
 */
export class AnswerFailure extends Error {
  readonly status: number
  readonly headers: Headers
  /** The body: an object where it is one, else its text. */
  readonly error: unknown

  constructor(response: Response, text: string) {
    super(text === '' ? `status ${response.status} without a body` : `status ${response.status}`)
    this.status = response.status
    this.headers = response.headers
    this.error = text === '' ? {} : bodyOf(text)
  }
}

/** Reads an error answer to its end. */
export async function answerFailure(response: Response): Promise<AnswerFailure> {
  return new AnswerFailure(response, await response.text())
}

function bodyOf(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text)
    return isWire(body) ? body : text
  } catch {
    return text
  }
}
