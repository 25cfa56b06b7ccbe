import { execFile } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import type { Figure } from '../measure/figure.js'
import { plainFigure } from '../measure/figure.js'
import { interleave } from '../measure/interleave.js'
import { floorHasContext } from '../subjects/raw-loop.js'
import type { SuiteOptions } from './suite-options.js'

const ASKINGS_A_SLICE = 20_000
const CASES = [
  { name: 'dispatch/no-taps', taps: 0, kind: 'sync', target: undefined },
  { name: 'dispatch/5-sync', taps: 5, kind: 'sync', target: 600 },
  { name: 'dispatch/5-async', taps: 5, kind: 'async', target: floorHasContext ? 4000 : 2500 },
  { name: 'dispatch/20-sync', taps: 20, kind: 'sync', target: undefined },
  { name: 'dispatch/20-async', taps: 20, kind: 'async', target: undefined },
] as const

type Dispatcher = typeof import('../programs/dispatcher.js')

/**
 * Nanoseconds of CPU that one asking of one gate point costs, with everything that belongs to it: frame, frozen context,
 * deadlines, rows and receipt.
 */
export async function dispatchSuite(options: SuiteOptions): Promise<Figure[]> {
  const cases = CASES.filter(({ name }) => options.wants(name))
  if (cases.length === 0) return []
  options.progress('dispatch')
  const { askings } = await bundled()
  const sides = cases.map(({ name, taps, kind }) => ({ name, slice: () => askings(taps, kind, ASKINGS_A_SLICE) }))
  const collect = (): void => globalThis.gc?.({ type: 'minor' })
  await interleave(sides, options.warmUps, collect)
  const samples = await interleave(sides, options.slices, collect)
  return cases.map(({ name, target }) =>
    plainFigure(name, 'ns an asking', samples.get(name) as readonly number[], target),
  )
}

/** The dispatcher in one plain file: the loader of this process would name every closure, at a cost. */
async function bundled(): Promise<Dispatcher> {
  const root = new URL('../../', import.meta.url)
  const folder = new URL('.cache/bench/', root)
  await promisify(execFile)(
    process.execPath,
    [
      fileURLToPath(new URL('node_modules/tsup/dist/cli-default.js', root)),
      fileURLToPath(new URL('bench/programs/dispatcher.ts', root)),
      ...['--no-config', '--format', 'esm', '--target', 'node20', '--out-dir', fileURLToPath(folder), '--silent'],
    ],
    { cwd: fileURLToPath(root) },
  )
  return (await import(pathToFileURL(fileURLToPath(new URL('dispatcher.js', folder))).href)) as Dispatcher
}
