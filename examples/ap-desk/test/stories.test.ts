import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@sluice/core'
import type { AuditEntry } from '@sluice/hooks-audit'
import { audit, verifyLines } from '@sluice/hooks-audit'
import { budget } from '@sluice/hooks-budget'
import { approval, killSwitch } from '@sluice/hooks-policy'
import { capturedLogger, fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { createPainter } from '../src/account/painter.js'
import { CLERK_MONTH, DESK_MONTH } from '../src/gates/guards.js'
import type { DeskAtWork } from '../src/scenes/desk-at-work.js'
import { withDesk } from '../src/scenes/desk-at-work.js'
import { PROVIDER_CHOICES } from '../src/scenes/provider-choice.js'
import { tellStory } from '../src/stories/play-story.js'
import { STORIES } from '../src/stories/stories.js'
import type { StoryAccount } from '../src/stories/story-account.js'
import { endingsOf } from '../src/stories/story-account.js'
import { writeStory } from '../src/stories/write-story.js'

const [OPENAI, ANTHROPIC] = PROVIDER_CHOICES
const NOON = Date.UTC(2026, 10, 9, 12)
const NEW_ACCOUNT = 'AT611904300234573201'
/** Not every byte: the package itself tries each bit. */
const STEP = 11
const plain = createPainter(false)

/** Plays a story and looks at the desk while it is still open. */
async function playOn<Result>(
  choice: (typeof PROVIDER_CHOICES)[number] | undefined,
  code: string,
  look: (at: DeskAtWork, account: StoryAccount) => Promise<Result>,
): Promise<Result> {
  const story = STORIES.find((each) => each.code === code)
  if (choice === undefined || story === undefined) throw new Error(`There is no story ${code}.`)
  const options = { logger: capturedLogger(), clock: fakeClock({ now: NOON }) }
  return withDesk(choice, story.fixtures, options, async (at) => look(at, await tellStory(story, at)))
}

const printed = (code: string) =>
  playOn(OPENAI, code, async (_at, account) =>
    writeStory(account, 8, plain)
      .join('\n')
      .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, '<id>')
      .replaceAll(/byte \d+/g, 'byte <n>'),
  )

async function logOf(at: DeskAtWork): Promise<{ readonly text: string; readonly entries: readonly AuditEntry[] }> {
  let text = ''
  for await (const line of at.runtime.plugin(audit).export('jsonl')) text += line
  const lines = text.split('\n').filter((line) => line !== '')
  return { text, entries: lines.map((line) => JSON.parse(line) as AuditEntry) }
}

const named = (entries: readonly AuditEntry[], event: string) => entries.filter((entry) => entry.event === event)

/** What the ledger has booked for the model calls of all runs, attempt by attempt. */
async function booked(at: DeskAtWork) {
  const { entries } = await logOf(at)
  const effects = new Set(named(entries, 'model.intent').map((entry) => entry.effectId ?? ''))
  const charges = []
  for (const effectId of effects) charges.push(...(await at.runtime.plugin(budget).charges(effectId)))
  return charges
}

const nanoUsdOf = ({ booked: booking }: { readonly booked: JsonObject | null }) => BigInt(String(booking?.nanoUsd))

describe.each(PROVIDER_CHOICES)('the stories on $id', (choice) => {
  it.each(STORIES)(
    '$code ends as expected, its log verifies, and its account is readable',
    async ({ code, expected }) => {
      await playOn(choice, code, async (at, account) => {
        expect(endingsOf(account)).toEqual(expected)
        expect(account.log).toMatchObject({ ok: true, faults: [] })
        expect(account.log.pairs).toMatchObject({ openCount: 0 })
        expect((await booked(at)).every((charge) => charge.state === 'settled')).toBe(true)
        const lines = writeStory(account, 8, plain)
        expect(lines.length).toBeLessThanOrEqual(26)
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(120)
        expect(lines.join('\n')).not.toContain('the replay ends with')
      })
    },
  )
})

