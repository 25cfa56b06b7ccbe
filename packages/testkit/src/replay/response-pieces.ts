import type { FixtureResponse } from './fixture.js'

/** The response as it is sent: status, headers with a content type, and the body in pieces. */
export interface PreparedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly pieces: readonly Buffer[]
  /** True where the connection breaks behind the last piece. */
  readonly broken: boolean
}

/** Renders a response of a fixture. Server-sent events and lines become one piece each, unless `cutBytes` says otherwise. */
export function prepareResponse(response: FixtureResponse): PreparedResponse {
  const contentType = response.events === undefined ? bodyType(response) : 'text/event-stream'
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(response.headers ?? {})) headers[name.toLowerCase()] = value
  headers['content-type'] ??= contentType
  const pieces = cut(wholePieces(response), response.cutBytes)
  return {
    status: response.status ?? 200,
    headers,
    pieces: response.breakAfter === undefined ? pieces : pieces.slice(0, response.breakAfter),
    broken: response.breakAfter !== undefined,
  }
}

function bodyType(response: FixtureResponse): string {
  if (response.lines !== undefined) return 'application/x-ndjson'
  return typeof response.body === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
}

function wholePieces(response: FixtureResponse): readonly Buffer[] {
  if (response.events !== undefined) {
    return response.events.map(({ event, data }) => {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      return Buffer.from(`${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`)
    })
  }
  if (response.lines !== undefined) return response.lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`))
  if (response.body === undefined) return []
  return [Buffer.from(typeof response.body === 'string' ? response.body : JSON.stringify(response.body))]
}

function cut(pieces: readonly Buffer[], bytes: number | undefined): readonly Buffer[] {
  if (bytes === undefined) return pieces
  const whole = Buffer.concat(pieces)
  const small: Buffer[] = []
  for (let from = 0; from < whole.length; from += bytes) small.push(whole.subarray(from, from + bytes))
  return small
}
