import assert from 'node:assert/strict'
import type { SessionRecord, Store } from '@sluice/core'
import type { ContractRow } from './contract-row.js'
import type { MakeStoreRow, OpenStore, StoreContractOptions } from './store-rig.js'
import {
  definitionRow,
  executionRow,
  messageRow,
  numberIn,
  plain,
  refused,
  sessionRow,
  toolErrorRow,
  upTo,
} from './store-rig.js'

/** The end of a store, and what is there when it is opened again. */
export function storeLifeRows(
  row: MakeStoreRow,
  openStore: OpenStore,
  options: StoreContractOptions,
): readonly ContractRow[] {
  return [
    row('a store has a kind, and two stores share nothing', async (store) => {
      assert.match(store.kind, /^[a-z][a-z0-9-]*$/)
      const other = await openStore()
      try {
        await store.documents('a').put(['x'], 1)
        assert.equal(await other.documents('a').get(['x']), undefined)
      } finally {
        await other.close()
      }
    }),

    row('STORE_CLOSED: a closed store refuses every call, and closing it again does nothing', async (store) => {
      await store.documents('a').put(['x'], 1)
      const documents = store.documents('a')
      const log = store.log('a')
      await store.close()
      await store.close()
      const calls: readonly (() => unknown)[] = [
        () => documents.get(['x']),
        () => documents.getMany([['x']]),
        () => documents.put(['x'], 2),
        () => documents.delete(['x']),
        () => documents.list([]),
        () => documents.transact([['x']], () => ({ next: [2], result: 0 })),
        () => documents.update(['x'], () => 2),
        () => log.append('s', () => [1]),
        () => log.read('s'),
        () => log.tail('s'),
        () => log.streams(),
        () => store.agents.insert(definitionRow('d1', 'desk')),
        () => store.agents.replace(definitionRow('d1', 'desk')),
        () => store.agents.get('d1'),
        () => store.prompts.versions('desk'),
        () => store.prompts.list(),
        () => store.prompts.delete('d1'),
        () => store.executions.insert(executionRow('run-1')),
        () => store.executions.update('run-1', {}),
        () => store.executions.transition('run-1', () => undefined),
        () => store.executions.get('run-1'),
        () => store.executions.list(),
        () => store.sessions.get('s'),
        () => store.sessions.update('s', () => sessionRow('s')),
        () => store.sessions.list(),
        () => store.sessions.acquire('s', 'run-1', { wait: true }),
        () => store.messages.append('s', [messageRow('s', 'a')]),
        () => store.messages.list('s'),
        () => store.messages.count('s'),
        () => store.toolErrors.insert(toolErrorRow('ERR-1')),
        () => store.toolErrors.get('ERR-1'),
        () => store.receipts.append('run-1', [{}]),
        () => store.receipts.list('run-1'),
        () => store.journals.put('run-1', {}),
        () => store.journals.get('run-1'),
        () => store.journals.delete('run-1'),
        () => store.transaction(async () => 1),
        () => store.orphans(),
      ]
      for (const call of calls) await refused('STORE_CLOSED', call)
    }),

    row('closing a store refuses those who wait for a turn', async (store) => {
      await store.sessions.acquire('s', 'run-1', { wait: false })
      const waiting = store.sessions.acquire('s', 'run-2', { wait: true })
      const refusal = refused('STORE_CLOSED', () => waiting)
      await store.close()
      await refusal
    }),

    row('closing a store waits for the writes that were begun', async (store) => {
      const writes = upTo(20).map((index) => store.documents('a').put(['k', String(index)], index))
      await store.close()
      const outcomes = await Promise.allSettled(writes)
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        upTo(20).map(() => 'fulfilled'),
      )
    }),

    ...restartRows(openStore, options),
  ]
}

