// The server of the benchmarks, in a process of its own so that its work is not counted. It answers POST /responses with
// replies made beforehand: the model names the scenario, and the calls answered so far tell the round.
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PARKED, SCENARIOS } from '../subjects/scenarios.js'
import { HEADERS, repliesOf } from './replies.js'

const ANSWERED = '"type":"function_call_output"'
const scenarios = new Map(
  [...SCENARIOS, PARKED].map((scenario) => [scenario.name, { scenario, replies: repliesOf(scenario) }]),
)
const parked: ServerResponse[] = []

const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
  if (request.url?.endsWith('/responses') === true) void answer(request, response)
  else if (request.url === '/parked') json(response, Buffer.from(String(parked.length)))
  else if (request.url === '/release') json(response, Buffer.from(String(release())))
  else response.writeHead(404).end()
})

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)).toString('latin1')
  const entry = scenarios.get(/"model":"([^"]+)"/.exec(body)?.[1] ?? '')
  if (entry === undefined) {
    response.writeHead(404).end()
    return
  }
  if (entry.scenario === PARKED) {
    parked.push(response)
    return
  }
  json(response, entry.replies[roundOf(body, entry.scenario.callsPerRound)] as Buffer)
}

function roundOf(body: string, callsPerRound: number): number {
  let answered = 0
  for (let at = body.indexOf(ANSWERED); at >= 0; at = body.indexOf(ANSWERED, at + ANSWERED.length)) answered += 1
  return callsPerRound === 0 ? 0 : Math.floor(answered / callsPerRound)
}

function json(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { ...HEADERS, 'content-length': body.length }).end(body)
}

/** Lets all parked replies go and closes their connections, so that the next ones start from nothing. */
function release(): number {
  const waiting = parked.splice(0)
  const reply = scenarios.get(PARKED.name)?.replies[0] as Buffer
  for (const response of waiting) {
    response.setHeader('connection', 'close')
    json(response, reply)
  }
  return waiting.length
}

process.on('disconnect', () => process.exit(0))
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
