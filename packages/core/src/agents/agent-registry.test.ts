import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { normalizeCaller } from '../context/caller.js'
import { SluiceError } from '../errors/sluice-error.js'
import { createIds } from '../internal/ids.js'
import { executionOf } from '../sessions/testing/records.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import type { DefinitionRecord } from '../store/records.js'
import type { Store } from '../store/store.js'
import { defineTool } from '../tools/define-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import { sealAgent } from './agent-definition.js'
import type { AgentFields, NewAgent } from './agent-fields.js'
import { toAgentFields } from './agent-fields.js'
import type { AgentRegistry } from './agent-registry.js'
import { createAgentRegistry } from './agent-registry.js'
import type { AgentTypeRules } from './agent-type.js'
import { defineAgent } from './define-agent.js'
import { profileAgentRules } from './profile-agent-rules.js'

/** A made-up type of another package: its steps name agents. */
const workflowRules: AgentTypeRules = {
  type: 'workflow',
  accepts: { output: false, followUp: false, files: false },
  validate: (definition) =>
    Array.isArray(definition.workflowDefinition?.steps) ? [] : ['workflowDefinition: has no steps'],
  references: (definition) => ({ agents: (definition.workflowDefinition?.steps ?? []) as string[], profiles: [] }),
}

const tool = (code: string, more: { agent?: string; description?: string } = {}): ToolDefinition => {
  const base = { code, description: more.description ?? 'Does it.', input: z.object({}) }
  return more.agent === undefined
    ? defineTool({ ...base, handler: () => 'ok' })
    : defineTool({ ...base, agent: more.agent })
}
const ask = { model: 'openai/gpt-5', user: '{question}' }
const desk = (change: object = {}) =>
  defineAgent({ code: 'ap_desk', description: 'Answers.', ...ask, ...change } as never)
const helper = (change: object = {}) =>
  defineAgent({ code: 'helper', description: 'Helps.', ...ask, ...change } as never)
const fields = {
  code: 'stored',
  description: 'From the store.',
  agentType: 'profile',
  promptProfileCode: 'desk_prompt',
} satisfies AgentFields

let store: Store
let agents: AgentRegistry
let now: number

function registryOver(over: Store, tools: readonly ToolDefinition[] = []): AgentRegistry {
  return createAgentRegistry({
    store: over,
    types: new Map([profileAgentRules, workflowRules].map((rules) => [rules.type, rules])),
    tools: new Map(tools.map((one) => [one.code, one])),
    clock: { now: () => now },
    ids: createIds(() => 0),
    createdBy: 'svc',
  })
}

async function prompt(code: string, status: DefinitionRecord['status'] = 'active', version = 1): Promise<void> {
  await store.prompts.insert({
    id: `${code}-${version}`,
    code,
    version,
    status,
    definition: {},
    digest: '',
    origin: 'store',
    createdBy: null,
    createdAt: 0,
    updatedBy: null,
    updatedAt: 0,
  })
}

async function fault(run: unknown): Promise<SluiceError> {
  const error = await Promise.resolve(run).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw error ?? new Error('nothing was thrown')
  return error
}

const versionsOf = async (code: string) =>
  (await store.agents.versions(code)).map((one) => `${one.version} ${one.status}`)

beforeEach(async () => {
  store = createMemoryStore()
  now = 1000
  agents = registryOver(store)
  await prompt('desk_prompt')
})

