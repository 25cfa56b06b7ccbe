import type { PromptProfileDefinition } from '@sluice/core'
import { createMemoryStore, definePlugin, defineTool, hostedTool, runContextValue, Stage } from '@sluice/core'
import { fakeClock, recordingPlugin, repeat, reply } from '@sluice/testkit'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { desk, failureOf, house, noteTool, PETRA, QUESTION } from './support/house.js'

const ALL = { scope: 'all' } as const
const ASK = { agent: 'ap_desk', input: QUESTION } as const

const profile = (more: Partial<PromptProfileDefinition> = {}): PromptProfileDefinition => ({
  code: 'desk_prompt',
  description: 'The desk.',
  system_prompt_template: 'You help {clerk}.',
  user_prompt_template: '{question}',
  provider: 'scripted',
  model: 'model-p',
  ...more,
})

const texts = (request: { messages: readonly any[] } | undefined) =>
  (request?.messages ?? []).map((message) =>
    typeof message.content === 'string' ? message.content : message.content.map((part: any) => part.text).join('|'),
  )

describe('prompts of a run', () => {
  // cites: P-11, P-12, P-13, P-14, P-15, P-16, P-W1, P-W2, P-W3, R-3, R-W2, T-50, CASE-30
  it('CASE-30: a template is scanned once: what a value holds is text, whatever braces, order or type', async () => {
    const { runtime, provider, logger } = await house([repeat(reply('x'))], {
      agents: [
        desk([], {
          system: '{Clerk} {{not_one}} {"json": {"a": 1}} {clerk}',
          user: 'a={a} b={B} n={n} t={t} o={o} e={e} z={z}',
          code: 'braces',
        }),
      ],
    })
    const input = {
      a: '{b} {clerk} {{x}} $1 \\n',
      b: '{a}',
      n: 12.5,
      t: true,
      o: { k: '{a}' },
      e: '',
      z: null,
      surplus: 1,
    }
    await runtime.execute({ agent: 'braces', input, runContext: { clerk: 'petra {a}' } })
    const reversed = Object.fromEntries(Object.entries(input).reverse())
    await runtime.execute({
      agent: 'braces',
      input: { ...reversed, clerk: 'mallory' },
      runContext: { clerk: 'petra {a}' },
    })
    const expected = [
      'petra {a} {not_one} {"json": {"a": 1}} petra {a}',
      'a={b} {clerk} {{x}} $1 \\n b={a} n=12.5 t=true o={"k":"{a}"} e= z=',
    ]
    expect(provider.requests.map(texts)).toEqual([expected, expected])
    // P-15: a bound value wins over an input of the same name, and that is logged
    expect(logger.matching('replaced input parameters').map((line) => line.fields.placeholders)).toEqual([['Clerk']])
  })

  it('P-12: a placeholder without a value fails the run by name, all of them told; nothing is sent', async () => {
    const { runtime, provider } = await house([], { agents: [desk([], { user: '{question} {who} {when}' })] })
    const error = await failureOf(runtime.execute(ASK))
    expect([error.code, error.details, provider.requests.length]).toEqual([
      'MISSING_PLACEHOLDER',
      { placeholder: '{who}', missing: ['{who}', '{when}'] },
      0,
    ])
    const bare = await failureOf(runtime.execute({ agent: 'ap_desk' }))
    expect(bare.details.missing).toEqual(['{question}', '{who}', '{when}'])
    const row = await runtime.executions.get(error.partial.executionId, ALL)
    expect([row.status, row.failureKind]).toEqual(['failed', 'input'])
  })

  it('A-42: input is held to the schema of the agent before any gate is asked; the prompts get what the schema gives', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const { runtime, provider } = await house([reply('x')], {
      agents: [
        desk([], {
          user: '{question} {top}',
          input: z.object({ question: z.string().trim(), top: z.number().default(3) }),
        }),
      ],
      plugins: [recorder.plugin],
    })
    const refused = await failureOf(runtime.execute({ agent: 'ap_desk', input: { question: 7, top: 'x' } }))
    expect([refused.code, refused.reason, refused.details.issues.map((issue: { path: string }) => issue.path)]).toEqual(
      ['INVALID_CONFIG', 'input.schema', ['question', 'top']],
    )
    expect(recorder.entries).toEqual([])
    const run = await runtime.execute({ agent: 'ap_desk', input: { question: ' due? ' } })
    expect([texts(provider.requests[0])[1], (await runtime.executions.get(run.executionId, ALL)).input]).toEqual([
      'due? 3',
      { question: 'due?', top: 3 },
    ])
  })

  // cites: H-22, H-25, P-17, P-5, A-8, A-46, T-26, A-W5, P-W4
  it('P-17: a stored profile gives prompts, model and settings; the plugins get the rendered prompt, a pinned version stays', async () => {
    const { tool } = noteTool({ tags: ['notes'] })
    const { tool: other } = noteTool({ code: 'other', tags: ['x'] })
    const augment = definePlugin({
      name: 'augment',
      hookApi: 1,
      apply(hooks) {
        hooks.augmentSystemPrompt.tap({ name: 'a' }, (prompt) =>
          prompt === undefined ? 'Supplied.' : `${prompt} Be brief.`,
        )
      },
    })
    const { runtime, provider } = await house([repeat(reply('x'))], {
      agents: [
        desk([], {
          code: 'latest',
          model: undefined,
          system: undefined,
          user: undefined,
          profile: 'desk_prompt',
          maxToolCalls: 4,
        }),
        desk([], {
          code: 'pinned',
          model: undefined,
          system: undefined,
          user: undefined,
          profile: { code: 'desk_prompt', version: 1 },
        }),
      ],
      prompts: [
        profile({
          model_config: {
            g_enable_tools: true,
            g_tool_tags: ['notes'],
            g_max_tool_calls: 2,
            scripted: { g_max_tokens: 5 },
          },
        }),
      ],
      tools: [tool, other],
      plugins: [augment()],
    })
    const go = (agent: string) => runtime.execute({ agent, input: QUESTION, runContext: { clerk: 'petra.k' } })
    await go('latest')
    expect(provider.requests[0]).toMatchObject({ model: 'model-p', tools: [{ name: 'write_note' }] })
    expect(texts(provider.requests[0])).toEqual(['You help petra.k. Be brief.', 'Is INV-7 due?'])
    const next = await runtime.prompts.createNewVersion('desk_prompt', 1)
    await runtime.prompts.update(next.id, profile({ model: 'model-q', system_prompt_template: null }))
    await runtime.prompts.changeStatus(next.id, 'active')
    await go('latest')
    await go('pinned')
    expect(provider.requests.slice(1).map((request) => [request.model, texts(request)[0]])).toEqual([
      ['model-q', 'Supplied.'],
      ['model-p', 'You help petra.k. Be brief.'],
    ])
  })

  // cites: G-W10, P-17, P-18, P-19, P-20, P-23, P-24, P-26, G-53, P-W4, A-W5, H-24, Z-6
  it('P-18: executeProfile takes overrides key by key; the runtime keeps its own settings; output comes back parsed', async () => {
    const { tool } = noteTool({ tags: ['notes'] })
    const recorder = recordingPlugin({ points: ['augmentSystemPrompt', 'beforeExecution', 'beforeModelCall'] })
    const { runtime, provider } = await house([repeat(reply('{"due":true}'))], {
      prompts: [
        profile({
          model_config: {
            g_enable_tools: true,
            g_base_url: 'http://127.0.0.1:9',
            g_enable_reasoning: true,
            g_reasoning_level: 'high',
          },
          response_schema: { type: 'object', properties: { due: { type: 'boolean' } }, required: ['due'] },
          parameters_schema: { type: 'object', properties: { question: { type: 'string' } }, required: ['question'] },
        }),
      ],
      tools: [tool],
      plugins: [recorder.plugin],
    })
    const call = { profile: 'desk_prompt', parameters: QUESTION, runContext: { clerk: 'petra.k' } } as const
    const done = await runtime.executeProfile(call)
    expect([done.text, done.output, done.model]).toEqual(['{"due":true}', { due: true }, 'model-p'])
    expect(provider.requests[0]).toMatchObject({
      connection: { baseUrl: 'http://127.0.0.1:9' },
      reasoning: { level: 'high' },
      tools: [{ name: 'write_note' }],
    })
    await runtime.executeProfile({ ...call, model: 'model-z', config: { g_reasoning_level: 'low' } })
    expect(provider.requests[1]).toMatchObject({
      model: 'model-z',
      connection: { baseUrl: 'http://127.0.0.1:9' },
      reasoning: { level: 'low' },
    })
    await runtime.executeProfile({ ...call, config: {}, configMode: 'replace' })
    expect([provider.requests[2]?.tools, provider.requests[2]?.reasoning, provider.requests[2]?.connection]).toEqual([
      [],
      undefined,
      undefined,
    ])
    await runtime.executeProfile({ ...call, output: z.object({ due: z.boolean() }), maxOutputTokens: 9 })
    await runtime.generateText({ model: 'scripted/m', prompt: 'x' })
    expect(provider.requests.slice(3).map((request) => request.maxOutputTokens)).toEqual([9, 8192])
    expect(recorder.lines.slice(0, 2)).toEqual(['augmentSystemPrompt', 'beforeModelCall model-p'])
    expect(recorder.at('beforeExecution')).toEqual([])
    const unfit = await failureOf(runtime.executeProfile({ ...call, parameters: { question: 7 } }))
    expect([unfit.code, unfit.reason]).toEqual(['INVALID_CONFIG', 'prompt.parameters'])
    expect((await failureOf(runtime.executeProfile({ profile: 'desk_promt' }))).code).toBe('NOT_FOUND')
    expect((await failureOf(runtime.executeProfile({ ...call, runContext: {} }))).code).toBe('MISSING_PLACEHOLDER')
  })

  // cites: A-W4, P-3, P-4, A-36, A-40
  it('A-W4: the answer schema in force is that of the profile version that is used, whatever other versions say', async () => {
    const schema = (name: string) => ({ type: 'object', properties: { [name]: { type: 'boolean' } }, required: [name] })
    const { runtime } = await house([repeat(reply('{"one":true}'))], {
      agents: [
        desk([], {
          code: 'pinned',
          model: undefined,
          system: undefined,
          user: undefined,
          profile: { code: 'desk_prompt', version: 1 },
        }),
      ],
      prompts: [profile({ system_prompt_template: null, response_schema: schema('one') })],
    })
    const draft = await runtime.prompts.createNewVersion('desk_prompt', 1)
    await runtime.prompts.update(draft.id, profile({ system_prompt_template: null, response_schema: schema('two') }))
    expect((await runtime.executeProfile({ profile: 'desk_prompt', parameters: QUESTION })).output).toEqual({
      one: true,
    })
    await runtime.prompts.changeStatus(draft.id, 'active')
    expect((await failureOf(runtime.executeProfile({ profile: 'desk_prompt', parameters: QUESTION }))).code).toBe(
      'OUTPUT_INVALID',
    )
    expect((await runtime.execute({ agent: 'pinned', input: QUESTION })).output).toEqual({ one: true })
  })

  it('G-54, P-22: a named credential is told where a profile is stored, in a call that names one, and by explain', async () => {
    const { runtime, logger } = await house([repeat(reply('x'))], {
      prompts: [profile({ model_config: { g_apex_web_credential: 'TENANT_A' } })],
      agents: [desk([], { model: undefined, system: undefined, user: undefined, profile: 'desk_prompt' })],
    })
    const told = (text: string) =>
      logger
        .matching(text)
        .flatMap(({ fields }) => fields.warnings as readonly string[])
        .map((line) => line.split(' ')[0])
    expect(told('prompt profile: something has no effect')).toEqual(['g_apex_web_credential'])
    const call = { profile: 'desk_prompt', parameters: QUESTION, runContext: { clerk: 'petra.k' } }
    await runtime.executeProfile(call)
    expect(told('configuration of a call')).toEqual([])
    await runtime.executeProfile({
      ...call,
      config: { scripted: { g_apex_web_credential: 'B' }, g_apex_web_credential: null },
    })
    expect(told('configuration of a call')).toEqual(['scripted.g_apex_web_credential'])
    expect((await runtime.explain('ap_desk')).warnings).toEqual([
      expect.stringContaining('prompt profile "desk_prompt": g_apex_web_credential has no effect'),
    ])
  })
})

