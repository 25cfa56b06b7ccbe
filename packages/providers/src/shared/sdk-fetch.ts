import { boundedText } from './bounded-answer.js'
import { isWire } from './wire-json.js'

/** An error answer says what it has to say in a few KB; one that does not is told by its status alone. */
const MOST_ERROR_BYTES = 1024 * 1024

/** The `fetch` that the SDKs take. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/**
 * Why `fetch` itself failed. The SDKs look for "timeout" in the text of what `fetch` throws, and of its cause, and keep
 * only their own error when they find it (even in a quoted header name): so the original travels apart, as `origin`.
 */
export class NetworkFailure extends Error {
  readonly origin: unknown

  constructor(origin: unknown) {
    super('the request failed on the way')
    this.origin = origin
  }
}

/**
 * Wraps the `fetch` that an SDK is given. Two things pass that the SDK would lose: what `fetch` threw, and the text of an
 * error answer whose fields stand at the top level (Mistral) instead of under `error`. Answers with status 200 pass
 * untouched. Without `own`, the global `fetch` of the moment of the call is used, so that a later replacement is seen.
 */
export function sdkFetch(own?: Fetch): Fetch {
  return (input, init) =>
    (own ?? globalThis.fetch)(input, init).then(
      (response) => (response.ok ? response : liftFlatError(response)),
      (failure: unknown) => {
        throw isAbort(failure) ? failure : new NetworkFailure(failure)
      },
    )
}

function isAbort(failure: unknown): boolean {
  return failure instanceof Error && failure.name === 'AbortError'
}

async function liftFlatError(response: Response): Promise<Response> {
  const text = await boundedText(response, MOST_ERROR_BYTES).catch(() => '')
  return new Response(text === '' ? null : lifted(text), { status: response.status, headers: response.headers })
}

function lifted(text: string): string {
  try {
    const body: unknown = JSON.parse(text)
    if (isWire(body) && body.error === undefined && body.message !== undefined) return JSON.stringify({ error: body })
  } catch {
    // not JSON: the SDK keeps the text as the message
  }
  return text
}
