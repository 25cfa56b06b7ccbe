// The way in for a machine that has only Node and npm: runs a script of this folder with the pinned pnpm on PATH.
//
//   node scripts/bootstrap.mjs start [arguments for the script]
//
// One `npm exec` brings pnpm; everything else happens inside it. Where the pinned pnpm already runs us, it is skipped.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const [name, ...rest] = process.argv.slice(2)
if (!name || !/^[a-z-]+$/.test(name)) {
  console.error('bootstrap: say which script to run, for example: node scripts/bootstrap.mjs start')
  process.exit(2)
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 20 || (major === 20 && minor < 19)) {
  console.error(`Sluice needs Node 20.19 or newer; this is ${process.versions.node}.`)
  process.exit(2)
}

const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const [, version] = packageManager.split('@')
const env = { ...process.env, SLUICE_SCRIPT_ARGS: JSON.stringify(rest) }
const inside = (process.env.npm_config_user_agent ?? '').startsWith(`pnpm/${version} `)

if (!inside) console.log(`> package manager: ${packageManager}`)
const startedAt = Date.now()
// The script prints its first line at once; until then we speak for it.
const heartbeat = setInterval(() => {
  console.log(`  still running: package manager, ${Math.round((Date.now() - startedAt) / 1000)} s`)
}, 20_000)
const started = () => clearInterval(heartbeat)

const child = inside
  ? spawn(process.execPath, [`scripts/${name}.mjs`], { cwd: root, env, stdio: ['inherit', 'pipe', 'pipe'] })
  : spawn('npm', ['exec', '-y', `--package=${packageManager}`, '-c', `node scripts/${name}.mjs`], {
      cwd: root,
      env,
      stdio: ['inherit', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
child.stdout.once('data', started)
child.stdout.pipe(process.stdout)
child.stderr.pipe(process.stderr)
child.on('error', (error) => {
  started()
  console.error(`bootstrap: could not start ${inside ? process.execPath : 'npm'}: ${error.message}`)
  process.exitCode = 1
})
child.on('close', (code, signal) => {
  started()
  if (signal) console.error(`bootstrap: ${name} was ended by ${signal}`)
  process.exitCode = code ?? 1
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
