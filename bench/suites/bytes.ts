import { PerformanceObserver } from 'node:perf_hooks'
import OpenAI from 'openai'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { runInFlight } from '../measure/in-flight.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import { pluginsTappingAll } from '../subjects/plugins.js'
import { rawRun } from '../subjects/raw-loop.js'
import { SCENARIOS } from '../subjects/scenarios.js'
import type { Scenario } from '../subjects/scenarios.js'
import { benchRuntime, sluiceRun } from '../subjects/sluice-run.js'
import { SETS } from './sets.js'
import type { SuiteOptions } from './suite-options.js'

const IN_FLIGHT = 32
const REQUESTS_A_SLICE = 128

/**
 * Bytes of the heap that a run allocates. The process has a young generation so large (see `flags` in suite-list.ts) that no
 * collection falls into a slice: what `heapUsed` grows by is what was allocated. A slice with a collection in it is run again.
 */
export async function bytesSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const scenario of SCENARIOS) {
    const prefix = `bytes/${scenario.name}`
    const sets = SETS.filter((set) => options.wants(`${prefix}/${set.name}`))
    if (sets.length === 0) continue
    options.progress(prefix)
    const count = Math.ceil(REQUESTS_A_SLICE / (scenario.rounds + 1))
    const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl })
    const raw = () => rawRun(client, scenario.name)
    const sides: Side[] = ['raw', 'again'].map((name) => ({ name, slice: () => bytesOf(count, raw) }))
    for (const set of sets) {
      sides.push({
        name: set.name,
        slice: async () => {
          const runtime = await benchRuntime(server.baseUrl, pluginsTappingAll(set.plugins, set.kind))
          await sluiceRun(runtime, '0-rounds')
          const sample = await bytesOf(count, () => sluiceRun(runtime, scenario.name))
          await runtime.close()
          return sample
        },
      })
    }
    await interleave(sides, options.warmUps, noWork)
    const samples = await interleave(sides, options.slices, noWork)
    const floor = samples.get('raw') as readonly number[]
    const again = samples.get('again') as readonly number[]
    for (const set of sets) {
      const subject = samples.get(set.name) as readonly number[]
      figures.push(
        ratioFigure(`${prefix}/${set.name}`, 'bytes a run', { subject, floor, again }, targetOf(scenario, set.plugins)),
      )
    }
  }
  return figures
}

function targetOf(scenario: Scenario, plugins: number): number | undefined {
  if (plugins !== 5 || scenario.rounds === 0) return undefined
  return scenario.callsPerRound > 1 ? 1.35 : 1.15
}

const noWork = (): void => undefined

async function bytesOf(count: number, work: () => Promise<unknown>): Promise<number> {
  for (;;) {
    await collectAll()
    let collections = 0
    const observer = new PerformanceObserver((list) => {
      collections += list.getEntries().length
    })
    observer.observe({ entryTypes: ['gc'] })
    const before = process.memoryUsage().heapUsed
    await runInFlight(count, IN_FLIGHT, work)
    const after = process.memoryUsage().heapUsed
    // entries are handed over a turn later
    await new Promise(setImmediate)
    observer.disconnect()
    if (collections === 0) return (after - before) / count
  }
}

async function collectAll(): Promise<void> {
  globalThis.gc?.()
  await new Promise(setImmediate)
}
