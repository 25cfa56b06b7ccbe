import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom } from '../recorded/seeded-random.js'
import { WIRED } from '../wire/adapters.js'
import { FAULTS } from './faults.js'
import type { RunPlan } from './run-plan.js'
import { planOf } from './run-plan.js'

export interface HostileServer {
  readonly url: string
  /** Requests that came, by the fault that they met. */
  readonly played: ReadonlyMap<string, number>
  close(): Promise<void>
}

const CALL = { id: 'call_1', name: 'look_up', args: '{"invoice":"INV-1"}' }

/** A server on loopback that plays the plan of each run: the run is known by the name of its model. */
export async function serveHostile(seed: number): Promise<HostileServer> {
  const asked = new Map<number, number>()
  const played = new Map<string, number>()
  const server = createServer((incoming, response) => {
    // a reader that is gone is what this is about
    response.on('error', () => {})
    void receive(incoming)
      .then((text) => answer(`${incoming.url} ${text}`, response))
      .catch(() => response.destroy())
  })
  // nothing is closed but by a fault: a connection may wait long on a busy machine
  server.keepAliveTimeout = 600_000
  server.on('clientError', (_error, socket) => socket.destroy())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  async function answer(request: string, response: ServerResponse): Promise<void> {
    const run = Number(/hostile-(\d+)/.exec(request)?.[1])
    const step = asked.get(run) ?? 0
    asked.set(run, step + 1)
    const plan = planOf(seed, run)
    const fault = step < plan.goodRounds ? FAULTS[0] : plan.fault
    if (fault === undefined) throw new Error('no fault')
    played.set(fault.name, (played.get(fault.name) ?? 0) + 1)
    const random = seededRandom(seed + run * 977 + step)
    await fault.play({ response, answer: goodAnswer(plan, step), random })
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    played,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Calls in the first rounds, then a text. */
function goodAnswer(plan: RunPlan, step: number) {
  const { wire } = WIRED[plan.adapter] as (typeof WIRED)[number]
  const reply =
    step < plan.goodRounds ? { calls: [CALL] } : { text: `The answer to run ${plan.run}, with umlauts äöü.` }
  return plan.streamed ? wire.stream(reply) : wire.whole(reply)
}

async function receive(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
