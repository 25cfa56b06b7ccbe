import { createPrivateKey, createPublicKey, createSecretKey, generateKeyPairSync } from 'node:crypto'
import type { HookBench, JsonObject, LogEntry, Store } from '@sluice/core'
import { createHookBench, createMemoryStore } from '@sluice/core'
import { capturedLogger, failingStore, fakeClock, fakeIds } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import type { AuditApi } from './audit-api.js'
import { createAuditApi } from './audit-api.js'
import type { AuditEntry, PersonalReference } from './audit-entry.js'
import type { AuditOptions } from './audit-options.js'
import { auditOptions } from './audit-options.js'
import { audit } from './audit.js'
import { isCheckpointGood } from './checkpoint.js'
import type { ProofBundle } from './proof-bundle.js'
import { verifyBundle } from './proof-bundle.js'
import { Recorder } from './recorder.js'
import { verifyLines } from './verify-log.js'

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const signer = { id: 'signer-1', privateKey }
const NAMESPACE = 'plugin:hooks-audit'

interface Desk {
  readonly store: Store
  readonly bench: HookBench
  readonly api: AuditApi
  tool(call: string, args: JsonObject, createdBy?: string): Promise<void>
  entries(): Promise<readonly AuditEntry[]>
}

/** The plugin on a bench, and its api over the same storage. */
async function desk(
  options: AuditOptions = {},
  store: Store = createMemoryStore({ clock: fakeClock() }),
): Promise<Desk> {
  const around = { store, clock: fakeClock(), ids: fakeIds(), logger: capturedLogger() }
  const bench = await createHookBench([audit(options)], around)
  const storage = { documents: store.documents(NAMESPACE), log: store.log(NAMESPACE) }
  const host = { ...around, storage, options: auditOptions.parse(options), run: undefined }
  return {
    store,
    bench,
    api: createAuditApi(host, new Recorder(host)),
    async tool(call, args, createdBy = 'petra.k') {
      const root = `run-${call}`
      const facts = { rootExecutionId: root, executionId: root, effectId: `${root}/m1.t1`, callId: call, createdBy }
      const { answer, error } = await bench.ask('inspectToolInput', { ...facts, toolCode: 'write_note', args })
      if (answer !== 'passed') throw error as Error
    },
    entries: async () => (await storage.log.read('audit')).map(({ value }) => value as unknown as AuditEntry),
  }
}

async function textOf(lines: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const line of lines) text += line
  return text
}

/** Changes stored entries behind the back of the plugin. */
function tampered(store: Store, change: (entries: LogEntry[]) => LogEntry[]): Store {
  return {
    ...store,
    log: (namespace) => {
      const log = store.log(namespace)
      return {
        ...log,
        read: async (stream, options = {}) => {
          const { from = 0, limit = Number.MAX_SAFE_INTEGER } = options
          return change([...(await log.read(stream))]).slice(from, from + limit)
        },
      }
    },
  }
}

