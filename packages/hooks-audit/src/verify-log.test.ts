import { createSecretKey } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from './audit-entry.js'
import { sealEntry } from './seal-entry.js'
import { forged, someChain, someDraft } from './testing/some-entries.js'
import { toLine } from './to-line.js'
import { verifyEntries, verifyLines } from './verify-log.js'

const chain = someChain(12)
const anchor = { size: 12, hash: chain[11]?.hash as string }
const linesOf = (entries: readonly unknown[]) => entries.map((entry) => `${toLine(entry as never)}\n`).join('')
const named = (entries: readonly unknown[], options = {}) =>
  verifyEntries(entries, options).faults.map(({ kind, from, to }) => `${kind} ${from}${to === from ? '' : `-${to}`}`)
const without = (...seqs: number[]) => chain.filter(({ seq }) => !seqs.includes(seq))
const key = (id: string) => ({ id, secret: createSecretKey(Buffer.alloc(32, id)) })

describe('verify', () => {
  it('CASE-28: says of a whole log what is proven and up to where, with an anchor and without', () => {
    const bare = verifyEntries(chain)
    expect(bare).toMatchObject({
      ok: true,
      log: 'audit',
      size: 12,
      chained: 12,
      keyed: null,
      anchored: 0,
      head: anchor,
    })
    expect(bare.statement).toContain('No anchor fits: whether entries were cut off the end is not known.')
    const anchored = verifyEntries(chain, { anchors: [{ size: 8, hash: chain[7]?.hash as string }] })
    expect(anchored).toMatchObject({ ok: true, anchored: 8 })
    expect(anchored.statement).toContain('Entries 0 to 7 are those that an anchor holds')
  })

  it('an empty log is no fault, and no proof', () => {
    expect(verifyEntries([])).toMatchObject({ ok: true, log: null, size: 0, chained: 0, head: { size: 0 } })
    expect(verifyLines('')).toMatchObject({ ok: true, size: 0 })
  })

  it('CASE-28: names a changed entry, whether its hash was mended or not', () => {
    expect(named(chain.with(5, { ...(chain[5] as AuditEntry), actor: 'mallory' }))).toEqual(['changed 5'])
    expect(named(chain.with(5, forged(chain[5] as AuditEntry, { actor: 'mallory' })))).toEqual(['changed 5'])
    expect(named(chain.with(0, forged(chain[0] as AuditEntry, { actor: 'mallory' })))).toEqual(['changed 0'])
    expect(named(chain.with(5, { ...(chain[5] as AuditEntry), seq: 7 }))).toEqual(['changed 5'])
    expect(named(chain.with(5, { ...(chain[5] as AuditEntry), hash: 'f'.repeat(64) }))).toEqual(['changed 5'])
    for (const junk of [null, 'x', 1, [], {}, { toString: null }])
      expect(named(chain.with(5, junk as never))).toEqual(['changed 5'])
  })

  it('throws for no entry, however it was forged', () => {
    const odd: Readonly<Record<string, unknown>> = {
      effectId: { toString: null },
      run: [],
      attempt: 'x',
      data: null,
      storedAt: 1e300,
      macs: [{ key: {}, mac: 'f'.repeat(64) }],
    }
    for (const [name, value] of Object.entries(odd)) {
      const entry = forged(chain[5] as AuditEntry, { [name]: value } as never)
      expect([name, named(chain.with(5, entry), { keys: [] })[0]]).toEqual([name, expect.stringMatching(/ 0$| 5$/)])
      expect([name, named(chain.with(5, { ...entry, [name]: value } as never))]).toEqual([name, ['changed 5']])
    }
  })

  it('CASE-28: proves the entries before the first fault and none behind it', () => {
    const report = verifyEntries(chain.with(5, forged(chain[5] as AuditEntry, { actor: 'mallory' })), {
      anchors: [anchor],
    })
    expect(report).toMatchObject({ ok: false, chained: 5, head: null, size: 12 })
    expect(report.statement).toMatch(/^BROKEN at entry 5: Entry 5 \(place 5\): changed; /)
  })

  it('CASE-28: names dropped entries one by one, in rows, at the beginning', () => {
    expect(named(without(5))).toEqual(['dropped 5'])
    expect(named(without(5, 6, 9))).toEqual(['dropped 5-6', 'dropped 9'])
    expect(named(without(0))).toEqual(['dropped 0'])
  })

  it('CASE-28: names entries that stand elsewhere, once more, or do not belong there', () => {
    const moved = [...without(5), chain[5]]
    expect(named(moved)).toEqual(['reordered 5'])
    expect(named(chain.with(5, chain[6] as AuditEntry).with(6, chain[5] as AuditEntry))).toEqual([
      expect.stringMatching(/^reordered [56]$/),
    ])
    expect(named(chain.toSpliced(6, 0, chain[5] as AuditEntry))).toEqual(['duplicated 5'])
    expect(named([...chain, chain[2]])).toEqual(['duplicated 2'])
    const other = forged(chain[5] as AuditEntry, { actor: 'mallory' })
    expect(named(chain.toSpliced(6, 0, other))[0]).toMatch(/^(inserted|changed) 5$/)
    expect(named(chain.toSpliced(6, 0, { junk: true } as never))).toEqual(['inserted 6'])
    expect(named(chain.toSpliced(6, 0, someChain(9, [], 'other')[6] as AuditEntry))).toEqual(['inserted 6'])
  })

  it('CASE-28: names what was cut off the end where an anchor is given, and says that it cannot know without one', () => {
    expect(named(chain.slice(0, 9), { anchors: [anchor] })).toEqual(['truncated 9-11'])
    expect(named([], { anchors: [anchor] })).toEqual(['truncated 0-11'])
    expect(named(chain.slice(0, 9))).toEqual([])
  })

  it('a log that was written anew from some entry on does not fit its anchor', () => {
    const anew = [...chain.slice(0, 4)]
    for (let seq = 4; seq < 12; seq++) {
      const place = { log: 'audit', seq, storedAt: 1, prev: anew.at(-1)?.hash as string }
      anew.push(sealEntry(someDraft({ actor: 'mallory' }), place, []))
    }
    expect(named(anew)).toEqual([])
    const anchors = [{ size: 3, hash: chain[2]?.hash as string }, anchor]
    const report = verifyEntries(anew, { anchors })
    expect(report.faults).toMatchObject([{ kind: 'rewritten', from: 3, to: 11 }])
    expect(report).toMatchObject({ ok: false, anchored: 3 })
  })

  it('goes on behind a place that was verified before', () => {
    const after = { size: 6, hash: chain[5]?.hash as string }
    expect(verifyEntries(chain.slice(6), { after, anchors: [anchor] })).toMatchObject({
      ok: true,
      from: 6,
      size: 12,
      anchored: 12,
    })
    expect(named(chain.slice(6), { after: { ...after, hash: 'f'.repeat(64) } })).toEqual(['changed 6'])
    expect(named(chain.slice(7), { after })).toEqual(['dropped 6'])
    expect(named([chain[6], chain[3], ...chain.slice(7)], { after })[0]).toMatch(/3$/)
  })

  it('a code that is missing, wrong, or under a key that nobody gave is named', () => {
    const [k1, k2] = [key('k1'), key('k2')]
    const keyed = someChain(6, [k1])
    expect(verifyEntries(keyed, { keys: [k1] })).toMatchObject({ ok: true, keyed: 6 })
    expect(named(keyed, { keys: [k2] })).toContain('mac 0')
    expect(
      named(keyed.with(2, { ...(keyed[2] as AuditEntry), macs: [{ key: 'k1', mac: 'f'.repeat(64) }] }), { keys: [k1] }),
    ).toEqual(['mac 2'])
    const { macs: _macs, ...bare } = keyed[2] as AuditEntry
    expect(named(keyed.with(2, bare as AuditEntry), { keys: [k1] })).toContain('mac 2')
    // a log that began without a key says from where on there must be one
    const late = [...someChain(1), ...keyed.slice(1)]
    expect(named(someChain(4), { keys: [k1] })).toEqual(['mac 0', 'mac 1', 'mac 2', 'mac 3'])
    expect(named(someChain(4), { keys: [k1], keyedFrom: 4 })).toEqual([])
    expect(named(late, { keys: [k1], keyedFrom: 1 })).toContain('mac 1')
    // without an entry under both keys, the second key proves nothing
    const swapped = [...someChain(3, [k1])]
    swapped.push(sealEntry(someDraft(), { log: 'audit', seq: 3, storedAt: 1, prev: swapped[2]?.hash as string }, [k2]))
    expect(named(swapped, { keys: [k1, k2] })).toEqual(['mac 3'])
  })

  it('nothing hides in the codes, which no hash covers: not with keys, and not without', () => {
    const k1 = key('k1')
    const keyed = someChain(6, [k1])
    const [mac] = (keyed[2] as AuditEntry).macs as [{ key: string; mac: string }]
    for (const [what, macs, fault] of [
      ['a field more', [{ ...mac, note: 'approved by the board' }], 'changed 2'],
      ['a field less', [{ key: 'k1' }], 'changed 2'],
      ['the code twice', [mac, mac], 'mac 2'],
      ['a third one', [mac, mac, mac], 'changed 2'],
      ['none', [], 'changed 2'],
      ['taken out', undefined, 'mac 2'],
      ['another key', [{ ...mac, key: 'k2' }], 'mac 2'],
    ] as const) {
      const rows = keyed.with(2, { ...(keyed[2] as AuditEntry), macs } as never)
      for (const options of [{}, { keys: [k1] }]) expect([what, named(rows, options)[0]]).toEqual([what, fault])
    }
  })

  it('a change of key is one entry under both, old first, that says from which to which', () => {
    const [k1, k2] = [key('k1'), key('k2')]
    const start = someChain(3, [k1])
    const change = (from: string | null, to: string, keys: (typeof k1)[]) =>
      sealEntry(
        someDraft({ event: 'key.changed', data: { from, to } }),
        { log: 'audit', seq: 3, storedAt: 1, prev: start[2]?.hash as string },
        keys,
      )
    const keys = [k1, k2]
    expect(named([...start, change('k1', 'k2', [k1, k2])], { keys })).toEqual([])
    for (const entry of [
      change('k1', 'k2', [k2]),
      change('k1', 'k2', [k1]),
      change('k1', 'k2', [k2, k1]),
      change('k2', 'k1', [k1, k2]),
      change(null, 'k2', [k2]),
      change('k1', 'k1', [k1, k1]),
      change('k1', 'k2', []),
    ])
      for (const options of [{ keys }, {}]) expect(named([...start, entry], options)).toEqual(['mac 3'])
  })

  it('an entry that is missing makes no other one look as if its key had changed', () => {
    const [k1, k2] = [key('k1'), key('k2')]
    const chainOf = [...someChain(2, [k1])]
    const add = (draft: ReturnType<typeof someDraft>, keys: (typeof k1)[]) =>
      chainOf.push(
        sealEntry(
          draft,
          { log: 'audit', seq: chainOf.length, storedAt: 1, prev: chainOf.at(-1)?.hash as string },
          keys,
        ),
      )
    add(someDraft({ event: 'key.changed', data: { from: 'k1', to: 'k2' } }), [k1, k2])
    for (let more = 0; more < 3; more++) add(someDraft(), [k2])
    expect(named(chainOf, { keys: [k1, k2] })).toEqual([])
    expect(named(chainOf.toSpliced(2, 1), { keys: [k1, k2] })).toEqual(['dropped 2'])
  })

  it('lines must be to the byte what the export writes', () => {
    const text = linesOf(chain)
    expect(verifyLines(text)).toMatchObject({ ok: true, size: 12 })
    expect(verifyLines(Buffer.from(text))).toMatchObject({ ok: true, size: 12 })
    expect(verifyLines(text.replace(/\n$/, '')).ok).toBe(true)
    const lines = text.split('\n')
    for (const [what, line] of [
      ['a space', ` ${lines[5]}`],
      ['another order of keys', JSON.stringify(chain[5])],
      ['a key twice', (lines[5] as string).replace('{', '{"actor":"mallory",')],
      ['a return', `${lines[5]}\r`],
      ['an empty line', ''],
    ] as const)
      expect([
        what,
        verifyLines(lines.with(5, line).join('\n')).faults.map(({ kind, from }) => `${kind} ${from}`),
      ]).toEqual([what, ['changed 5']])
    const bytes = Buffer.from(text)
    bytes[bytes.indexOf(10) + 40] = 0xff
    expect(verifyLines(bytes).faults).toMatchObject([{ kind: 'changed', from: 1 }])
  })

  it('an intent that was written twice before a crash is one attempt: told as repeated, closed by one outcome', () => {
    const rows: AuditEntry[] = []
    for (const event of ['tool.intent', 'tool.intent', 'tool.outcome'] as const) {
      const place = { log: 'audit', seq: rows.length, storedAt: 1, prev: rows.at(-1)?.hash ?? '0'.repeat(64) }
      rows.push(sealEntry(someDraft({ event }, { sent: 'yes' }), place, []))
    }
    expect(verifyEntries(rows)).toMatchObject({
      ok: true,
      pairs: { intents: 2, outcomes: 1, repeated: 1, openCount: 0, unannouncedCount: 0 },
    })
  })

  it('shows intents without an outcome and outcomes without an intent', () => {
    let prev = '0'.repeat(64)
    const entries = [
      someDraft({ event: 'run.intent', effectId: 'r1' }),
      someDraft({ event: 'model.intent', effectId: 'r1/m1' }),
      someDraft({ event: 'model.outcome', effectId: 'r1/m1' }),
      someDraft({ event: 'tool.intent', effectId: 'r1/m1.t1' }),
      someDraft({ event: 'tool.outcome', effectId: 'r1/m1.t2' }, { sent: 'yes' }),
      someDraft({ event: 'tool.outcome', effectId: 'r1/m1.t3' }, { sent: 'no' }),
    ].map((draft, seq) => {
      const entry = sealEntry(draft, { log: 'audit', seq, storedAt: 1, prev }, [])
      prev = entry.hash
      return entry
    })
    const { ok, pairs, statement } = verifyEntries(entries)
    expect(ok).toBe(true)
    expect(pairs).toMatchObject({ intents: 3, outcomes: 3, openCount: 2, unannouncedCount: 1 })
    expect(pairs.open.map(({ effectId }) => effectId)).toEqual(['r1', 'r1/m1.t1'])
    expect(pairs.unannounced).toMatchObject([{ seq: 4, effectId: 'r1/m1.t2', attempt: 1 }])
    expect(statement).toContain('2 intents have no outcome.')
  })
})
