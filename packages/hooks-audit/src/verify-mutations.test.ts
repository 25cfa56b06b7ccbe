import { createMemoryStore } from '@sluice/core'
import type { JsonValue } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from './audit-entry.js'
import { ChainVerifier } from './chain-verifier.js'
import { ChainWriter } from './chain-writer.js'
import { cleanDraft } from './clean-draft.js'
import { exportLog } from './export-log.js'
import { readEntry } from './read-entry.js'
import type { FoundEntry } from './read-entry.js'
import { someChain, someDraft } from './testing/some-entries.js'
import { toLine } from './to-line.js'
import { verifyLines, verifyStored } from './verify-log.js'

const SIZE = 1_000
const chain = someChain(SIZE)
const found = chain.map((entry) => readEntry(entry))
const anchor = { size: SIZE, hash: chain[SIZE - 1]?.hash as string }

/** The numbers that a verification names; `[]` where it found nothing. */
function named(rows: Iterable<FoundEntry>, anchors: readonly (typeof anchor)[] = []): string[] {
  const verifier = new ChainVerifier({ anchors })
  for (const row of rows) verifier.add(row)
  return verifier.end().faults.map(({ kind, from, to }) => (from === to ? `${kind} ${from}` : `${kind} ${from}-${to}`))
}

describe('CASE-28: of a log of 1 000 entries', () => {
  it('a flipped bit in the whole text is named by the entry in which it lies', { timeout: 120_000 }, () => {
    const text = Buffer.from(chain.map((entry) => `${toLine(entry as unknown as JsonValue)}\n`).join(''))
    const starts: number[] = [0]
    for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) starts.push(at + 1)
    let tried = 0
    for (let bit = 5; bit < text.length * 8; bit += 65_537) {
      const byte = bit >> 3
      const seq = starts.findLastIndex((start) => start <= byte)
      if (text[byte] === 10) continue
      const copy = Buffer.from(text)
      copy[byte] = (copy[byte] as number) ^ (1 << (bit & 7))
      const report = verifyLines(copy, { anchors: [anchor] })
      expect(report.ok).toBe(false)
      expect([bit, report.faults[0]?.from, report.chained]).toEqual([bit, seq, seq])
      tried += 1
    }
    expect(tried).toBeGreaterThan(50)
  })

  it('every single deletion is found and named, the last one with an anchor', { timeout: 60_000 }, () => {
    for (let seq = 0; seq < SIZE; seq++) {
      const last = seq === SIZE - 1
      expect(named(found.toSpliced(seq, 1), [anchor])).toEqual([`${last ? 'truncated' : 'dropped'} ${seq}`])
    }
  })

  it('every single duplication is found and named, beside itself and at the end', { timeout: 60_000 }, () => {
    for (let seq = 0; seq < SIZE; seq++) {
      const row = found[seq] as FoundEntry
      expect(named(found.toSpliced(seq + 1, 0, row))).toEqual([`duplicated ${seq}`])
      expect(named([...found, row])).toEqual([`duplicated ${seq}`])
    }
  })

  it('every truncation is found and named, given an anchor', { timeout: 60_000 }, () => {
    for (let size = 0; size < SIZE; size++) {
      const range = size === SIZE - 1 ? `${size}` : `${size}-${SIZE - 1}`
      expect(named(found.slice(0, size), [anchor])).toEqual([`truncated ${range}`])
    }
  })

  it('every swap of two entries is found and names one of them; every move names the one that was moved', {
    timeout: 300_000,
  }, () => {
    const wrong: string[] = []
    let swaps = 0
    const rows = found.slice(0, 200)
    for (let left = 0; left < rows.length; left++) {
      for (let right = left + 1; right < rows.length; right++) {
        const swapped = rows.with(left, rows[right] as FoundEntry).with(right, rows[left] as FoundEntry)
        const names = named(swapped)
        swaps += 1
        // two or three entries in a row can be told apart in more ways than one
        const good =
          right - left > 2
            ? [`reordered ${left}`, `reordered ${right}`]
            : names.filter((name) => name.startsWith('reordered'))
        if (names.length === 0 || names.join() !== good.join()) wrong.push(`${left} and ${right}: ${names.join()}`)
      }
    }
    for (let left = 0; left < SIZE - 1; left++) {
      const swapped = found.with(left, found[left + 1] as FoundEntry).with(left + 1, found[left] as FoundEntry)
      const names = named(swapped)
      if (names.length !== 1 || !/^reordered/.test(names[0] as string)) wrong.push(`${left}: ${names.join()}`)
      const moved = named([...found.toSpliced(left, 1), found[left] as FoundEntry])
      if (left < SIZE - 2 && moved.join() !== `reordered ${left}`) wrong.push(`${left} to the end: ${moved.join()}`)
    }
    expect(wrong).toEqual([])
    expect(swaps).toBe(19_900)
  })

  it('random changes of several kinds at once are never missed', { timeout: 120_000 }, () => {
    const rows = found.slice(0, 40)
    const act = fc.record({
      kind: fc.constantFrom('drop', 'copy', 'move', 'spoil', 'swap'),
      from: fc.nat(39),
      to: fc.nat(39),
    })
    let changed = 0
    fc.assert(
      fc.property(fc.array(act, { minLength: 1, maxLength: 6 }), (acts) => {
        const next = [...rows]
        for (const { kind, from, to } of acts) {
          const row = next[from]
          if (row === undefined) continue
          if (kind === 'drop') next.splice(from, 1)
          else if (kind === 'copy') next.splice(to, 0, row)
          else if (kind === 'move') next.splice(to, 0, ...next.splice(from, 1))
          else if (kind === 'spoil') next[from] = { entry: undefined, text: '', why: 'spoilt' }
          else if (next[to] !== undefined) [next[from], next[to]] = [next[to], row]
        }
        const same = next.length === rows.length && next.every((row, index) => row === rows[index])
        if (!same) changed += 1
        const faults = named(next, [{ size: 40, hash: chain[39]?.hash as string }])
        expect(faults.length === 0).toBe(same)
      }),
      { numRuns: 5_000 },
    )
    expect(changed).toBeGreaterThan(3_000)
  })
})

