import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for one test with these files; its real path. */
export async function folder(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'sluice-hooks-')))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await write(join(root, name), text)
  return root
}

export async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** A hook file with one plugin, written without any import: what the package brands, it recognises. */
export function hookFile(name: string, code: string): string {
  return `
const veto = () => Object.defineProperty(Object.assign(new Error('No.'), { code: '${code}' }), Symbol.for('sluice.veto'), { value: true })
const spec = { name: '${name}', hookApi: 1, apply: (hooks) => hooks.beforeExecution.tap('deny', () => { throw veto() }) }
const plugin = Object.defineProperty({ name: '${name}', id: undefined, shadow: false, spec, options: undefined }, Symbol.for('sluice.plugin'), { value: true })
export default [plugin]
`
}
