import { describeHookPlugin, hookPluginRows } from '@sluice/testkit/contracts'
import { afterAll, describe, expect, it } from 'vitest'
import { openDesk } from '../src/desk/open-desk.js'
import { deskRules } from '../src/gates/desk-rules.js'
import { fourEyes } from '../src/gates/four-eyes.js'
import { naiveCounter } from './naive/naive-counter.js'

const desk = openDesk()
afterAll(() => desk.close())

const call = { agentCode: 'ap_desk', toolCode: 'ap_approve_invoice' }
const clerk = { runContext: { clerk: 'petra.k' } }
const passing = { facts: { beforeToolCall: call }, ...clerk }

describeHookPlugin('desk-rules', () => deskRules({ controlFile: desk.files.controls }), {
  module: new URL('../src/gates/desk-rules.ts', import.meta.url),
  conditions: ['sluice-source'],
  badOptions: { 'no control file': () => deskRules({} as never) },
  passing,
  stopping: { point: 'beforeToolCall', code: 'AP_CLERK_REQUIRED', facts: { beforeToolCall: call } },
})

describeHookPlugin('four-eyes', () => fourEyes({ booksFile: desk.files.books, uptoCents: 1_000_000 }), {
  module: new URL('../src/gates/four-eyes.ts', import.meta.url),
  conditions: ['sluice-source'],
  badOptions: { 'an amount below 0': () => fourEyes({ booksFile: desk.files.books, uptoCents: -1 }) },
  passing: { facts: { inspectToolInput: { ...call, args: { invoice: 'INV-1002' } } }, ...clerk },
})

describe('the naive counter', () => {
  it('T-28, B-7: the contract of plugins finds that it counts askings', async () => {
    const row = hookPluginRows(() => naiveCounter(), { passing }).find((each) => each.title.startsWith('asked twice'))
    await expect(Promise.resolve().then(() => row?.run())).rejects.toThrow(/answered otherwise when it was asked again/)
  })
})
