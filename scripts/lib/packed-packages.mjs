// The tarballs of packages as they will be published. What was packed once is kept in `.cache/packed` under a digest of all
// that goes in: its manifest, README and licence, every file of `dist`, and the manifests that its workspace ranges point to.
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { root, runProgram } from './steps.mjs'

const kept = join(root, '.cache', 'packed')
// another program may be installing from an older one
const KEPT_MS = 3_600_000

/** Paths of the tarballs of `folders` in `packages/`, in their order. Needs the build. Throws with the output of `pnpm pack`. */
export const packedPackages = (folders, { fresh = false } = {}) =>
  Promise.all(folders.map((folder) => packedPackage(folder, fresh)))

async function packedPackage(folder, fresh) {
  const path = join(root, 'packages', folder)
  const tarball = join(kept, `${folder}-${digestOf(folder)}.tgz`)
  if (!fresh && existsSync(tarball)) return tarball
  mkdirSync(kept, { recursive: true })
  const scratch = mkdtempSync(join(kept, 'packing-'))
  try {
    const { code, output } = await runPnpm(['pack', '--pack-destination', scratch], path)
    const file = readdirSync(scratch).find((entry) => entry.endsWith('.tgz'))
    if (code !== 0 || file === undefined) throw new Error(`pnpm pack failed for ${folder}\n${output}`)
    for (const old of readdirSync(kept)) {
      const { mtimeMs } = statSync(join(kept, old), { throwIfNoEntry: false }) ?? { mtimeMs: 0 }
      if (Date.now() - mtimeMs > KEPT_MS) rmSync(join(kept, old), { recursive: true, force: true })
    }
    copyFileSync(join(scratch, file), `${tarball}.new`)
    renameSync(`${tarball}.new`, tarball)
    return tarball
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** pnpm where it is installed, else the pinned one through npm. */
async function runPnpm(args, cwd) {
  const direct = await runProgram('pnpm', args, { cwd })
  if (direct.code !== 127) return direct
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return runProgram('npm', ['exec', '-y', `--package=${packageManager}`, '--', 'pnpm', ...args], { cwd })
}

function digestOf(folder) {
  const path = join(root, 'packages', folder)
  const files = [
    ...readdirSync(join(root, 'packages')).map((other) => join(root, 'packages', other, 'package.json')),
    ...['package.json', 'pnpm-workspace.yaml', 'LICENSE'].map((name) => join(root, name)),
    ...readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => !/[\\/](?:src|node_modules|\.types)[\\/]/.test(file.slice(path.length))),
  ]
  const hash = createHash('sha256')
  for (const file of [...new Set(files)].sort()) {
    if (existsSync(file))
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update('\0')
  }
  return hash.digest('hex').slice(0, 20)
}