describe('checkpoints', () => {
  it('are signed tree heads that another key, or a changed one, does not pass for', async () => {
    const { api, tool } = await desk({ checkpoints: signer })
    await tool('1', {})
    const checkpoint = await api.checkpoint()
    expect(checkpoint).toMatchObject({ v: 1, log: 'audit', size: 1, key: 'signer-1' })
    expect(isCheckpointGood(checkpoint, publicKey)).toBe(true)
    expect(isCheckpointGood(checkpoint, generateKeyPairSync('ed25519').publicKey)).toBe(false)
    for (const [name, value] of Object.entries(checkpoint)) {
      const other =
        typeof value === 'number' ? value + 1 : String(value).replace(/^./, (first) => (first === 'a' ? 'b' : 'a'))
      expect([name, isCheckpointGood({ ...checkpoint, [name]: other }, publicKey)]).toEqual([name, false])
    }
    for (const junk of [
      null,
      1,
      {},
      { ...checkpoint, extra: 1 },
      { ...checkpoint, signature: `${checkpoint.signature}=` },
    ])
      expect(isCheckpointGood(junk, publicKey)).toBe(false)
  })

  it('one kept elsewhere shows what was cut off, the stored ones show it too while they stand', async () => {
    const { api, tool, store } = await desk({ checkpoints: signer })
    for (const call of ['1', '2', '3']) await tool(call, {})
    const kept = await api.checkpoint()
    await tool('4', {})
    expect(await api.verify({ anchors: [kept] })).toMatchObject({ ok: true, size: 4, anchored: 3 })
    const cut = tampered(store, (entries) => entries.slice(0, 2))
    const own = await desk({ checkpoints: signer }, cut)
    expect((await own.api.verify()).faults).toMatchObject([{ kind: 'truncated', from: 2, to: 2 }])
    await store.documents(NAMESPACE).delete(['checkpoint', 'audit', '3'.padStart(16, '0')])
    expect(await own.api.verify()).toMatchObject({ ok: true, anchored: 0 })
    expect((await own.api.verify({ anchors: [kept] })).faults).toMatchObject([{ kind: 'truncated', from: 2, to: 2 }])
  })

  it('a stored checkpoint that nobody signed anchors nothing', async () => {
    const { api, tool, store } = await desk({ checkpoints: signer })
    await tool('1', {})
    const checkpoint = await api.checkpoint()
    await store.documents(NAMESPACE).put(['checkpoint', 'audit', '9'.padStart(16, '0')], { ...checkpoint, size: 9 })
    expect(await api.verify()).toMatchObject({ ok: true, anchored: 1 })
  })

  it('nothing is signed or proven over a broken chain, or without a key', async () => {
    const { tool, store } = await desk({ checkpoints: signer })
    for (const call of ['1', '2', '3']) await tool(call, {})
    const broken = await desk(
      { checkpoints: signer },
      tampered(store, (entries) => entries.toSpliced(1, 1)),
    )
    await expect(broken.api.checkpoint()).rejects.toMatchObject({ code: 'AUDIT_CHAIN_BROKEN', details: { first: 1 } })
    await expect(broken.api.prove('run-1')).rejects.toMatchObject({ code: 'AUDIT_CHAIN_BROKEN' })
    const keyless = await desk({}, store)
    await expect(keyless.api.checkpoint()).rejects.toMatchObject({ code: 'AUDIT_SIGNER_MISSING' })
    await expect(keyless.api.prove('run-1')).rejects.toMatchObject({ code: 'AUDIT_SIGNER_MISSING' })
  })
})