describe('register', () => {
  it('A-4, design 4.9: a definition becomes version 1, active', async () => {
    await agents.register([desk()])
    expect(await agents.get({ code: 'ap_desk' })).toMatchObject({
      code: 'ap_desk',
      version: 1,
      status: 'active',
      origin: 'code',
      agentType: 'profile',
      description: 'Answers.',
      createdBy: 'svc',
      createdAt: 1000,
    })
  })

  it('the same definition again changes nothing, in this runtime and in another', async () => {
    await agents.register([desk(), helper()])
    const before = await store.agents.list()
    now = 2000
    await agents.register([desk(), helper()])
    await registryOver(store).register([helper(), desk()])
    expect(await store.agents.list()).toEqual(before)
  })

  it('design 4.9: a changed definition becomes the next version, active, and the one it replaces is archived', async () => {
    await agents.register([desk(), helper()])
    now = 2000
    await registryOver(store).register([desk({ user: 'Q: {question}' }), helper()])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 active'])
    expect(await versionsOf('helper')).toEqual(['1 active'])
    expect((await store.agents.versions('ap_desk')).map((one) => one.updatedAt)).toEqual([2000, 2000])
  })

  it('a changed tool makes another version', async () => {
    await agents.register([desk({ tools: [tool('pay')] })])
    await agents.register([desk({ tools: [tool('pay', { description: 'Pays at once.' })] })])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 active'])
  })

  it('going back to earlier code makes the next version, never an old one active', async () => {
    for (const user of ['a {x}', 'b {x}', 'a {x}']) await registryOver(store).register([desk({ user })])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 archived', '3 active'])
  })

  it('what an operator archived or replaced by hand stays so until the code changes', async () => {
    await agents.register([desk()])
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'archived')
    await registryOver(store).register([desk()])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived'])
    const copy = await agents.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })
    await agents.changeStatus({ id: copy.id }, 'active')
    await registryOver(store).register([desk()])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 active'])
    await registryOver(store).register([desk({ user: 'new {x}' })])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 archived', '3 active'])
  })

  it('drafts stay drafts when the code changes', async () => {
    await agents.register([desk()])
    await agents.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })
    await agents.register([desk({ user: 'new {x}' })])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 draft', '3 active'])
  })

  it('two agents of one code in one list are refused by name, and nothing is written', async () => {
    const error = await fault(agents.register([desk(), helper(), desk({ user: 'other' })]))
    expect(error.code).toBe('DUPLICATE_NAME')
    expect(error.message).toContain('ap_desk')
    expect((await store.agents.list()).items).toEqual([])
  })

  it('tells all faults of the list at once, and writes nothing', async () => {
    const broken = sealAgent({ agentType: 'workflow', code: 'flow', description: 'F.', workflowDefinition: {} })
    const strange = sealAgent({ agentType: 'swarm', code: 'swarm', description: 'S.' })
    const error = await fault(
      agents.register([desk(), desk(), broken, strange, { code: 'plain' } as never, helper({ tools: ['pay'] })]),
    )
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.details?.count).toBe(5)
    for (const text of [
      'ap_desk: is the code of two agents',
      'flow: workflowDefinition',
      "swarm: has the type 'swarm'",
      'agents[4]: ',
      "helper: offers the tool 'pay'",
    ])
      expect(error.message).toContain(text)
    expect((await store.agents.list()).items).toEqual([])
  })

  it('A-9, A-41: a type that no package has brought is UNKNOWN_AGENT_TYPE', async () => {
    expect((await fault(agents.register([sealAgent({ agentType: 'swarm', code: 's', description: 'S.' })]))).code).toBe(
      'UNKNOWN_AGENT_TYPE',
    )
  })

  it('G-30: a tool that this runtime does not have is named, with near ones', async () => {
    const error = await fault(registryOver(store, [tool('pay_invoice')]).register([desk({ tools: ['pay_invoise'] })]))
    expect(error.code).toBe('TOOL_NOT_FOUND')
    expect(error.message).toContain("near ones are 'pay_invoice'")
  })

  it('A-11: agents behind tools must exist and be active, or be registered in the same list', async () => {
    const error = await fault(agents.register([desk({ tools: [tool('ask_helper', { agent: 'helper' })] })]))
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.reason).toBe('references.missing')
    expect(error.message).toContain("the agent 'helper'")
    await agents.register([desk({ tools: [tool('ask_helper', { agent: 'helper' })] }), helper()])
    expect(await versionsOf('ap_desk')).toEqual(['1 active'])
  })

  it('A-11, A-W2: a prompt profile must exist and be active; an agent of that code is none', async () => {
    await prompt('draft_prompt', 'draft')
    for (const profile of ['nobody', 'draft_prompt', 'helper', { code: 'desk_prompt', version: 2 }]) {
      const error = await fault(agents.register([helper(), defineAgent({ code: 'a', description: 'A.', profile })]))
      expect(error.reason).toBe('references.missing')
      expect(error.message).toContain('the prompt profile')
    }
    await agents.register([
      helper(),
      defineAgent({ code: 'a', description: 'A.', profile: { code: 'desk_prompt', version: 1 } }),
    ])
  })

  it('a list in which one write fails leaves nothing behind', async () => {
    await agents.register([desk()])
    let writes = 0
    const failing: Store = {
      ...store,
      transaction: (fn) =>
        store.transaction((transaction) =>
          fn({
            ...transaction,
            agents: {
              ...transaction.agents,
              insert: (record) =>
                ++writes === 2 ? Promise.reject(new Error('disk')) : transaction.agents.insert(record),
            },
          }),
        ),
    }
    await expect(registryOver(failing).register([desk({ user: 'new {x}' }), helper()])).rejects.toThrow('disk')
    expect(writes).toBe(2)
    expect(await versionsOf('ap_desk')).toEqual(['1 active'])
    expect(await versionsOf('helper')).toEqual([])
  })

  it('CASE-19: two runtimes that register the same change at once make one version of it', async () => {
    await agents.register([desk()])
    const changed = () => desk({ user: 'new {x}' })
    await Promise.all([
      registryOver(store).register([changed()]),
      registryOver(store).register([changed()]),
      registryOver(store).register([changed()]),
    ])
    expect(await versionsOf('ap_desk')).toEqual(['1 archived', '2 active'])
  })

  it('a version number taken meanwhile by another process is drawn again', async () => {
    let conflicts = 0
    const contested: Store = {
      ...store,
      async transaction(fn) {
        if (++conflicts === 1) throw new SluiceError('DUPLICATE_NAME', 'taken')
        return store.transaction(fn)
      },
    }
    await registryOver(contested).register([desk()])
    expect(conflicts).toBe(2)
    expect(await versionsOf('ap_desk')).toEqual(['1 active'])
  })
})

