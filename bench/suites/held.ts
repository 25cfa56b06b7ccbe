import { setTimeout as delay } from 'node:timers/promises'
import OpenAI from 'openai'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { Side } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import { pluginsTappingAll } from '../subjects/plugins.js'
import { rawRun } from '../subjects/raw-loop.js'
import { PARKED } from '../subjects/scenarios.js'
import { benchRuntime, sluiceRun } from '../subjects/sluice-run.js'
import { SETS } from './sets.js'
import type { SuiteOptions } from './suite-options.js'

const RUNS = 256
const TARGET = 1.6

/**
 * Heap held per run in flight: 256 runs wait for a reply that the server holds back, everything else is collected twice. The
 * connection of a run counts with it, on both sides: the server closes it with the reply, so none is there before.
 */
export async function heldSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const sets = SETS.filter((set) => options.wants(`held/parked/${set.name}`))
  if (sets.length === 0) return []
  options.progress('held/parked')
  const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl, timeout: 2_147_483_647 })
  const raw = () => rawRun(client, PARKED.name)
  const sides: Side[] = ['raw', 'again'].map((name) => ({ name, slice: () => heldBy(server, raw) }))
  for (const set of sets) {
    sides.push({
      name: set.name,
      slice: async () => {
        const runtime = await benchRuntime(server.baseUrl, pluginsTappingAll(set.plugins, set.kind))
        await sluiceRun(runtime, '0-rounds')
        const sample = await heldBy(server, () => sluiceRun(runtime, PARKED.name))
        await runtime.close()
        return sample
      },
    })
  }
  const noWork = (): void => undefined
  await interleave(sides, Math.min(2, options.warmUps), noWork)
  const samples = await interleave(sides, options.slices, noWork)
  const floor = samples.get('raw') as readonly number[]
  const again = samples.get('again') as readonly number[]
  return sets.map((set) =>
    ratioFigure(
      `held/parked/${set.name}`,
      'bytes a run in flight',
      { subject: samples.get(set.name) as readonly number[], floor, again },
      set.plugins === 5 ? TARGET : undefined,
    ),
  )
}

async function heldBy(server: LoopbackServer, work: () => Promise<unknown>): Promise<number> {
  const before = await settledHeap()
  const runs = Array.from({ length: RUNS }, work)
  while ((await server.parked()) < RUNS) await delay(5)
  const during = await settledHeap()
  await server.release()
  await Promise.all(runs)
  return (during - before) / RUNS
}

/** The heap after two collections, when closed connections have had the time to go. */
async function settledHeap(): Promise<number> {
  globalThis.gc?.()
  await delay(20)
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}
