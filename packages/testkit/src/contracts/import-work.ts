import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

/**
 * Imports a module in a process of its own and tells what it did beyond defining things: timers, connections, files written,
 * processes, listeners of the process, new globals, changes of the environment. Empty where it did nothing.
 */
export async function findImportWork(module: URL, conditions: readonly string[] = []): Promise<readonly string[]> {
  const loader = module.pathname.endsWith('.ts') ? ['--import', findTsx(module)] : []
  const args = [
    ...conditions.map((condition) => `--conditions=${condition}`),
    ...loader,
    '--input-type=module',
    '--eval',
    WATCH,
  ]
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, SLUICE_WATCHED_MODULE: module.href },
  })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '[]') as readonly string[]
}

function findTsx(module: URL): string {
  for (const from of [module, pathToFileURL(`${process.cwd()}/`)]) {
    try {
      return pathToFileURL(createRequire(from).resolve('tsx')).href
    } catch {
      // not there; the next place may have it
    }
  }
  throw new Error(`${module.href} is TypeScript and tsx is not installed; give the URL of the built file.`)
}

/**
 * Runs in the child process. What a TypeScript loader does for itself is left out by the stack of the call, and so are the
 * registries that zod keeps in the global object.
 */
const WATCH = `
import net from 'node:net'
import dns from 'node:dns'
import fs from 'node:fs'
import dgram from 'node:dgram'
import childProcess from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'

const href = process.env.SLUICE_WATCHED_MODULE
delete process.env.SLUICE_WATCHED_MODULE
const found = new Set()
let watching = false
const ours = () => !/[\\\\/]tsx[\\\\/]|esbuild/.test(new Error().stack ?? '')
const watch = (object, name, label) => {
  const original = object[name]
  if (typeof original !== 'function') return
  object[name] = function (...args) {
    if (watching && ours()) found.add(label)
    return Reflect.apply(original, this, args)
  }
}
for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'fetch']) watch(globalThis, name, name)
watch(net.Socket.prototype, 'connect', 'a connection')
watch(net.Server.prototype, 'listen', 'a server')
watch(dgram.Socket.prototype, 'bind', 'a socket')
for (const name of ['lookup', 'resolve']) {
  watch(dns, name, 'a DNS question')
  watch(dns.promises, name, 'a DNS question')
}
watch(childProcess.ChildProcess.prototype, 'spawn', 'a child process')
for (const name of ['writeFile', 'appendFile', 'mkdir', 'rm', 'unlink', 'rename']) {
  watch(fs, name, 'a change of files')
  watch(fs, name + 'Sync', 'a change of files')
  watch(fs.promises, name, 'a change of files')
}
watch(fs, 'createWriteStream', 'a change of files')
watch(fs, 'watch', 'a watch of files')
syncBuiltinESMExports()

const listeners = () => process.eventNames().map((name) => String(name) + ' ' + process.listenerCount(name)).sort().join()
const globals = () => Reflect.ownKeys(globalThis).map(String).filter((name) => !name.startsWith('__zod_'))
const environment = () => JSON.stringify(process.env)
// the platform loads its own fetch when it is first touched, and that leaves globals of its own
void new Response()
const before = [listeners(), environment()]
const known = new Set(globals())
watching = true
await import(href)
await new Promise((resolve) => setImmediate(resolve))
watching = false
found.delete('setImmediate')
const after = [listeners(), environment()]
;['a listener of the process', 'a change of the environment'].forEach((label, index) => {
  if (before[index] !== after[index]) found.add(label)
})
for (const name of globals()) if (!known.has(name)) found.add('the global ' + name)
console.log(JSON.stringify([...found]))
process.exit(0)
`
