import { createMemoryStore } from '@sluice/core'
import type { JsonValue } from '@sluice/core'
import { fakeClock } from '@sluice/testkit'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from './audit-entry.js'
import { NO_ENTRY } from './audit-entry.js'
import type { AuditFault } from './audit-fault.js'
import { ChainVerifier } from './chain-verifier.js'
import { ChainWriter } from './chain-writer.js'
import { cleanDraft } from './clean-draft.js'
import { exportLog } from './export-log.js'
import { HashList } from './hash-list.js'
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

const hashes = new HashList()
for (const { hash } of chain) hashes.push(hash)

/** Entries `from` up to `to` as they were read and fitted together once. */
const run = (from: number, to: number) => ({
  seq: from,
  prev: from === 0 ? NO_ENTRY : (chain[from - 1]?.hash as string),
  hashes: hashes.slice(from, to),
})

type Rows = readonly (readonly [from: number, to: number])[]

/** The faults of a chain of which these rows are left, in this order, read in runs of entries that stand together. */
function inRuns(rows: Rows, anchors: readonly (typeof anchor)[] = []): readonly AuditFault[] {
  const verifier = new ChainVerifier({ anchors })
  for (const [from, to] of rows) if (from < to) verifier.addRun(run(from, to))
  return verifier.end().faults
}

/** The same, read entry by entry. */
function oneByOne(rows: Rows, anchors: readonly (typeof anchor)[] = []): readonly AuditFault[] {
  const verifier = new ChainVerifier({ anchors })
  for (const [from, to] of rows) for (const row of found.slice(from, to)) verifier.add(row)
  return verifier.end().faults
}

const changes = {
  swap: (left: number, right: number): Rows => [
    [0, left],
    [right, right + 1],
    [left + 1, right],
    [left, left + 1],
    [right + 1, SIZE],
  ],
  delete: (seq: number): Rows => [
    [0, seq],
    [seq + 1, SIZE],
  ],
  duplicate: (seq: number): Rows => [
    [0, seq + 1],
    [seq, SIZE],
  ],
  'copy to the end': (seq: number): Rows => [
    [0, SIZE],
    [seq, seq + 1],
  ],
  'move to the end': (seq: number): Rows => [
    [0, seq],
    [seq + 1, SIZE],
    [seq, seq + 1],
  ],
  truncate: (size: number): Rows => [[0, size]],
}

const namesOf = (faults: readonly AuditFault[]) =>
  faults.map(({ kind, from, to }) => (from === to ? `${kind} ${from}` : `${kind} ${from}-${to}`)).join()

/** Both are named; of two or three entries in a row, one of them, since they can be told apart in more ways than one. */
function isSwapNamed(faults: readonly AuditFault[], left: number, right: number): boolean {
  if (faults.length === 0 || !faults.every(({ kind, from, to }) => kind === 'reordered' && from === to)) return false
  const numbers = faults.map(({ from }) => from)
  if (right - left > 2) return numbers.join() === `${left},${right}`
  return numbers.length <= right - left && (numbers.includes(left) || numbers.includes(right))
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

  it('every single deletion, duplication, truncation and move is found and named, given an anchor', () => {
    const wrong: string[] = []
    for (let seq = 0; seq < SIZE; seq++) {
      const last = seq === SIZE - 1
      const names = {
        delete: `${last ? 'truncated' : 'dropped'} ${seq}`,
        duplicate: `duplicated ${seq}`,
        'copy to the end': `duplicated ${seq}`,
        // the last one stands there already
        'move to the end': last ? '' : `reordered ${seq}`,
        truncate: `truncated ${last ? seq : `${seq}-${SIZE - 1}`}`,
      }
      for (const [name, wanted] of Object.entries(names)) {
        const faults = namesOf(inRuns(changes[name as keyof typeof names](seq), [anchor]))
        if (faults !== wanted) wrong.push(`${name} ${seq}: ${faults}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('every one of the 499 500 swaps of two entries is found and named', { timeout: 120_000 }, () => {
    const wrong: string[] = []
    let swaps = 0
    for (let left = 0; left < SIZE; left++) {
      for (let right = left + 1; right < SIZE; right++) {
        const faults = inRuns(changes.swap(left, right))
        swaps += 1
        if (!isSwapNamed(faults, left, right)) wrong.push(`${left} and ${right}: ${namesOf(faults)}`)
      }
    }
    expect(wrong).toEqual([])
    expect(swaps).toBe((SIZE * (SIZE - 1)) / 2)
  })

  it('what is read entry by entry has the faults of what is read in runs', { timeout: 60_000 }, () => {
    let compared = 0
    const compare = (rows: Rows, anchors: readonly (typeof anchor)[]) => {
      const faults = oneByOne(rows, anchors)
      expect(faults.length).toBeGreaterThan(0)
      expect(inRuns(rows, anchors)).toEqual(faults)
      compared += 1
    }
    for (let left = 0; left < SIZE - 2; left += 53) {
      for (const right of [left + 1, left + 2, left + 3, SIZE - 1]) {
        if (left < right) compare(changes.swap(left, right), [])
      }
      for (const name of ['delete', 'duplicate', 'copy to the end', 'move to the end', 'truncate'] as const)
        compare(changes[name](left), [anchor])
    }
    expect(compared).toBe(19 * 9)
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
