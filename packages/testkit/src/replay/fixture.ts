import type { JsonValue } from '@sluice/core'
import { testkitError } from '../testkit-error.js'

/** One server-sent event of a response. `data` is sent as JSON, a string as it is (`[DONE]`). */
export interface FixtureEvent {
  readonly event?: string
  readonly data: JsonValue
}

/** What a request must hold to be answered by an exchange. */
export interface FixtureRequest {
  /** @default 'POST' */
  readonly method?: string
  /** Host and path must be equal, a `*` in a segment of the path fits anything there; the parameters of its query must be in the request. */
  readonly url: string
  /**
   * What the JSON body must hold: every key that stands here, lists item by item. `{ "$contains": [...] }` fits a list that
   * has such items in this order, `{ "$includes": "text" }` a string. Absent: any body.
   */
  readonly body?: JsonValue
}

/** The answer of an exchange: `body` (JSON, or text as it is), `events`, or `lines`. */
export interface FixtureResponse {
  /** @default 200 */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: JsonValue
  readonly events?: readonly FixtureEvent[]
  /** A stream of JSON values, one a line (NDJSON). */
  readonly lines?: readonly JsonValue[]
  /** Cuts the body into pieces of so many bytes, also inside a character. @default one piece, one per event */
  readonly cutBytes?: number
  /** The connection breaks after so many pieces. */
  readonly breakAfter?: number
}

/** One request and its answer. */
export interface Exchange {
  readonly request: FixtureRequest
  readonly response: FixtureResponse
  /** True where it is no fault when nobody asks for it. @default false */
  readonly optional?: boolean
}

/** A file of recorded or hand-written traffic. Other fields than these are kept and ignored. */
export interface Fixture {
  readonly protocol?: string
  readonly situation?: string
  /** Says whether the bytes were ever sent by a provider. */
  readonly origin?: 'hand-written' | 'recorded'
  readonly note?: string
  readonly exchanges: readonly Exchange[]
}

/** `protocol/situation`, or what else there is to call it. */
export function fixtureName(fixture: Fixture): string {
  return [fixture.protocol, fixture.situation].filter((part) => part !== undefined).join('/') || 'the fixture'
}

/** Checks what came from a file. @throws FIXTURE_INVALID listing all faults by path */
export function parseFixture(value: unknown, source: string): Fixture {
  const faults: string[] = []
  const exchanges = isObject(value) ? value.exchanges : undefined
  if (!Array.isArray(exchanges) || exchanges.length === 0) faults.push('exchanges: a list of at least one exchange')
  else for (const [index, exchange] of exchanges.entries()) checkExchange(exchange, `exchanges[${index}]`, faults)
  if (faults.length > 0) {
    throw testkitError('FIXTURE_INVALID', `${source} is no fixture:\n${faults.map((fault) => `  ${fault}`).join('\n')}`)
  }
  return value as Fixture
}

function checkExchange(exchange: unknown, path: string, faults: string[]): void {
  if (!isObject(exchange) || !isObject(exchange.request) || !isObject(exchange.response)) {
    faults.push(`${path}: an object with request and response`)
    return
  }
  const { request, response } = exchange
  if (typeof request.url !== 'string' || !URL.canParse(request.url)) faults.push(`${path}.request.url: a whole URL`)
  if (request.method !== undefined && typeof request.method !== 'string')
    faults.push(`${path}.request.method: a string`)
  const { status, events, lines, body } = response
  if (status !== undefined && !(Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599)) {
    faults.push(`${path}.response.status: a status from 200 to 599`)
  }
  if (events !== undefined && body !== undefined) faults.push(`${path}.response: body or events, not both`)
  if (lines !== undefined && (!Array.isArray(lines) || body !== undefined || events !== undefined)) {
    faults.push(`${path}.response.lines: a list, without body and events`)
  }
  if (events !== undefined && !(Array.isArray(events) && events.every((event) => isObject(event) && 'data' in event))) {
    faults.push(`${path}.response.events: a list of { event, data }`)
  }
  for (const name of ['cutBytes', 'breakAfter'] as const) {
    const number = response[name]
    const least = name === 'cutBytes' ? 1 : 0
    if (number !== undefined && !(Number.isInteger(number) && Number(number) >= least)) {
      faults.push(`${path}.response.${name}: a whole number of at least ${least}`)
    }
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}
