import { mkdtempSync, rmSync, writeFileSync, readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  createMemoryStore,
  createRuntime,
  defineAgent,
  definePlugin,
  defineTool,
  hostedTool,
  SluiceError,
  Veto,
} from '@sluice/core'
import { createLowdbStore } from '@sluice/core/store/lowdb'
import { capturedLogger, fakeClock, fakeIds, recordingPlugin, reply, scriptedProvider } from '@sluice/testkit'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const ASK = { agent: 'ap_desk', input: QUESTION } as const

/** What every error for people has: a code, what happened to what, what to do; no bare stack, on one line each. */
function expectHelpful(error: any, code: string, names: readonly string[]): void {
  expect(SluiceError.isInstance(error)).toBe(true)
  expect(error.code).toBe(code)
  for (const name of names) expect(error.message).toContain(name)
  expect(error.message.length).toBeGreaterThan(20)
  expect(error.message).not.toMatch(/\n\s+at /)
  expect(JSON.stringify(error)).not.toContain('stack')
}

async function nothingWasWritten(runtime: { executions: any; sessions: any }): Promise<void> {
  expect([(await runtime.executions.list(ALL)).items, (await runtime.sessions.list(ALL)).items]).toEqual([[], []])
}

describe('bad input to a call', () => {
  it('an unknown agent: NOT_FOUND names near ones, nothing was asked or written', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const { runtime } = await house([], { agents: [desk()], plugins: [recorder.plugin] })
    const error = await failureOf(runtime.execute({ agent: 'ap_dsk', input: QUESTION }))
    expectHelpful(error, 'NOT_FOUND', ['ap_dsk', 'ap_desk'])
    expect(recorder.entries).toEqual([])
    await nothingWasWritten(runtime)
  })

  // cites: G-2, H-10
  it('an unknown provider: UNKNOWN_PROVIDER names near ones, before any gate is asked and any record is written', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution', 'beforeModelCall'] })
    const { runtime } = await house([], {
      agents: [desk([], { code: 'astray', model: 'scriptd/m' })],
      plugins: [recorder.plugin],
    })
    expectHelpful(await failureOf(runtime.generateText({ model: 'scriptd/m', prompt: 'x' })), 'UNKNOWN_PROVIDER', [
      'scriptd',
      'scripted',
    ])
    expectHelpful(await failureOf(runtime.generateText({ model: 'no-slash', prompt: 'x' })), 'UNKNOWN_PROVIDER', [
      'no-slash',
      'provider/model',
    ])
    expectHelpful(await failureOf(runtime.execute({ agent: 'astray', input: QUESTION })), 'UNKNOWN_PROVIDER', [
      'scriptd/m',
    ])
    expect(recorder.at('beforeModelCall')).toEqual([])
  })

  it('unknown options are refused by name, all at once, in every call', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const calls: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['execute', () => runtime.execute({ ...ASK, inputs: {}, session: 's' } as never)],
      ['stream', () => runtime.stream({ ...ASK, inputs: {}, session: 's' } as never).run],
      [
        'generateText',
        () => runtime.generateText({ model: 'scripted/m', prompt: 'x', inputs: {}, session: 's' } as never),
      ],
      ['executeProfile', () => runtime.executeProfile({ profile: 'p', inputs: {}, session: 's' } as never)],
    ]
    for (const [name, call] of calls) {
      const error = await failureOf(call())
      expectHelpful(error, 'INVALID_CONFIG', [name, 'inputs', 'session', 'known are'])
      expect(error.details.count).toBe(2)
    }
    await nothingWasWritten(runtime)
  })

  it('all faults of one call are told at once, each by its place', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const execute = await failureOf(
      runtime.execute({
        agent: '',
        version: 0,
        input: { at: new Date() },
        followUp: 7,
        sessionId: '',
        output: 'schema',
        files: [{ type: 'file' }, 'x'],
        signal: 'now',
      } as never),
    )
    expect(execute.details.faults.map((fault: string) => fault.split(':')[0])).toEqual([
      'agent',
      'version',
      'input',
      'followUp',
      'input',
      'sessionId',
      'signal',
      'files.0',
      'files.1',
      'output',
    ])
    const generate = await failureOf(
      runtime.generateText({
        model: 7,
        prompt: [],
        system: 3,
        tools: ['x'],
        hostedTools: 'y',
        toolChoice: 'sometimes',
        temperature: 'hot',
        topP: 7,
        stopSequences: 'END',
        reasoning: { level: 'huge' },
        providerOptions: [],
        connection: { key: 'x' },
        maxToolCalls: -1,
        settings: { onToolError: 'ignore' },
        signal: 1,
      } as never),
    )
    expect(generate.details.faults.map((fault: string) => fault.split(':')[0]).sort()).toEqual(
      [
        'connection',
        'hostedTools',
        'model',
        'prompt',
        'providerOptions',
        'reasoning',
        'settings.maxToolCalls',
        'settings.onToolError',
        'signal',
        'stopSequences',
        'system',
        'temperature',
        'toolChoice',
        'tools',
        'topP',
      ].sort(),
    )
    const decide = await failureOf(runtime.decide('run', { effectId: 'e', decision: 'yes' } as never))
    expect(decide.details.faults.map((fault: string) => fault.split(':')[0])).toEqual(['decision', 'by', 'scope'])
    await nothingWasWritten(runtime)
  })

  it('P-12: a placeholder without a value is told with the agent whose prompt it stands in', async () => {
    const { runtime } = await house([], { agents: [desk([], { user: 'Pay {invoice}' })] })
    const error = await failureOf(runtime.execute({ agent: 'ap_desk', input: {} }))
    expect([error.code, error.message]).toEqual([
      'MISSING_PLACEHOLDER',
      expect.stringContaining('Placeholder {invoice} of agent "ap_desk" has no value.'),
    ])
  })

  it.each([undefined, null, 7, 'x', [], new Date()])('%o in place of options is refused by name', async (given) => {
    const { runtime } = await house([])
    for (const call of ['execute', 'generateText', 'executeProfile'] as const)
      expectHelpful(await failureOf((runtime[call] as any)(given)), 'INVALID_CONFIG', [])
    expect((await failureOf(Promise.resolve().then(() => runtime.stream(given as never).run))).code).toBe(
      'INVALID_CONFIG',
    )
  })

  it('a caller that cannot be meant is refused, all faults at once', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const error = await failureOf(
      runtime.execute({
        ...ASK,
        caller: {
          user: '',
          tenant: 7,
          audience: 'everyone',
          createdBy: 'me',
          name: 'x',
          metadata: { f: () => 1 },
        } as never,
      }),
    )
    expectHelpful(error, 'INVALID_CONFIG', ['user', 'tenant', 'audience', 'createdBy', 'name', 'metadata'])
    await nothingWasWritten(runtime)
  })

  // cites: CASE-20, CASE-21
  it.each([
    ['an unpaired surrogate', 's-\ud800'],
    ['4 000 characters', 'x'.repeat(4_000)],
  ])(
    'a session id with %s is refused by name before any gate is asked, and nothing is written',
    async (_name, sessionId) => {
      const recorder = recordingPlugin({ points: ['beforeExecution'] })
      const { runtime } = await house([], { agents: [desk()], plugins: [recorder.plugin] })
      expectHelpful(await failureOf(runtime.execute({ ...ASK, sessionId })), 'STORE_KEY_INVALID', [])
      expect(recorder.entries).toEqual([])
      await nothingWasWritten(runtime)
    },
  )

  it.each([
    '.',
    '..',
    '../x',
    '/x',
    'a/b',
    'a\\b',
    'C:x',
    'CON',
    'a.json',
    '%2e%2e%2f',
    'a\u0000b',
    'É',
    'É'.normalize('NFD'),
  ])('CASE-21: %j is an id like any other, and stays itself', async (sessionId) => {
    const { runtime } = await house([reply('x')], { agents: [desk()] })
    await runtime.execute({ ...ASK, sessionId })
    expect((await runtime.sessions.list(ALL)).items.map((header) => header.sessionId)).toEqual([sessionId])
  })
})

