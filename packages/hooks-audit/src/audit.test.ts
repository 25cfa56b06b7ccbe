import { createSecretKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { GateContexts, Hooks, PluginInstance, RuntimeOptions, Store } from '@sluice/core'
import {
  createHookBench,
  createMemoryStore,
  createRuntime,
  defineAgent,
  definePlugin,
  defineTool,
  Pause,
  Refusal,
  USAGE_NONE,
  Veto,
} from '@sluice/core'
import type { Script } from '@sluice/testkit'
import { callGate, capturedLogger, failingStore, fakeClock, fakeIds, reply, scriptedProvider } from '@sluice/testkit'
import { describeHookPlugin } from '@sluice/testkit/contracts'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { AuditEntry } from './audit-entry.js'
import { AUDIT_ERROR_CODES } from './audit-error-codes.js'
import { audit } from './audit.js'

const KEY = { id: 'k1', secret: createSecretKey(Buffer.alloc(32, 1)) }

describeHookPlugin('hooks-audit', () => audit(), {
  module: new URL('./audit.ts', import.meta.url),
  conditions: ['sluice-source'],
  badOptions: {
    'an unknown option': () => audit({ logg: 'x' } as never),
    'a name of a log that is none': () => audit({ log: '../x' }),
    'a key that is short': () => audit({ key: { id: 'k', secret: createSecretKey(Buffer.alloc(16)) } }),
    'a key that is text': () => audit({ key: { id: 'k', secret: 'x'.repeat(32) } as never }),
    'two keys of one id': () =>
      audit({ key: KEY, previousKeys: [{ id: 'k1', secret: createSecretKey(Buffer.alloc(32, 2)) }] }),
    'a path into the chain': () => audit({ redact: { paths: ['effectId'] } }),
    'an empty path': () => audit({ personal: ['data..x'] }),
  },
})
describeHookPlugin('hooks-audit with a key', () => audit({ key: KEY, recordArguments: true, log: () => 'desk' }))

async function rig(script: Script, options: Partial<RuntimeOptions> & { store?: Store } = {}) {
  const clock = fakeClock()
  const store = options.store ?? createMemoryStore({ clock })
  const written: string[] = []
  const tool = defineTool({
    code: 'write_note',
    description: 'Writes a note.',
    effect: 'write',
    input: z.object({ text: z.string() }),
    handler: ({ text }) => {
      written.push(text)
      if (text === 'fail') throw new Error('the disk of the desk, /secret/path')
      return `written ${text}`
    },
  })
  const desk = defineAgent({ code: 'desk', description: 'A desk.', model: 'scripted/m', user: 'Go on.', tools: [tool] })
  const provider = scriptedProvider(script)
  const logger = capturedLogger()
  const runtime = await createRuntime({
    providers: [provider],
    agents: [desk],
    plugins: [audit()],
    clock,
    logger,
    ids: fakeIds(),
    ...options,
    store,
  })
  onTestFinished(() => runtime.close())
  return {
    runtime,
    store,
    provider,
    written,
    logger,
    clock,
    run: (given: object = {}) =>
      clock.settle(
        runtime.execute({ agent: 'desk', ...given }).then(
          (run) => ({ run, error: undefined }),
          (error: unknown) => ({ run: undefined, error: error as Veto }),
        ),
      ),
    entries: async (log = 'audit') =>
      (await store.log('plugin:hooks-audit').read(log)).map(({ value }) => value as unknown as AuditEntry),
  }
}

const line = ({ event, effectId, attempt, run, data }: AuditEntry) =>
  [event, (effectId ?? '').replace(run ?? '-', ''), attempt, data.outcome ?? data.status ?? data.answer]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')

const gate = (point: 'beforeModelCall' | 'inspectToolInput', answer: (context: never) => void): PluginInstance =>
  definePlugin({
    name: 'rule',
    hookApi: 1,
    apply: (hooks: Hooks) => hooks[point].tap('rule', answer as (context: GateContexts[typeof point]) => void),
  })()

describe('what a run leaves in the log', () => {
  it('CASE-28: every run, model call and tool call: the intent with the answers of all gates, then the outcome', async () => {
    const passing = gate('inspectToolInput', () => {})
    const { run, entries, runtime } = await rig([reply.toolCall('write_note', { text: 'a' }), reply('Done.')], {
      plugins: [audit(), passing],
    })
    const { run: ended } = await run({ caller: { user: 'petra.k', tenant: 'acme', audience: 'authenticated' } })
    const log = await entries()
    expect(log.map(line)).toEqual([
      'run.intent /execution 1',
      'model.intent /m1 1',
      'model.outcome /m1 1 ok',
      'tool.intent /m1.t1 1',
      'tool.outcome /m1.t1 1 ok',
      'model.intent /m2 1',
      'model.outcome /m2 1 ok',
      'run.outcome /execution 1 completed',
    ])
    for (const entry of log) {
      expect(entry).toMatchObject({ run: ended?.executionId, tenant: 'acme', actor: 'petra.k', agent: 'desk' })
    }
    expect(log[3]?.data).toMatchObject({
      tool: 'write_note',
      effect: 'write',
      argsDigest: expect.stringMatching(/^[0-9a-f]{64}$/),
      answers: [{ plugin: 'rule', point: 'inspectToolInput', answer: 'passed' }],
    })
    expect(log[3]?.data).not.toHaveProperty('args')
    expect(log[4]?.data).toMatchObject({ sent: 'yes', argsDigest: log[3]?.data.argsDigest, error: null })
    expect(log[2]?.data).toMatchObject({ usage: { inputTokens: 10, outputTokens: 5 }, finishReason: 'tool_calls' })
    expect(await runtime.plugin(audit).verify()).toMatchObject({
      ok: true,
      size: 8,
      pairs: { intents: 4, outcomes: 4, openCount: 0, unannouncedCount: 0 },
    })
  })

  it('CASE-28: refused, stopped and failed calls are recorded like allowed ones', async () => {
    const refusing = gate('inspectToolInput', ({ args }: { args: { text: string } }) => {
      if (args.text === 'refuse') throw new Refusal('NOT_THIS', 'Not this one.')
      if (args.text === 'stop') throw new Veto('STOPPED', 'Stopped.')
    })
    const { run, entries, written } = await rig(
      [
        reply.toolCall('write_note', { text: 'refuse' }),
        reply.toolCall('write_note', { text: 'fail' }),
        reply.toolCall('write_note', { text: 'stop' }),
      ],
      { plugins: [audit(), refusing], settings: { onToolError: 'return' } },
    )
    const { error } = await run()
    expect(error?.code).toBe('STOPPED')
    expect(written).toEqual(['fail'])
    const log = await entries()
    expect(log.filter(({ event }) => event === 'stop' || event.startsWith('tool')).map(line)).toEqual([
      'stop /m1.t1 1 refused',
      'tool.outcome /m1.t1 1 refused',
      'tool.intent /m2.t1 1',
      'tool.outcome /m2.t1 1 error',
      'tool.outcome /m3.t1 1 stopped',
      'stop /m3.t1 1 vetoed',
    ])
    const failed = log.find(({ event, data }) => event === 'tool.outcome' && data.outcome === 'error')
    expect(failed?.data).toMatchObject({ errorReference: expect.stringMatching(/^ERR-/), error: { name: 'Error' } })
    expect(JSON.stringify(log)).not.toContain('/secret/path')
    expect(log.at(-1)).toMatchObject({
      event: 'run.outcome',
      data: { status: 'failed', failure: { kind: 'veto', error: { code: 'STOPPED' } } },
    })
  })

  it('CASE-06: a pause closes the attempt, the next one is paired anew and shows who decided', async () => {
    const asking = gate('inspectToolInput', ({ decision }: { decision?: { decision: string } }) => {
      if (decision === undefined) throw new Pause('ASK', {})
    })
    const { run, entries, runtime, clock, written } = await rig(
      [reply.toolCall('write_note', { text: 'a' }), reply('Done.')],
      {
        plugins: [audit(), asking],
      },
    )
    const { run: paused } = await run()
    if (paused?.status !== 'paused') throw new Error('it did not pause')
    const [pending] = paused.pending
    await runtime.decide(paused.executionId, {
      effectId: pending?.effectId as string,
      decision: 'approve',
      by: 'ines',
      scope: 'all',
    })
    await clock.settle(runtime.resume(paused.executionId, { scope: 'all' }))
    expect(written).toEqual(['a'])
    const log = await entries()
    expect(log.filter(({ event }) => event !== 'model.intent' && event !== 'model.outcome').map(line)).toEqual([
      'run.intent /execution 1',
      'stop /m1.t1 1 paused',
      'tool.outcome /m1.t1 1 not_run',
      'run.intent /execution 2',
      'tool.intent /m1.t1 2',
      'tool.outcome /m1.t1 2 ok',
      'run.outcome /execution 2 completed',
    ])
    expect(log.find(({ event }) => event === 'tool.intent')?.data).toMatchObject({
      decision: { decision: 'approve', by: 'ines' },
    })
  })

  it('a plain call outside a run is recorded under the root that it got', async () => {
    const { runtime, clock, entries } = await rig([reply('Hello.')])
    await clock.settle(runtime.generateText({ model: 'scripted/m', prompt: 'Hello?' }))
    const log = await entries()
    expect(log.map(({ event }) => event)).toEqual(['model.intent', 'model.outcome'])
    expect(log[0]).toMatchObject({ execution: null, run: expect.any(String), agent: null })
  })

  it('a model call and a tool call cost two appends each, one of them before the effect, and nothing else', async () => {
    const callsWith = async (plugins: PluginInstance[]) => {
      const clock = fakeClock()
      const store = failingStore(createMemoryStore({ clock }), [])
      const { run } = await rig([reply.toolCall('write_note', { text: 'a' }), reply('Done.')], { store, plugins })
      await run()
      return store.calls.filter((call) => /^(log|documents)\./.test(call))
    }
    const without = await callsWith([])
    const more = (await callsWith([audit({ key: KEY, log: () => 'x' })])).slice(without.length)
    // two model calls, one tool call, the run itself
    expect(more).toEqual(Array.from({ length: 8 }, () => 'log.append'))
  })

  it('CASE-28: a handler that writes into the place of the log stops the run', async () => {
    const store = createMemoryStore({ clock: fakeClock() })
    const tool = defineTool({
      code: 'write_note',
      description: 'Writes where it should not.',
      effect: 'write',
      input: z.object({}),
      handler: async () => {
        await store.log('plugin:hooks-audit').append('audit', () => [{ event: 'tool.outcome', outcome: 'ok' }])
        return 'written'
      },
    })
    const agent = defineAgent({
      code: 'thief',
      description: 'A thief.',
      model: 'scripted/m',
      user: 'Go on.',
      tools: [tool],
    })
    const { run, runtime } = await rig([reply.toolCall('write_note', {})], { store, agents: [agent] })
    expect((await run({ agent: 'thief' })).error).toMatchObject({ code: 'AUDIT_LOG_FOREIGN' })
    expect((await runtime.plugin(audit).verify()).faults).toMatchObject([{ kind: 'changed', from: 4 }])
  })

  it('the end of a run that is told again after a crash is written once, however long ago the run was', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const bench = await createHookBench([audit()], { store, clock, ids: fakeIds(), logger: capturedLogger() })
    const begin = (root: string) =>
      bench.ask('beforeExecution', { rootExecutionId: root, effectId: `${root}/execution` })
    const end = (root: string) =>
      bench.tell('afterExecution', {
        rootExecutionId: root,
        executionId: root,
        effectId: `${root}/execution`,
        status: 'failed',
        usage: USAGE_NONE,
        treeUsage: USAGE_NONE,
        failure: null,
        recovered: true,
        receipt: null,
      })
    await begin('old')
    await begin('older')
    await end('old')
    for (let index = 0; index < 1_200; index++) await begin(`r${index}`)
    for (const root of ['old', 'older', 'old', 'older']) await end(root)
    const ends = (await store.log('plugin:hooks-audit').read('audit'))
      .map(({ value }) => value as unknown as AuditEntry)
      .filter(({ event }) => event === 'run.outcome')
    expect(ends.map(({ run }) => run)).toEqual(['old', 'older'])
    expect(bench.health.errors).toBe(0)
  })

  it('an attempt that has ended leaves nothing in the state of the run, whether its outcome could be written or not', async () => {
    const clock = fakeClock()
    const faults = [2, 4].map((nth) => ({ on: 'log.append' as const, nth, as: 'full' as const }))
    const store = failingStore(createMemoryStore({ clock }), faults)
    const bench = await createHookBench([audit()], { store, clock, ids: fakeIds(), logger: capturedLogger() })
    const facts = { rootExecutionId: 'r', executionId: 'r', attempt: 1, toolCode: 'pay' }
    const end = {
      outcome: 'ok',
      sent: 'yes',
      durationMs: 1,
      error: null,
      errorReference: null,
      argsDigest: null,
    } as const
    const tool = { effect: 'write', untrusted: false, cost: null, definitionDigest: '', agent: null } as const
    for (const effectId of ['r/m1.t1', 'r/m1.t2', 'r/m1.t3']) {
      const call = { ...facts, effectId, callId: effectId, createdBy: null, sessionId: null }
      expect((await bench.ask('inspectToolInput', { ...call, args: {} })).answer).toBe('passed')
      expect(JSON.stringify(bench.runState('r'))).toContain(effectId)
      await bench.tell('afterToolCall', { ...call, ...end, tool, resultDigest: null, receipt: null as never })
      expect(JSON.stringify(bench.runState('r'))).not.toContain(effectId)
    }
    expect(bench.health.errors).toBe(2)
  })

  it('costs are what the owner says; a function that fails costs no entry', async () => {
    const costs = ['0.0012', 'a lot', null]
    const { run, entries } = await rig([reply('1'), reply('2'), reply('3'), reply('4')], {
      plugins: [
        audit({
          costUsd: () => {
            if (costs.length === 0) throw new Error('no price')
            return costs.shift() as string
          },
        }),
      ],
    })
    for (let turn = 0; turn < 4; turn++) await run()
    const outcomes = (await entries()).filter(({ event }) => event === 'model.outcome')
    expect(outcomes.map(({ data }) => data.costUsd)).toEqual(['0.0012', null, null, null])
  })

  it('several logs: each is a chain of its own, chosen by tenant', async () => {
    const { run, runtime } = await rig([reply('1'), reply('2')], {
      plugins: [audit({ log: ({ tenant }) => `tenant-${tenant}` })],
    })
    for (const tenant of ['acme', 'umbrella']) await run({ caller: { tenant, audience: 'db' } })
    const api = runtime.plugin(audit)
    expect(await api.logs()).toEqual(['tenant-acme', 'tenant-umbrella'])
    for (const log of await api.logs()) expect(await api.verify({ log })).toMatchObject({ ok: true, log, size: 4 })
    await expect(api.verify()).rejects.toMatchObject({ code: 'AUDIT_LOG_INVALID' })
  })

  it('a log whose name is none stops the run by name', async () => {
    const { run, provider } = await rig([], { plugins: [audit({ log: () => '../elsewhere' })] })
    expect((await run()).error).toMatchObject({ code: 'AUDIT_LOG_INVALID' })
    expect(provider.calls).toHaveLength(0)
  })
})

