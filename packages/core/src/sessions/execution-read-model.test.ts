import { beforeEach, describe, expect, it } from 'vitest'
import { normalizeCaller } from '../context/caller.js'
import { SluiceError } from '../errors/sluice-error.js'
import type { Receipt } from '../hooks/receipt.js'
import type { JsonObject } from '../internal/json.js'
import { createMemoryStore } from '../store/memory/create-memory-store.js'
import type { Store } from '../store/store.js'
import type { Executions } from './execution-read-model.js'
import { createExecutionReadModel } from './execution-read-model.js'
import type { Scope } from './scope.js'
import { executionOf } from './testing/records.js'

const petra: Scope = { tenant: 'acme', user: 'petra.k' }
let store: Store
let executions: Executions

async function fault(run: Promise<unknown>): Promise<SluiceError> {
  const error = await run.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!SluiceError.isInstance(error)) throw error ?? new Error('nothing was thrown')
  return error
}
const receipt = (change: Partial<Receipt>): JsonObject =>
  ({
    effect: 'model_call',
    effectId: 'e1',
    attempt: 1,
    rootExecutionId: 'x1',
    executionId: 'x1',
    agentCode: 'a',
    subject: 'm',
    at: 0,
    askings: [],
    outcome: 'ok',
    sent: 'yes',
    tenant: 'acme',
    ...change,
  }) as unknown as JsonObject
const toolError = (reference: string, executionId: string | null, tenant: string | null) => ({
  reference,
  executionId,
  rootExecutionId: executionId ?? 'plain',
  effectId: null,
  agentCode: null,
  toolCode: 'pay',
  name: 'Error',
  message: 'the true error',
  stack: null,
  tenant,
  at: 0,
})

beforeEach(async () => {
  store = createMemoryStore()
  executions = createExecutionReadModel({ store })
  await store.executions.insert(executionOf({ id: 'x1', startedAt: 1, inputTokens: 10 }))
  await store.executions.insert(
    executionOf({
      id: 'x1-1',
      startedAt: 2,
      rootExecutionId: 'x1',
      parentExecutionId: 'x1',
      depth: 1,
      turnIndex: null,
      agentCode: 'helper',
    }),
  )
  await store.executions.insert(
    executionOf(
      { id: 'x2', startedAt: 3, status: 'failed', sessionId: 's2' },
      normalizeCaller({ user: 'mallory', tenant: 'acme' }),
    ),
  )
  await store.executions.insert(
    executionOf({ id: 'x3', startedAt: 4 }, normalizeCaller({ user: 'petra.k', tenant: 'other' })),
  )
  await store.executions.insert(executionOf({ id: 'job', startedAt: 5 }, normalizeCaller({ tenant: 'acme' }, 'svc')))
})

describe('executions.get', () => {
  it('S-29: gives one run with everything recorded about it', async () => {
    expect(await executions.get('x1', { scope: petra })).toMatchObject({
      id: 'x1',
      agentCode: 'ap_desk',
      agentVersion: 1,
      agentType: 'profile',
      sessionId: 's1',
      status: 'completed',
      inputTokens: 10,
    })
  })
  it('S-29, design 4.3: one outside the scope is as one that does not exist', async () => {
    const hidden = await fault(executions.get('x2', { scope: petra }))
    const unknown = await fault(executions.get('x9', { scope: petra }))
    expect(hidden.code).toBe('NOT_FOUND')
    expect(JSON.stringify(unknown.toJSON()).replaceAll('x9', 'x2')).toBe(JSON.stringify(hidden.toJSON()))
  })
  it('design 4.3: a scope has no default', async () => {
    for (const call of [
      executions.get('x1', {} as never),
      executions.list({} as never),
      executions.receipts('x1', {} as never),
      executions.toolError('E', undefined as never),
    ]) {
      expect((await fault(call)).code).toBe('MISSING_CONFIG')
    }
  })
})