describe('prove', () => {
  const proven = async () => {
    const key = { id: 'k1', secret: createSecretKey(Buffer.alloc(32, 1)) }
    const { api, tool } = await desk({ checkpoints: signer, key })
    for (const call of ['1', '2', '3', '4', '5']) await tool(call, { text: `note ${call}` })
    const bundle = JSON.parse(JSON.stringify(await api.prove('run-3'))) as ProofBundle
    return { api, bundle, key }
  }

  it('bundles the entries of a run with paths and a checkpoint, and verifies with no store', async () => {
    const { bundle, key, api } = await proven()
    expect(bundle.entries.map(({ entry }) => entry.run)).toEqual(['run-3'])
    const report = verifyBundle(bundle, { publicKey, keys: [key] })
    expect(report).toMatchObject({ ok: true, proven: 1, faults: [] })
    expect(
      verifyBundle(bundle, { publicKey: createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' })) }).ok,
    ).toBe(true)
    await expect(api.prove('run-9')).rejects.toMatchObject({ code: 'AUDIT_RUN_UNKNOWN' })
  })

  it('shows other entries as digests only', async () => {
    const { bundle } = await proven()
    const text = JSON.stringify(bundle)
    for (const other of ['run-1', 'run-2', 'run-4', 'run-5']) expect(text).not.toContain(other)
  })

  it('names what is wrong with a bundle, and throws for none', async () => {
    const { bundle, key } = await proven()
    const [{ entry, path }] = bundle.entries as [ProofBundle['entries'][number]]
    const faultsOf = (changed: unknown) => verifyBundle(changed, { publicKey, keys: [key] }).faults.join(' ')
    const one = (change: object) => ({ ...bundle, entries: [{ entry, path, ...change }] })
    expect(faultsOf(one({ entry: { ...entry, actor: 'mallory' } }))).toContain('its hash is not the one of its bytes')
    expect(faultsOf(one({ path: path.slice(1) }))).toContain('does not lead to the checkpoint')
    expect(faultsOf(one({ path: path.toReversed() }))).toContain('does not lead to the checkpoint')
    expect(faultsOf(one({ path: ['x'] }))).toContain('its path is none')
    expect(faultsOf({ ...bundle, run: 'run-1' })).toContain('of another run')
    expect(faultsOf({ ...bundle, entries: [...bundle.entries, ...bundle.entries] })).toContain('twice')
    expect(faultsOf({ ...bundle, entries: [] })).toContain('no entry')
    expect(faultsOf({ ...bundle, checkpoint: { ...bundle.checkpoint, size: 4 } })).toContain('not signed by this key')
    for (const junk of [null, 1, {}, { ...bundle, entries: null }, one({ entry: null })])
      expect(faultsOf(junk)).not.toBe('')
    expect(verifyBundle(bundle, { publicKey: createPublicKey(generateKeyPairSync('ed25519').privateKey) }).ok).toBe(
      false,
    )
  })
})

describe('personal values', () => {
  const options: AuditOptions = { personal: ['actor', 'data.args.email'], recordArguments: true }

  it('lie beside the chain, which holds an HMAC under a salt of its own', async () => {
    const { api, tool, entries } = await desk(options)
    await tool('1', { email: 'ada@example.org', text: 'hello' })
    await tool('2', { email: 'ada@example.org', text: 'hello' })
    const [first, second] = await entries()
    const text = JSON.stringify([first, second])
    expect(text).not.toContain('ada@')
    expect(text).not.toContain('petra.k')
    expect(text).toContain('hello')
    const reference = (first?.data.args as JsonObject).email as unknown as PersonalReference
    expect(reference).toEqual({ personal: expect.any(String), hmac: expect.stringMatching(/^[0-9a-f]{64}$/) })
    expect((second?.data.args as JsonObject).email).not.toMatchObject({ hmac: reference.hmac })
    // a digest of the arguments would give a short value away
    expect(first?.data.argsDigest).toMatchObject({ personal: expect.any(String) })
    expect(await api.personalValue(reference)).toBe('ada@example.org')
    expect(await api.personalValue({ ...reference, hmac: 'f'.repeat(64) })).toBeUndefined()
  })

  it('erasing removes value and salt, leaves who asked, and the chain still verifies', async () => {
    const { api, tool, entries, store } = await desk(options)
    await tool('1', { email: 'ada@example.org' }, 'ada')
    await tool('2', { email: 'bob@example.org' }, 'bob')
    const [first, second] = await entries()
    const erased = await api.erase({ subject: 'ada', by: 'dpo', reason: 'request 77' })
    expect(erased).toHaveLength(3)
    expect(await api.personalValue(first?.actor as never)).toBeUndefined()
    expect(await api.personalValue(second?.actor as never)).toBe('bob')
    const left = JSON.stringify(await store.documents(NAMESPACE).list([]))
    expect(left).not.toContain('ada')
    expect((await entries()).at(-1)).toMatchObject({
      event: 'personal.erased',
      data: { by: 'dpo', reason: 'request 77', ids: erased },
    })
    expect(await api.verify()).toMatchObject({ ok: true, size: 3 })
    expect(await api.erase({ subject: 'ada', by: 'dpo', reason: 'request 77' })).toEqual([])
    await expect(api.erase({ by: 'dpo', reason: 'all' })).rejects.toMatchObject({ code: 'AUDIT_ERASURE_INVALID' })
  })

  it('an erasure whose record cannot be written removes nothing', async () => {
    const store = failingStore(createMemoryStore({ clock: fakeClock() }), [{ on: 'log.append', nth: 2, as: 'full' }])
    const { api, tool, entries } = await desk(options, store)
    await tool('1', { email: 'ada@example.org' }, 'ada')
    await expect(api.erase({ subject: 'ada', by: 'dpo', reason: '77' })).rejects.toMatchObject({ code: 'STORE_FULL' })
    expect(await api.personalValue((await entries())[0]?.actor as never)).toBe('ada')
  })

  it('a value that cannot be kept stops the effect', async () => {
    const store = failingStore(createMemoryStore({ clock: fakeClock() }), [{ on: 'documents.transact', as: 'full' }])
    const { tool, entries } = await desk(options, store)
    await expect(tool('1', { email: 'ada@example.org' })).rejects.toMatchObject({ code: 'AUDIT_NOT_WRITTEN' })
    expect(await entries()).toEqual([])
  })
})

describe('export', () => {
  const HOSTILE = '=HYPERLINK("http://x")\r\n"; \u2028\u0085\u202e\u001b[2J,-1+1'

  it('CASE-29: one entry is one line in every format, whatever its text, and lines verify', async () => {
    const { api, bench, tool } = await desk({ recordArguments: true })
    await tool('1', { [HOSTILE]: HOSTILE })
    const facts = {
      rootExecutionId: 'r',
      effectId: 'r/m1.t1',
      attempt: 1,
      executionId: 'r',
      callId: HOSTILE,
      sessionId: null,
    }
    const tool1 = {
      effect: 'write',
      untrusted: false,
      cost: { usd: '0.25' },
      definitionDigest: '',
      agent: null,
    } as const
    const end = {
      outcome: 'ok',
      sent: 'yes',
      durationMs: 1,
      error: null,
      errorReference: null,
      argsDigest: null,
      resultDigest: null,
    } as const
    await bench.tell('afterToolCall', {
      ...facts,
      ...end,
      toolCode: HOSTILE,
      tool: tool1,
      createdBy: HOSTILE,
      receipt: { askings: [] } as never,
    })
    expect(bench.health.errors).toBe(0)
    for (const format of ['jsonl', 'cloudevents'] as const) {
      const text = await textOf(api.export(format))
      expect(text.split(/\r\n|[\n\r\u000b\u000c\u0085\u2028\u2029]/)).toHaveLength(3)
      expect(text).not.toMatch(/[\u001b\u202e]/)
    }
    const lines = await textOf(api.export('jsonl'))
    expect(verifyLines(lines)).toMatchObject({ ok: true, size: 2 })
    const [, second] = lines.split('\n')
    expect(JSON.parse(second as string)).toMatchObject({ actor: HOSTILE, data: { tool: HOSTILE } })
    const csv = await textOf(api.export('csv'))
    const [header, row, ...rest] = csv.split('\r\n')
    expect(rest).toEqual([''])
    expect(csv.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(5)
    const cells = (row as string).slice(1, -1).split('","')
    expect(cells).toHaveLength((header as string).split(',').length)
    expect(cells[4]).toBe('\'=HYPERLINK(""http://x"")\\u000d\\u000a""; \\u2028\\u0085\\u202e\\u001b[2J,-1+1')
    expect(cells[15]).toBe('0.25')
  })

  it('no cell of any text begins a formula', async () => {
    const { csvRow } = await import('./csv-row.js')
    const { someDraft } = await import('./testing/some-entries.js')
    for (const start of ['=', '+', '-', '@', '\t=', ' =', '\r-', '＝', '＋', '－', '＠', '|', '%', '\u00a0='])
      expect(csvRow({ ...someDraft({ actor: `${start}1+1` }), seq: 0, storedAt: 0, hash: '' } as never)).toMatch(
        /,"'[^"]*1\+1",/,
      )
  })

  it('a CloudEvent carries the entry whole', async () => {
    const { api, tool, entries } = await desk()
    await tool('1', {})
    const [entry] = await entries()
    expect(JSON.parse(await textOf(api.export('cloudevents')))).toEqual({
      specversion: '1.0',
      id: entry?.hash,
      source: '/sluice/audit/audit',
      type: 'dev.sluice.audit.tool.intent.v1',
      subject: 'run/run-1',
      time: '2026-01-01T00:00:00.000Z',
      datacontenttype: 'application/json',
      data: entry,
    })
  })

  it('an entry that is not sound is exported as it is in the log itself, and stops every other format by name', async () => {
    const { tool, store } = await desk()
    for (const call of ['1', '2']) await tool(call, {})
    const spoil = (entries: LogEntry[]) =>
      entries.map((entry) =>
        entry.index === 1 ? { ...entry, value: { ...(entry.value as JsonObject), storedAt: 'x' } } : entry,
      )
    const { api } = await desk({}, tampered(store, spoil))
    expect(verifyLines(await textOf(api.export('jsonl'))).faults).toMatchObject([{ kind: 'changed', from: 1 }])
    for (const format of ['cloudevents', 'csv'] as const)
      await expect(textOf(api.export(format))).rejects.toMatchObject({
        code: 'AUDIT_CHAIN_BROKEN',
        details: { index: 1 },
      })
  })

  it('takes a range', async () => {
    const { api, tool } = await desk()
    for (const call of ['1', '2', '3', '4']) await tool(call, {})
    const text = await textOf(api.export('jsonl', { from: 1, to: 3 }))
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as AuditEntry).seq),
    ).toEqual([1, 2])
  })
})
