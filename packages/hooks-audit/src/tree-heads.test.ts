import { createSecretKey, generateKeyPairSync } from 'node:crypto'
import type { LogEntry, Store } from '@sluice/core'
import { createHookBench, createMemoryStore } from '@sluice/core'
import { capturedLogger, drain, failingStore, fakeClock, fakeIds } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { createAuditApi } from './audit-api.js'
import type { AuditOptions } from './audit-options.js'
import { auditOptions } from './audit-options.js'
import { audit } from './audit.js'
import type { AuditCheckpoint } from './checkpoint.js'
import { verifyConsistency } from './consistency-proof.js'
import { Recorder } from './recorder.js'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const signer = { id: 's', privateKey }
const NAMESPACE = 'plugin:hooks-audit'

async function desk(options: AuditOptions, store: Store = createMemoryStore({ clock: fakeClock() })) {
  const logger = capturedLogger()
  const around = { store, clock: fakeClock(), ids: fakeIds(), logger }
  const bench = await createHookBench([audit(options)], around)
  const documents = store.documents(NAMESPACE)
  const host = {
    ...around,
    storage: { documents, log: store.log(NAMESPACE) },
    options: auditOptions.parse(options),
    run: undefined,
  }
  return {
    store,
    bench,
    logger,
    documents,
    api: createAuditApi(host, new Recorder(host)),
    async write(count: number, prefix = 'r') {
      for (let run = 0; run < count; run++) {
        const root = `${prefix}${run}`
        const { answer, error } = await bench.ask('beforeExecution', { rootExecutionId: root, effectId: root })
        if (answer !== 'passed') throw error as Error
      }
    },
  }
}

/** The log as somebody changed it behind the back of the plugin. */
function tampered(store: Store, change: (entries: LogEntry[]) => LogEntry[]): Store {
  return {
    ...store,
    log: (namespace) => {
      const log = store.log(namespace)
      return {
        ...log,
        read: async (stream, { from = 0, limit = Number.MAX_SAFE_INTEGER } = {}) =>
          change([...(await log.read(stream))]).slice(from, from + limit),
      }
    },
  }
}

