import { createSecretKey } from 'node:crypto'
import { createMemoryStore } from '@sluice/core'
import { drain, failingStore, fakeClock } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { AuditEntry } from './audit-entry.js'
import { canonicalText } from './canonical-text.js'
import { ChainWriter } from './chain-writer.js'
import { sealEntry } from './seal-entry.js'
import { someDraft } from './testing/some-entries.js'
import { verifyStored } from './verify-log.js'

const NO_KEYS = { current: undefined, previous: [] }
const key = (id: string) => ({ id, secret: createSecretKey(Buffer.alloc(32, id)) })
const store = () => createMemoryStore({ clock: fakeClock() })
const effect = (effectId: string) => someDraft({ effectId })

describe('the writer of a chain', () => {
  it('entries that wait are written in one step, in their order', async () => {
    const failing = failingStore(store(), [{ on: 'log.append', nth: 1, as: 'hang' }])
    const log = failing.log('n')
    const writer = new ChainWriter(log, 'audit', NO_KEYS)
    const first = writer.write(effect('e0'))
    await drain()
    const others = ['e1', 'e2', 'e3', 'e4'].map((id) => writer.write(effect(id)))
    failing.release()
    const entries = await Promise.all([first, ...others])
    expect(entries.map(({ seq, effectId }) => [seq, effectId])).toEqual([0, 1, 2, 3, 4].map((seq) => [seq, `e${seq}`]))
    expect(failing.calls.filter((call) => call === 'log.append')).toHaveLength(2)
    expect(await verifyStored(log, 'audit')).toMatchObject({ ok: true, size: 5 })
  })

  it('CASE-28: 20 writers on one log keep one unbroken chain that holds every accepted entry once, on an empty and a filled log', async () => {
    const log = store().log('n')
    for (const round of [0, 1]) {
      const writers = Array.from({ length: 20 }, () => new ChainWriter(log, 'audit', NO_KEYS))
      await Promise.all(
        writers.flatMap((writer, place) =>
          Array.from({ length: 25 }, async (_, turn) => {
            for (let step = 0; step < turn % 4; step++) await Promise.resolve()
            await writer.write(effect(`${round}.${place}.${turn}`))
          }),
        ),
      )
    }
    const entries = (await log.read('audit')).map(({ value }) => value as unknown as AuditEntry)
    expect(new Set(entries.map(({ effectId }) => effectId)).size).toBe(1000)
    expect(await verifyStored(log, 'audit')).toMatchObject({ ok: true, size: 1000, chained: 1000 })
  })

  it('a step that fails fails each entry in it, and the chain goes on with the next', async () => {
    const failing = failingStore(store(), [{ on: 'log.append', nth: 1, as: 'full' }])
    const log = failing.log('n')
    const writer = new ChainWriter(log, 'audit', NO_KEYS)
    const settled = await Promise.allSettled(['a', 'b'].map((id) => writer.write(effect(id))))
    expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await writer.write(effect('c'))).toMatchObject({ seq: 0, effectId: 'c' })
  })

  it('an entry whose gate has ended before its step is not written', async () => {
    const failing = failingStore(store(), [{ on: 'log.append', nth: 1, as: 'hang' }])
    const log = failing.log('n')
    const writer = new ChainWriter(log, 'audit', NO_KEYS)
    const first = writer.write(effect('a'))
    await drain()
    const gone = new AbortController()
    const second = writer.write(effect('b'), gone.signal)
    gone.abort(new Error('too late'))
    failing.release()
    await first
    await expect(second).rejects.toThrow('too late')
    expect(await log.tail('audit')).toMatchObject({ index: 0 })
  })

  it('an entry that no log takes is refused by name and spoils no other', async () => {
    const log = store().log('n')
    const writer = new ChainWriter(log, 'audit', NO_KEYS)
    const large = writer.write(someDraft({}, { text: 'x'.repeat(70_000) }))
    await expect(large).rejects.toMatchObject({ code: 'AUDIT_ENTRY_TOO_LARGE', details: { max: 63_000 } })
    // the largest that is taken fits the store, with two codes
    await new ChainWriter(log, 'keyed', { current: key('k1'), previous: [] }).write(
      someDraft({}, { text: 'x'.repeat(62_600) }),
    )
    expect(await writer.write(effect('a'))).toMatchObject({ seq: 0 })
  })

  it('refuses to wait without end for a store that does not answer', async () => {
    const failing = failingStore(store(), [{ on: 'log.append', nth: 1, as: 'hang' }])
    const writer = new ChainWriter(failing.log('n'), 'audit', NO_KEYS)
    const waiting = [writer.write(effect('a'))]
    await drain()
    for (let index = 0; index < 10_000; index++) waiting.push(writer.write(effect('b')))
    await expect(writer.write(effect('c'))).rejects.toMatchObject({ code: 'AUDIT_NOT_WRITTEN' })
    failing.release()
    await Promise.all(waiting)
  })

  it('what waits is bounded in bytes, too, and room comes back', async () => {
    const failing = failingStore(store(), [{ on: 'log.append', nth: 1, as: 'hang' }])
    let idle = 0
    const writer = new ChainWriter(failing.log('n'), 'audit', NO_KEYS, () => (idle += 1))
    const large = someDraft({}, { text: 'x'.repeat(60_000) })
    const first = writer.write(large)
    await drain()
    const all = Promise.allSettled([first, ...Array.from({ length: 1_300 }, () => writer.write(large))])
    expect(idle).toBe(0)
    failing.release()
    const settled = await all
    await drain()
    expect(idle).toBe(1)
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(settled.length - refused.length).toBe(
      1 + Math.floor((64 * 1024 * 1024) / canonicalText(large as never).length),
    )
    expect(refused[0]).toMatchObject({ reason: { code: 'AUDIT_NOT_WRITTEN' } })
    expect(await writer.write(effect('after'))).toMatchObject({ effectId: 'after' })
  })

  it('a change of key is an entry under both keys, written in the same step', async () => {
    const log = store().log('n')
    const [k1, k2] = [key('k1'), key('k2')]
    await new ChainWriter(log, 'audit', NO_KEYS).write(effect('a'))
    await new ChainWriter(log, 'audit', { current: k1, previous: [] }).write(effect('b'))
    await new ChainWriter(log, 'audit', { current: k2, previous: [k1] }).write(effect('c'))
    await new ChainWriter(log, 'audit', { current: k2, previous: [k1] }).write(effect('d'))
    const entries = (await log.read('audit')).map(({ value }) => value as unknown as AuditEntry)
    expect(entries.map(({ event, macs, data }) => [event, (macs ?? []).map((mac) => mac.key), data.from])).toEqual([
      ['tool.outcome', [], undefined],
      ['key.changed', ['k1'], null],
      ['tool.outcome', ['k1'], undefined],
      ['key.changed', ['k1', 'k2'], 'k1'],
      ['tool.outcome', ['k2'], undefined],
      ['tool.outcome', ['k2'], undefined],
    ])
    expect(await verifyStored(log, 'audit', { keys: [k1, k2], keyedFrom: 1 })).toMatchObject({ ok: true, keyed: 6 })
  })

  it('a log goes on under no other key, and none, without its own', async () => {
    const log = store().log('n')
    await new ChainWriter(log, 'audit', { current: key('k1'), previous: [] }).write(effect('a'))
    const refused = { code: 'AUDIT_KEY_UNKNOWN', details: { log: 'audit', key: 'k1' } }
    await expect(new ChainWriter(log, 'audit', NO_KEYS).write(effect('b'))).rejects.toMatchObject(refused)
    const other = new ChainWriter(log, 'audit', { current: key('k2'), previous: [] })
    await expect(other.write(effect('b'))).rejects.toMatchObject(refused)
    expect(await log.tail('audit')).toMatchObject({ index: 0 })
  })

  it('CASE-28: nothing is built on a last entry that is not what was written: a note in its place, a changed one, one without the key', async () => {
    const k1 = key('k1')
    const refused = { code: 'AUDIT_LOG_FOREIGN', details: { index: 1 } }
    const spoil: Readonly<Record<string, (entry: AuditEntry) => unknown>> = {
      note: () => ({ hello: 'world' }),
      text: () => 'entry',
      changed: (entry) => ({ ...entry, seq: 1 }),
      elsewhere: (entry) => entry,
      'other log': (entry) => sealEntry(someDraft(), { log: 'b', seq: 1, storedAt: 1, prev: entry.hash }, [k1]),
      'wrong key': (entry) =>
        sealEntry(someDraft(), { log: 'audit', seq: 1, storedAt: 1, prev: entry.hash }, [{ ...key('k2'), id: 'k1' }]),
    }
    for (const [what, change] of Object.entries(spoil)) {
      const log = store().log('n')
      const writer = new ChainWriter(log, 'audit', { current: k1, previous: [] })
      const entry = await writer.write(effect('a'))
      await log.append('audit', () => [change(entry) as never])
      await expect(writer.write(effect('b')), what).rejects.toMatchObject(refused)
    }
  })
})
