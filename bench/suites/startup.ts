import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import type { SuiteOptions } from './suite-options.js'

const run = promisify(execFile)

/** From the start of a process to the imported packages, and to the end of its first run. */
export async function startupSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  if (!options.wants('startup/first-run')) return []
  options.progress('startup')
  const imported = new Map<string, number[]>([
    ['raw', []],
    ['again', []],
    ['sluice', []],
  ])
  const side = (name: string, program: string) => ({
    name,
    slice: async () => {
      const times = await timesOf(program, server.baseUrl)
      imported.get(name)?.push(times.imported)
      return times.done
    },
  })
  const sides = [
    side('raw', 'first-run-raw.mjs'),
    side('again', 'first-run-raw.mjs'),
    side('sluice', 'first-run-sluice.mjs'),
  ]
  const nothing = (): void => undefined
  await interleave(sides, 1, nothing)
  for (const samples of imported.values()) samples.length = 0
  const done = await interleave(sides, options.slices, nothing)
  return [
    figureOf('startup/first-run', 'ms to the end of the first run', done),
    figureOf('startup/import', 'ms to import', imported),
  ]
}

function figureOf(name: string, unit: string, samples: ReadonlyMap<string, readonly number[]>): Figure {
  const of = (side: string) => samples.get(side) as readonly number[]
  return ratioFigure(name, unit, { subject: of('sluice'), floor: of('raw'), again: of('again') }, 1.15)
}

async function timesOf(program: string, baseUrl: string): Promise<{ imported: number; done: number }> {
  const file = fileURLToPath(new URL(`../programs/${program}`, import.meta.url))
  const { stdout } = await run(process.execPath, [file, baseUrl], { env: { ...process.env, NODE_OPTIONS: '' } })
  return JSON.parse(stdout) as { imported: number; done: number }
}
