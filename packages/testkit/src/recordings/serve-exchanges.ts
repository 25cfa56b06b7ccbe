import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { RecordedResponse } from './recording.js'
import { responseHeaders, responseText } from './recording.js'

/** A request that the server received. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** How one request is answered: a recorded answer, or by hand. */
export type Answer = RecordedResponse | ((request: ReceivedRequest, response: ServerResponse) => void | Promise<void>)

/** A server on loopback that gives its answers one after another. */
export interface ExchangeServer {
  /** `http://127.0.0.1:<port>`, without a path. */
  readonly url: string
  readonly requests: readonly ReceivedRequest[]
  /** Adds an answer for one more request. A request without an answer gets status 599. */
  answer(next: Answer): void
  /** Ends open connections and stops listening. */
  close(): Promise<void>
}

/** Starts a server on 127.0.0.1 that answers requests in order, recorded bodies byte for byte. */
export async function serveExchanges(answers: readonly Answer[] = []): Promise<ExchangeServer> {
  const queue = [...answers]
  const requests: ReceivedRequest[] = []
  const server = createServer((incoming, response) => {
    void receive(incoming)
      .then((request) => {
        requests.push(request)
        return reply(queue.shift(), request, response)
      })
      .catch(() => response.destroy())
  })
  await listen(server)
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answer: (next) => void queue.push(next),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve())
  })
}

async function receive(incoming: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return { path: incoming.url ?? '/', headers: incoming.headers, body: Buffer.concat(chunks).toString('utf8') }
}

async function reply(answer: Answer | undefined, request: ReceivedRequest, response: ServerResponse): Promise<void> {
  if (typeof answer === 'function') return answer(request, response)
  if (answer === undefined) {
    response.writeHead(599, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ error: { message: 'a request more than there are answers' } }))
    return
  }
  response.writeHead(answer.status, responseHeaders(answer))
  response.end(responseText(answer))
}
