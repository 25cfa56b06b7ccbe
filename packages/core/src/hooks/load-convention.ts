import { readFile, realpath, stat } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SluiceError } from '../errors/sluice-error.js'
import { digest } from '../internal/digest.js'
import type { PluginList } from './check-plugins.js'
import type { HooksOrigin } from './hook-set.js'
import { describeError } from './observe.js'

const FILES = ['sluice.hooks.mjs', 'sluice.hooks.js', 'sluice.hooks.ts'] as const

/**
 * The folder of the application: `root` where it is given, else that of the main module's package.json. Where the main
 * module lies in node_modules (a test runner) or there is none, it is refused with `ROOT_UNKNOWN`; never the working directory.
 */
export async function findRoot(root: string | undefined, need: string): Promise<string> {
  if (root !== undefined) {
    const real = await realpath(root).catch(() => undefined)
    if (real === undefined || !(await stat(real)).isDirectory()) {
      throw new SluiceError('ROOT_UNKNOWN', `The root folder ${JSON.stringify(root)} does not exist.`, {
        hint: 'Give the folder that holds your package.json as `root`.',
      })
    }
    return real
  }
  const main = process.argv[1]
  const real = main === undefined ? undefined : await realpath(main).catch(() => undefined)
  if (real === undefined || real.split(sep).includes('node_modules')) {
    throw new SluiceError(
      'ROOT_UNKNOWN',
      `The root folder is needed for ${need} and cannot be told: ${real === undefined ? 'there is no main module' : 'the main module lies in node_modules'}.`,
      {
        hint: 'Give the folder that holds your package.json: createRuntime({ root }).',
      },
    )
  }
  for (let folder = dirname(real); ; folder = dirname(folder)) {
    if (await exists(join(folder, 'package.json'))) return folder
    if (dirname(folder) === folder) break
  }
  throw new SluiceError(
    'ROOT_UNKNOWN',
    `The root folder is needed for ${need} and cannot be told: no package.json stands above the main module.`,
    {
      hint: 'Give the folder as createRuntime({ root }).',
    },
  )
}

/**
 * Imports the hook file beside the package.json of `root`. None: `HOOKS_MISSING`; one that is there but does not load, or
 * whose default export is no list, is a fault as much as a broken plugin (H-W1).
 */
export async function loadConvention(root: string | undefined): Promise<{ plugins: PluginList; origin: HooksOrigin }> {
  const folder = await findRoot(root, 'the hook file')
  const found: string[] = []
  for (const name of FILES) if (await exists(join(folder, name))) found.push(name)
  if (found.length === 0) {
    throw new SluiceError(
      'HOOKS_MISSING',
      `The runtime was given no plugins, and ${folder} holds no ${FILES.join(', ')}.`,
      {
        hint: 'Add sluice.hooks.mjs with `export default [ ...plugins ]`, or say plugins: [] for an app without gates.',
      },
    )
  }
  if (found.length > 1) {
    throw new SluiceError('HOOKS_BROKEN', `${folder} holds several hook files: ${found.join(', ')}.`, {
      hint: 'Keep one of them.',
    })
  }
  const path = await realpath(join(folder, found[0] as string))
  if (!path.startsWith(folder + sep) || path.slice(folder.length).split(sep).includes('node_modules')) {
    throw new SluiceError('HOOKS_BROKEN', `The hook file leads out of the root folder: ${path}.`, {
      hint: `Keep it inside ${folder}, outside node_modules.`,
    })
  }
  const text = await readFile(path, 'utf8')
  const origin: HooksOrigin = { kind: 'convention', path, digest: digest(text) }
  let module: { default?: unknown }
  try {
    // the digest is part of the address: a file that changed is loaded anew (H-W6)
    module = (await import(`${pathToFileURL(path).href}?sluice=${origin.digest?.slice(0, 16)}`)) as {
      default?: unknown
    }
  } catch (error) {
    throw new SluiceError('HOOKS_BROKEN', `The hook file ${path} does not load: ${describeError(error)}`, {
      cause: error,
      hint: 'Mend the file. Until then no run is accepted.',
    })
  }
  if (!Array.isArray(module.default)) {
    throw new SluiceError('HOOKS_BROKEN', `The default export of ${path} is not a list of plugins.`, {
      hint: 'Write: export default [ plugin() ].',
    })
  }
  return { plugins: module.default as PluginList, origin }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  )
}
