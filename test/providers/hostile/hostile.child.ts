// Runs many runs at once against a hostile server and prints what came of each, and what they cost in memory.
//   node --expose-gc ... hostile.child.ts URL SEED RUNS
import type { ModelProvider, Runtime } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, defineTool, SluiceError } from '@sluice/core'
import * as z from 'zod'
import { WIRED } from '../wire/adapters.js'
import { planOf } from './run-plan.js'

export interface HostileReport {
  readonly ends: ReadonlyArray<{ readonly run: number; readonly end: string; readonly message?: string }>
  readonly mostInFlight: number
  readonly heapBefore: number
  readonly heapAfter: number
  readonly peakRss: number
}

const [url = '', seedText = '', runsText = ''] = process.argv.slice(2)
const seed = Number(seedText)
const runs = Number(runsText)
const ignore = () => {}
const logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }
let inFlight = 0
let mostInFlight = 0

const lookUp = defineTool({
  code: 'look_up',
  description: 'Looks an invoice up.',
  effect: 'read',
  input: z.object({ invoice: z.string() }),
  handler: () => 'It is due.',
})

/** A provider for each adapter; they live through all rounds, as in a service. */
const providers: ModelProvider[] = WIRED.map((adapter, place) => adapter.make({ baseUrl: url, id: `p${place}` }))

async function oneRun(runtime: Runtime, run: number): Promise<{ run: number; end: string; message?: string }> {
  const plan = planOf(seed, run)
  const options = { agent: `a${run}`, input: { question: 'Is it due?' } }
  inFlight += 1
  mostInFlight = Math.max(mostInFlight, inFlight)
  try {
    if (!plan.streamed) {
      const done = await runtime.execute(options)
      return { run, end: done.status }
    }
    const stream = runtime.stream(options)
    for await (const _event of stream);
    const done = await stream.run
    return { run, end: done.status }
  } catch (error) {
    if (!SluiceError.isInstance(error))
      return { run, end: 'UNNAMED', message: String((error as Error)?.stack ?? error) }
    return { run, end: error.code, message: error.message.slice(0, 200) }
  } finally {
    inFlight -= 1
  }
}

/** All runs at once, on a runtime and a store of their own, which are gone afterwards. */
async function round(first: number) {
  const ids = Array.from({ length: runs }, (_, index) => first + index)
  const runtime = await createRuntime({
    store: createMemoryStore(),
    providers,
    plugins: [],
    logger,
    agents: ids.map((run) =>
      defineAgent({
        code: `a${run}`,
        description: 'Answers.',
        model: `p${planOf(seed, run).adapter}/hostile-${run}`,
        system: 'You answer.',
        user: '{question}',
        tools: [lookUp],
      }),
    ),
  })
  const ends = await Promise.all(ids.map((run) => oneRun(runtime, run)))
  await runtime.close()
  return ends
}

async function heap(): Promise<number> {
  for (let time = 0; time < 4; time++) {
    globalThis.gc?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

// the first round loads the SDKs and opens the connections
await round(0)
const heapBefore = await heap()
const ends = await round(runs)
const heapAfter = await heap()
const report: HostileReport = {
  ends,
  mostInFlight,
  heapBefore,
  heapAfter,
  peakRss: process.resourceUsage().maxRSS * 1024,
}
console.log(JSON.stringify(report))