describe('strings that a store refuses', () => {
  // cites: CASE-20
  it('CASE-20: input, follow-up, files and context with an unpaired surrogate are refused at the call, before any gate', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution', 'beforeModelCall'] })
    const { runtime } = await house([reply('x')], { agents: [desk()], plugins: [recorder.plugin] })
    await runtime.execute({ ...ASK, sessionId: 's-1' })
    recorder.clear()
    const bad = 'a\ud800b'
    for (const given of [
      { agent: 'ap_desk', input: { question: bad } },
      { agent: 'ap_desk', input: { [bad]: 'x', question: 'x' } },
      { agent: 'ap_desk', followUp: bad, sessionId: 's-1' },
      { ...ASK, files: [{ type: 'file', mediaType: 'image/png', data: 'aa', filename: bad }] },
      { ...ASK, runContext: { clerk: bad } },
      { ...ASK, caller: { user: bad } },
    ] as any[]) {
      const error = await failureOf(runtime.execute(given))
      expectHelpful(error, 'INVALID_CONFIG', ['surrogate'])
    }
    expect([recorder.entries, (await runtime.executions.list(ALL)).items.length]).toEqual([[], 1])
  })

  it('CASE-20: what a model, a tool, a handler or a gate says never loses the turn: unpaired surrogates are replaced, all else is kept', async () => {
    const odd = 'nul \u0000, literal \\u0000, tab\t, esc \u001b, \ud83d\ude00'
    const { tool } = noteTool({ handler: () => `${odd} \udc00` })
    const { tool: fails } = noteTool({ code: 'fails', handler: () => Promise.reject(new Error(`${odd} \ud800`)) })
    const { runtime } = await house(
      [
        reply
          .reasoning(`think ${odd} \ud800`)
          .text(`say ${odd} \ud800`)
          .toolCall('write_note', `{"text":"x\ud800"}`)
          .toolCall('fails'),
        reply(`end ${odd}`).with({ model: 'm\ud800' }),
      ],
      { agents: [desk([tool, fails])], settings: { onToolError: 'return' } },
    )
    const run = await runtime.execute({ ...ASK, input: { question: odd }, sessionId: 's-1' })
    expect(run.status).toBe('completed')
    const log = (await runtime.sessions.messages('s-1', ALL)).items
    expect(log.map((row) => row.content ?? row.toolOutput ?? row.toolInput)).toEqual([
      'You are the desk.',
      odd,
      `think ${odd} \ufffd`,
      `say ${odd} \ufffd`,
      '{"text":"x\ufffd"}',
      '{}',
      `${odd} \ufffd`,
      expect.stringContaining('ERR-'),
      `end ${odd}`,
    ])
    const reference = run.toolCalls[1]?.errorReference as string
    expect((await runtime.executions.toolError(reference, ALL)).message).toBe(`${odd} \ufffd`)
    expect((await runtime.sessions.get('s-1', ALL)).status).toBe('completed')
  })

  it('CASE-20: a stop whose words no store takes ends the run on record all the same', async () => {
    const { Veto } = await import('@sluice/core')
    const says = definePlugin({
      name: 'says',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeModelCall.tap({ name: 'says' }, () => {
          throw new Veto('BAD\ud800', `reason ${'\ud83d\ude00'.repeat(2_500)}\ud800`, {
            note: 'x\udc00',
            ['k\ud800']: 1,
          })
        })
      },
    })
    const { runtime } = await house([], { agents: [desk()], plugins: [says()] })
    const error = await failureOf(runtime.execute({ ...ASK, sessionId: 's-1' }))
    expect(error.code).toBe('BAD\ud800')
    const row = await runtime.executions.get(error.partial.executionId, ALL)
    expect([row.status, row.error?.code, row.error?.details]).toEqual([
      'failed',
      'BAD\ufffd',
      { note: 'x\ufffd', 'k\ufffd': 1 },
    ])
    expect((await runtime.executions.receipts(row.id, ALL)).map((receipt) => receipt.outcome)).toEqual([
      'stopped',
      'stopped',
    ])
    expect((await runtime.sessions.get('s-1', ALL)).status).toBe('failed')
  })

  it('CASE-20: 5 MB of text go through', async () => {
    const long = 'ü'.repeat(2_500_000)
    const { runtime, provider } = await house([reply(long)], { agents: [desk()] })
    const run = await runtime.execute({ ...ASK, input: { question: long }, sessionId: 's-1' })
    expect(run.text === long).toBe(true)
    expect((provider.requests[0]?.messages[1]?.content[0] as any).text.length).toBe(2_500_000)
    expect((await runtime.sessions.messages('s-1', ALL)).items.at(-1)?.content?.length).toBe(2_500_000)
  })

  // cites: CASE-29
  it('CASE-29: text in messages of errors is escaped and on one line, and the record keeps the original', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const odd = 'a\r\n[2J\u001b[31m\u2028\u202e'
    for (const error of [
      await failureOf(runtime.execute({ agent: odd, input: {} })),
      await failureOf(runtime.generateText({ model: `${odd}/m`, prompt: 'x' })),
      await failureOf(runtime.cancel(odd, ALL)),
      await failureOf(runtime.executions.get(odd, ALL)),
      await failureOf(runtime.sessions.get(odd, ALL)),
    ])
      expect(error.message).not.toMatch(/[\r\u001b\u2028\u202e]/)
  })

  it('CASE-22: afterwards a fresh object has no new property, whatever keys a model or a caller sends', async () => {
    const { tool } = noteTool({ input: { type: 'object', additionalProperties: true } })
    const evil =
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"a":{"__proto__":{"polluted":1}}}'
    const { runtime } = await house([reply.toolCall('write_note', evil), reply(evil)], {
      agents: [desk([tool], { output: { type: 'object', additionalProperties: true } })],
    })
    const run = await runtime.execute({
      agent: 'ap_desk',
      input: { question: 'x', ...JSON.parse('{"__proto__":{"polluted":1}}') },
    })
    expect([({} as any).polluted, (run.output as any)?.polluted, JSON.stringify(run.output)]).toEqual([
      undefined,
      undefined,
      '{"a":{}}',
    ])
  })
})

