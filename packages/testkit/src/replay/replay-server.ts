import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SluiceError } from '@sluice/core'
import type { FixtureSource } from './load-fixture.js'
import { loadFixture } from './load-fixture.js'
import type { MatchOptions, ReplayedRequest } from './replay-router.js'
import { createReplayRouter } from './replay-router.js'
import { prepareResponse } from './response-pieces.js'

/** A server on loopback that answers from a fixture. */
export interface ReplayServer {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string
  /** What the SDK of the fixture's protocol takes as its base URL: `url`, with `/v1` for OpenAI. */
  readonly baseUrl: string
  readonly requests: readonly ReplayedRequest[]
  /** @throws REPLAY_MISS, REPLAY_LEFT_OVER */
  done(): void
  /** Ends open connections and stops listening. */
  close(): Promise<void>
}

/**
 * Starts a server on 127.0.0.1 that answers from a fixture over real HTTP. Paths and bodies are matched as by `replay`, hosts
 * are not. A request that fits nothing gets status 400 with the miss as its text, and `done()` fails.
 *
 * @throws FIXTURE_NOT_FOUND, FIXTURE_INVALID
 */
export async function createReplayServer(source: FixtureSource, options: MatchOptions = {}): Promise<ReplayServer> {
  const fixture = loadFixture(source)
  const router = createReplayRouter(fixture, { ...options, hosts: false })
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy())
  })

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const prepared = await route(request)
    response.writeHead(prepared.status, prepared.headers)
    for (const piece of prepared.pieces) {
      await new Promise<void>((resolve, reject) => {
        response.write(piece, (error) => (error ? reject(error) : resolve()))
      })
    }
    if (prepared.broken) response.destroy()
    else response.end()
  }

  async function route(request: IncomingMessage) {
    const received = await toRequest(request)
    try {
      return prepareResponse(router.take(received).response)
    } catch (error) {
      if (!SluiceError.isInstance(error)) throw error
      return prepareResponse({
        status: 400,
        body: { error: { type: error.code, code: error.code, message: error.message } },
      })
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    baseUrl: fixture.protocol?.startsWith('openai') === true ? `${url}/v1` : url,
    get requests() {
      return router.requests
    },
    done: () => router.assertDone(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function toRequest(request: IncomingMessage): Promise<ReplayedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
  const url = `http://${headers.host}${request.url}`
  return { method: request.method ?? 'GET', url, headers, body: parse(text) }
}

function parse(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
