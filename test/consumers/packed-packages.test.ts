import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const FIXTURES = fileURLToPath(new URL('./fixtures/', import.meta.url))
const scratch = mkdtempSync(join(tmpdir(), 'sluice-consumers-'))

interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

const program = (command: string, args: readonly string[], cwd: string): Promise<Ended> =>
  new Promise((resolve, reject) => {
    // what an outer `npm exec` left in the environment would be taken for arguments of ours
    const { npm_config_package: _package, npm_config_call: _call, NODE_OPTIONS: _options, ...env } = process.env
    const child = spawn(command, args, {
      cwd,
      env,
      shell: process.platform === 'win32' && command !== process.execPath,
    })
    const texts = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, ...texts }))
  })

async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await program(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

const manifest = (path: string) => JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))

/** An app in a folder outside of the repository, with nothing around it but what is installed here. */
async function app(name: string, packages: readonly string[]): Promise<string> {
  const folder = join(scratch, name)
  cpSync(join(FIXTURES, name), folder, { recursive: true })
  await succeed(
    'npm',
    ['install', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', ...packages],
    folder,
  )
  return folder
}

const pinned = (name: string) =>
  `${name}@${{ ...manifest('test').dependencies, ...manifest('.').devDependencies }[name]}`

const APPS = {
  'esm-app': [pinned('openai'), pinned('zod')],
  'commonjs-app': [],
  'typescript-app': [pinned('zod'), pinned('@types/node')],
} as const
const folders = new Map<string, string>()
const folderOf = (name: keyof typeof APPS) => folders.get(name) as string

/** Installs all apps side by side. The tarballs are those that `check.mjs` packed, where nothing has changed since. */
beforeAll(async () => {
  const packed = await succeed(process.execPath, ['scripts/pack.mjs', 'core', 'providers'], ROOT)
  const tarballs: string[] = JSON.parse(packed)
  const installed = Object.entries(APPS).map(async ([name, others]) => {
    folders.set(name, await app(name, [...tarballs, ...others]))
  })
  await Promise.all(installed)
}, 600_000)

afterAll(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

describe('the packed packages, installed into an empty folder', () => {
  it('work in an ESM app: the SDK against a server, a tool, a gate, sessions in a folder', async () => {
    const folder = folderOf('esm-app')
    const { stdout, stderr, code } = await program(process.execPath, ['app.js', join(folder, 'data')], folder)
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({
      text: 'INV-7 is paid.',
      tokens: 4,
      stopped: 'NO_CLERK',
      statuses: ['completed', 'failed'],
      asked: [
        ['/v1/chat/completions', 'some-model', 'user'],
        ['/v1/chat/completions', 'some-model', 'tool'],
        ['/v1/chat/completions', 'some-model', 'user'],
      ],
    })
  })

  it('work in a CommonJS app by require, as the same module that import gives; a missing SDK is named with its install line', async () => {
    const folder = folderOf('commonjs-app')
    expect(readdirSync(join(folder, 'node_modules'))).not.toContain('openai')
    const { stdout, stderr, code } = await program(process.execPath, ['app.js'], folder)
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toEqual({
      text: 'heard: Hello?',
      one: true,
      store: 'function',
      missing: [
        [true, 'PROVIDER_SDK_MISSING', expect.stringMatching(/^Run: npm install "openai@/)],
        [true, 'PROVIDER_SDK_MISSING', expect.stringMatching(/^Run: npm install "@anthropic-ai\/sdk@/)],
      ],
    })
  })

  it('have types that a strict TypeScript app compiles against, from ESM, from CommonJS and for a bundler, their own checked too, and names for all that a library hands on', async () => {
    const folder = folderOf('typescript-app')
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    expect(await program(process.execPath, [tsc], folder)).toEqual({ code: 0, stdout: '', stderr: '' })
    const run = await program(process.execPath, [join('dist', 'app.js')], folder)
    expect([run.code, run.stderr]).toEqual([0, ''])
    expect(JSON.parse(run.stdout)).toEqual({ due: true, status: 'completed', last: true, code: 'NOT_FOUND' })
    const old = await program(process.execPath, ['-p', 'JSON.stringify(require("./dist/old.cjs"))'], folder)
    expect([JSON.parse(old.stdout), old.stderr]).toEqual([{ code: 'NO', id: 'openai' }, ''])
    writeFileSync(
      join(folder, 'tsconfig.bundler.json'),
      JSON.stringify({
        extends: './tsconfig.json',
        compilerOptions: { module: 'ESNext', moduleResolution: 'Bundler', noEmit: true, skipLibCheck: true },
        include: ['app.ts'],
      }),
    )
    expect(await program(process.execPath, [tsc, '-p', 'tsconfig.bundler.json'], folder)).toMatchObject({
      code: 0,
      stdout: '',
    })
  })
})