it('README: what verify says of one run, and how a full disk is tested', async () => {
  const { run, runtime } = await rig([reply.toolCall('write_note', { text: 'a' }), reply('Done.')])
  await run()
  const { statement } = await runtime.plugin(audit).verify()
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  for (const line of statement.split('\n')) expect(readme).toContain(`// ${line}`)
  const store = failingStore(createMemoryStore(), [{ on: 'log.append', as: 'full' }])
  const result = await callGate(audit(), 'beforeModelCall', {}, { store })
  expect(result).toMatchObject({ answer: 'vetoed', code: 'AUDIT_NOT_WRITTEN' })
  for (const code of Object.keys(AUDIT_ERROR_CODES)) expect(readme).toContain(`\`${code}\``)
})

it('redaction that fails stops the effect: nothing is written that was not looked at', async () => {
  const values = () => {
    throw new Error('the vault is shut')
  }
  const { run, provider, entries } = await rig([], { plugins: [audit({ redact: { values } })] })
  expect((await run()).error).toMatchObject({ code: 'AUDIT_NOT_WRITTEN' })
  expect([provider.calls.length, (await entries()).length]).toEqual([0, 0])
})

describe('CASE-28: where the record cannot be written, the effect does not happen', () => {
  const script = () => [1, 2, 3].map((turn) => reply.toolCall('write_note', { text: `n${turn}` }))
  const APPENDS = 15

  it.each(['full', 'error', 'read-only', 'unknown', 'unknown-lost'] as const)(
    'a store that fails (%s) at any call stops before the next effect',
    async (as) => {
      let stopped = 0
      for (let nth = 1; nth <= APPENDS; nth++) {
        const clock = fakeClock()
        const store = failingStore(createMemoryStore({ clock }), [
          { on: 'log.append', nth, namespace: 'plugin:hooks-audit', as },
        ])
        const { run, entries, written, provider } = await rig([...script(), reply('Done.')], { store })
        const { error } = await run()
        expect(store.struck, `append ${nth}`).toBe(1)
        const log = await entries()
        const intents = (event: string) => log.filter((entry) => entry.event === event).length
        // no effect without its durable intent, at whatever call it failed
        expect(written.length).toBeLessThanOrEqual(intents('tool.intent'))
        expect(provider.calls.length).toBeLessThanOrEqual(intents('model.intent'))
        if (error === undefined) continue
        stopped += 1
        expect(error).toMatchObject({ code: 'AUDIT_NOT_WRITTEN', by: { plugin: 'hooks-audit' } })
      }
      // run, three tool calls, four model calls have an intent
      expect(stopped).toBe(8)
    },
  )

  it('a full disk stays full: the first effect after it is stopped and named', async () => {
    const clock = fakeClock()
    const faults = Array.from({ length: 40 }, (_, index) => ({
      on: 'log.append' as const,
      nth: index + 4,
      namespace: 'plugin:hooks-audit',
      as: 'full' as const,
    }))
    const store = failingStore(createMemoryStore({ clock }), faults)
    const { run, written, logger } = await rig(script(), { store })
    expect((await run()).error).toMatchObject({ code: 'AUDIT_NOT_WRITTEN', details: { storeCode: 'STORE_FULL' } })
    expect(written).toEqual([])
    // what could not be written of the end is visible
    expect(logger.lines.some(({ text }) => text.includes('an observer failed'))).toBe(true)
  })

  it('a store that does not answer stops the run at the deadline of the gate', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [
      { on: 'log.append', nth: 4, namespace: 'plugin:hooks-audit', as: 'hang' },
    ])
    const { run, written } = await rig(script(), { store })
    expect((await run()).error).toMatchObject({ code: 'HOOK_FAILED' })
    expect(written).toEqual([])
    store.release()
  })

  it('an outcome that cannot be written is visible: its intent stays open', async () => {
    const clock = fakeClock()
    const store = failingStore(createMemoryStore({ clock }), [
      { on: 'log.append', nth: 5, namespace: 'plugin:hooks-audit', as: 'full' },
    ])
    const { run, runtime } = await rig([reply.toolCall('write_note', { text: 'a' }), reply('Done.')], { store })
    expect((await run()).run?.status).toBe('completed')
    const { ok, pairs } = await runtime.plugin(audit).verify()
    expect([ok, pairs.openCount, pairs.open[0]?.event]).toEqual([true, 1, 'tool.intent'])
    expect(runtime.health().observers.errors).toBe(1)
  })
})