describe('the budget', () => {
  it('CASE-09: what is printed: the stop, what would fit, and the month', async () => {
    expect(await printed('budget-stop')).toMatchInlineSnapshot(`
      "8. The budget: a request that might not fit is not sent
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      completed; 2 requests
                    INV-1002 is open and vendor V-77 is not blocked.
         operator   controller sets the month of petra.k to $0.0236664: $0.02 more than is spent
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      BUDGET_EXHAUSTED by hooks-budget at beforeModelCall; nothing was sent
                    $0.02 left, and the request could cost up to $0.09007
                    with maxOutputTokens: 592 it would fit
         operator   controller adds $1.00 (ticket-311): $1.02 left
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      completed; 2 requests
                    INV-1002 is open and vendor V-77 is not blocked.
         money      petra.k: this month $0.0073328 spent of $1.0236664, $1.0163336 left
         money      the desk: this month $0.0073328 spent of $200.00, $199.9926672 left
         guards     passed: kill-switch 12, approval 4, budget 8, audit 11; vetoed: budget 1; not asked: audit 1
         audit log  24 entries, verified"
    `)
  })

  it('CASE-10: a request that did not fit was not sent, and the month is the sum of what was', async () => {
    await playOn(OPENAI, 'budget-stop', async (at) => {
      const charges = await booked(at)
      // the replay has four answers, and would have failed at a fifth request
      expect(charges).toHaveLength(4)
      const sum = charges.reduce((total, charge) => total + nanoUsdOf(charge), 0n)
      const rows = await at.runtime.plugin(budget).status({ user: 'petra.k' })
      expect(rows.map(({ limit, spent, held, unknown }) => ({ limit, spent, held, unknown }))).toEqual([
        { limit: DESK_MONTH, spent: sum, held: 0n, unknown: 0n },
        { limit: CLERK_MONTH, spent: sum, held: 0n, unknown: 0n },
      ])
      // at $4 fresh and $0.40 cached input and $20 output per million tokens
      expect(sum).toBe(7_332_800n)
    })
  })

  it('what the operator changed is on record with who and why, and the stop is in the log', async () => {
    await playOn(ANTHROPIC, 'budget-stop', async (at) => {
      const { items } = await at.runtime.plugin(budget).changes()
      expect(items).toMatchObject([
        { change: 'set', limit: CLERK_MONTH, who: 'controller', why: 'the quarter is spent' },
        { change: 'topUp', limit: CLERK_MONTH, who: 'controller', key: 'ticket-311', amount: '1000000000' },
      ])
      const stops = named((await logOf(at)).entries, 'stop')
      expect(stops).toMatchObject([{ actor: 'petra.k', data: { code: 'BUDGET_EXHAUSTED' } }])
    })
  })
})

describe('the approval', () => {
  it('CASE-06: what is printed: who was asked, who may not decide, and where the vendor is paid', async () => {
    expect(await printed('approval-answered')).toMatchInlineSnapshot(`
      "8. The approval: somebody else decides where a vendor is paid
         asks       petra.k: V-77 has a new bank account, AT611904300234573201. Please change it.
         ended      paused; 1 request
                    APPROVAL_REQUIRED of hooks-policy/approval: ap_change_bank_account waits for a human
         decides    petra.k: approve; another runtime resumes
         ended      paused; 1 request
                    APPROVAL_DECIDER of hooks-policy/approval: who asked for it may not decide it; ap_change_bank_account
                    waits for somebody else
         decides    ap.lead: approve, "I have called them back."
         ended      completed; 2 requests
                    The invoices of vendor V-77 are now paid to the new account.
         ended      NOT_PAUSED; nothing was sent
                    Run <id> is completed, not paused. ap.lead approved
                    <id>/m1.t1 at 2026-11-09T12:00:00.000Z.
         approval   consumed, question 2, decided by ap.lead
         books      V-77 is paid to AT611904300234573201, was DE89370400440532013000
         guards     passed: kill-switch 6, approval 1, budget 3, audit 4; paused: approval 2; not asked: budget 2, audit 2
         audit log  14 entries, verified"
    `)
  })

  it('CASE-06: the account is changed once, in the name of the clerk, after the yes of another', async () => {
    await playOn(OPENAI, 'approval-answered', async (at) => {
      expect(at.desk.books.bankAccountOf('V-77')).toBe(NEW_ACCOUNT)
      const { entries } = await logOf(at)
      const ran = named(entries, 'tool.outcome').filter((entry) => entry.data.sent === 'yes')
      expect(ran).toMatchObject([{ actor: 'petra.k', agent: 'ap_vendor_desk', data: { outcome: 'ok' } }])
      expect(named(entries, 'stop').map((entry) => entry.data.code)).toEqual(['APPROVAL_REQUIRED', 'APPROVAL_DECIDER'])
      expect(named(entries, 'tool.intent')).toMatchObject([
        { data: { decision: { decision: 'approve', by: 'ap.lead' } } },
      ])
      const [run] = entries
      expect(await at.runtime.plugin(approval).list(run?.run ?? '')).toMatchObject([
        { state: 'consumed', ask: 2, decision: { decision: 'approve', by: 'ap.lead' } },
      ])
    })
  })

  it('the log shows neither account: they are redacted wherever the plugin writes arguments', async () => {
    await playOn(ANTHROPIC, 'approval-answered', async (at) => {
      const { text } = await logOf(at)
      expect(text).not.toContain(NEW_ACCOUNT)
      expect(text).not.toContain('DE89370400440532013000')
      expect(text).toContain('"iban":"[redacted]"')
    })
  })
})

