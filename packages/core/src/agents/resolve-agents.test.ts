import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SluiceError } from '../errors/sluice-error.js'
import { createIds } from '../internal/ids.js'
import { isThenable } from '../internal/json.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import type { Store } from '../store/store.js'
import { defineTool } from '../tools/define-tool.js'
import type { ToolDefinition } from '../tools/tool-definition.js'
import type { AgentRegistry } from './agent-registry.js'
import { createAgentRegistry } from './agent-registry.js'
import { defineAgent } from './define-agent.js'
import { profileAgentRules } from './profile-agent-rules.js'

const pay = defineTool({ code: 'pay', description: 'Pays.', input: z.object({}), handler: () => 'ok' })
const desk = (user = '{question}') =>
  defineAgent({ code: 'ap_desk', description: 'Answers.', model: 'openai/gpt-5', user, tools: ['pay'] })

let store: Store
let agents: AgentRegistry
/** Reads of definitions that reached the store. */
let reads: number

function registryOver(tools: readonly ToolDefinition[] = [pay]): AgentRegistry {
  const counted: Store['agents'] = {
    ...store.agents,
    get: (id) => (reads++, store.agents.get(id)),
    versions: (code) => (reads++, store.agents.versions(code)),
  }
  return createAgentRegistry({
    store: { ...store, agents: counted },
    types: new Map([[profileAgentRules.type, profileAgentRules]]),
    tools: new Map(tools.map((one) => [one.code, one])),
    clock: { now: () => 0 },
    ids: createIds(() => 0),
    createdBy: null,
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

beforeEach(() => {
  store = createMemoryStore()
  reads = 0
  agents = registryOver()
})

describe('resolve', () => {
  it('answers for active definitions in code at once, by code, by version and by definition, without the store', async () => {
    const definition = desk()
    await agents.register([definition])
    reads = 0
    for (const resolved of [
      agents.resolve('ap_desk'),
      agents.resolve('ap_desk', 1),
      agents.resolve(definition),
      agents.resolve(definition, 1),
    ]) {
      expect(isThenable(resolved)).toBe(false)
      expect(resolved).toMatchObject({ code: 'ap_desk', version: 1 })
      expect((await resolved).definition).toBe(definition)
      expect((await resolved).tools).toEqual([pay])
    }
    expect(reads).toBe(0)
  })

  it('A-6: without a version the active one, with a version that one, drafts included', async () => {
    await agents.register([desk()])
    await agents.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })
    expect((await agents.resolve('ap_desk')).version).toBe(1)
    expect((await agents.resolve('ap_desk', 2)).version).toBe(2)
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'draft')
    expect((await fault(agents.resolve('ap_desk'))).code).toBe('NOT_FOUND')
  })

  it('A-6: by the id of a version', async () => {
    await agents.register([desk()])
    const { id } = await agents.get({ code: 'ap_desk' })
    expect((await agents.resolve({ id })).version).toBe(1)
    expect((await fault(agents.resolve({ id: 'nobody' }))).code).toBe('NOT_FOUND')
  })

  it('A-7, A-W6: an archived agent does not run any more, by code, version, id or definition', async () => {
    const definition = desk()
    await agents.register([definition])
    const { id } = await agents.resolve(definition)
    await agents.changeStatus({ id }, 'archived')
    for (const call of [
      agents.resolve('ap_desk'),
      agents.resolve('ap_desk', 1),
      agents.resolve({ id }),
      agents.resolve(definition),
    ]) {
      expect((await fault(call)).code).toBe('NOT_FOUND')
    }
  })

  it('what this registry changes counts at once: a version that an operator activates takes over', async () => {
    await agents.register([desk()])
    const copy = await agents.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })
    await agents.update(copy.id, { timeoutSeconds: 5 })
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'archived')
    await agents.changeStatus({ id: copy.id }, 'active')
    expect(await agents.resolve('ap_desk')).toMatchObject({ version: 2, definition: { timeoutSeconds: 5 } })
    await agents.changeStatus({ id: copy.id }, 'archived')
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'active')
    expect(await agents.resolve('ap_desk')).toMatchObject({ version: 1 })
    expect(isThenable(agents.resolve('ap_desk'))).toBe(false)
  })

  it('A-7: what an operator archived or replaced stays so after a restart with the same code', async () => {
    await agents.register([desk()])
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'archived')
    const second = registryOver()
    await second.register([desk()])
    expect((await fault(second.resolve('ap_desk'))).code).toBe('NOT_FOUND')
    await second.changeStatus(
      { id: (await second.createNewVersion({ code: 'ap_desk', sourceVersion: 1 })).id },
      'active',
    )
    const third = registryOver()
    await third.register([desk()])
    expect((await third.resolve('ap_desk')).version).toBe(2)
  })

  it('A-6: a draft that was run by its version or definition does not become the active one', async () => {
    const definition = desk()
    await agents.register([definition])
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'draft')
    expect((await agents.resolve('ap_desk', 1)).version).toBe(1)
    expect((await agents.resolve(definition)).version).toBe(1)
    expect((await fault(agents.resolve('ap_desk'))).code).toBe('NOT_FOUND')
  })

  it('agents of the store are read each time, so that a change of another process counts', async () => {
    await store.prompts.insert({
      id: 'p',
      code: 'p',
      version: 1,
      status: 'active',
      definition: {},
      digest: '',
      origin: 'store',
      createdBy: null,
      createdAt: 0,
      updatedBy: null,
      updatedAt: 0,
    })
    await agents.create({
      code: 'stored',
      description: 'S.',
      agentType: 'profile',
      promptProfileCode: 'p',
      status: 'active',
    })
    expect((await agents.resolve('stored')).version).toBe(1)
    await registryOver().changeStatus({ code: 'stored' }, 'archived')
    expect((await fault(agents.resolve('stored'))).code).toBe('NOT_FOUND')
  })

  it('an unknown code is NOT_FOUND with near ones, an unknown version with those that there are', async () => {
    await agents.register([desk()])
    expect((await fault(agents.resolve('ap_deks'))).message).toContain("Near ones are 'ap_desk'")
    expect((await fault(agents.resolve('AP_DESK'))).message).toContain("Near ones are 'ap_desk'")
    expect((await fault(agents.resolve('ap_desk', 7))).message).toContain('no version 7; there are 1 (active)')
    expect((await fault(agents.resolve('x\n\u001b[31m'))).message).not.toContain('\u001b')
  })

  it('CASE-22: names of Object are no agents', async () => {
    for (const code of ['__proto__', 'constructor', 'toString'])
      expect((await fault(agents.resolve(code))).code).toBe('NOT_FOUND')
  })

  it('a definition that is not registered yet is registered, once', async () => {
    const definition = desk()
    const [first, second] = await Promise.all([agents.resolve(definition), agents.resolve(definition)])
    expect(first).toMatchObject({ code: 'ap_desk', version: 1 })
    expect(second.id).toBe(first.id)
    expect(isThenable(agents.resolve(definition))).toBe(false)
    expect(await store.agents.versions('ap_desk')).toHaveLength(1)
  })

  it('CASE-27: an equal definition made anew runs as the same version, with its own handlers', async () => {
    await agents.register([desk()])
    const again = desk()
    const resolved = await agents.resolve(again)
    expect(resolved).toMatchObject({ version: 1 })
    expect(resolved.definition).toBe(again)
    expect((await agents.resolve('ap_desk')).definition).not.toBe(again)
  })

  it('CASE-27: another definition under a registered code is refused by name, and replaces nothing', async () => {
    await agents.register([desk()])
    const error = await fault(agents.resolve(desk('Q: {question}')))
    expect(error.code).toBe('DUPLICATE_NAME')
    expect((await store.agents.versions('ap_desk')).map((one) => one.version)).toEqual([1])
  })

  it('an old version of the code runs as it was stored, with the tools that there are', async () => {
    await agents.register([desk('old {x}')])
    await agents.register([desk('new {x}')])
    await agents.changeStatus({ code: 'ap_desk', version: 1 }, 'draft')
    const old = await agents.resolve('ap_desk', 1)
    expect(old.definition).toMatchObject({ user: 'old {x}', model: 'openai/gpt-5' })
    expect(old.tools).toEqual([pay])
  })

  it('a stored agent whose tool this runtime does not have does not run', async () => {
    await agents.register([desk()])
    const error = await fault(registryOver([]).resolve('ap_desk'))
    expect(error.code).toBe('TOOL_NOT_FOUND')
    expect(error.details).toMatchObject({ missing: ['pay'] })
  })

  it('CASE-27: what is resolved is frozen', async () => {
    await agents.register([desk()])
    const resolved = await agents.resolve('ap_desk')
    expect(() => Object.assign(resolved, { version: 9 })).toThrow(TypeError)
    expect(() => (resolved.tools as unknown[]).push(pay)).toThrow(TypeError)
  })
})