describe('bad definitions', () => {
  it('a tool and an agent tell all their faults at once', () => {
    const tool = () =>
      defineTool({
        code: 'a b',
        input: 'x',
        effect: 'delete',
        cost: { usd: 'free' },
        timeoutMs: 0,
        handle: () => 1,
      } as never)
    expect(tool).toThrow(expect.objectContaining({ code: 'INVALID_CONFIG', reason: 'tool.definition' }))
    const agent = () =>
      defineAgent({
        code: '',
        description: ' ',
        model: 'x',
        users: '',
        tools: ['a b', {}],
        temperature: 9,
        output: 'x',
      } as never)
    try {
      agent()
      throw new Error('was accepted')
    } catch (error: any) {
      expect(error.details.count).toBeGreaterThanOrEqual(8)
    }
    expect(() => hostedTool({ code: 'x', provider: '', configuration: [] } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIG' }),
    )
  })

  it('a definition in the words of another library is told which options there are', () => {
    const foreign = { name: 'look', description: 'Looks.', parameters: z.object({}), execute: () => 'x' }
    expect(() => defineTool(foreign as never)).toThrow(
      /^Tool without a code is not acceptable:[^]*execute: is not an option; options are code, /,
    )
    expect(() => defineAgent({ name: 'x', instructions: 'y' } as never)).toThrow(
      /instructions: is not an option; options are code, /,
    )
  })

  it('an agent for the store is told about its fields in the names that `create` takes', async () => {
    const runtime = await createRuntime({ store: createMemoryStore(), plugins: [] })
    onTestFinished(() => runtime.close())
    const fields = { code: 'x', description: 'X.', inputSchema: { type: 'nothing' } }
    await expect(runtime.agents.create(fields as never)).rejects.toThrow(
      "agentType: must be the type of the agent, such as 'profile'",
    )
  })

  it('a store that was not awaited is told so', async () => {
    const store = Promise.resolve(createMemoryStore())
    const error = await failureOf(createRuntime({ store: store as never }))
    expect(error.message).toContain('store: is a promise: await it first')
  })

  it('a folder store without options says that it needs a folder', async () => {
    await expect(createLowdbStore(undefined as never)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining("createLowdbStore({ folder: './data' })"),
    })
  })

  it('a gate that vetoes without a reason ends the run with its code all the same', async () => {
    const silent = definePlugin({
      name: 'silent',
      hookApi: 1,
      apply(hooks) {
        hooks.beforeExecution.tap('no', () => {
          throw new (Veto as unknown as new (code: string) => Veto)('NO')
        })
      },
    })
    const agent = defineAgent({ code: 'a', description: 'A.', model: 'scripted/m', user: 'x' })
    const runtime = await createRuntime({
      store: createMemoryStore(),
      providers: [scriptedProvider([])],
      plugins: [silent()],
    })
    onTestFinished(() => runtime.close())
    await expect(runtime.execute({ agent })).rejects.toMatchObject({ code: 'NO', message: 'Stopped.' })
  })

  it('duplicate names are refused by name: tools, providers, agents, plugins, agent types', async () => {
    const { tool } = noteTool()
    const base = {
      store: createMemoryStore(),
      clock: fakeClock(),
      ids: fakeIds(),
      logger: capturedLogger(),
      plugins: [],
    }
    const plugin = definePlugin({
      name: 'p',
      hookApi: 1,
      apply: (hooks) => void hooks.onStop.tap({ name: 'x' }, () => {}),
    })
    const type = {
      type: 'echo',
      accepts: { output: false, followUp: false, files: false },
      validate: () => [],
      references: () => ({ agents: [], profiles: [] }),
      run: async () => ({}) as never,
    }
    const codes = [
      await failureOf(createRuntime({ ...base, tools: [tool, tool] })),
      await failureOf(createRuntime({ ...base, agents: [desk(), desk([], { system: 'x' })] })),
      await failureOf(createRuntime({ ...base, plugins: [plugin(), plugin()] })),
      await failureOf(createRuntime({ ...base, agentTypes: [type, type] })),
      await failureOf(createRuntime({ ...base, agentTypes: [{ ...type, type: 'profile' }] })),
    ].map((error) => error.code)
    expect(codes).toEqual([
      'INVALID_CONFIG',
      'DUPLICATE_NAME',
      expect.stringMatching(/DUPLICATE_NAME|HOOK_REGISTRATION/),
      'DUPLICATE_NAME',
      'DUPLICATE_NAME',
    ])
  })

  it('an agent that names a tool which the runtime does not have is refused at start, with near names', async () => {
    const base = { store: createMemoryStore(), plugins: [], logger: capturedLogger() }
    const error = await failureOf(createRuntime({ ...base, agents: [desk(['writ_note'])], tools: [noteTool().tool] }))
    expectHelpful(error, 'TOOL_NOT_FOUND', ['writ_note', 'write_note', 'ap_desk'])
    expect((await base.store.agents.list()).items).toEqual([])
  })
})

