import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Verification } from '@sluice/hooks-audit'
import { audit, verifyLines } from '@sluice/hooks-audit'
import { budget } from '@sluice/hooks-budget'
import { month } from '../account/write-account.js'
import { said } from './said.js'
import type { Story } from './story.js'
import { CLERK, clerkAsks, IS_IT_OPEN } from './the-clerk.js'

const NEWLINE = 0x0a

/** What the month has cost, and whether the log is what was written: what is changed in a copy of it is found and named. */
export const monthEnd: Story = {
  code: 'month-end',
  title: 'The end of the month: what was spent, and a log that shows what was changed in it',
  fixtures: [{ testkit: 'several-calls' }, { own: 'write-approved' }],
  expected: ['completed', 'completed', 'verified', 'verified', 'changed', 'truncated', 'verified'],
  async play(at, tell) {
    for (const question of [IS_IT_OPEN, 'Please look at invoice INV-1002 and approve it.']) {
      const ended = await tell.asks(clerkAsks(question))
      await tell.ended(ended, said(ended))
    }
    for (const row of await at.runtime.plugin(budget).status({ user: CLERK }))
      tell.note('money', `${row.limit}: ${month(row)}`)

    const log = at.runtime.plugin(audit)
    const result = (what: string, report: Verification) =>
      tell.found('audit log', report.faults[0]?.kind ?? 'verified', `${what}: ${sentence(report)}`)
    // kept where nobody who can write the log can write: as a file elsewhere, in a mail, on paper
    const checkpoint = await log.checkpoint()
    result('in the store', await log.verify({ anchors: [checkpoint] }))

    // what an auditor gets, who has no store: a file, the key, and the checkpoint
    const file = join(at.desk.folder, 'ap-desk.jsonl')
    const lines: string[] = []
    for await (const line of log.export('jsonl')) lines.push(line)
    writeFileSync(file, lines.join(''))
    const given = { keys: [at.desk.keys.auditLog], anchors: [checkpoint] }
    result('a copy', verifyLines(readFileSync(file), given))

    const bytes = readFileSync(file)
    const place =
      bytes.indexOf('"INV-1002"') === -1
        ? Math.floor(bytes.length / 2)
        : bytes.indexOf('"INV-1002"') + '"INV-100'.length
    const was = String.fromCharCode(bytes[place] ?? 0)
    bytes[place] = (bytes[place] ?? 0) ^ 1
    writeFileSync(file, bytes)
    const one = `byte ${place} of it changed, ${was} to ${String.fromCharCode(bytes[place] ?? 0)}`
    result(one, verifyLines(readFileSync(file), given))

    const whole = Buffer.from(lines.join(''))
    writeFileSync(file, whole.subarray(0, whole.lastIndexOf(NEWLINE, whole.length - 2) + 1))
    result('its last entry cut off', verifyLines(readFileSync(file), given))

    result('in the store, as before', await log.verify({ anchors: [checkpoint] }))
  },
}

/** The first of what a report says, and how far it goes. */
function sentence({ ok, size, faults, keyed, anchored, chained }: Verification): string {
  const [first] = faults
  if (!ok && first !== undefined) return `BROKEN: ${first.message} Proven: ${chained} of ${size} entries.`
  return `${size} entries, verified; ${keyed ?? 0} under the key, ${anchored} under the checkpoint`
}
