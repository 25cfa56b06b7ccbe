import { boundedBodyOf } from './bounded-answer.js'
import type { Fetch } from './sdk-fetch.js'

/**
 * Wraps a `fetch` so that the SDK does not copy the headers of every good answer for a log that is off: it lists them, and
 * sorts them for that, twice an answer. Everything else of the answer is there, its body up to the bound of what is read;
 * errors pass as they are.
 */
export function leanFetch(own: Fetch): Fetch {
  return (input, init) => own(input, init).then((response) => (response.ok ? new LeanResponse(response) : response))
}

/** Headers that are read by name or walked through, and seem empty to who lists them. */
class LeanHeaders {
  readonly #headers: Headers

  constructor(headers: Headers) {
    this.#headers = headers
  }

  get(name: string): string | null {
    return this.#headers.get(name)
  }

  has(name: string): boolean {
    return this.#headers.has(name)
  }

  getSetCookie(): string[] {
    return this.#headers.getSetCookie()
  }

  forEach(each: (value: string, name: string, headers: Headers) => void): void {
    this.#headers.forEach(each)
  }

  *entries(): Generator<[string, string]> {}

  *keys(): Generator<string> {}

  *values(): Generator<string> {}

  [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.#headers.entries()
  }
}

class LeanResponse implements Pick<Response, Exclude<keyof Response, 'clone'>> {
  readonly headers: Headers
  readonly #response: Response
  #body: Response['body'] | undefined

  constructor(response: Response) {
    this.#response = response
    this.headers = new LeanHeaders(response.headers) as unknown as Headers
  }

  get body(): Response['body'] {
    if (this.#body === undefined) this.#body = boundedBodyOf(this.#response)
    return this.#body
  }

  get bodyUsed(): boolean {
    return this.#response.bodyUsed
  }

  get ok(): boolean {
    return this.#response.ok
  }

  get redirected(): boolean {
    return this.#response.redirected
  }

  get status(): number {
    return this.#response.status
  }

  get statusText(): string {
    return this.#response.statusText
  }

  get type(): Response['type'] {
    return this.#response.type
  }

  get url(): string {
    return this.#response.url
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return this.#response.arrayBuffer()
  }

  blob(): ReturnType<Response['blob']> {
    return this.#response.blob()
  }

  formData(): ReturnType<Response['formData']> {
    return this.#response.formData()
  }

  json(): Promise<unknown> {
    return this.#response.json()
  }

  text(): Promise<string> {
    return this.#response.text()
  }

  clone(): Response {
    return this.#response.clone()
  }
}