describe('checkpoints that are taken by themselves', () => {
  it('every so many entries, stored and handed to the one who keeps them elsewhere; each holds all before it', async () => {
    const kept: AuditCheckpoint[] = []
    const { write, api } = await desk({
      checkpoints: { ...signer, everyEntries: 5, keep: (one) => void kept.push(one) },
    })
    for (let turn = 0; turn < 4; turn++) {
      await write(5, `t${turn}.`)
      await drain()
    }
    expect(kept.map(({ size }) => size)).toEqual([5, 10, 15, 20])
    expect(await api.checkpoints()).toEqual(kept)
    expect(await api.verify()).toMatchObject({ ok: true, size: 20, anchored: 20 })
    for (const one of [...kept]) {
      const proof = JSON.parse(JSON.stringify(await api.proveConsistency(one))) as unknown
      expect(verifyConsistency(one, proof, { publicKey })).toMatchObject({ ok: true })
    }
  })

  it('closing waits for the one that is being taken', async () => {
    const { write, bench, api } = await desk({ checkpoints: { ...signer, everyEntries: 50 } })
    await write(50)
    expect(await bench.dispose()).toEqual([])
    expect((await api.checkpoints()).map(({ size }) => size)).toEqual([50])
  })

  it('read only what was written since the last one', async () => {
    const store = failingStore(createMemoryStore({ clock: fakeClock() }), [])
    const { write } = await desk({ checkpoints: { ...signer, everyEntries: 600 } }, store)
    await write(600, 'a')
    await drain()
    const before = store.calls.length
    await write(600, 'b')
    await drain()
    const reads = store.calls.slice(before).filter((call) => call === 'log.read')
    // the last entry of the head, two pages of what is new, and the end
    expect(reads).toHaveLength(4)
  })

  it('sign nothing over a changed or cut log, and say so; a head that nobody signed is not gone on from', async () => {
    const options = { checkpoints: { ...signer, everyEntries: 4 } }
    const { store, write, documents } = await desk(options)
    await write(4)
    await drain()
    for (const change of [
      (entries: LogEntry[]) => entries.map((entry) => (entry.index === 5 ? { ...entry, value: 'x' } : entry)),
      (entries: LogEntry[]) => entries.map((entry) => (entry.index === 3 ? { ...entry, value: 'x' } : entry)),
      (entries: LogEntry[]) => entries.slice(0, 3),
    ]) {
      const other = await desk(options, tampered(store, change))
      await other.write(4, 'more')
      await drain()
      expect(other.logger.lines.map(({ text }) => text)).toContain('a checkpoint of the audit could not be taken')
    }
    expect((await store.documents(NAMESPACE).list(['checkpoint'])).items).toHaveLength(1)
    const head = (await documents.get(['head', 'audit'])) as { checkpoint: object; roots: string[] }
    for (const forged of [
      { ...head, roots: ['f'.repeat(64)] },
      { ...head, checkpoint: { ...head.checkpoint, size: 5 } },
      { checkpoint: null, roots: null },
      'x',
    ]) {
      await documents.put(['head', 'audit'], forged as never)
      const again = await desk(options, store)
      await again.write(4, 'again')
      await drain()
      const newest = (await again.api.checkpoints()).at(-1) as AuditCheckpoint
      expect(await again.api.verify({ anchors: [newest] })).toMatchObject({ ok: true, anchored: newest.size })
      const proof = await again.api.proveConsistency(newest)
      expect(verifyConsistency(newest, proof, { publicKey }).ok).toBe(true)
    }
  })

  it('a store that fails, or a keeper that fails, stops no effect and is told; the next one is taken', async () => {
    const faults = [{ on: 'documents.put' as const, nth: 1, as: 'full' as const }]
    const store = failingStore(createMemoryStore({ clock: fakeClock() }), faults)
    const keep = () => Promise.reject(new Error('the bucket is gone'))
    const { write, logger, api } = await desk({ checkpoints: { ...signer, everyEntries: 3, keep } }, store)
    await write(3, 'a')
    await drain()
    expect(await api.checkpoints()).toEqual([])
    await write(3, 'b')
    await drain()
    expect((await api.checkpoints()).map(({ size }) => size)).toEqual([6])
    const told = logger.lines.map(({ text }) => text)
    expect(told).toContain('a checkpoint of the audit could not be taken')
    expect(told).toContain('a checkpoint of the audit could not be kept elsewhere')
  })
})

describe('a kept checkpoint', () => {
  it('is not shown to be the beginning of a log that does not begin with it', async () => {
    const one = await desk({ checkpoints: signer })
    await one.write(6)
    const kept = await one.api.checkpoint()
    const other = await desk({ checkpoints: signer })
    await other.write(8, 'x')
    for (const wrong of [kept, { ...kept, size: 9 }, { ...kept, size: -1 }, { ...kept, size: Number.NaN }])
      await expect(other.api.proveConsistency(wrong)).rejects.toMatchObject({ code: 'AUDIT_CHAIN_BROKEN' })
    const keyless = await desk({}, one.store)
    await expect(keyless.api.proveConsistency(kept)).rejects.toMatchObject({ code: 'AUDIT_SIGNER_MISSING' })
  })

  it('nothing is signed over entries without a good code: who rewrote the log had no key', async () => {
    const key = { id: 'k1', secret: createSecretKey(Buffer.alloc(32, 1)) }
    const bare = await desk({})
    await bare.write(3)
    const keyed = await desk({ key, checkpoints: signer }, bare.store)
    await keyed.write(2, 'k')
    await expect(keyed.api.checkpoint()).rejects.toMatchObject({ code: 'AUDIT_CHAIN_BROKEN', details: { first: 0 } })
    await expect(keyed.api.prove('k0')).rejects.toMatchObject({ code: 'AUDIT_CHAIN_BROKEN' })
    expect(await keyed.api.verify()).toMatchObject({ ok: false, keyed: 0 })
    // its owner says from where on there must be one
    for (const keyedFrom of [3, (log: string) => (log === 'audit' ? 3 : 0)]) {
      const late = await desk({ key, keyedFrom, checkpoints: signer }, bare.store)
      expect(await late.api.checkpoint()).toMatchObject({ size: 6 })
      expect(await late.api.verify()).toMatchObject({ ok: true, keyed: 6 })
    }
  })
})