describe('the kill switch', () => {
  it('B-25: what is printed: the stop, who and why, and that a restart does not take it off', async () => {
    expect(await printed('kill-switch')).toMatchInlineSnapshot(`
      "8. The kill switch: nothing runs until somebody takes it off
         operator   ops.lead switches everything off for 2 hours: "wrong postings were reported"
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      KILL_SWITCH_ON by hooks-policy/kill-switch at beforeExecution; nothing was sent
                    Everything is switched off by ops.lead: wrong postings were reported
         restart    the runtime is closed, and another one opened: the switch lies in the store
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      KILL_SWITCH_ON by hooks-policy/kill-switch at beforeExecution; nothing was sent
                    Everything is switched off by ops.lead: wrong postings were reported
         operator   ops.lead takes it off: "the postings were right"
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      completed; 2 requests
                    INV-1002 is open and vendor V-77 is not blocked.
         switch     all: off, by ops.lead
         guards     passed: kill-switch 5, approval 2, budget 4, audit 5; vetoed: kill-switch 2; not asked: audit 2
         audit log  12 entries, verified"
    `)
  })

  it('B-25: nothing was asked for and nothing was spent while it was on, and both stops are in the log', async () => {
    await playOn(ANTHROPIC, 'kill-switch', async (at) => {
      const { entries } = await logOf(at)
      // the run that was let through is the only one that has begun
      expect(new Set(named(entries, 'run.intent').map((entry) => entry.run)).size).toBe(1)
      expect(named(entries, 'stop')).toMatchObject([
        { data: { code: 'KILL_SWITCH_ON', details: { who: 'ops.lead' } } },
        { data: { code: 'KILL_SWITCH_ON', details: { who: 'ops.lead' } } },
      ])
      expect(await booked(at)).toHaveLength(2)
      expect(await at.runtime.plugin(killSwitch).status()).toMatchObject([
        { kind: 'all', state: 'off', row: { who: 'ops.lead', reason: 'the postings were right' } },
      ])
    })
  })
})

describe('the end of the month', () => {
  it('CASE-28: what is printed: what was spent, and each thing that was done to the copy', async () => {
    expect(await printed('month-end')).toMatchInlineSnapshot(`
      "8. The end of the month: what was spent, and a log that shows what was changed in it
         asks       petra.k: Is invoice INV-1002 open, and is its vendor V-77 blocked?
         ended      completed; 2 requests
                    INV-1002 is open and vendor V-77 is not blocked.
         asks       petra.k: Please look at invoice INV-1002 and approve it.
         ended      completed; 3 requests
                    Invoice INV-1002 over 1250.00 EUR is approved.
         money      desk-month: this month $0.0072704 spent of $200.00, $199.9927296 left
         money      clerk-month: this month $0.0072704 spent of $25.00, $24.9927296 left
         audit log  in the store: 22 entries, verified; 22 under the key, 22 under the checkpoint
         audit log  a copy: 22 entries, verified; 22 under the key, 22 under the checkpoint
         audit log  byte <n> of it changed, 2 to 3: BROKEN: Entry 3 (place 3): changed; its hash is not the one of its
                    bytes. Proven: 3 of 22 entries.
         audit log  its last entry cut off: BROKEN: Entry 21: truncated; an anchor holds 22 entries. Proven: 21 of 21
                    entries.
         audit log  in the store, as before: 22 entries, verified; 22 under the key, 22 under the checkpoint
         guards     passed: kill-switch 11, approval 4, budget 9, audit 11
         audit log  22 entries, verified"
    `)
  })

  it('the README shows what is printed', async () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8').replaceAll(/byte \d+/g, 'byte <n>')
    expect(readme).toContain((await printed('month-end')).replace(/^8\./, '11.'))
  })

  it('CASE-28: the copy is one entry short of the log, and the log in the store is as it was written', async () => {
    await playOn(OPENAI, 'month-end', async (at) => {
      const { text, entries } = await logOf(at)
      const copy = readFileSync(join(at.desk.folder, 'ap-desk.jsonl'), 'utf8')
      expect(text.startsWith(copy)).toBe(true)
      expect(copy.split('\n')).toHaveLength(entries.length)
      expect(verifyLines(text, { keys: [at.desk.keys.auditLog] })).toMatchObject({ ok: true, size: entries.length })
      expect(at.desk.books.countApprovals()).toBe(2)
      expect((await at.runtime.plugin(audit).checkpoints()).map(({ size }) => size)).toEqual([entries.length])
    })
  })

  it('CASE-28: a byte that is changed anywhere in an entry is found, and the entry named', async () => {
    await playOn(OPENAI, 'month-end', async (at) => {
      const { text } = await logOf(at)
      const lines = text.split('\n')
      const from = lines.slice(0, 3).join('\n').length + 1
      for (let place = from; place < from + (lines[3]?.length ?? 0); place += STEP) {
        const bytes = Buffer.from(text)
        bytes[place] = (bytes[place] ?? 0) ^ 1
        const { ok, faults } = verifyLines(bytes, { keys: [at.desk.keys.auditLog] })
        expect({ place, ok, first: faults[0]?.from }).toEqual({ place, ok: false, first: 3 })
      }
    })
  })
})
