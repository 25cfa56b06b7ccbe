import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BeforeToolCallContext } from '@sluice/core'
import { callGate, expectVeto } from '@sluice/testkit'
import { sluiceMatchers } from '@sluice/testkit/vitest'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { APPROVALS_ENABLED } from '../src/desk/control-table.js'
import type { Desk } from '../src/desk/open-desk.js'
import { openDesk } from '../src/desk/open-desk.js'
import { deskRules } from '../src/gates/desk-rules.js'

expect.extend(sluiceMatchers)

// Part 1: a gate is ordinary code. It is asked here with no run, no model, no provider and no tokens.
describe('asking the hook with no run', () => {
  let desk: Desk
  beforeAll(() => {
    desk = openDesk()
  })
  afterAll(() => desk.close())

  const guarded = { agentCode: 'ap_desk', toolCode: 'ap_approve_invoice' }
  const ask = (call: Partial<BeforeToolCallContext>, runContext: Readonly<Record<string, string>> = {}) =>
    callGate(deskRules, 'beforeToolCall', call, { options: { controlFile: desk.files.controls }, runContext })

  /** Changes the switch for one piece of work, and puts it back whatever becomes of it. */
  async function withSwitch<Result>(value: string | undefined, work: () => Promise<Result>): Promise<Result> {
    const before = desk.controls.read(APPROVALS_ENABLED)
    const put = (next: string | undefined) =>
      next === undefined ? desk.controls.remove(APPROVALS_ENABLED) : desk.controls.write(APPROVALS_ENABLED, next)
    put(value)
    try {
      return await work()
    } finally {
      put(before)
    }
  }

  it('T-1, T-2: a tool that reads passes', async () => {
    expect((await ask({ ...guarded, toolCode: 'ap_get_invoice' })).answer).toBe('passed')
  })

  it('T-2, B-3: the guarded tool with no clerk bound is vetoed', async () => {
    await expect(ask(guarded, { invoice: 'INV-1002' })).toBeVetoed({
      code: 'AP_CLERK_REQUIRED',
      by: 'desk-rules',
      point: 'beforeToolCall',
    })
    await expect(ask(guarded, { clerk: ' ' })).toBeVetoed({ code: 'AP_CLERK_REQUIRED' })
  })

  it('T-2, T-3, B-2: the guarded tool is vetoed when approvals are off, and the switch is restored', async () => {
    await withSwitch('N', () => expectVeto(ask(guarded, { clerk: 'petra.k' }), { code: 'AP_SWITCHED_OFF' }))
    expect((await ask(guarded, { clerk: 'petra.k' })).answer).toBe('passed')
  })

  it('T-3: the switch is restored also where the test fails', async () => {
    const failing = withSwitch('N', () => Promise.reject(new Error('a failing test')))
    await expect(failing).rejects.toThrow('a failing test')
    expect(desk.controls.read(APPROVALS_ENABLED)).toBe('Y')
  })

  it('B-2: a missing row vetoes too, and anything but Y', async () => {
    for (const value of [undefined, '', 'y', 'YES'])
      await withSwitch(value, () => expectVeto(ask(guarded, { clerk: 'petra.k' }), { code: 'AP_SWITCHED_OFF' }))
  })

  it('B-5: with approvals off and no clerk, the first rule answers', async () => {
    await withSwitch('N', () => expectVeto(ask(guarded), { code: 'AP_SWITCHED_OFF' }))
  })

  it('B-1: the tool of another agent is not its business', async () => {
    await withSwitch('N', async () => {
      expect((await ask({ ...guarded, agentCode: 'travel_desk' })).answer).toBe('passed')
      expect((await ask({ agentCode: 'travel_desk', toolCode: 'book_train' })).answer).toBe('passed')
    })
  })

  it('B-8: a call outside any agent is its business', async () => {
    await expectVeto(ask({ ...guarded, agentCode: null }), { code: 'AP_CLERK_REQUIRED' })
    expect((await ask({ ...guarded, agentCode: null }, { clerk: 'petra.k' })).answer).toBe('passed')
  })

  it('CASE-01: where the control table cannot be read, nothing passes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ap-desk-'))
    try {
      const controlFile = join(folder, 'controls.db')
      const database = new Database(controlFile)
      database.exec('CREATE TABLE controls (a_column_of_another_release TEXT)')
      database.close()
      const clerk = { runContext: { clerk: 'petra.k' } }
      const result = await callGate(deskRules, 'beforeToolCall', guarded, { options: { controlFile }, ...clerk })
      expect(result).toMatchObject({ answer: 'failed', code: 'HOOK_FAILED' })
      // and where it cannot be opened, there is no plugin and so no runtime
      await expect(
        callGate(deskRules, 'beforeToolCall', guarded, { options: { controlFile: folder } }),
      ).rejects.toThrow(/desk-rules/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
