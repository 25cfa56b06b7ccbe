// Proves that `npm start` and `npm test` work for somebody who has only Node and npm: clones the repository (what is
// committed, not what lies about) into an empty folder, with an empty home, npm cache and pnpm store, and runs both.
//
//   npm run check:fresh
//   npm run check:fresh -- --node 24             with Node 24, taken from the npm package of its binary
//   npm run check:fresh -- --node /path/to/node  with another Node binary, first on PATH
//   npm run check:fresh -- --keep                leaves the folder for a look
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path'
import { scriptArguments } from './lib/arguments.mjs'
import { createSteps, root, runProgram } from './lib/steps.mjs'

/** `--node 24` means this release. */
const releases = { 24: '24.22.3' }

const args = scriptArguments()
const nodeAt = args.indexOf('--node')
const wantedNode = nodeAt >= 0 ? args.splice(nodeAt, 2)[1] : undefined
const keep = args.includes('--keep')
if ((nodeAt >= 0 && !wantedNode) || args.some((arg) => arg !== '--keep')) {
  console.error('usage: npm run check:fresh -- [--node 24|VERSION|PATH] [--keep]')
  process.exit(2)
}

const scratch = mkdtempSync(join(tmpdir(), 'sluice-fresh-'))
const clone = join(scratch, 'sluice')
const home = join(scratch, 'home')
for (const folder of ['home', 'bin', 'node', 'cache', 'store', 'tmp']) mkdirSync(join(scratch, folder))

/** What a shell of a new user would have: no setting of the npm around us, no workspace binaries, empty caches. */
const freshEnv = (bin) => {
  const kept = /^npm_config_(registry|.*proxy|cafile|strict_ssl|omit_lockfile_registry_resolved)$/i
  const env = {}
  for (const [name, value] of Object.entries(process.env)) {
    if (/^(npm|pnpm)_/i.test(name) && !kept.test(name)) continue
    if (/^(SLUICE_|VITEST|INIT_CWD$|NODE_OPTIONS$|NODE_PATH$|PNPM_HOME$|XDG_)/.test(name)) continue
    env[name] = value
  }
  const userconfig = join(homedir(), '.npmrc')
  return {
    ...env,
    PATH: [
      ...(bin ? [bin] : []),
      ...(process.env.PATH ?? '')
        .split(delimiter)
        .filter((entry) => !entry.includes('node_modules') && !entry.includes('_npx')),
    ].join(delimiter),
    HOME: home,
    USERPROFILE: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    npm_config_cache: join(scratch, 'cache'),
    pnpm_config_store_dir: join(scratch, 'store'),
    // where packages come from is a setting of the machine, not a cache
    ...(existsSync(userconfig) ? { npm_config_userconfig: userconfig } : {}),
    ...(process.env.SLUICE_RECORDINGS ? { SLUICE_RECORDINGS: process.env.SLUICE_RECORDINGS } : {}),
  }
}

const steps = createSteps()
let bin
try {
  if (wantedNode) {
    let binary
    if (/^\d+(\.\d+\.\d+)?$/.test(wantedNode)) {
      const release = releases[wantedNode] ?? wantedNode
      const platform = process.platform === 'win32' ? 'win' : process.platform
      const name = `node-${platform}-${process.arch}`
      const got = await steps.run(
        `fetch Node ${release}`,
        'npm',
        ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', join(scratch, 'node'), `${name}@${release}`],
        { cwd: scratch },
      )
      if (got.code !== 0) process.exit(1)
      binary = join(scratch, 'node', 'node_modules', name, 'bin', 'node')
    } else binary = isAbsolute(wantedNode) ? wantedNode : resolve(wantedNode)
    if (!existsSync(binary)) {
      console.error(`check-fresh: there is no Node binary at ${binary}`)
      process.exit(2)
    }
    bin = join(scratch, 'bin')
    chmodSync(binary, 0o755)
    symlinkSync(binary, join(bin, 'node'))
  }
  const env = freshEnv(bin)
  // the environment of steps.mjs is ours; the fresh one replaces it whole
  const fresh = (command, commandArgs, cwd) => (onOutput) =>
    runProgram(
      'env',
      ['-i', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), command, ...commandArgs],
      {
        cwd,
        onOutput,
      },
    )

  const cloned = await steps.run('clone', 'git', ['clone', '--quiet', '--no-hardlinks', root, clone], { cwd: scratch })
  if (cloned.code === 0) {
    const version = await runProgram(bin ? join(bin, 'node') : process.execPath, ['--version'])
    console.log(`  Node ${version.output.trim()}, empty caches under ${dirname(clone)}`)
    await steps.runWork('npm start', fresh('npm', ['start'], clone), { stream: true })
    await steps.runWork('npm test', fresh('npm', ['test'], clone), { stream: true })
  }
  console.log('> summary of the fresh clone')
  for (const { title, code } of steps.results) console.log(`  ${code === 0 ? 'passed' : 'failed'}: ${title}`)
  process.exitCode = steps.results.every(({ code }) => code === 0) ? 0 : 1
} finally {
  if (keep) console.log(`  left: ${scratch}`)
  else rmSync(scratch, { recursive: true, force: true })
}
