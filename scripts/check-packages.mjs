// What will be published: packs every public package and asks publint and attw about the tarball. Needs the build.
//
//   node scripts/check-packages.mjs               checks
//   node scripts/check-packages.mjs --keep DIR    also leaves the tarballs in DIR
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { packedPackages } from './lib/packed-packages.mjs'
import { root, runProgram } from './lib/steps.mjs'

const keepAt = process.argv.indexOf('--keep')
const keep = keepAt >= 0 ? process.argv[keepAt + 1] : undefined
if (keepAt >= 0 && !keep) {
  console.error('check-packages: --keep wants a folder')
  process.exit(2)
}

const packages = readdirSync(join(root, 'packages'))
  .map((folder) => {
    const path = join(root, 'packages', folder)
    return { path, manifest: JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) }
  })
  .filter(({ manifest }) => !manifest.private)

const check = async ({ path, manifest }) => {
  const { name } = manifest
  const file = `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`
  let tarball
  try {
    ;[tarball] = await packedPackages([basename(path)], { fresh: true })
  } catch (error) {
    return [`${name}: ${error.message}`]
  }
  const faults = []

  const bytes = readFileSync(tarball)
  const { messages, pkg } = await publint({
    pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) },
    strict: true,
  })
  for (const message of messages) faults.push(`${name}: publint: ${formatMessage(message, pkg, { color: false })}`)

  const listing = await runProgram('tar', ['-tzf', tarball])
  if (listing.code !== 0) faults.push(`${name}: the tarball cannot be listed\n${listing.output}`)
  for (const line of listing.output.split('\n')) {
    if (/\.test(-d)?\.|\/src\/|\.env/.test(line)) faults.push(`${name}: ${line} does not belong into the package`)
  }
  for (const wanted of ['package/package.json', 'package/LICENSE', 'package/README.md']) {
    if (!listing.output.split('\n').includes(wanted))
      faults.push(`${name}: ${wanted.slice(8)} is missing in the tarball`)
  }
  if (JSON.stringify(pkg).includes('workspace:'))
    faults.push(`${name}: a workspace: range is left in the packed manifest`)

  // The packages are ESM only, so what a CommonJS resolver of old sees is not asked.
  const attw = await runProgram('attw', [tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'])
  if (attw.code !== 0) faults.push(`${name}: attw\n${attw.output}`)

  if (keep) {
    mkdirSync(keep, { recursive: true })
    copyFileSync(tarball, join(keep, file))
  }
  if (faults.length === 0) console.log(`${name}: ${file}, ${Math.round(bytes.byteLength / 1024)} kB, as it should be`)
  return faults
}

const faults = (await Promise.all(packages.map(check))).flat()
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1
