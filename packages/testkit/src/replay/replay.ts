import { createRequire, syncBuiltinESMExports } from 'node:module'
import { Readable } from 'node:stream'
import type nockModule from 'nock'
import { testkitError } from '../testkit-error.js'
import type { Fixture } from './fixture.js'
import { fixtureName } from './fixture.js'
import type { FixtureSource } from './load-fixture.js'
import { loadFixture } from './load-fixture.js'
import type { MatchOptions, ReplayedRequest } from './replay-router.js'
import { createReplayRouter } from './replay-router.js'
import type { PreparedResponse } from './response-pieces.js'
import { prepareResponse } from './response-pieces.js'

/** Options of {@link replay}. */
export interface ReplayOptions extends MatchOptions {
  /** Lets requests to 127.0.0.1, ::1 and localhost really go out, for tests with a server of their own. @default false */
  readonly loopback?: boolean
}

/** A replay in force. */
export interface Replay {
  /** Requests so far, those that fitted nothing too. */
  readonly requests: readonly ReplayedRequest[]
  /** A key to give to an SDK that wants one; no provider knows it. */
  readonly apiKey: string
  /** Ends the replay, then says what went wrong in it. @throws REPLAY_MISS, REPLAY_LEFT_OVER */
  done(): void
  /** Ends the replay without looking at what is left over. */
  restore(): void
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** nock is process-wide, and so is the mark that it is in use: it must hold across two copies of this package. */
const ACTIVE: unique symbol = Symbol.for('sluice.testkit.replay') as never
type Marked = { [ACTIVE]?: string }

/**
 * Answers all HTTP requests of this process from a fixture, through nock: no request leaves, and one that fits no exchange
 * fails with the nearest one in its message. End it with `done()`. Make providers after it: an SDK may keep the `fetch` that
 * it found when it was made.
 *
 * @example
 * const wire = replay('openai-responses/tool-round')
 * const run = await runtime.execute({ agent: 'ap_desk', input })
 * wire.done()
 *
 * @throws FIXTURE_NOT_FOUND, FIXTURE_INVALID, REPLAY_OFF; REPLAY_ACTIVE while another replay is in force
 */
export function replay(source: FixtureSource, options: ReplayOptions = {}): Replay {
  const fixture = loadFixture(source)
  const name = fixtureName(fixture)
  const marked = globalThis as Marked
  const other = marked[ACTIVE]
  if (other !== undefined) {
    throw testkitError(
      'REPLAY_ACTIVE',
      `${name} cannot be replayed while ${other} is; requests of one would meet the other.`,
    )
  }
  if (process.env.NOCK_OFF === 'true') throw testkitError('REPLAY_OFF', `${name} cannot be replayed.`)

  const router = createReplayRouter(fixture, { ...options, hosts: true })
  const stop = start(fixture, options.loopback === true, (request) => prepareResponse(router.take(request).response))
  marked[ACTIVE] = name

  let ended = false
  const restore = () => {
    if (ended) return
    ended = true
    stop()
    delete marked[ACTIVE]
  }
  return {
    get requests() {
      return router.requests
    },
    apiKey: 'no-key-needed',
    restore,
    done() {
      restore()
      router.assertDone()
    },
  }
}

type Answer = (request: ReplayedRequest) => PreparedResponse

/** Has nock answer for the hosts of the fixture and refuse all others; returns what puts everything back. */
function start(fixture: Fixture, loopback: boolean, answer: Answer): () => void {
  const require = createRequire(import.meta.url)
  // loaded here and not at import, because nock changes http and fetch as soon as it is loaded
  const wasLoaded = require.cache[require.resolve('nock')] !== undefined
  const nock = require('nock') as typeof nockModule
  const wasActive = wasLoaded && nock.isActive()

  const origins = new Set(fixture.exchanges.map((exchange) => new URL(exchange.request.url).origin))
  const interceptors = [...origins].flatMap((origin) => intercept(nock(origin).persist(), answer))
  const refuse = (...args: unknown[]) => refuseUnknown(args, loopback, answer)
  nock.emitter.on('no match', refuse)
  if (!nock.isActive()) nock.activate()
  // nock replaces properties of node:http; without this, `import { request } from 'node:http'` would still be the real one
  syncBuiltinESMExports()
  return () => {
    nock.emitter.off('no match', refuse)
    for (const interceptor of interceptors) nock.removeInterceptor(interceptor)
    if (!wasActive) nock.restore()
    syncBuiltinESMExports()
  }
}

function intercept(scope: nockModule.Scope, answer: Answer): readonly nockModule.Interceptor[] {
  return METHODS.map((method) => {
    const interceptor = scope.intercept(() => true, method)
    // what a reply function throws at once would end the process, so it is async
    interceptor.reply(async function (this: nockModule.ReplyFnContext, _path, body) {
      const { status, headers, pieces, broken } = readableByClients(() => answer(toRequest(this, method, body)))
      return [status, Readable.from(deliver(pieces, broken), { objectMode: false }) as never, headers]
    })
    return interceptor
  })
}

/** nock asks this, before it lets a request out, about every one that no interceptor takes; what it throws is the request's error. */
function refuseUnknown(args: readonly unknown[], loopback: boolean, answer: Answer): void {
  const { proto, host, path, method } = (args[1] ?? args[0]) as Readonly<Record<string, string>>
  const url = `${proto}://${host}${path}`
  if (loopback && LOOPBACK.has(new URL(url).hostname)) return
  readableByClients(() => answer({ method: method ?? 'GET', url, headers: {}, body: undefined }))
}

function toRequest(context: nockModule.ReplyFnContext, method: string, body: unknown): ReplayedRequest {
  const { headers, path } = context.req
  const flat = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  const { origin } = new URL((context as unknown as { readonly basePath: string }).basePath)
  return { method, url: `${origin}${path}`, headers: flat, body: body === '' ? undefined : body }
}

async function* deliver(pieces: readonly Buffer[], broken: boolean): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    // one turn of the event loop between two pieces, so that a client reads them one by one
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
    yield piece
  }
  if (broken) throw new Error('The connection broke (replayed).')
}

/** SDKs look for "timeout" in the text of a failure and would call it one; a miss may quote a request that holds the word. */
function readableByClients<Value>(work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replace(/(time)(d? ?out)/gi, '$1·$2')
    throw error
  }
}