describe('create', () => {
  it('A-4, A-9: returns the id of a draft, version 1', async () => {
    const id = await agents.create({
      ...fields,
      timeoutSeconds: 30,
      inputSchema: z.object({ q: z.string() }),
      requiredContext: ['clerk'],
    })
    expect(await agents.get({ id })).toMatchObject({
      ...fields,
      id,
      version: 1,
      status: 'draft',
      origin: 'store',
      timeoutSeconds: 30,
      requiredContext: ['clerk'],
      promptProfileVersion: null,
      maxIterations: null,
      inputSchema: { type: 'object' },
      createdBy: 'svc',
      createdAt: 1000,
      updatedAt: 1000,
    })
  })

  it("A-1: takes definitions in the original's JSON form", async () => {
    const id = await agents.create(
      toAgentFields({
        code: 'old',
        description: 'Carried over.',
        agent_type: 'profile',
        prompt_profile_code: 'desk_prompt',
        max_history_messages: 5,
        prompt_profile_version: null,
      }),
    )
    expect(await agents.get({ id })).toMatchObject({
      code: 'old',
      promptProfileCode: 'desk_prompt',
      maxHistoryMessages: 5,
    })
    expect((await fault(Promise.resolve().then(() => toAgentFields({ codes: 'x' })))).code).toBe('INVALID_CONFIG')
  })

  it('A-4: code and version are unique together', async () => {
    await agents.create(fields)
    expect((await fault(agents.create(fields))).code).toBe('DUPLICATE_NAME')
    await agents.create({ ...fields, version: 2 })
    expect(await versionsOf('stored')).toEqual(['1 draft', '2 draft'])
  })

  it.each<[string, Partial<NewAgent>, string]>([
    ['A-9: without what its type needs', { promptProfileCode: null }, 'MISSING_CONFIG'],
    ['A-9: of an unknown type', { agentType: 'swarm' }, 'UNKNOWN_AGENT_TYPE'],
    [
      'A-10: that its type refuses',
      { agentType: 'workflow', promptProfileCode: null, workflowDefinition: {} },
      'INVALID_CONFIG',
    ],
    ['A-11: naming a profile that does not exist', { promptProfileCode: 'nobody' }, 'INVALID_CONFIG'],
    [
      'A-11: naming an agent that does not exist',
      { agentType: 'workflow', promptProfileCode: null, workflowDefinition: { steps: ['nobody'] } },
      'INVALID_CONFIG',
    ],
    ['A-4, P-2: with another status', { status: 'live' as never }, 'INVALID_STATUS'],
    ['A-4: with no version number', { version: 0 }, 'INVALID_CONFIG'],
    ['without a description', { description: '' }, 'INVALID_CONFIG'],
    ['with a field that does not exist', { timeout: 3 } as never, 'INVALID_CONFIG'],
    ['with an unfit schema', { inputSchema: 'text' as never }, 'INVALID_CONFIG'],
  ])('%s nothing is created', async (_what, change, code) => {
    expect((await fault(agents.create({ ...fields, ...change }))).code).toBe(code)
    expect((await store.agents.list()).items).toEqual([])
  })
})