function restartRows(openStore: OpenStore, { restart }: StoreContractOptions): readonly ContractRow[] {
  const row = (title: string, check: (store: Store, again: (store: Store) => Promise<Store>) => Promise<Store>) => {
    if (restart === undefined) return { title: `${title} (skipped: no \`restart\` was given)`, skip: true, run() {} }
    return {
      title,
      async run() {
        const last = await check(await openStore(), restart)
        await last.close()
      },
    }
  }
  return [
    row('everything that was acknowledged is there when the store is opened again', async (store, again) => {
      await writeEverything(store)
      const before = await readEverything(store)
      const opened = await again(store)
      assert.deepEqual(await readEverything(opened), before)
      const twice = await again(opened)
      assert.deepEqual(await readEverything(twice), before)
      return twice
    }),

    row('numbers, places and references go on where they were', async (store, again) => {
      await writeEverything(store)
      const opened = await again(store)
      assert.equal(await opened.messages.append('s', [messageRow('s', 'third')]), 3)
      assert.equal((await opened.messages.list('s', { afterSeq: 1 })).length, 2)
      const [entry] = await opened.log('a').append('s', (tail) => [tail?.value ?? null])
      assert.deepEqual([entry?.index, entry?.value], [2, 'two'])
      const reference = await opened.toolErrors.insert(toolErrorRow('ERR-1', 'again'))
      assert.notEqual(reference, 'ERR-1')
      await refused('DUPLICATE_NAME', () => opened.executions.insert(executionRow('run-1')))
      await refused('DUPLICATE_NAME', () => opened.agents.insert(definitionRow('other', 'desk')))
      assert.equal(await opened.documents('a').update(['n'], (current) => numberIn(current) + 1), 6)
      const release = await opened.sessions.acquire('s', 'run-9', { wait: false })
      await release()
      return opened
    }),

    row(
      'what was deleted, and what was rolled back, is not there when the store is opened again',
      async (store, again) => {
        await writeEverything(store)
        await store.documents('a').delete(['n'])
        await store.journals.delete('run-1')
        await store.prompts.delete('p1')
        await store
          .transaction(async (transaction) => {
            await transaction.documents('a').put(['rolled back'], 1)
            throw new Error('no')
          })
          .catch(() => undefined)
        const opened = await again(store)
        assert.deepEqual(await opened.documents('a').getMany([['n'], ['rolled back']]), [undefined, undefined])
        assert.equal(await opened.journals.get('run-1'), undefined)
        assert.equal(await opened.prompts.get('p1'), undefined)
        return opened
      },
    ),
  ]
}

async function writeEverything(store: Store): Promise<void> {
  await store.documents('a').put(['n'], 5)
  await store.documents('a').put(['deep', 'key'], { list: [1, 'two', null] })
  await store.log('a').append('s', () => ['one', 'two'])
  await store.agents.insert(definitionRow('d1', 'desk'))
  await store.prompts.insert(definitionRow('p1', 'desk', { status: 'active' }))
  await store.transaction(async (transaction) => {
    await transaction.prompts.insert(definitionRow('p2', 'desk', { version: 2 }))
    await transaction.documents('b').put(['x'], 1)
  })
  await store.executions.insert(executionRow('run-1'))
  await store.executions.update('run-1', { status: 'completed', output: { text: 'Done.' } })
  await store.executions.insert(executionRow('run-2', { parentExecutionId: 'run-1', rootExecutionId: 'run-1' }))
  await store.executions.transition('run-2', () => ({ status: 'failed' }))
  await store.sessions.update('s', () => sessionRow('s'))
  await store.sessions.update('s', (current) => ({ ...(current as SessionRecord), title: 'Title', lastActivityAt: 7 }))
  await store.messages.append('s', [messageRow('s', 'first'), messageRow('s', 'second')])
  await store.toolErrors.insert(toolErrorRow('ERR-1'))
  await store.receipts.append('run-1', [{ n: 1 }])
  await store.receipts.append('run-1', [{ n: 2 }])
  await store.journals.put('run-1', { version: 1, entries: [] })
}

async function readEverything(store: Store): Promise<unknown> {
  return plain({
    documents: [await store.documents('a').list([]), await store.documents('b').list([])],
    log: [await store.log('a').read('s'), await store.log('a').streams()],
    definitions: [await store.agents.list(), await store.prompts.list()],
    executions: [await store.executions.list(), await store.executions.get('run-1')],
    sessions: [await store.sessions.list(), await store.sessions.get('s')],
    messages: [await store.messages.list('s'), await store.messages.count('s')],
    error: await store.toolErrors.get('ERR-1'),
    receipts: await store.receipts.list('run-1'),
    journal: await store.journals.get('run-1'),
  })
}