describe('executions.list', () => {
  const listed = async (request: Parameters<Executions['list']>[0]) =>
    (await executions.list(request)).items.map((run) => run.id)

  it('S-29: lists runs of the scope, newest first', async () => {
    expect(await listed({ scope: 'all' })).toEqual(['job', 'x3', 'x2', 'x1-1', 'x1'])
    expect(await listed({ scope: { tenant: 'acme' } })).toEqual(['job', 'x2', 'x1-1', 'x1'])
    expect(await listed({ scope: petra })).toEqual(['x1-1', 'x1'])
    expect(await listed({ scope: { tenant: 'acme', user: 'svc' } })).toEqual([])
  })
  it('S-29: filters by session, agent, status, level and time', async () => {
    const scope = 'all'
    expect(await listed({ scope, sessionId: 's2' })).toEqual(['x2'])
    expect(await listed({ scope, agentCode: 'helper' })).toEqual(['x1-1'])
    expect(await listed({ scope, status: 'failed' })).toEqual(['x2'])
    expect(await listed({ scope, level: 'nested' })).toEqual(['x1-1'])
    expect(await listed({ scope, rootExecutionId: 'x1' })).toEqual(['x1-1', 'x1'])
    expect(await listed({ scope, startedFrom: new Date(3), startedTo: 4 })).toEqual(['x3', 'x2'])
  })
  it('S-30: is paged', async () => {
    const first = await executions.list({ scope: 'all', limit: 2 })
    expect(first.items.map((run) => run.id)).toEqual(['job', 'x3'])
    expect(
      (await executions.list({ scope: 'all', limit: 9, after: first.next as string })).items.map((run) => run.id),
    ).toEqual(['x2', 'x1-1', 'x1'])
  })
  it('what cannot be filtered by is refused', async () => {
    expect((await fault(executions.list({ scope: 'all', status: 'pending' as never }))).code).toBe('INVALID_STATUS')
    expect((await fault(executions.list({ scope: 'all', startedFrom: new Date('nonsense') }))).code).toBe(
      'INVALID_CONFIG',
    )
  })
  it('design 4.3: a filter never widens the scope', async () => {
    const sneaky = { scope: petra, tenant: 'other', createdBy: 'mallory' } as never
    expect(await listed(sneaky)).toEqual(['x1-1', 'x1'])
  })
})

describe('executions.receipts', () => {
  beforeEach(async () => {
    await store.receipts.append('x1', [receipt({}), receipt({ effectId: 'e2' })])
    await store.receipts.append('plain', [receipt({ rootExecutionId: 'plain', executionId: null })])
  })
  it('H-36, design 4.1: reads all receipts of a tree in order', async () => {
    expect((await executions.receipts('x1', { scope: petra })).map((one) => one.effectId)).toEqual(['e1', 'e2'])
  })
  it('a run without receipts has none; an unknown one and a foreign one do not exist', async () => {
    expect(await executions.receipts('job', { scope: { tenant: 'acme' } })).toEqual([])
    expect((await fault(executions.receipts('x9', { scope: 'all' }))).code).toBe('NOT_FOUND')
    expect((await fault(executions.receipts('x1', { scope: { tenant: 'other' } }))).code).toBe('NOT_FOUND')
    expect((await fault(executions.receipts('x1', { scope: { tenant: 'acme', user: 'mallory' } }))).code).toBe(
      'NOT_FOUND',
    )
  })
  it('design 4.1: a plain call has receipts without a record, seen by its tenant', async () => {
    expect(await executions.receipts('plain', { scope: { tenant: 'acme' } })).toHaveLength(1)
    expect(await executions.receipts('plain', { scope: 'all' })).toHaveLength(1)
    expect((await fault(executions.receipts('plain', { scope: petra }))).code).toBe('NOT_FOUND')
    expect((await fault(executions.receipts('plain', { scope: { tenant: 'other' } }))).code).toBe('NOT_FOUND')
  })
})

describe('executions.toolError', () => {
  beforeEach(async () => {
    await store.toolErrors.insert(toolError('ERR-1', 'x1', 'acme'))
    await store.toolErrors.insert(toolError('ERR-2', null, 'acme'))
  })
  it('CASE-15: finds the true error under its reference', async () => {
    expect((await executions.toolError('ERR-1', { scope: petra })).message).toBe('the true error')
    expect((await executions.toolError('ERR-2', { scope: { tenant: 'acme' } })).message).toBe('the true error')
  })
  it('design 4.3: outside the scope there is none', async () => {
    expect((await fault(executions.toolError('ERR-1', { scope: { tenant: 'acme', user: 'mallory' } }))).code).toBe(
      'NOT_FOUND',
    )
    expect((await fault(executions.toolError('ERR-1', { scope: { tenant: 'other' } }))).code).toBe('NOT_FOUND')
    expect((await fault(executions.toolError('ERR-2', { scope: petra }))).code).toBe('NOT_FOUND')
    expect((await fault(executions.toolError('ERR-9', { scope: 'all' }))).code).toBe('NOT_FOUND')
  })
})