describe('update', () => {
  it('A-14: changes the fields given, keeps the others, and null clears', async () => {
    const id = await agents.create({ ...fields, timeoutSeconds: 30, maxHistoryMessages: 9 })
    now = 2000
    await agents.update(id, { description: 'Changed.', timeoutSeconds: null, maxHistoryMessages: undefined })
    expect(await agents.get({ id })).toMatchObject({
      description: 'Changed.',
      timeoutSeconds: null,
      maxHistoryMessages: 9,
      promptProfileCode: 'desk_prompt',
      createdAt: 1000,
      updatedAt: 2000,
    })
  })

  it('A-14: an unknown agent is NOT_FOUND', async () => {
    expect((await fault(agents.update('nobody', {}))).code).toBe('NOT_FOUND')
  })

  it.each([['code'], ['version'], ['agentType'], ['status']])('A-15: %s cannot be changed', async (field) => {
    const id = await agents.create(fields)
    const error = await fault(agents.update(id, { [field]: 'x' } as never))
    expect(error.code).toBe('INVALID_CONFIG')
    expect(error.message).toContain(`- ${field}: cannot be changed`)
  })

  it('A-10, A-W3: what it becomes is checked as at creation', async () => {
    const id = await agents.create(fields)
    expect((await fault(agents.update(id, { promptProfileCode: null }))).code).toBe('MISSING_CONFIG')
    expect((await fault(agents.update(id, { promptProfileCode: 'nobody' }))).reason).toBe('references.missing')
    expect((await fault(agents.update(id, { description: null as never }))).code).toBe('INVALID_CONFIG')
    expect((await agents.get({ id })).promptProfileCode).toBe('desk_prompt')
  })

  it('CASE-19: 20 changes at once are each applied to the latest value', async () => {
    const id = await agents.create({ ...fields, timeoutSeconds: 1 })
    await Promise.all(
      [...Array(19).keys()]
        .map((at) => agents.update(id, at % 2 === 0 ? { maxHistoryMessages: at + 1 } : { timeoutSeconds: at + 1 }))
        .concat(agents.update(id, { description: 'Changed.' })),
    )
    const after = await agents.get({ id })
    expect(after.description).toBe('Changed.')
    expect(after.maxHistoryMessages).toBeGreaterThan(0)
    expect(after.timeoutSeconds).toBeGreaterThan(1)
  })

  it('a definition that stands in code is changed there', async () => {
    await agents.register([desk()])
    const { id } = await agents.get({ code: 'ap_desk' })
    const error = await fault(agents.update(id, { description: 'x' }))
    expect(error.reason).toBe('agents.in_code')
  })
})