describe('no false alarm', () => {
  it('in random entries of any text and number, through store, export and import', { timeout: 300_000 }, async () => {
    const log = createMemoryStore({ clock: fakeClock() }).log('n')
    const writer = new ChainWriter(log, 'audit', { current: undefined, previous: [] })
    const nothing = { paths: [], patterns: [], values: () => [] }
    const text = fc.string({ unit: 'binary', maxLength: 12 })
    const data = fc.dictionary(
      text,
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), text, fc.double(), fc.string({ unit: 'grapheme' })),
      { maxKeys: 4 },
    )
    const BATCH = 500
    const total = 3_000
    for (let round = 0; round < total / BATCH; round++) {
      const samples = fc.sample(data, { numRuns: BATCH, seed: round })
      await Promise.all(
        samples.map((sample, index) => {
          const draft = someDraft({
            effectId: `e${round}.${index}`,
            actor: Object.keys(sample)[0] ?? null,
            data: sample as never,
          })
          return writer.write(cleanDraft(draft, nothing, [], () => null))
        }),
      )
    }
    const stored = await verifyStored(log, 'audit')
    expect([stored.ok, stored.size, stored.faults]).toEqual([true, total, []])
    const lines: string[] = []
    for await (const line of exportLog(log, 'audit', 'jsonl')) lines.push(line)
    expect(lines).toHaveLength(total)
    const imported = verifyLines(lines.join(''), { anchors: [stored.head as typeof anchor] })
    expect([imported.ok, imported.size, imported.anchored]).toEqual([true, total, total])
    // and what was read is what was written
    const back = JSON.parse(lines[777] as string) as AuditEntry
    expect(back).toEqual((await log.read('audit', { from: 777, limit: 1 }))[0]?.value)
  })
})