describe('versions and status of agents', () => {
  // cites, T-51, A-W6
  it('T-51: the active version runs, a draft only by number, an archived one not at all; its rows stay', async () => {
    const { runtime, provider } = await house([repeat(reply('x'))], { prompts: [profile()] })
    const create = (version: number, status: 'draft' | 'active') =>
      runtime.agents.create({
        code: 'stored',
        description: 'Stored.',
        agentType: 'profile',
        promptProfileCode: 'desk_prompt',
        version,
        status,
      })
    await create(1, 'active')
    await create(2, 'draft')
    const go = (version?: number) =>
      runtime.execute({
        agent: 'stored',
        input: QUESTION,
        runContext: { clerk: 'k' },
        ...(version === undefined ? {} : { version }),
      })
    expect((await go()).agentVersion).toBe(1)
    expect((await go(2)).agentVersion).toBe(2)
    const active = await failureOf(runtime.agents.changeStatus({ code: 'stored', version: 2 }, 'active'))
    expect([active.code, active.reason, active.details.activeVersion]).toEqual([
      'INVALID_CONFIG',
      'agents.already_active',
      1,
    ])
    await runtime.agents.changeStatus({ code: 'stored', version: 1 }, 'archived')
    for (const version of [undefined, 1]) expect((await failureOf(go(version))).code).toBe('NOT_FOUND')
    await runtime.agents.changeStatus({ code: 'stored', version: 2 }, 'active')
    expect((await go()).agentVersion).toBe(2)
    expect((await runtime.agents.get({ code: 'stored', version: 1 })).status).toBe('archived')
    const rows = (await runtime.executions.list({ ...ALL, agentCode: 'stored' })).items
    expect([rows.length, provider.requests.length]).toEqual([3, 3])
    expect((await failureOf(runtime.agents.delete({ code: 'stored', version: 1 }))).code).toBe('HAS_HISTORY')
    expect((await failureOf(runtime.agents.changeStatus({ code: 'stored', version: 2 }, 'gone' as never))).code).toBe(
      'INVALID_STATUS',
    )
    expect((await failureOf(runtime.agents.changeStatus({ code: 'stored', version: 9 }, 'active'))).code).toBe(
      'NOT_FOUND',
    )
  })

  it('HAS_REFERENCES: an agent that others name is not deleted', async () => {
    const ask = defineTool({ code: 'ask', description: 'Asks.', input: z.object({}), agent: 'child' })
    const { runtime } = await house([], { agents: [desk([ask]), desk([], { code: 'child' })] })
    const refused = await failureOf(runtime.agents.delete({ code: 'child', version: 1 }))
    expect([refused.code, refused.details.references]).toEqual(['HAS_REFERENCES', 1])
  })

  it('A-35: a definition in code that changed is the next version; the one it replaces is archived and its runs stay', async () => {
    const clock = fakeClock()
    const store = createMemoryStore({ clock })
    const one = await house([reply('x')], { agents: [desk()], store, clock })
    const first = await one.runtime.execute(ASK)
    const two = await house([reply('y')], { agents: [desk([], { system: 'Another.' })], store, clock, seed: 2 })
    const second = await two.runtime.execute(ASK)
    expect([first.agentVersion, second.agentVersion]).toEqual([1, 2])
    expect((await two.runtime.agents.get({ code: 'ap_desk', version: 1 })).status).toBe('archived')
  })

  // cites: A-32
  it('A-32: an agent is run by its code or by its definition, which is registered where it is new', async () => {
    const { runtime } = await house([reply('a'), reply('b'), reply('c')], { agents: [desk()] })
    const fresh = desk([], { code: 'fresh' })
    expect((await runtime.execute({ agent: fresh, input: QUESTION })).agentCode).toBe('fresh')
    expect((await runtime.execute({ agent: 'fresh', input: QUESTION })).agentVersion).toBe(1)
    const other = await failureOf(runtime.execute({ agent: desk([], { system: 'Another.' }), input: QUESTION }))
    expect(other.code).toBe('DUPLICATE_NAME')
    expect((await runtime.execute(ASK)).status).toBe('completed')
  })

  // cites
  it('an agent type that no package has brought is refused at registration, at creation and at execution', async () => {
    const { runtime, store } = await house([], { prompts: [profile()] })
    const created = await failureOf(
      runtime.agents.create({ code: 'w', description: 'W.', agentType: 'workflow', workflowDefinition: {} }),
    )
    expect(created.code).toBe('UNKNOWN_AGENT_TYPE')
    await store.agents.insert({
      id: 'a-1',
      code: 'foreign',
      version: 1,
      status: 'active',
      definition: { code: 'foreign', description: 'x', agent_type: 'swarm' },
      digest: 'd',
      origin: 'store',
      createdBy: null,
      createdAt: 0,
      updatedBy: null,
      updatedAt: 0,
    })
    expect((await failureOf(runtime.execute({ agent: 'foreign' }))).code).toBe('UNKNOWN_AGENT_TYPE')
  })

  it('agent types of other packages run through the same gates, records and checks', async () => {
    const { runtime } = await house([], {
      agentTypes: [
        {
          type: 'echo',
          accepts: { output: false, followUp: false, files: false },
          validate: () => [],
          references: () => ({ agents: [], profiles: [] }),
          run: async ({ input, signal }) => {
            if (input.wait === true)
              await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
            return {
              text: JSON.stringify(input),
              output: input,
              messages: [],
              usage: {
                inputTokens: 0,
                cacheReadTokens: 0,
                cacheWriteTokens: 0,
                outputTokens: 0,
                reasoningTokens: 0,
                unreportedCalls: 0,
              },
              finishReason: 'stop',
              iterationCount: 3,
            }
          },
        },
      ],
    })
    const { sealAgent } = await import('@sluice/core')
    await runtime.agents.register([sealAgent({ agentType: 'echo', code: 'echo', description: 'Echoes.' })])
    const run = await runtime.execute({ agent: 'echo', input: { a: 1 }, sessionId: 's-1' })
    expect([run.output, (await runtime.executions.get(run.executionId, ALL)).iterationCount]).toEqual([{ a: 1 }, 3])
    const refused = await failureOf(
      runtime.execute({
        agent: 'echo',
        followUp: 'x',
        sessionId: 's-1',
        output: z.object({}),
        files: [{ type: 'file', mediaType: 'image/png', data: '' }],
      }),
    )
    expect([refused.code, refused.reason, refused.details.count]).toEqual(['INVALID_CONFIG', 'output.type', 3])
    const controller = new AbortController()
    const waiting = failureOf(runtime.execute({ agent: 'echo', input: { wait: true }, signal: controller.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect((await waiting).code).toBe('RUN_ABORTED')
  })
})

describe('the run context', () => {
  // cites, T-70
  it('R-5: the first turn binds it to the session; later turns inherit it, may add to it, and cannot change it', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const seen: unknown[] = []
    const { tool } = noteTool({
      handler: (_args: unknown, tool: { runContext: object }) => (seen.push({ ...tool.runContext }), 'ok'),
    })
    const { runtime } = await house(
      [repeat((request) => (request.messages.at(-1)?.role === 'tool' ? reply('x') : reply.toolCall('write_note')))],
      {
        agents: [desk([tool])],
        plugins: [recorder.plugin],
      },
    )
    const turn = (runContext: object) => runtime.execute({ ...ASK, sessionId: 's-1', runContext: runContext as never })
    await turn({ invoice: 'INV-7', nothing: null })
    await turn({})
    await turn({ invoice: 'INV-7', nothing: 5, more: true })
    await turn({ nothing: null, invoice: null })
    recorder.clear()
    const conflict = await failureOf(turn({ invoice: 'INV-8' }))
    expect([conflict.code, conflict.details]).toEqual([
      'RUN_CONTEXT_CONFLICT',
      { key: 'invoice', bound: 'INV-7', offered: 'INV-8' },
    ])
    expect([recorder.entries, (await runtime.executions.list(ALL)).items.length]).toEqual([[], 4])
    const all = { invoice: 'INV-7', nothing: 5, more: true }
    expect(seen).toEqual([{ invoice: 'INV-7' }, { invoice: 'INV-7' }, all, all])
    expect({ ...(await runtime.sessions.get('s-1', ALL)).runContext }).toEqual(all)
    expect((await runtime.executions.list(ALL)).items.map((row) => ({ ...row.runContext }))).toEqual([
      all,
      all,
      { invoice: 'INV-7' },
      { invoice: 'INV-7' },
    ])
  })

  // cites: R-10, R-W3, CASE-22
  it('R-10: values are text, finite numbers and booleans; keys never reach a prototype; all faults at once', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const given = JSON.parse('{"a":{},"b":[1],"c":null,"__proto__":"x","constructor":"y","ok":"z"}')
    const refused = await failureOf(
      runtime.execute({ ...ASK, runContext: { ...given, ['__proto__']: 'x', n: Number.NaN, 'ctl\u0000': 'x' } }),
    )
    expect([refused.code, refused.reason]).toEqual(['INVALID_CONFIG', 'run_context.invalid'])
    expect(refused.details.faults.map((fault: string) => fault.split(':')[0]).sort()).toEqual([
      '__proto__',
      'a',
      'b',
      'constructor',
      'ctl\\u0000',
      'n',
    ])
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it('R-W1: keys that an agent requires are checked before any gate is asked; a tool may ask for its own', async () => {
    const recorder = recordingPlugin({ points: ['beforeExecution'] })
    const { runtime } = await house([reply('x')], {
      agents: [desk([], { requiredContext: ['clerk', 'invoice'] })],
      plugins: [recorder.plugin],
    })
    const missing = await failureOf(runtime.execute({ ...ASK, runContext: { clerk: 'k' } }))
    expect([missing.code, missing.details, recorder.entries]).toEqual([
      'RUN_CONTEXT_MISSING',
      { agentCode: 'ap_desk', missing: ['invoice'] },
      [],
    ])
    await runtime.execute({ ...ASK, runContext: { clerk: 'k', invoice: 'i' } })
  })

  it('R-14: runContextValue reads a key as text, of a missing context too', () => {
    expect([
      runContextValue({ a: 7, b: false }, 'a'),
      runContextValue({ b: false }, 'b'),
      runContextValue({}, 'toString'),
      runContextValue(null, 'a'),
    ]).toEqual(['7', 'false', null, null])
  })
})

describe('explain', () => {
  // cites: B-26, H-36, R-18, A-W9, CASE-03, H-W7
  it('B-26: shows tools also through delegates, which write, which ignore the context, gates in order, limits and how to switch it off', async () => {
    const { tool: read } = noteTool({ code: 'read', effect: 'read', requiresContext: ['invoice'], untrusted: true })
    const { tool: write } = noteTool({ code: 'write', cost: { usd: '0.01' } })
    const ask = defineTool({ code: 'ask', description: 'Asks.', input: z.object({}), effect: 'read', agent: 'child' })
    const gone = defineTool({ code: 'gone', description: 'Asks nobody.', input: z.object({}), agent: 'ap_desk' })
    const web = hostedTool({ code: 'web', provider: 'scripted', configuration: { type: 'web' } })
    const gate = (name: string, stage: number) =>
      definePlugin({
        name,
        version: '1.2.3',
        hookApi: 1,
        apply(hooks) {
          hooks.beforeToolCall.tap({ name: `${name} tap`, stage, timeoutMs: 77 }, () => {})
        },
      })()
    const { runtime } = await house([reply('x')], {
      agents: [
        desk([read, ask], { hostedTools: [web], requiredContext: ['clerk'], maxToolCalls: 3 }),
        desk([write, gone], { code: 'child', requiredContext: ['vendor'] }),
      ],
      plugins: [gate('late', Stage.record), gate('early', Stage.identity)],
      limits: { modelCalls: 9 },
    })
    const before = await runtime.explain('ap_desk')
    expect(before.lastReceipts).toEqual([])
    await runtime.execute({ ...ASK, runContext: { clerk: 'k' } })
    const told = await runtime.explain('ap_desk')
    expect(
      told.tools.map((tool) => [
        tool.code,
        tool.effect,
        tool.through,
        tool.ignoresRunContext,
        tool.hosted,
        tool.agent,
        tool.cost,
      ]),
    ).toEqual([
      ['read', 'read', [], false, false, null, null],
      ['ask', 'read', [], false, false, 'child', null],
      ['write', 'write', ['ap_desk'], true, false, null, '0.01'],
      ['gone', 'send', ['ap_desk'], false, false, 'ap_desk', null],
      ['web', 'send', [], true, true, null, null],
    ])
    expect([told.writes, told.limits.modelCalls, told.settings.maxToolCalls]).toEqual([['write', 'gone', 'web'], 9, 3])
    expect([...told.requiredContext].sort()).toEqual(['clerk', 'invoice', 'vendor'])
    expect(told.hooks.taps.map((tap) => [tap.plugin, tap.tap, tap.stage, tap.timeoutMs, tap.kind])).toEqual([
      ['early', 'early tap', -200, 77, 'gate'],
      ['late', 'late tap', 200, 77, 'gate'],
    ])
    expect([told.hooks.origin, told.hooks.plugins.map((plugin) => [plugin.plugin, plugin.version])]).toEqual([
      'explicit',
      [
        ['late', '1.2.3'],
        ['early', '1.2.3'],
      ],
    ])
    expect(told.lastReceipts.map((receipt) => receipt.effect)).toEqual(['model_call', 'execution'])
    expect(told.switchOff).toContain("changeStatus({ code: 'ap_desk', version: 1 }, 'archived')")
    expect((await failureOf(runtime.explain('ap_dsk'))).message).toContain('ap_desk')
  })

  it('a set of plugins that is broken is told, in explain and in health', async () => {
    const { runtime } = await house([], { agents: [desk()] })
    const broken = definePlugin({
      name: 'broken',
      hookApi: 1,
      apply() {
        throw new Error('no database')
      },
    })
    await failureOf(runtime.setHooks([broken()]))
    expect(runtime.health().hooks).toMatchObject({
      status: 'broken',
      origin: null,
      plugins: [],
      fault: expect.stringContaining('no database'),
    })
    expect((await failureOf(runtime.explain('ap_desk'))).message).toContain('no database')
    expect((await failureOf(runtime.execute(ASK))).code).toBe('HOOKS_BROKEN')
    await runtime.setHooks(null)
    expect((await runtime.explain('ap_desk')).hooks.origin).toBe('explicit')
  })

  it('of one user’s caller nothing is told that is not in the definitions', async () => {
    const { runtime } = await house([reply('secret answer')], { agents: [desk()] })
    await runtime.execute({ ...ASK, caller: PETRA })
    expect(JSON.stringify(await runtime.explain('ap_desk'))).not.toContain('secret answer')
  })
})
