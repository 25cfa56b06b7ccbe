import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Figure } from '../measure/figure.js'
import { ratioFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import type { LoopbackServer } from '../server/start-server.js'
import type { SuiteOptions } from './suite-options.js'

const TARGET = 1.15
/** What a program tells of itself, in milliseconds since its first line. */
interface Times {
  readonly imported: number
  readonly ran: number
}

/**
 * Time to import and to the end of the first run, each in a process of its own that has nothing else loaded. `plain` agents
 * have no tools; `tools` gives one tool whose arguments are checked with zod, on both sides.
 */
export async function startSuite(server: LoopbackServer, options: SuiteOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const kind of ['plain', 'tools']) {
    if (!['import', 'first-run'].some((what) => options.wants(`start/${what}/${kind}`))) continue
    options.progress(`start/${kind}`)
    const times = new Map<string, Times[]>([
      ['raw', []],
      ['again', []],
      ['sluice', []],
    ])
    const sides = [...times].map(([name, list]) => ({
      name,
      slice: async () => {
        const program = name === 'sluice' ? 'start-sluice.mjs' : 'start-raw.mjs'
        const measured = await run(program, [server.baseUrl, kind])
        list.push(measured)
        return measured.ran
      },
    }))
    await interleave(sides, Math.min(2, options.warmUps), () => undefined)
    for (const list of times.values()) list.length = 0
    await interleave(sides, options.slices, () => undefined)
    const figure = (what: string, read: (times: Times) => number): Figure =>
      ratioFigure(
        `start/${what}/${kind}`,
        'ms',
        {
          subject: (times.get('sluice') as Times[]).map(read),
          floor: (times.get('raw') as Times[]).map(read),
          again: (times.get('again') as Times[]).map(read),
        },
        TARGET,
      )
    figures.push(
      figure('import', (entry) => entry.imported),
      figure('first-run', (entry) => entry.ran),
    )
  }
  return figures
}

function run(program: string, args: readonly string[]): Promise<Times> {
  const path = fileURLToPath(new URL(`../programs/${program}`, import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [path, ...args], (error, stdout, stderr) => {
      if (error === null) resolve(JSON.parse(stdout) as Times)
      else reject(new Error(`${program} failed: ${stderr}`, { cause: error }))
    })
  })
}
