import assert from 'node:assert/strict'
import type { ExecutionFilter, ExecutionRecord, JsonObject, Store } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow } from './store-rig.js'
import { executionRow, plain, refused, rejectsWith, toolErrorRow, upTo } from './store-rig.js'

/** What is kept of runs: rows, receipts, journals, errors. */
export function storeRunRows(row: MakeStoreRow): readonly ContractRow[] {
  return [
    row('S-1: the row of a run is found by id and changes field by field', async (store) => {
      const record = executionRow('run-1')
      await store.executions.insert(record)
      assert.deepEqual(plain(await store.executions.get('run-1')), plain(record))
      assert.equal(await store.executions.get('none'), undefined)
      const change = { status: 'completed', output: { text: 'Done.' }, completedAt: 2_000, updatedAt: 2_000 } as const
      await store.executions.update('run-1', change)
      assert.deepEqual(plain(await store.executions.get('run-1')), plain({ ...record, ...change }))
      await refused('NOT_FOUND', () => store.executions.update('none', { status: 'failed' }))
      await refused('DUPLICATE_NAME', () => store.executions.insert(record))
      assert.equal((await store.executions.get('run-1'))?.status, 'completed')
    }),

    row('transition decides on the row as it is, and tells how it then is', async (store) => {
      await store.executions.insert(executionRow('run-1'))
      const pause = (current: ExecutionRecord) =>
        current.status === 'running' ? ({ status: 'paused' } as const) : undefined
      assert.equal((await store.executions.transition('run-1', pause))?.status, 'paused')
      assert.equal((await store.executions.transition('run-1', pause))?.status, 'paused')
      assert.equal(await store.executions.transition('none', pause), undefined)
      const reason = new Error('no')
      await rejectsWith(reason, () =>
        store.executions.transition('run-1', () => {
          throw reason
        }),
      )
      const late = (async () => ({ status: 'failed' })) as unknown as () => Partial<ExecutionRecord>
      await refused('STORE_CALLBACK', () => store.executions.transition('run-1', late))
      await refused('STORE_CALLBACK', () => store.executions.transition('run-1', () => ({ id: 'run-2' })))
      assert.equal((await store.executions.get('run-1'))?.status, 'paused')
    }),

    row('CASE-19: 20 transitions of one run at once are each made once', async (store) => {
      await store.executions.insert(executionRow('run-1'))
      await Promise.all(
        upTo(20).map(() =>
          store.executions.transition('run-1', (current) => ({ toolCallsCount: current.toolCallsCount + 1 })),
        ),
      )
      assert.equal((await store.executions.get('run-1'))?.toolCallsCount, 20)
    }),

    row('S-29: runs are listed newest first and by every filter', async (store) => {
      await insertRuns(store)
      assert.deepEqual(await idsOf(store, {}), ['r6', 'r5', 'r4', 'r3', 'r2', 'r1'])
      assert.deepEqual(await idsOf(store, { tenant: 'acme' }), ['r6', 'r5', 'r4', 'r3', 'r1'])
      assert.deepEqual(await idsOf(store, { tenant: null }), ['r2'])
      assert.deepEqual(await idsOf(store, { createdBy: 'bo' }), ['r3'])
      assert.deepEqual(await idsOf(store, { sessionId: 's2' }), ['r6', 'r4'])
      assert.deepEqual(await idsOf(store, { agentCode: 'other' }), ['r4'])
      assert.deepEqual(await idsOf(store, { agentId: 'agent-9' }), ['r4'])
      assert.deepEqual(await idsOf(store, { rootExecutionId: 'r1' }), ['r5', 'r1'])
      assert.deepEqual(await idsOf(store, { status: 'completed' }), ['r6', 'r3'])
      assert.deepEqual(await idsOf(store, { startedFrom: 2_000, startedTo: 4_000 }), ['r4', 'r3', 'r2'])
      assert.deepEqual(await idsOf(store, { level: 'nested' }), ['r5'])
      assert.deepEqual(await idsOf(store, { level: 'top', sessionId: 's1', status: 'completed' }), ['r3'])
      assert.deepEqual(await idsOf(store, { sessionId: 'none' }), [])
    }),

    row('a list of runs follows their changes', async (store) => {
      await insertRuns(store)
      await store.executions.update('r1', { status: 'completed' })
      assert.deepEqual(await idsOf(store, { status: 'completed' }), ['r6', 'r3', 'r1'])
      await store.executions.update('r1', { startedAt: 9_000 })
      assert.deepEqual((await idsOf(store, {}))[0], 'r1')
    }),

    row('S-30: pages of runs follow one another, also where many started at the same time', async (store) => {
      for (const index of upTo(25)) {
        await store.executions.insert(executionRow(`r${String(index).padStart(2, '0')}`, { startedAt: 1_000 }))
      }
      const seen: string[] = []
      let after: string | undefined
      do {
        const page = await store.executions.list({ limit: 10, ...(after === undefined ? {} : { after }) })
        seen.push(...page.items.map(({ id }) => id))
        after = page.next ?? undefined
      } while (after !== undefined)
      assert.deepEqual(
        seen,
        upTo(25).map((index) => `r${String(24 - index).padStart(2, '0')}`),
      )
      await refused('INVALID_CONFIG', () => store.executions.list({ limit: 0 }))
      await refused('INVALID_CONFIG', () => store.executions.list({ after: 'no such place' }))
    }),

    row('receipts of a tree are kept in order, and those of another tree apart', async (store) => {
      assert.deepEqual(await store.receipts.list('run-1'), [])
      await store.receipts.append('run-1', [{ n: 1 }, { n: 2 }])
      await store.receipts.append('run-2', [{ n: 9 }])
      await store.receipts.append('run-1', [])
      await Promise.all(upTo(10).map((n) => store.receipts.append('run-1', [{ n: n + 3 }])))
      const numbers = (await store.receipts.list('run-1')).map((receipt) => receipt.n as number)
      assert.deepEqual(numbers.slice(0, 2), [1, 2])
      assert.deepEqual(
        numbers.toSorted((left, right) => left - right),
        upTo(12).map((n) => n + 1),
      )
      assert.deepEqual(plain(await store.receipts.list('run-2')), [{ n: 9 }])
    }),

    row('the journal of a paused run is kept until it is deleted', async (store) => {
      const journal: JsonObject = { version: 1, entries: [{ name: 'a', kind: 'step', value: { deep: [1, 'two'] } }] }
      assert.equal(await store.journals.get('run-1'), undefined)
      await store.journals.put('run-1', { version: 1, entries: [] })
      await store.journals.put('run-1', journal)
      assert.deepEqual(plain(await store.journals.get('run-1')), journal)
      await store.journals.delete('run-1')
      await store.journals.delete('run-1')
      assert.equal(await store.journals.get('run-1'), undefined)
    }),

    row('a journal may be nested deeper than a document', async (store) => {
      let deep: JsonObject = { end: true }
      for (const _ of upTo(200)) deep = { deep }
      await store.journals.put('run-1', deep)
      assert.deepEqual(plain(await store.journals.get('run-1')), deep)
    }),

    row('B-21: an error is found under its reference, and a second one of that name gets another', async (store) => {
      const first = await store.toolErrors.insert(toolErrorRow('ERR-20260101000000000', 'one'))
      assert.equal(first, 'ERR-20260101000000000')
      const others = await Promise.all(
        ['two', 'three', 'four'].map((message) =>
          store.toolErrors.insert(toolErrorRow('ERR-20260101000000000', message)),
        ),
      )
      assert.equal(new Set([first, ...others]).size, 4)
      for (const reference of others) assert.ok(reference.startsWith('ERR-20260101000000000'))
      const messages = await Promise.all(
        [first, ...others].map(async (reference) => {
          const record = await store.toolErrors.get(reference)
          assert.equal(record?.reference, reference)
          return record?.message
        }),
      )
      assert.deepEqual(messages, ['one', 'two', 'three', 'four'])
      assert.equal(await store.toolErrors.get('ERR-none'), undefined)
    }),

    row('no run of this process is an orphan', async (store) => {
      await store.executions.insert(executionRow('run-1'))
      assert.deepEqual(await store.orphans(), [])
    }),
  ]
}

async function insertRuns(store: Store): Promise<void> {
  const runs: readonly (readonly [string, Partial<ExecutionRecord>])[] = [
    ['r3', { startedAt: 3_000, sessionId: 's1', status: 'completed', createdBy: 'bo' }],
    ['r1', { startedAt: 1_000, sessionId: 's1' }],
    ['r2', { startedAt: 2_000, sessionId: 's1', tenant: null }],
    ['r5', { startedAt: 5_000, sessionId: 's1', rootExecutionId: 'r1', parentExecutionId: 'r1', depth: 1 }],
    ['r4', { startedAt: 4_000, sessionId: 's2', agentCode: 'other', agentId: 'agent-9' }],
    ['r6', { startedAt: 6_000, sessionId: 's2', status: 'completed' }],
  ]
  for (const [id, fields] of runs) await store.executions.insert(executionRow(id, fields))
}

async function idsOf(store: Store, filter: ExecutionFilter): Promise<string[]> {
  return (await store.executions.list(filter)).items.map(({ id }) => id)
}
