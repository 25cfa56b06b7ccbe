import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { capturedLogger, fakeClock, loadFixture } from '@sluice/testkit'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Account } from '../src/account/account.js'
import { createPainter } from '../src/account/painter.js'
import { deskGates, writeAccount } from '../src/account/write-account.js'
import { playScene } from '../src/scenes/play-scene.js'
import { PROVIDER_CHOICES } from '../src/scenes/provider-choice.js'
import { SCENES } from '../src/scenes/scenes.js'
import { STORIES } from '../src/stories/stories.js'

/** Prices change with the day; the accounts are those of this one. */
const NOON = Date.UTC(2026, 10, 9, 12)
const options = () => ({ logger: capturedLogger(), clock: fakeClock({ now: NOON }) })

const PASSED = ['authorize passed', 'desk-rules passed', 'four-eyes passed']

/** What has to stand in the account of a scene, whatever the provider. */
interface Told {
  readonly gates: readonly (readonly string[])[]
  readonly tools: readonly string[]
  readonly row: string
  readonly books: { readonly rows: number; readonly numbers: number; readonly committed: boolean }
}

const TOLD: Readonly<Record<string, Told>> = {
  'tools-called': {
    gates: [PASSED, PASSED],
    tools: ['ap_get_invoice ok', 'ap_get_vendor ok'],
    row: 'completed null',
    books: { rows: 0, numbers: 0, committed: true },
  },
  'write-approved': {
    gates: [PASSED, PASSED],
    tools: ['ap_get_invoice ok', 'ap_approve_invoice ok'],
    row: 'completed null',
    books: { rows: 1, numbers: 1, committed: true },
  },
  'human-decides': {
    gates: [['authorize passed', 'desk-rules passed', 'four-eyes paused'], PASSED],
    tools: ['ap_approve_invoice ok'],
    row: 'completed null',
    books: { rows: 1, numbers: 1, committed: true },
  },
  'no-clerk': {
    gates: [['authorize passed', 'desk-rules vetoed', 'four-eyes not_asked']],
    tools: ['ap_approve_invoice vetoed'],
    row: 'failed AP_CLERK_REQUIRED',
    books: { rows: 0, numbers: 0, committed: false },
  },
  'switched-off': {
    gates: [['authorize passed', 'desk-rules vetoed', 'four-eyes not_asked']],
    tools: ['ap_approve_invoice vetoed'],
    row: 'failed AP_SWITCHED_OFF',
    books: { rows: 0, numbers: 0, committed: false },
  },
  'second-attempt': {
    gates: [PASSED, ['authorize passed', 'desk-rules vetoed', 'four-eyes not_asked']],
    tools: ['ap_approve_invoice ok', 'ap_approve_invoice vetoed'],
    row: 'failed AP_SECOND_ATTEMPT',
    books: { rows: 0, numbers: 1, committed: false },
  },
  rollback: {
    gates: [PASSED],
    tools: ['ap_approve_invoice error'],
    row: 'failed TOOL_FAILED',
    books: { rows: 0, numbers: 1, committed: false },
  },
}

const told = ({ effects, tools, row, books: { before, after, committed } }: Account): Told => ({
  gates: effects
    .filter((effect) => deskGates(effect).length > 0)
    .map((effect) =>
      deskGates(effect).map((gate) => `${gate.point === 'authorize' ? 'authorize' : gate.plugin} ${gate.answer}`),
    ),
  tools: tools.map((tool) => `${tool.toolCode} ${tool.status}`),
  row: `${row?.status} ${row?.error?.code ?? null}`,
  books: { rows: after.approvals - before.approvals, numbers: after.lastNumber - before.lastNumber, committed },
})

const plain = createPainter(false)

// cites: B-10, B-11, B-15, T-4, T-6
describe.each(PROVIDER_CHOICES)('the scenes on $id', (choice) => {
  it.each(SCENES)('$code ends with $expected, and its account says so', async (scene) => {
    const account = await playScene(scene, choice, options())
    expect(account.ending.code).toBe(scene.expected)
    expect(told(account)).toEqual(TOLD[scene.code])
    // the records are read back as the caller who asked, and agree with what the caller got
    expect(account.row?.createdBy).toBe(scene.caller.user ?? 'night-job')
    expect(account.row?.outputTokens).toBe(account.usage.outputTokens)

    const lines = writeAccount(account, 1, plain)
    expect(lines.length).toBeLessThanOrEqual(15)
    expect(lines.join('\n')).toContain(scene.question)
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(130)
  })
})

