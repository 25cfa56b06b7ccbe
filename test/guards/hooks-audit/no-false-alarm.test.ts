import type { JsonObject } from '@sluice/core'
import { verifyEntries, verifyLines } from '@sluice/hooks-audit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { auditBench } from './support/desk-log.js'

const TOTAL = 100_000
const BATCH = 500

test('there is no false alarm in 100 000 random entries through store, export and import', {
  timeout: 600_000,
}, async () => {
  const desk = await auditBench({ recordArguments: true })
  const text = fc.string({ unit: 'binary', maxLength: 12 })
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text, fc.double({ noNaN: true, noDefaultInfinity: true }))
  const args = fc.dictionary(text, value, { maxKeys: 4 })
  for (let round = 0; round < TOTAL / BATCH; round++) {
    await Promise.all(
      fc.sample(args, { numRuns: BATCH, seed: round }).map(async (sample, index) => {
        const run = `r${round}.${index}`
        const facts = { rootExecutionId: run, effectId: `${run}/m1.t1`, toolCode: Object.keys(sample)[0] ?? 'tool' }
        const { answer } = await desk.bench.ask('inspectToolInput', {
          ...facts,
          args: sample as JsonObject,
          argsDigest: 'x',
        })
        expect(answer).toBe('passed')
      }),
    )
  }
  const entries = await desk.entries()
  const stored = verifyEntries(entries)
  expect([stored.ok, stored.size, stored.faults]).toEqual([true, TOTAL, []])
  const lines = await desk.lines()
  const imported = verifyLines(lines, { anchors: stored.head === null ? [] : [stored.head] })
  expect([imported.ok, imported.size, imported.anchored]).toEqual([true, TOTAL, TOTAL])
  // what is read is what was written
  const back = lines.split('\n').slice(0, -1)
  for (let seq = 0; seq < TOTAL; seq += 997) expect(JSON.parse(back[seq] as string)).toEqual(entries[seq])
})
