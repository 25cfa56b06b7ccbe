import type { SluiceError } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import type { Difference } from './compare-body.js'
import { compareBody } from './compare-body.js'
import type { Exchange, Fixture } from './fixture.js'
import { fixtureName } from './fixture.js'

/** A request as it arrived. */
export interface ReplayedRequest {
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON; the text where it is no JSON; `undefined` without a body. */
  readonly body: unknown
}

/** Options of the matching. */
export interface MatchOptions {
  /** `strict`: requests come in the order of the exchanges. `any`: each takes the first exchange that fits. @default 'strict' */
  readonly order?: 'strict' | 'any'
}

/** Chooses the exchange for each request, and remembers what fitted nothing. */
export interface ReplayRouter {
  readonly requests: readonly ReplayedRequest[]
  /** Takes the exchange for this request. @throws REPLAY_MISS */
  take(request: ReplayedRequest): Exchange
  /** @throws REPLAY_MISS, REPLAY_LEFT_OVER */
  assertDone(): void
}

/** `hosts: false` compares paths only, for a server of our own. */
export function createReplayRouter(
  fixture: Fixture,
  options: MatchOptions & { readonly hosts: boolean },
): ReplayRouter {
  const open = fixture.exchanges.map((exchange, index) => ({ exchange, number: index + 1, used: false }))
  const requests: ReplayedRequest[] = []
  const misses: string[] = []
  const name = fixtureName(fixture)

  function candidates() {
    const unused = open.filter((entry) => !entry.used)
    if (options.order === 'any') return unused
    // in strict order a request may pass over optional exchanges, never over others
    const stop = unused.findIndex((entry) => entry.exchange.optional !== true)
    return stop === -1 ? unused : unused.slice(0, stop + 1)
  }

  function miss(request: ReplayedRequest): SluiceError {
    const due = new Set(candidates().map((entry) => entry.number))
    const entries = open.map((entry) => ({
      ...entry,
      due: due.has(entry.number),
      differences: compareRequest(entry.exchange, request, options.hosts),
    }))
    const message = describeMiss(name, requests.length, request, entries)
    misses.push(message)
    return testkitError('REPLAY_MISS', message, { fixture: name, request: requests.length })
  }

  return {
    get requests() {
      return [...requests]
    },
    take(request) {
      requests.push(Object.freeze(request))
      const found = candidates().find((entry) => compareRequest(entry.exchange, request, options.hosts).length === 0)
      if (found === undefined) throw miss(request)
      // what was passed over cannot come later
      for (const entry of open) if (options.order !== 'any' && entry.number <= found.number) entry.used = true
      found.used = true
      return found.exchange
    },
    assertDone() {
      if (misses.length > 0)
        throw testkitError('REPLAY_MISS', misses.join('\n'), { fixture: name, misses: misses.length })
      const left = open.filter((entry) => !entry.used && entry.exchange.optional !== true)
      if (left.length === 0) return
      const lines = left.map(
        (entry) => `  ${entry.number}. ${entry.exchange.request.method ?? 'POST'} ${entry.exchange.request.url}`,
      )
      throw testkitError(
        'REPLAY_LEFT_OVER',
        `${name} got ${requests.length} of ${open.length} requests; these exchanges are left over:\n${lines.join('\n')}`,
        { fixture: name, requests: requests.length, leftOver: left.length },
      )
    },
  }
}

function compareRequest(exchange: Exchange, request: ReplayedRequest, hosts: boolean): readonly Difference[] {
  const expected = new URL(exchange.request.url)
  const actual = new URL(request.url)
  const differences: Difference[] = []
  const compare = (path: string, left: string, right: string) => {
    if (left !== right) differences.push({ path, expected: left, actual: right })
  }
  compare('method', (exchange.request.method ?? 'POST').toUpperCase(), request.method.toUpperCase())
  if (hosts) compare('host', expected.host, actual.host)
  if (!fitsPath(expected.pathname, actual.pathname)) compare('path', expected.pathname, actual.pathname)
  for (const [key, value] of expected.searchParams) {
    compare(`query.${key}`, value, actual.searchParams.get(key) ?? '(absent)')
  }
  if (exchange.request.body === undefined) return differences
  return [...differences, ...compareBody(exchange.request.body, request.body)]
}

/** Segment by segment: a `*` stands for whatever is there, where a protocol puts the name of the model into its path. */
function fitsPath(expected: string, actual: string): boolean {
  if (!expected.includes('*')) return expected === actual
  const segments = actual.split('/')
  const wanted = expected.split('/')
  return wanted.length === segments.length && wanted.every((each, index) => fitsSegment(each, segments[index] ?? ''))
}

function fitsSegment(expected: string, actual: string): boolean {
  const [start = '', ...rest] = expected.split('*')
  if (rest.length === 0) return start === actual
  const end = rest.join('*')
  return actual.length > start.length + end.length && actual.startsWith(start) && actual.endsWith(end)
}

interface ComparedExchange {
  readonly number: number
  readonly used: boolean
  /** True where it is the turn of this exchange. */
  readonly due: boolean
  readonly differences: readonly Difference[]
}

function describeMiss(
  name: string,
  number: number,
  request: ReplayedRequest,
  entries: readonly ComparedExchange[],
): string {
  const head = `Request ${number}, ${request.method} ${request.url}, fits no exchange of ${name}; nothing was sent.`
  const nearest = nearestExchange(entries)
  const place = `Nearest: exchange ${nearest.number} of ${entries.length}${nearest.used ? ', already used' : ''}`
  if (nearest.differences.length === 0) {
    return `${head}\n${place}${nearest.used ? '' : ', which comes later in the order'}.`
  }
  const lines = nearest.differences.map(
    (each) => `  ${each.path}\n    - ${each.expected}  (fixture)\n    + ${each.actual}  (request)`,
  )
  return `${head}\n${place}:\n${lines.join('\n')}`
}

/** One that fits but is not due, else the closest of those that are due, else the closest of all. */
function nearestExchange(entries: readonly ComparedExchange[]): ComparedExchange {
  const due = entries.filter((entry) => entry.due)
  const pool = due.length > 0 && entries.every((entry) => entry.differences.length > 0) ? due : entries
  return pool.reduce((best, entry) => (entry.differences.length < best.differences.length ? entry : best))
}
