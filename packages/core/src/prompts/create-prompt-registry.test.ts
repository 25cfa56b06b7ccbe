import { beforeEach, describe, expect, it } from 'vitest'
import type { Store } from '../store/store.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import { createPromptRegistry } from './create-prompt-registry.js'
import type { PromptRegistry } from './prompt-registry.js'

const base = { code: 'ap_desk', user_prompt_template: '{question}', provider: 'openai', model: 'gpt-5.6' }
const full = {
  ...base,
  description: 'The desk.',
  model_config: { g_enable_tools: true },
  response_schema: { type: 'object' },
}

let store: Store
let registry: PromptRegistry
let now: number
let warnings: unknown[]

function parts(over: Pick<Store, 'prompts'> = store) {
  let last = 0
  const nothing = () => {}
  const warn = (fields: object) => void warnings.push(fields)
  return {
    store: over,
    clock: { now: () => ++now },
    ids: { id: () => `${over === store ? 'id' : 'tx'}-${++last}` },
    logger: { debug: nothing, info: nothing, warn, error: nothing },
  }
}

beforeEach(() => {
  now = 1000
  warnings = []
  store = createMemoryStore()
  registry = createPromptRegistry(parts())
})

describe('create', () => {
  it('P-2, P-6: stores version 1 as a draft and gives its id', async () => {
    const { id, version } = await registry.create(base, { by: 'petra' })
    expect([id, version]).toEqual(['id-1', 1])
    expect(await registry.get(id)).toMatchObject({
      code: 'ap_desk',
      version: 1,
      status: 'draft',
      origin: 'store',
      createdBy: 'petra',
      updatedBy: 'petra',
      createdAt: 1001,
      updatedAt: 1001,
      definition: { user_prompt_template: '{question}', system_prompt_template: null },
    })
  })

  it('P-2: a version and a status may be given; code and version together are unique', async () => {
    await registry.create({ ...base, version: 4 }, { status: 'active' })
    expect(await registry.get({ code: 'ap_desk', version: 4 })).toMatchObject({ status: 'active' })
    await expect(registry.create({ ...base, version: 4 })).rejects.toMatchObject({ code: 'DUPLICATE_NAME' })
    await expect(registry.create(base, { status: 'live' as never })).rejects.toMatchObject({ code: 'INVALID_STATUS' })
  })

  it('tells all faults at once, those of the schemas too, and stores nothing', async () => {
    const wrong = { ...base, model: '', response_schema: { type: 'strin' }, parameters_schema: { minimum: 'x' } }
    await expect(registry.create(wrong)).rejects.toThrow(/- model: [^]*- response_schema: [^]*- parameters_schema: /)
    expect((await registry.list()).items).toEqual([])
  })

  it('P-22, CASE-30: warnings come back and go to the log; in strict mode unknown keys are refused', async () => {
    const odd = { ...base, colour: 'red', parameters_schema: { properties: {} } }
    const stored = await registry.create(odd as never)
    expect(stored.warnings).toEqual([
      'colour is not known and has no effect',
      'placeholder {question} is no property of parameters_schema: it needs a key of the run context',
    ])
    expect(warnings).toEqual([{ profile: 'ap_desk', warnings: stored.warnings }])
    const strict = createPromptRegistry({ ...parts(), strict: true })
    await expect(strict.create(odd as never)).rejects.toThrow('strict: colour')
  })

  it('P-22, G-54: a named credential is a warning when it is stored, also from code, and INVALID_CONFIG in strict mode', async () => {
    const named = { ...base, model_config: { g_apex_web_credential: 'LLM_KEY' } }
    const told = expect.stringMatching(/^g_apex_web_credential has no effect/)
    expect((await registry.create(named)).warnings).toEqual([told])
    await registry.sync({ ...named, code: 'from_code' })
    expect(warnings).toEqual([
      { profile: 'ap_desk', warnings: [told] },
      { profile: 'from_code', warnings: [told] },
    ])
    const strict = createPromptRegistry({ ...parts(), strict: true })
    await expect(strict.create({ ...named, code: 'other' })).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
  })
})

