import type { Documents, JsonValue, Store } from '@sluice/core'
import { createMemoryStore } from '@sluice/core'
import { describe, expect, it } from 'vitest'
import { describeStore } from './describe-store.js'
import { storeRows } from './store-rows.js'

describeStore('memory', () => createMemoryStore())

/** A memory store with one fault. */
const broken = (change: (store: Store) => Partial<Store>) => () => {
  const store = createMemoryStore()
  return { ...store, ...change(store) }
}

const brokenDocuments = (change: (documents: Documents, store: Store) => Partial<Documents>) =>
  broken((store) => ({
    documents(namespace) {
      const documents = store.documents(namespace)
      return { ...documents, ...change(documents, store) }
    },
  }))

const faults: readonly (readonly [title: string, openStore: () => Store])[] = [
  ['keeps what callers change later', brokenDocuments(() => keepingDocuments())],
  [
    'joins keys with a slash',
    brokenDocuments((documents) => ({
      put: (key, value, call) => documents.put([key.join('/')], value, call),
      get: (key, call) => documents.get([key.join('/')], call),
    })),
  ],
  ['lets namespaces meet', broken((store) => ({ documents: () => store.documents('one') }))],
  [
    'reads and writes in two steps',
    brokenDocuments((documents) => ({
      async update(key, change, call) {
        const current = await documents.get(key)
        const next = change(current, 0)
        await documents.put(key, next as JsonValue, call)
        return next
      },
    })),
  ],
  ['does not look at the signal', brokenDocuments((documents) => ({ put: (key, value) => documents.put(key, value) }))],
  [
    'numbers messages anew in every append',
    broken((store) => ({
      messages: {
        ...store.messages,
        append: async (id, rows) => (rows.length === 0 ? 0 : store.messages.append(`${id}${Math.random()}`, rows)),
      },
    })),
  ],
  [
    'ignores the filter of runs',
    broken((store) => ({
      executions: { ...store.executions, list: ({ limit, after } = {}) => store.executions.list({ limit, after }) },
    })),
  ],
  [
    'lists sessions in any order',
    broken((store) => ({
      sessions: {
        ...store.sessions,
        async list(filter) {
          const page = await store.sessions.list(filter)
          return { ...page, items: page.items.toReversed() }
        },
      },
    })),
  ],
  [
    'gives a turn to everybody',
    broken((store) => ({ sessions: { ...store.sessions, acquire: async () => () => {} } })),
  ],
  [
    'overwrites an error of the same reference',
    broken(() => {
      const errors = new Map()
      return {
        toolErrors: {
          insert: async (record) => {
            errors.set(record.reference, record)
            return record.reference
          },
          get: async (reference) => errors.get(reference),
        },
      }
    }),
  ],
  ['writes at once inside a transaction', broken((store) => ({ transaction: (fn) => fn(store) }))],
  [
    'rolls back everything with a transaction',
    broken((store) => ({
      transaction: async (fn) => {
        const result = await store.transaction(fn).catch(async (error: unknown) => {
          await store.executions.update('run-1', { status: 'running' }).catch(() => undefined)
          throw error
        })
        return result
      },
    })),
  ],
  [
    'takes texts that no database takes',
    broken((store) => ({ receipts: { ...store.receipts, append: async () => {} } })),
  ],
  [
    'answers after it was closed',
    brokenDocuments((documents) => ({
      list: async (prefix, page) =>
        documents.list(prefix, page).catch((error: { code: string }) => {
          if (error.code !== 'STORE_CLOSED') throw error
          return { items: [], next: null }
        }),
    })),
  ],
]

/** Documents that keep values by reference. */
function keepingDocuments(): Partial<Documents> {
  const values = new Map<string, JsonValue>()
  return {
    put: async (key, value) => void values.set(JSON.stringify(key), value),
    get: async (key) => values.get(JSON.stringify(key)),
  }
}

describe('storeRows', () => {
  it.each(faults)('T-15: finds a store that %s', async (_title, openStore) => {
    expect(await firstFailure(openStore)).toBeDefined()
  })

  it('an option that there is not is refused: its rows would be skipped', () => {
    expect(() => storeRows(() => createMemoryStore(), { reopen: () => undefined } as never)).toThrow(
      /cannot have "reopen"; there are restart/,
    )
  })

  it('shows the rows that it cannot check without a restart', () => {
    const skipped = storeRows(() => createMemoryStore()).filter((row) => row.skip === true)
    expect(skipped.map((row) => row.title)).toEqual(skipped.map(() => expect.stringContaining('restart')))
    expect(skipped.length).toBeGreaterThan(0)
  })
})

async function firstFailure(openStore: () => Store): Promise<string | undefined> {
  for (const row of storeRows(openStore)) {
    try {
      await row.run()
    } catch {
      return row.title
    }
  }
  return undefined
}
