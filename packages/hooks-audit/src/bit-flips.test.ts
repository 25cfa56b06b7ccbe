import { createMemoryStore } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ChainWriter } from './chain-writer.js'
import { exportLog } from './export-log.js'
import { readBytes } from './read-entry.js'
import { someDraft } from './testing/some-entries.js'
import { verifyLines } from './verify-log.js'

const SIZE = 1_000
/** Flips of each entry that go through a whole verification, too. */
const WHOLE = 25

/** The log as the export writes it. */
async function exported(): Promise<Buffer> {
  const log = createMemoryStore({ clock: fakeClock() }).log('n')
  const writer = new ChainWriter(log, 'audit', { current: undefined, previous: [] })
  for (let run = 0; run < SIZE; run++) await writer.write(someDraft({ run: `r${run}`, effectId: `r${run}/m1.t1` }))
  let text = ''
  for await (const line of exportLog(log, 'audit', 'jsonl')) text += line
  return Buffer.from(text)
}

test('CASE-28: every single-bit flip in a log of 1 000 entries is found, and named by its entry', {
  timeout: 300_000,
}, async () => {
  const text = await exported()
  expect(verifyLines(text)).toMatchObject({ ok: true, size: SIZE })
  // one flip in five makes JSON.parse throw: their stacks cost more than all the rest
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  onTestFinished(() => {
    Error.stackTraceLimit = stackTraceLimit
  })

  let flips = 0
  let whole = 0
  const missed: string[] = []
  let start = 0
  let prev = '0'.repeat(64)
  for (let seq = 0; seq < SIZE; seq++) {
    const end = text.indexOf(10, start)
    // each line is verified where it stands: behind the one before it
    const line = text.subarray(start, end)
    const after = { size: seq, hash: prev }
    prev = readBytes(line).entry?.hash as string
    const every = Math.floor((line.length * 8) / WHOLE)
    for (let bit = 0; bit < line.length * 8; bit++) {
      const byte = bit >> 3
      const before = line[byte] as number
      line[byte] = before ^ (1 << (bit & 7))
      // what a verification knows of a line is what was read: an entry that is none is named by its place, whatever is wrong
      if (readBytes(line).entry !== undefined) missed.push(`bit ${bit} of entry ${seq}`)
      if (bit % every === seq % every) {
        const { ok, faults, chained } = verifyLines(line, { after, log: 'audit' })
        if (ok || faults[0]?.from !== seq || chained !== seq) missed.push(`bit ${bit} of entry ${seq} is not named`)
        whole += 1
      }
      line[byte] = before
      flips += 1
    }
    start = end + 1
  }
  expect(missed).toEqual([])
  expect(flips).toBe((text.length - SIZE) * 8)
  expect(flips).toBeGreaterThan(3_000_000)
  expect(whole).toBeGreaterThan(SIZE * (WHOLE - 1))
})