describe('update', () => {
  it('P-6: replaces all editable fields; what is left out becomes null; code, version and status stay', async () => {
    const { id } = await registry.create(full, { by: 'petra', status: 'active' })
    const before = await registry.get(id)
    await registry.update(id, { ...base, model: 'gpt-6' }, { by: 'jo' })
    const after = await registry.get(id)
    expect(after).toMatchObject({
      id,
      version: 1,
      status: 'active',
      createdBy: 'petra',
      createdAt: before.createdAt,
      updatedBy: 'jo',
      definition: { model: 'gpt-6', description: null, model_config: null, response_schema: null },
    })
    expect(after.digest).not.toBe(before.digest)
    expect(after.updatedAt).toBeGreaterThan(before.updatedAt)
  })

  it('P-6: goes by code and version too; a missing one is NOT_FOUND', async () => {
    await registry.create(base)
    await registry.update({ code: 'ap_desk', version: 1 }, { ...base, model: 'm2' })
    expect((await registry.get({ code: 'ap_desk', version: 1 })).definition.model).toBe('m2')
    await expect(registry.update('nobody', base)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('cannot change code or version', async () => {
    const { id } = await registry.create(base)
    await expect(registry.update(id, { ...base, code: 'other' })).rejects.toThrow("code: is 'ap_desk'")
    await expect(registry.update(id, { ...base, version: 2 })).rejects.toThrow('version: is 1')
    await registry.update(id, { ...base, version: 1 })
  })
})

describe('createNewVersion', () => {
  it('P-8, Y-13: copies every field into a draft of the highest version plus one, or of the given number', async () => {
    await registry.create(full, { status: 'active' })
    await registry.create({ ...base, version: 7 })
    const { id, version } = await registry.createNewVersion('ap_desk', 1, undefined, { by: 'jo' })
    expect(version).toBe(8)
    const copy = await registry.get(id)
    const source = await registry.get({ code: 'ap_desk', version: 1 })
    expect(copy).toMatchObject({
      status: 'draft',
      createdBy: 'jo',
      definition: source.definition,
      digest: source.digest,
    })
    expect((await registry.createNewVersion('ap_desk', 1, 5)).version).toBe(5)
  })

  it('P-8: a taken number, a wrong number and a missing source are refused by name', async () => {
    await registry.create(base)
    await expect(registry.createNewVersion('ap_desk', 1, 1)).rejects.toMatchObject({ code: 'DUPLICATE_NAME' })
    await expect(registry.createNewVersion('ap_desk', 1, 0)).rejects.toMatchObject({ code: 'INVALID_CONFIG' })
    await expect(registry.createNewVersion('ap_desk', 9)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('P-8: ten at once get ten numbers', async () => {
    await registry.create(base)
    const made = await Promise.all(Array.from({ length: 10 }, () => registry.createNewVersion('ap_desk', 1)))
    expect(made.map(({ version }) => version).sort((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  })
})

describe('changeStatus', () => {
  it('P-7: goes by id or by code and version; anything but the three is INVALID_STATUS', async () => {
    const { id } = await registry.create(base)
    await registry.changeStatus(id, 'active', { by: 'jo' })
    expect(await registry.get(id)).toMatchObject({ status: 'active', updatedBy: 'jo' })
    await registry.changeStatus({ code: 'ap_desk', version: 1 }, 'archived')
    expect(await registry.get(id)).toMatchObject({ status: 'archived' })
    await expect(registry.changeStatus(id, 'deleted' as never)).rejects.toMatchObject({ code: 'INVALID_STATUS' })
    await expect(registry.changeStatus('nobody', 'active')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('P-3, P-W6: several versions may be active, and that is said', async () => {
    await registry.create(base, { status: 'active' })
    const { id } = await registry.create({ ...base, version: 2 })
    await registry.changeStatus(id, 'active')
    expect(warnings).toEqual([{ profile: 'ap_desk', warnings: ['versions 1, 2 are active: the highest is used'] }])
  })
})

describe('resolve', () => {
  beforeEach(async () => {
    await registry.create(base, { status: 'active' })
    await registry.create({ ...base, version: 2, model: 'two' }, { status: 'active' })
    await registry.create({ ...base, version: 3 })
  })

  it('P-3, P-4: without a version the highest active one counts, with one whatever its status', async () => {
    expect((await registry.resolve('ap_desk')).record.version).toBe(2)
    expect((await registry.resolve('ap_desk', 3)).record.version).toBe(3)
    expect((await registry.resolve('ap_desk')).prompt.profile.model).toBe('two')
  })

  it('P-4: nothing found is NOT_FOUND and says what there is', async () => {
    await expect(registry.resolve('ap_desk', 9)).rejects.toThrow('There is: 1 (active), 2 (active), 3 (draft).')
    await expect(registry.resolve('ap_dsek')).rejects.toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('Did you mean ap_desk?'),
    })
    await registry.create({ ...base, code: 'draft_only' })
    await expect(registry.resolve('draft_only')).rejects.toThrow(
      "There is no active version of the prompt profile 'draft_only'.\nThere is: 1 (draft).",
    )
    // nothing near either: the way to bring one in
    await expect(registry.resolve('zzz')).rejects.toThrow('createRuntime({ prompts })')
  })

  it('scans and compiles a definition once, and again when it has changed', async () => {
    const first = await registry.resolve('ap_desk')
    expect((await registry.resolve('ap_desk')).prompt).toBe(first.prompt)
    expect(await registry.prepare(await registry.get(first.record.id))).toBe(first.prompt)
    await registry.update({ code: 'ap_desk', version: 2 }, { ...base, model: 'three' })
    expect((await registry.resolve('ap_desk')).prompt.profile.model).toBe('three')
  })
})

describe('list and delete', () => {
  it('P-7: a deleted version is gone; deleting it again is NOT_FOUND', async () => {
    const { id } = await registry.create(base)
    await registry.create({ ...base, version: 2 })
    await registry.delete(id)
    await registry.delete({ code: 'ap_desk', version: 2 })
    expect((await registry.list()).items).toEqual([])
    await expect(registry.delete(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('lists versions by code and number, by status too, in pages', async () => {
    await registry.create({ ...base, version: 2 }, { status: 'active' })
    await registry.create(base)
    await registry.create({ ...base, code: 'aa' })
    const keys = (page: { items: readonly { code: string; version: number }[] }) =>
      page.items.map((item) => `${item.code}/${item.version}`)
    expect(keys(await registry.list())).toEqual(['aa/1', 'ap_desk/1', 'ap_desk/2'])
    expect(keys(await registry.list({ status: 'active' }))).toEqual(['ap_desk/2'])
    const first = await registry.list({ limit: 2 })
    expect(keys(await registry.list({ limit: 2, after: first.next as string }))).toEqual(['ap_desk/2'])
  })
})

describe('sync', () => {
  it('a profile in code becomes the next version when it changed, and archives the one it replaces', async () => {
    const first = await registry.sync(base)
    expect(first).toMatchObject({ version: 1, status: 'active', origin: 'code' })
    expect(await registry.sync({ ...base })).toMatchObject({ id: first.id })
    const second = await registry.sync({ ...base, model: 'two' })
    expect(second).toMatchObject({ version: 2, status: 'active' })
    expect(await registry.get(first.id)).toMatchObject({ status: 'archived' })
    expect((await registry.resolve('ap_desk')).record.id).toBe(second.id)
  })

  it('leaves versions that people stored as they are', async () => {
    await registry.create({ ...base, model: 'stored' }, { status: 'active' })
    expect(await registry.sync(base)).toMatchObject({ version: 2 })
    expect(await registry.get({ code: 'ap_desk', version: 1 })).toMatchObject({ status: 'active' })
  })
})

describe('transactions', () => {
  it('P-10: a registry over a transaction of the store writes all or nothing', async () => {
    const failing = store.transaction(async (transaction) => {
      await createPromptRegistry(parts(transaction)).create(base)
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect((await registry.list()).items).toEqual([])
    await store.transaction(async (transaction) => void (await createPromptRegistry(parts(transaction)).sync(base)))
    expect((await registry.list()).items).toHaveLength(1)
  })
})
