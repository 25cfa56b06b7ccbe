import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createMemoryStore, createRuntime, defineAgent, SluiceError } from '@sluice/core'
import { capturedLogger } from '@sluice/testkit'
import { scriptedProvider } from '@sluice/testkit/vitest'
import { describe, expect, it, onTestFinished } from 'vitest'
import { folder, hookFile, write } from './support/folder.js'

/** A runtime that is given no plugins. */
async function byConvention(root?: string) {
  const logger = capturedLogger()
  const runtime = await createRuntime({
    store: createMemoryStore(),
    logger,
    providers: [scriptedProvider([])],
    agents: [defineAgent({ code: 'desk', description: 'A desk.', model: 'scripted/m', user: 'Go on.' })],
    ...(root === undefined ? {} : { root }),
  })
  onTestFinished(() => runtime.close())
  const code = () =>
    runtime.execute({ agent: 'desk' }).then(
      () => undefined,
      (error: unknown) => (SluiceError.isInstance(error) ? error.code : String(error)),
    )
  return { runtime, logger, code }
}

async function refusal(root?: string): Promise<SluiceError> {
  const error = await byConvention(root).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw new Error(`not refused by name: ${String(error)}`)
  return error
}

const PACKAGE = '{ "type": "module" }'

describe('H-28, T-27: the hook file beside package.json', () => {
  it.each(['sluice.hooks.mjs', 'sluice.hooks.js'])(
    '%s is loaded where the runtime was given no plugins',
    async (name) => {
      const root = await folder({ 'package.json': PACKAGE, [name]: hookFile('house-rules', 'FILE_SAYS_NO') })
      const { code, runtime } = await byConvention(root)
      expect(await code()).toBe('FILE_SAYS_NO')
      expect(runtime.health().hooks.plugins).toEqual(['house-rules'])
    },
  )

  it('path and digest of what was loaded stand in the start line, in health and in explain', async () => {
    const root = await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': hookFile('house-rules', 'FILE_SAYS_NO') })
    const { runtime, logger } = await byConvention(root)
    const origin = expect.stringMatching(/^convention:.*sluice\.hooks\.mjs#[0-9a-f]{8,64}$/)
    expect(runtime.health().hooks.origin).toEqual(origin)
    expect((await runtime.explain('desk')).hooks.origin).toEqual(origin)
    expect(logger.matching('ready')[0]?.fields.hooks).toEqual(origin)
    expect(runtime.health().hooks.origin).toContain(join(root, 'sluice.hooks.mjs'))
  })

  it('plugins that are given make it unread, and an app without gates says so', async () => {
    const root = await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': 'throw new Error("read")' })
    const runtime = await createRuntime({ store: createMemoryStore(), logger: capturedLogger(), plugins: [], root })
    expect(runtime.health().hooks).toMatchObject({ origin: 'explicit', plugins: [] })
    await runtime.close()
  })

  it('none at all refuses the runtime', async () => {
    const error = await refusal(await folder({ 'package.json': PACKAGE }))
    expect(error.code).toBe('HOOKS_MISSING')
    expect(error.message).toContain('plugins: []')
  })

  it.each([
    ['does not parse', 'export default ['],
    ['throws when it is loaded', 'throw new Error("no connection")'],
    ['imports what is not there', 'import "./rules.mjs"; export default []'],
    ['has no default export', 'export const plugins = []'],
    ['exports one plugin and no list', 'export default { name: "x" }'],
    ['exports a function', 'export default () => []'],
    [
      'never ends loading because a top-level await rejects',
      'await Promise.reject(new Error("no")); export default []',
    ],
  ])('H-W1: one that %s is no missing one: the runtime is refused with HOOKS_BROKEN', async (_what, text) => {
    const error = await refusal(await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': text }))
    expect(error.code).toBe('HOOKS_BROKEN')
    expect(error.message).toContain('sluice.hooks.mjs')
  })

  it('H-W1: one whose plugin cannot be applied is refused like a given one', async () => {
    const idle = hookFile('idle', 'X').replace(/apply: .* }$/m, 'apply() {} }')
    const error = await refusal(await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': idle }))
    expect([error.code, error.message.includes('"idle"')]).toEqual(['HOOK_REGISTRATION', true])
  })

  it('two of them are refused: which one holds is not for us to guess', async () => {
    const error = await refusal(
      await folder({
        'package.json': PACKAGE,
        'sluice.hooks.mjs': 'export default []',
        'sluice.hooks.js': 'export default []',
      }),
    )
    expect(error.code).toBe('HOOKS_BROKEN')
  })

  it('one that leads out of the root is refused', async () => {
    const elsewhere = await folder({ 'rules.mjs': hookFile('elsewhere', 'X') })
    const root = await folder({ 'package.json': PACKAGE })
    await symlink(join(elsewhere, 'rules.mjs'), join(root, 'sluice.hooks.mjs'))
    expect((await refusal(root)).code).toBe('HOOKS_BROKEN')
  })

  it('one that leads into node_modules is refused', async () => {
    const root = await folder({ 'package.json': PACKAGE, 'node_modules/rules/index.mjs': hookFile('stranger', 'X') })
    await symlink(join(root, 'node_modules/rules/index.mjs'), join(root, 'sluice.hooks.mjs'))
    expect((await refusal(root)).code).toBe('HOOKS_BROKEN')
  })

  it('a folder beside it whose name begins alike is not inside the root', async () => {
    const parent = await folder({ 'app/package.json': PACKAGE, 'app-rules/rules.mjs': hookFile('neighbour', 'X') })
    await symlink(join(parent, 'app-rules/rules.mjs'), join(parent, 'app/sluice.hooks.mjs'))
    expect((await refusal(join(parent, 'app'))).code).toBe('HOOKS_BROKEN')
  })

  it('a root that is reached through a link is its real folder', async () => {
    const parent = await folder({
      'real/package.json': PACKAGE,
      'real/sluice.hooks.mjs': hookFile('house-rules', 'FILE_SAYS_NO'),
    })
    await symlink(join(parent, 'real'), join(parent, 'linked'))
    expect(await (await byConvention(join(parent, 'linked'))).code()).toBe('FILE_SAYS_NO')
  })

  it('a root that does not exist is ROOT_UNKNOWN', async () => {
    const root = await folder({})
    expect((await refusal(join(root, 'nowhere'))).code).toBe('ROOT_UNKNOWN')
  })

  it('under a test runner, whose main module lies in node_modules, the root must be given', async () => {
    const error = await refusal()
    expect(error.code).toBe('ROOT_UNKNOWN')
    expect(error.message).toContain('createRuntime({ root })')
  })

  it('H-30, H-W6: a file that changed is loaded anew by setHooks(null), and a file that broke shuts the runtime', async () => {
    const root = await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': hookFile('house-rules', 'FIRST') })
    const { runtime, code } = await byConvention(root)
    const before = runtime.health().hooks.origin
    await write(join(root, 'sluice.hooks.mjs'), hookFile('house-rules', 'SECOND'))
    expect(await code()).toBe('FIRST')
    await runtime.setHooks(null)
    expect(await code()).toBe('SECOND')
    expect(runtime.health().hooks.origin).not.toBe(before)
    await write(join(root, 'sluice.hooks.mjs'), 'export default')
    await expect(runtime.setHooks(null)).rejects.toMatchObject({ code: 'HOOKS_BROKEN' })
    expect(await code()).toBe('HOOKS_BROKEN')
    await write(join(root, 'sluice.hooks.mjs'), hookFile('house-rules', 'THIRD'))
    await runtime.setHooks(null)
    expect(await code()).toBe('THIRD')
  })
})

describe('H-28, T-27: in a process of its own', () => {
  const core = fileURLToPath(import.meta.resolve('@sluice/core'))
  const main = `
import { createMemoryStore, createRuntime } from ${JSON.stringify(core)}
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
try {
  const runtime = await createRuntime({ store: createMemoryStore(), logger: quiet })
  console.log(runtime.health().hooks.plugins.join(','))
  await runtime.close()
} catch (error) {
  console.log(error.code)
}
`
  const run = async (root: string, file: string, cwd = root) => {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=sluice-source', '--import', import.meta.resolve('tsx'), join(root, file)],
      { cwd },
    )
    return stdout.trim()
  }

  it('the root is the folder of the main module, never the working directory', async () => {
    const root = await folder({
      'package.json': PACKAGE,
      'sluice.hooks.mjs': hookFile('of-the-app', 'X'),
      'src/deep/main.mjs': main,
    })
    const cwd = await folder({ 'package.json': PACKAGE, 'sluice.hooks.mjs': hookFile('of-the-cwd', 'X') })
    expect(await run(root, 'src/deep/main.mjs', cwd)).toBe('of-the-app')
  })

  it('a main module without a package.json above it is ROOT_UNKNOWN, and so is one in node_modules', async () => {
    const root = await folder({ 'main.mjs': main, 'app/package.json': PACKAGE, 'app/node_modules/tool/main.mjs': main })
    expect(await run(root, 'main.mjs')).toBe('ROOT_UNKNOWN')
    await mkdir(join(root, 'app/node_modules/tool'), { recursive: true })
    expect(await run(root, 'app/node_modules/tool/main.mjs')).toBe('ROOT_UNKNOWN')
  })

  it('sluice.hooks.ts is loaded where the process can load it', async () => {
    const root = await folder({
      'package.json': PACKAGE,
      'sluice.hooks.ts': `type Code = string\n${hookFile('typed', 'X')}`,
      'main.mjs': main,
    })
    expect(await run(root, 'main.mjs')).toBe('typed')
  })

  it('no hook file is HOOKS_MISSING', async () => {
    const root = await folder({ 'package.json': PACKAGE, 'main.mjs': main })
    expect(await run(root, 'main.mjs')).toBe('HOOKS_MISSING')
  })
})
