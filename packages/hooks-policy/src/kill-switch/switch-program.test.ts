import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createHookBench } from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { capturedLogger, fakeIds } from '@sluice/testkit'
import { systemClock } from '@sluice/core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { killSwitch } from '../index.js'
import { runSwitchProgram } from './switch-program.js'

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-switch-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function run(...argv: string[]) {
  const lines = { out: '', err: '' }
  const code = await runSwitchProgram(argv, {
    out: (text) => void (lines.out += text),
    err: (text) => void (lines.err += text),
  })
  return { code, ...lines }
}

/** What the gate of an application over this folder answers. */
async function answerIn(folder: string): Promise<string | undefined> {
  const store = await createLowdbStore({ folder })
  const bench = await createHookBench([killSwitch()], {
    store,
    clock: systemClock,
    ids: fakeIds(),
    logger: capturedLogger(),
  })
  const { error } = await bench.ask('beforeToolCall', { toolCode: 'refund' })
  await bench.dispose()
  await store.close()
  return error?.code
}

describe('sluice-kill-switch', () => {
  it('sets and lifts a row of an application, over its store alone', async () => {
    const folder = folderOfTest()
    expect(await answerIn(folder)).toBeUndefined()
    const on = await run(
      'on',
      '--folder',
      folder,
      '--tool',
      'refund',
      '--reason',
      'looping',
      '--for',
      '2h',
      '--who',
      'ops',
    )
    expect([on.code, on.err]).toEqual([0, ''])
    expect(on.out).toMatch(/^on tool="refund" by="ops" reason="looping" at=\S+Z until=\S+Z\n$/)
    expect(await answerIn(folder)).toBe('KILL_SWITCH_ON')
    const status = await run('status', '--folder', folder)
    expect(status.out.split('\n')).toEqual([
      expect.stringMatching(/^off all by="hooks-policy" reason="first start" at=/),
      expect.stringMatching(/^on tool="refund" by="ops"/),
      '',
    ])
    expect((await run('off', '--folder', folder, '--tool', 'refund', '--reason', 'mended')).out).toContain(
      `off tool="refund" by=${JSON.stringify(userInfo().username)}`,
    )
    expect(await answerIn(folder)).toBeUndefined()
  })

  it('works over any store that a module makes', async () => {
    const folder = folderOfTest()
    const module = join(folder, 'store.mjs')
    const core = import.meta.resolve('@sluice/core/store/lowdb')
    writeFileSync(
      module,
      `import { createLowdbStore } from ${JSON.stringify(core)}\nexport default () => createLowdbStore({ folder: ${JSON.stringify(join(folder, 'data'))} })\n`,
    )
    expect((await run('on', '--store', module, '--all', '--reason', 'x')).code).toBe(0)
    expect(await answerIn(join(folder, 'data'))).toBe('KILL_SWITCH_ON')
  })

  it.each([
    ['no store', ['on', '--all', '--reason', 'x']],
    ['two stores', ['on', '--folder', 'a', '--store', 'b', '--all', '--reason', 'x']],
    ['no target', ['on', '--folder', '$', '--reason', 'x']],
    ['two targets', ['on', '--folder', '$', '--all', '--tool', 'a', '--reason', 'x']],
    ['no reason', ['on', '--folder', '$', '--all']],
    ['a time that is none', ['on', '--folder', '$', '--all', '--reason', 'x', '--for', 'soon']],
    ['an unknown command', ['onn', '--folder', '$', '--all', '--reason', 'x']],
    ['one target twice', ['on', '--folder', '$', '--tool', 'a', '--tool', 'b', '--reason', 'x']],
    ['two reasons', ['on', '--folder', '$', '--all', '--reason', 'x', '--reason', 'y']],
    ['two times', ['on', '--folder', '$', '--all', '--reason', 'x', '--for', '1h', '--for', '2h']],
    ['a reason without quotes', ['on', '--folder', '$', '--all', '--reason', 'looping', 'refunds']],
    ['an unknown option', ['on', '--folder', '$', '--everything', '--reason', 'x']],
  ])('%s is refused with exit code 2, and nothing is switched', async (_what, argv) => {
    const folder = folderOfTest()
    const { code, err } = await run(...argv.map((part) => (part === '$' ? folder : part)))
    expect(code).toBe(2)
    expect(err).not.toBe('')
    expect(await answerIn(folder)).toBeUndefined()
  })

  it('a folder that is not there is refused, not made: a misspelt one would stop nothing', async () => {
    const folder = join(folderOfTest(), 'misspelt')
    const { code, out, err } = await run('on', '--folder', folder, '--all', '--reason', 'x')
    expect([code, out, existsSync(folder)]).toEqual([2, '', false])
    expect(err).toContain('misspelt')
  })

  it('a store on which no switch was ever started, or another id, is said to be so', async () => {
    const folder = folderOfTest()
    const note = 'no application with killSwitch() has started on this store yet'
    expect((await run('on', '--folder', folder, '--tool', 'refund', '--reason', 'x')).err).toContain(note)
    expect(await answerIn(folder)).toBe('KILL_SWITCH_ON')
    expect((await run('off', '--folder', folder, '--tool', 'refund', '--reason', 'x')).err).toBe('')
    const other = await run('on', '--folder', folder, '--id', 'other', '--tool', 'refund', '--reason', 'x')
    expect([other.code, other.err]).toEqual([0, expect.stringContaining('#other')])
    expect(await answerIn(folder)).toBeUndefined()
  })

  it('a folder that the application has open is said to be so, with what to do', async () => {
    const folder = folderOfTest()
    const store = await createLowdbStore({ folder })
    const { code, err } = await run('on', '--folder', folder, '--all', '--reason', 'x')
    await store.close()
    expect([code, err]).toEqual([1, expect.stringContaining('runtime.plugin(killSwitch).on(')])
  })

  it('CASE-29: whatever the texts hold, one row is one line and moves no cursor', async () => {
    const folder = folderOfTest()
    const evil = 'a\r\nb\u001b[2J\u0085\u2028\u202e\u009b'
    const { out } = await run('on', '--folder', folder, '--user', evil, '--reason', evil, '--who', evil)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(out.trimEnd()).toMatch(/^[\x20-\x7e]*$/)
    expect((await run('status', '--folder', folder)).out).toContain(out.trimEnd().slice(3))
  })

  it('--help shows the commands and ends well', async () => {
    const { code, out } = await run('--help')
    expect([code, out]).toEqual([0, expect.stringContaining('status')])
  })

  it('runs as a process of its own', () => {
    const folder = folderOfTest()
    const bin = fileURLToPath(new URL('./bin.ts', import.meta.url))
    const argv = ['on', '--folder', folder, '--all', '--reason', 'night']
    const ended = spawnSync(process.execPath, ['--conditions=sluice-source', '--import', 'tsx', bin, ...argv], {
      encoding: 'utf8',
    })
    expect([ended.status, ended.stderr]).toEqual([0, expect.stringMatching(/^Note: .*\n$/)])
    expect(ended.stdout).toMatch(/^on all by=/)
  })
})
