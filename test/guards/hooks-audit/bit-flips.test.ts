import { verifyLines } from '@sluice/hooks-audit'
import { expect, test } from 'vitest'
import { auditBench } from './support/desk-log.js'

const SIZE = 1_000

test('CASE-28: every single-bit flip in a log of 1 000 entries is found, and named by its entry', {
  timeout: 600_000,
}, async () => {
  const desk = await auditBench()
  for (let run = 0; run < SIZE; run++) await desk.intent(`r${run}`)
  const entries = await desk.entries()
  const text = Buffer.from(await desk.lines())
  expect(verifyLines(text)).toMatchObject({ ok: true, size: SIZE })

  let flips = 0
  const missed: string[] = []
  let start = 0
  for (let seq = 0; seq < SIZE; seq++) {
    const end = text.indexOf(10, start)
    // each line is verified where it stands: behind the one before it
    const line = text.subarray(start, end)
    const after = { size: seq, hash: entries[seq - 1]?.hash ?? '0'.repeat(64) }
    for (let bit = 0; bit < line.length * 8; bit++) {
      const byte = bit >> 3
      const before = line[byte] as number
      line[byte] = before ^ (1 << (bit & 7))
      const { ok, faults, chained } = verifyLines(line, { after, log: 'audit' })
      line[byte] = before
      flips += 1
      if (ok || faults[0]?.from !== seq || chained !== seq) missed.push(`bit ${bit} of entry ${seq}`)
    }
    start = end + 1
  }
  expect(missed).toEqual([])
  expect(flips).toBe((text.length - SIZE) * 8)
  expect(flips).toBeGreaterThan(3_000_000)
})
