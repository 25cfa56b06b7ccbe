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
import type { PluginSet } from './sets.js'
import type { SuiteOptions } from './suite-options.js'

const IN_FLIGHT = [1, 32, 256]
/** Requests that a slice makes at least. */
const REQUESTS_A_SLICE = 120

/** CPU time per run: the raw loop, itself again, and the runtime with each set of plugins, slice by slice. */
export async function cpuSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const inFlight of IN_FLIGHT) {
    for (const scenario of SCENARIOS) {
      const prefix = `cpu/${scenario.name}/${inFlight}-in-flight`
      const sets = SETS.filter((set) => options.wants(`${prefix}/${set.name}`))
      if (sets.length === 0) continue
      options.progress(prefix)
      figures.push(...(await compare(server, options, { prefix, scenario, inFlight, sets })))
    }
  }
  return figures
}

interface Case {
  readonly prefix: string
  readonly scenario: Scenario
  readonly inFlight: number
  readonly sets: readonly PluginSet[]
}

async function compare(server: LoopbackServer, options: SuiteOptions, at: Case): Promise<Figure[]> {
  const { scenario, inFlight } = at
  const count = Math.max(inFlight, Math.ceil(REQUESTS_A_SLICE / (scenario.rounds + 1)))
  const client = new OpenAI({ apiKey: 'bench', baseURL: server.baseUrl })
  const raw = () => rawRun(client, scenario.name)
  const sides: Side[] = [cpuSide('raw', count, inFlight, raw), cpuSide('again', count, inFlight, raw)]
  for (const set of at.sets) {
    // a runtime for each slice: the memory store keeps every run, and must not grow from slice to slice
    sides.push({
      name: set.name,
      slice: async () => {
        const runtime = await benchRuntime(server.baseUrl, pluginsTappingAll(set.plugins, set.kind))
        await sluiceRun(runtime, '0-rounds')
        const sample = await cpuOf(count, inFlight, () => sluiceRun(runtime, scenario.name))
        await runtime.close()
        return sample
      },
    })
  }
  const collect = (): void => globalThis.gc?.({ type: 'minor' })
  await interleave(sides, options.warmUps, collect)
  const samples = await interleave(sides, options.slices, collect)
  const floor = samples.get('raw') as readonly number[]
  const again = samples.get('again') as readonly number[]
  return at.sets.map((set) =>
    ratioFigure(
      `${at.prefix}/${set.name}`,
      'us of CPU a run',
      { subject: samples.get(set.name) as readonly number[], floor, again },
      set.cpuTarget(scenario.name),
    ),
  )
}

function cpuSide(name: string, count: number, inFlight: number, work: () => Promise<unknown>): Side {
  return { name, slice: () => cpuOf(count, inFlight, work) }
}

async function cpuOf(count: number, inFlight: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await runInFlight(count, inFlight, work)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}