describe('the account', () => {
  const [choice] = PROVIDER_CHOICES
  const play = async (code: string) => {
    const scene = SCENES.find((each) => each.code === code)
    if (choice === undefined || scene === undefined) throw new Error(`There is no scene ${code}.`)
    return writeAccount(await playScene(scene, choice, options()), SCENES.indexOf(scene) + 1, plain).join('\n')
  }

  it('T-6: of a veto', async () => {
    expect(await play('no-clerk')).toMatchInlineSnapshot(`
      "4. Vetoed: no clerk is named
         who        night-job (db); bound to the run: invoice INV-1002, vendor V-77, no clerk
         asks       Please approve invoice INV-1002.
         gates      ap_approve_invoice  authorize passed, desk-rules vetoed AP_CLERK_REQUIRED, four-eyes not asked
         guards     passed: kill-switch 3, budget 1, audit 2; not asked: approval 1, budget 1, audit 1
         tools      ap_approve_invoice  vetoed  {"invoice":"INV-1002"} -> did not run
         tokens     330 in, 25 out; this month $0.00182 spent of $200.00, $199.99818 left
         ended      AP_CLERK_REQUIRED by desk-rules at beforeToolCall
                    A named clerk is required.
         books      rolled back: approvals 1 -> 1, last number 1000 -> 1000
         row        failed, veto: AP_CLERK_REQUIRED
         audit log  6 entries, verified"
    `)
  })

  it('T-4, B-15, B-21: of a rollback, with the error under its reference', async () => {
    const anyTime = (text: string) => text.replaceAll(/ERR-\d{17}/g, 'ERR-<time>')
    const text = anyTime(await play('rollback'))
    expect(anyTime(readFileSync(new URL('../README.md', import.meta.url), 'utf8'))).toContain(text)
    expect(text).toMatchInlineSnapshot(`
      "7. Rolled back: the code breaks after a write
         who        petra.k (authenticated); bound to the run: invoice INV-1002, vendor V-77, clerk petra.k
         asks       Please approve invoice INV-1002.
         gates      ap_approve_invoice  authorize passed, desk-rules passed, four-eyes passed
         guards     passed: kill-switch 3, approval 1, budget 2, audit 3
         tools      ap_approve_invoice  error   {"invoice":"INV-1002"} -> failed, on record under ERR-<time>
         tokens     330 in, 25 out; this month $0.00182 spent of $200.00, $199.99818 left
         ended      TOOL_FAILED
                    Tool "ap_approve_invoice" failed: AP_LEDGER_POSTINGS.PERIOD is closed (ERR-<time>)
         books      rolled back: approvals 1 -> 1, last number 1000 -> 1001; 1 number drawn that no row shows
         row        failed, tool: TOOL_FAILED
         audit log  6 entries, verified
         error log  ERR-<time>: SqliteError: AP_LEDGER_POSTINGS.PERIOD is closed"
    `)
  })

  it('of a human’s decision', async () => {
    expect(await play('human-decides')).toMatchInlineSnapshot(`
      "3. A large write waits for a second person
         who        petra.k (authenticated); bound to the run: invoice INV-2040, vendor V-77, clerk petra.k
         asks       Please approve invoice INV-2040.
         gates      ap_approve_invoice  authorize passed, desk-rules passed, four-eyes paused AP_SECOND_PERSON
                    ap_approve_invoice  authorize passed, desk-rules passed, four-eyes passed (attempt 2)
         guards     passed: kill-switch 5, approval 1, budget 3, audit 4; not asked: approval 1, budget 1, audit 1
         paused     ap_approve_invoice waits for a human (AP_SECOND_PERSON of four-eyes); the runtime is closed meanwhile
                    ap.lead decides: approve, "The goods have arrived."; another runtime resumes
         tools      ap_approve_invoice  ok      {"invoice":"INV-2040"} -> {"approved":"INV-2040","approvalNo":1001}
         answer     Invoice INV-2040 is approved, with the consent of a second person.
         tokens     721 in (256 from the cache), 44 out; this month $0.0028424 spent of $200.00, $199.9971576 left
         ended      completed (stop)
         books      committed: approvals 1 -> 2, last number 1000 -> 1001
         row        completed
         audit log  11 entries, verified"
    `)
  })
})

describe('the example', () => {
  it('leaves nothing behind in the temporary folder of the machine', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ap-desk-test-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, folder)
    const [choice] = PROVIDER_CHOICES
    const [scene] = SCENES
    if (choice !== undefined && scene !== undefined) await playScene(scene, choice, options())
    expect(readdirSync(folder)).toEqual([])
  })

  it('its own fixtures say that they are written by hand', () => {
    for (const { protocol } of PROVIDER_CHOICES)
      for (const fixture of [...SCENES.map((scene) => scene.fixture), ...STORIES.flatMap(({ fixtures }) => fixtures)])
        if ('own' in fixture) {
          const { origin, note } = loadFixture(new URL(`../fixtures/${protocol}/${fixture.own}.json`, import.meta.url))
          expect(origin).toBe('hand-written')
          expect(note).toMatch(
            /^Written by hand in the documented wire format of .+; no provider ever sent these bytes\./,
          )
        }
  })
})