describe('createNewVersion', () => {
  it('A-16: copies everything into a draft with the highest number plus one', async () => {
    await agents.create({ ...fields, timeoutSeconds: 30, status: 'active' })
    await agents.create({ ...fields, version: 7 })
    const copy = await agents.createNewVersion({ code: 'stored', sourceVersion: 1 })
    expect(copy.version).toBe(8)
    expect(await agents.get({ id: copy.id })).toMatchObject({
      ...fields,
      version: 8,
      status: 'draft',
      timeoutSeconds: 30,
    })
  })

  it('A-16: takes the number it is given, unless that is taken', async () => {
    await agents.create(fields)
    expect((await agents.createNewVersion({ code: 'stored', sourceVersion: 1, newVersion: 5 })).version).toBe(5)
    expect((await fault(agents.createNewVersion({ code: 'stored', sourceVersion: 1, newVersion: 5 }))).code).toBe(
      'DUPLICATE_NAME',
    )
    expect((await fault(agents.createNewVersion({ code: 'stored', sourceVersion: 1, newVersion: 0 }))).code).toBe(
      'INVALID_CONFIG',
    )
  })

  it('A-16: an unknown source is NOT_FOUND', async () => {
    await agents.create(fields)
    expect((await fault(agents.createNewVersion({ code: 'stored', sourceVersion: 2 }))).code).toBe('NOT_FOUND')
    expect((await fault(agents.createNewVersion({ code: 'nobody', sourceVersion: 1 }))).code).toBe('NOT_FOUND')
  })

  it('a copy of a definition in code can be changed, and runs with the tools of the code', async () => {
    const pay = tool('pay')
    await agents.register([desk({ tools: [pay] })])
    const copy = await agents.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })
    await agents.update(copy.id, { timeoutSeconds: 5 })
    const resolved = await agents.resolve('ap_desk', 2)
    expect(resolved.definition).toMatchObject({ model: 'openai/gpt-5', timeoutSeconds: 5 })
    expect(resolved.tools).toEqual([pay])
  })
})

