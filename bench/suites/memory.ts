import OpenAI from 'openai'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import { pluginsTappingAll } from '../subjects/plugins.js'
import { rawRun } from '../subjects/raw-loop.js'
import { PARKED, SCENARIOS } from '../subjects/scenarios.js'
import { benchRuntime, sluiceRun } from '../subjects/sluice-run.js'
import type { SuiteOptions } from './suite-options.js'

/** Runs of a slice: few enough that the young generation is not collected in the middle (see scripts/bench.mjs). */
const RUNS_A_SLICE = 12
const HELD = 256

/** Bytes of heap that one run allocates, five plugins with synchronous taps against the raw loop. */
export async function bytesSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const scenario of SCENARIOS) {
    const name = `bytes/${scenario.name}/5-sync`
    if (scenario.rounds === 0 || !options.wants(name)) continue
    options.progress(name)
    const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl })
    const runtime = await benchRuntime(server.baseUrl, pluginsTappingAll(5, 'sync'))
    const raw = () => rawRun(client, scenario.name)
    const sides: Side[] = [
      { name: 'raw', slice: () => bytesOf(raw) },
      { name: 'again', slice: () => bytesOf(raw) },
      { name: 'sluice', slice: () => bytesOf(() => sluiceRun(runtime, scenario.name)) },
    ]
    const collect = (): void => globalThis.gc?.()
    await interleave(sides, options.warmUps, collect)
    const samples = await interleave(sides, options.slices, collect)
    await runtime.close()
    figures.push(figureOf(name, 'bytes allocated a run', samples, scenario.name === '10-calls' ? 1.35 : 1.15))
  }
  return figures
}

async function bytesOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().heapUsed
  for (let run = 0; run < RUNS_A_SLICE; run++) await work()
  return Math.max(1, (process.memoryUsage().heapUsed - before) / RUNS_A_SLICE)
}

/** Heap held by one run in flight: 256 requests parked at the server, after two forced collections. */
export async function heldSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const name = 'held/parked/5-sync'
  if (!options.wants(name)) return []
  options.progress(name)
  const raw: Side = {
    name: 'raw',
    slice: async () => {
      const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl })
      return heldOf(server, () => rawRun(client, PARKED.name))
    },
  }
  const sides: Side[] = [
    raw,
    { ...raw, name: 'again' },
    {
      name: 'sluice',
      slice: async () => {
        const runtime = await benchRuntime(server.baseUrl, pluginsTappingAll(5, 'sync'))
        await sluiceRun(runtime, '0-rounds')
        const held = await heldOf(server, () => sluiceRun(runtime, PARKED.name))
        await runtime.close()
        return held
      },
    },
  ]
  const nothing = (): void => undefined
  await interleave(sides, 2, nothing)
  const samples = await interleave(sides, options.slices, nothing)
  return [figureOf(name, 'bytes held a run', samples, 1.6)]
}

async function heldOf(server: LoopbackServer, work: () => Promise<unknown>): Promise<number> {
  collectTwice()
  const before = process.memoryUsage().heapUsed
  const runs = Array.from({ length: HELD }, work)
  while ((await server.parked()) < HELD) await new Promise((resolve) => setImmediate(resolve))
  collectTwice()
  const held = (process.memoryUsage().heapUsed - before) / HELD
  await server.release()
  await Promise.all(runs)
  return Math.max(1, held)
}

function collectTwice(): void {
  globalThis.gc?.()
  globalThis.gc?.()
}

function figureOf(name: string, unit: string, samples: ReadonlyMap<string, readonly number[]>, target: number): Figure {
  const [subject, floor, again] = ['sluice', 'raw', 'again'].map((side) => samples.get(side) as readonly number[])
  return ratioFigure(
    name,
    unit,
    { subject: subject as readonly number[], floor: floor as readonly number[], again: again as readonly number[] },
    target,
  )
}