describe('bad surroundings', () => {
  function folder(files: Readonly<Record<string, string>> = {}): string {
    const made = mkdtempSync(join(tmpdir(), 'sluice-bad-'))
    onTestFinished(() => rmSync(made, { recursive: true, force: true }))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(made, name), text)
    return made
  }
  const PACKAGE = { 'package.json': '{"name":"app","type":"module"}' }

  // cites: T-27, H-W1, H-28
  it.each([
    ['is not there', PACKAGE, 'HOOKS_MISSING', ['sluice.hooks.mjs', 'plugins: []']],
    ['does not parse', { ...PACKAGE, 'sluice.hooks.mjs': 'export default [' }, 'HOOKS_BROKEN', ['sluice.hooks.mjs']],
    [
      'throws',
      { ...PACKAGE, 'sluice.hooks.mjs': 'throw new Error("no env")' },
      'HOOKS_BROKEN',
      ['sluice.hooks.mjs', 'no env'],
    ],
    ['exports no list', { ...PACKAGE, 'sluice.hooks.mjs': 'export default 7' }, 'HOOKS_BROKEN', ['sluice.hooks.mjs']],
  ])('a hook file that %s makes createRuntime reject: %s', async (_how, files, code, names) => {
    const root = folder(files)
    const error = await failureOf(createRuntime({ root, logger: capturedLogger() }))
    expectHelpful(error, code, names)
  })

  it('a root that cannot be told is ROOT_UNKNOWN, one without a hook file HOOKS_MISSING', async () => {
    expectHelpful(await failureOf(createRuntime({ logger: capturedLogger() })), 'ROOT_UNKNOWN', ['root'])
    expectHelpful(await failureOf(createRuntime({ logger: capturedLogger(), root: folder() })), 'HOOKS_MISSING', [
      'sluice.hooks.mjs',
    ])
  })

  it('the default store lies beside the package.json of root, and is closed with the runtime and after a fault', async () => {
    const root = folder(PACKAGE)
    const broken = definePlugin({
      name: 'broken',
      hookApi: 1,
      apply() {
        throw new Error('no')
      },
    })
    await failureOf(createRuntime({ root, plugins: [broken()], logger: capturedLogger() }))
    const runtime = await createRuntime({ root, plugins: [], logger: capturedLogger() })
    expect(readdirSync(root)).toContain('.sluice')
    const second = await failureOf(createRuntime({ root, plugins: [], logger: capturedLogger() }))
    expectHelpful(second, 'STORE_LOCKED', ['.sluice'])
    await runtime.close()
    await (await createRuntime({ root, plugins: [], logger: capturedLogger() })).close()
  })

  it('a folder that cannot be made and a damaged store file are named errors that name the path', async () => {
    const base = folder({ file: 'not a folder' })
    expectHelpful(await failureOf(createLowdbStore({ folder: join(base, 'file', 'store') })), 'STORE_FAILED', ['file'])
    const at = join(base, 'store')
    const store = await createLowdbStore({ folder: at })
    await store.documents('a').put(['k'], 1)
    await store.close()
    const damaged = readdirSync(at, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    for (const entry of damaged) writeFileSync(join(entry.parentPath, entry.name), 'damaged')
    expectHelpful(await failureOf(createLowdbStore({ folder: at })), 'STORE_DAMAGED', [at])
  })

  it('a provider whose SDK or key is missing says what to do, and the other agents go on', async () => {
    const { ProviderError } = await import('@sluice/core')
    const { scriptedProvider, providerError } = await import('@sluice/testkit')
    const locked = scriptedProvider(
      [providerError('PROVIDER_AUTH', { status: 401, message: 'The key was refused.' })],
      { id: 'locked' },
    )
    const { runtime } = await house([reply('x')], { others: [locked], agents: [desk()] })
    const error = await failureOf(runtime.generateText({ model: 'locked/m', prompt: 'x' }))
    expect([ProviderError.isInstance(error, 'PROVIDER_AUTH'), error.status]).toEqual([true, 401])
    expect((await runtime.execute(ASK)).text).toBe('x')
  })

  it('SCHEMA_UNSUPPORTED names the tool that a protocol cannot express, where it is offered', async () => {
    const { scriptedProvider } = await import('@sluice/testkit')
    const picky = {
      ...scriptedProvider([], { id: 'picky' }),
      checkSchema: () => {
        throw new SluiceError('SCHEMA_UNSUPPORTED', 'The protocol picky has no tuples.', {
          details: { path: 'input.pair' },
        })
      },
    }
    const { runtime } = await house([], { others: [picky] })
    const { tool } = noteTool({ input: z.object({ pair: z.tuple([z.string(), z.number()]) }) })
    expectHelpful(
      await failureOf(runtime.generateText({ model: 'picky/m', prompt: 'x', tools: [tool] })),
      'SCHEMA_UNSUPPORTED',
      ['tuples'],
    )
  })
})