describe('changeStatus', () => {
  it('A-19: sets the status by id, or by code and version', async () => {
    const id = await agents.create(fields)
    await agents.changeStatus({ id }, 'active')
    expect(await versionsOf('stored')).toEqual(['1 active'])
    await agents.changeStatus({ code: 'stored', version: 1 }, 'archived')
    expect(await versionsOf('stored')).toEqual(['1 archived'])
    await agents.changeStatus({ code: 'stored' }, 'draft')
    expect(await versionsOf('stored')).toEqual(['1 draft'])
  })

  it('A-19: another status is INVALID_STATUS, a missing version NOT_FOUND', async () => {
    const id = await agents.create(fields)
    expect((await fault(agents.changeStatus({ id }, 'ACTIVE' as never))).code).toBe('INVALID_STATUS')
    expect((await fault(agents.changeStatus({ id: 'nobody' }, 'active'))).code).toBe('NOT_FOUND')
    expect((await fault(agents.changeStatus({ code: 'stored', version: 2 }, 'active'))).code).toBe('NOT_FOUND')
  })

  it('A-5: activating a second version is refused and names the active one', async () => {
    await agents.create({ ...fields, status: 'active' })
    const { id } = await agents.createNewVersion({ code: 'stored', sourceVersion: 1 })
    for (const call of [
      agents.changeStatus({ id }, 'active'),
      agents.create({ ...fields, version: 3, status: 'active' }),
    ]) {
      const error = await fault(call)
      expect(error.code).toBe('INVALID_CONFIG')
      expect(error.reason).toBe('agents.already_active')
      expect(error.details).toEqual({ code: 'stored', activeVersion: 1 })
    }
    await agents.changeStatus({ code: 'stored', version: 1 }, 'active')
    expect(await versionsOf('stored')).toEqual(['1 active', '2 draft'])
  })

  it('A-5, CASE-19: of two activations at once, one is refused', async () => {
    await agents.create(fields)
    await agents.create({ ...fields, version: 2 })
    const outcomes = await Promise.allSettled(
      [1, 2].map((version) => agents.changeStatus({ code: 'stored', version }, 'active')),
    )
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('a change of one of several versions must say which', async () => {
    await agents.create(fields)
    await agents.create({ ...fields, version: 2 })
    expect((await fault(agents.changeStatus({ code: 'stored' }, 'archived'))).code).toBe('INVALID_CONFIG')
    expect((await fault(agents.delete({ code: 'stored' }))).code).toBe('INVALID_CONFIG')
  })
})

describe('get and list', () => {
  it('A-17: by id, by code and version, or the active one', async () => {
    const first = await agents.create(fields)
    const second = await agents.create({ ...fields, version: 2, status: 'active' })
    expect((await agents.get({ code: 'stored' })).id).toBe(second)
    expect((await agents.get({ code: 'stored', version: 1 })).id).toBe(first)
    expect((await agents.get({ id: first })).version).toBe(1)
  })

  it('A-7: an archived agent is still read by id or version', async () => {
    const id = await agents.create({ ...fields, status: 'archived' })
    expect((await agents.get({ id })).status).toBe('archived')
    expect((await agents.get({ code: 'stored', version: 1 })).status).toBe('archived')
    expect((await fault(agents.get({ code: 'stored' }))).message).toContain('no active version; there are 1 (archived)')
  })

  it('A-W9: shows the keys of the run context that a run needs', async () => {
    await agents.register([desk({ requiredContext: ['clerk', 'invoice'] })])
    expect((await agents.get({ code: 'ap_desk' })).requiredContext).toEqual(['clerk', 'invoice'])
  })

  it('S-30: lists versions by code and number, paged and by status', async () => {
    await agents.register([desk(), helper()])
    await agents.register([desk({ user: 'new {x}' })])
    const page = await agents.list({ limit: 2 })
    expect(page.items.map((one) => `${one.code} ${one.version}`)).toEqual(['ap_desk 1', 'ap_desk 2'])
    expect((await agents.list({ after: page.next as string })).items.map((one) => one.code)).toEqual(['helper'])
    expect((await agents.list({ status: 'archived' })).items.map((one) => one.version)).toEqual([1])
  })
})

describe('delete', () => {
  it('A-20: removes exactly one version', async () => {
    await agents.create(fields)
    await agents.create({ ...fields, version: 2 })
    await agents.delete({ code: 'stored', version: 1 })
    expect(await versionsOf('stored')).toEqual(['2 draft'])
    await agents.delete({ code: 'stored' })
    expect(await versionsOf('stored')).toEqual([])
    expect((await fault(agents.delete({ code: 'stored', version: 2 }))).code).toBe('NOT_FOUND')
  })

  it('A-21: an agent that has runs is kept, and the error names archive and purge', async () => {
    const id = await agents.create(fields)
    await store.executions.insert(executionOf({ id: 'x1', agentId: id, status: 'failed' }, normalizeCaller(undefined)))
    const error = await fault(agents.delete({ id }))
    expect(error.code).toBe('HAS_HISTORY')
    expect(error.message).toMatch(/Archive/)
    expect(error.message).toMatch(/purge/)
    expect(await versionsOf('stored')).toEqual(['1 draft'])
  })

  it('A-22: an agent that others name is kept, with the number of references, and that is said first', async () => {
    await agents.register([helper(), desk({ tools: [tool('ask', { agent: 'helper' })] })])
    await agents.create({
      code: 'flow',
      description: 'F.',
      agentType: 'workflow',
      workflowDefinition: { steps: ['helper'] },
    })
    const { id } = await agents.get({ code: 'helper' })
    await store.executions.insert(executionOf({ id: 'x1', agentId: id }))
    const error = await fault(agents.delete({ id }))
    expect(error.code).toBe('HAS_REFERENCES')
    expect(error.details).toEqual({ code: 'helper', references: 2 })
    expect(error.message).toContain("'ap_desk'")
  })

  it('A-22: what an archived version names counts no more', async () => {
    await agents.create({ ...fields, status: 'active' })
    await agents.create({
      code: 'flow',
      description: 'F.',
      agentType: 'workflow',
      workflowDefinition: { steps: ['stored'] },
      status: 'archived',
    })
    await agents.delete({ code: 'stored' })
  })

  it('A-23: a version that is not active goes while another one remains', async () => {
    await agents.create({ ...fields, status: 'active' })
    await agents.create({ ...fields, version: 2 })
    await agents.create({
      code: 'flow',
      description: 'F.',
      agentType: 'workflow',
      workflowDefinition: { steps: ['stored'] },
    })
    await agents.delete({ code: 'stored', version: 2 })
    expect((await fault(agents.delete({ code: 'stored', version: 1 }))).code).toBe('HAS_REFERENCES')
  })
})
