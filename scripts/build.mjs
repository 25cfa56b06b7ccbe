// Builds the packages with tsup, in parallel, and only those whose sources (or whose dependencies' sources) changed.
// Then checks that every file named in `exports` was built.
//
//   node scripts/build.mjs            builds what changed
//   node scripts/build.mjs --force    builds everything
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runProgram } from './lib/steps.mjs'

const force = process.argv.includes('--force')
const stampFile = join(root, '.cache', 'build-stamps.json')

const packages = readdirSync(join(root, 'packages'))
  .filter((folder) => existsSync(join(root, 'packages', folder, 'tsup.config.ts')))
  .sort()
  .map((folder) => {
    const path = join(root, 'packages', folder)
    return { folder, path, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) }
  })

const isTest = (name) => /\.test(-d)?\.ts$/.test(name)

const sourceFiles = (path) =>
  readdirSync(join(path, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !isTest(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()

const hashFiles = (files) => {
  const hash = createHash('sha256')
  for (const file of files)
    if (existsSync(file))
      hash
        .update(`${file.slice(root.length)}\0`)
        .update(readFileSync(file))
        .update('\0')
  return hash.digest('hex')
}

const shared = ['tsconfig.base.json', 'pnpm-lock.yaml'].map((name) => join(root, name))
const ownHash = new Map(
  packages.map(({ path, manifest }) => [
    manifest.name,
    hashFiles([
      ...shared,
      ...['package.json', 'tsup.config.ts', 'tsconfig.build.json'].map((name) => join(path, name)),
      ...sourceFiles(path),
    ]),
  ]),
)

/** The package's own hash and those of the workspace packages that its types can quote. */
const stampOf = ({ manifest }) => {
  const used = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter((name) =>
    ownHash.has(name),
  )
  return [manifest.name, ...used.sort()].map((name) => ownHash.get(name).slice(0, 16)).join('-')
}

const builtFiles = ({ path, manifest }) =>
  Object.values(manifest.publishConfig.exports)
    .flatMap((target) => (typeof target === 'string' ? [target] : Object.values(target)))
    .filter((target) => target.startsWith('./dist/'))
    .map((target) => join(path, target))

let stamps = {}
try {
  stamps = JSON.parse(readFileSync(stampFile, 'utf8'))
} catch (error) {
  if (error.code !== 'ENOENT') console.log(`build stamps are not readable, building everything: ${error.message}`)
}

const stale = packages.filter(
  (entry) =>
    force || stamps[entry.manifest.name] !== stampOf(entry) || !builtFiles(entry).every((file) => existsSync(file)),
)
if (stale.length === 0) console.log('nothing changed since the last build')

let failed = false
await Promise.all(
  stale.map(async (entry) => {
    const { name } = entry.manifest
    const { code, output } = await runProgram(process.execPath, [join(root, 'node_modules/tsup/dist/cli-default.js')], {
      cwd: entry.path,
      env: { NO_COLOR: '1' },
    })
    const missing = builtFiles(entry).filter((file) => !existsSync(file))
    if (code === 0 && missing.length === 0) {
      stamps[name] = stampOf(entry)
      console.log(`built ${name}`)
      return
    }
    failed = true
    delete stamps[name]
    console.error(`${name} does not build:\n${output}`)
    for (const file of missing)
      console.error(
        `${name}: package.json exports ${file.slice(entry.path.length + 1)}, and the build does not make it`,
      )
  }),
)

mkdirSync(join(root, '.cache'), { recursive: true })
writeFileSync(stampFile, `${JSON.stringify(stamps, null, 2)}\n`)
process.exitCode = failed ? 1 : 0
