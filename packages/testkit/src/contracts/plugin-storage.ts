import type { AppendLog, Documents, JsonValue, Store } from '@sluice/core'

/** Everything that one plugin has stored, as plain data. */
export interface StoredByPlugin {
  readonly documents: readonly { readonly key: readonly string[]; readonly value: JsonValue }[]
  readonly logs: Readonly<Record<string, readonly JsonValue[]>>
}

const PAGE = 1_000

/** Reads the whole namespace of a plugin: `plugin:<name>`, with `#id` where it has one. */
export async function readPluginStorage(store: Store, pluginKey: string): Promise<StoredByPlugin> {
  const documents: { key: readonly string[]; value: JsonValue }[] = []
  const space = store.documents(`plugin:${pluginKey}`)
  let after: string | undefined
  do {
    const page = await space.list([], { limit: PAGE, ...(after === undefined ? {} : { after }) })
    documents.push(...page.items.map(({ key, value }) => ({ key: [...key], value })))
    after = page.next ?? undefined
  } while (after !== undefined)
  const log = store.log(`plugin:${pluginKey}`)
  const logs: Record<string, JsonValue[]> = {}
  for (const stream of await log.streams()) {
    logs[stream] = []
    for (;;) {
      const entries = await log.read(stream, { from: logs[stream].length, limit: PAGE })
      if (entries.length === 0) break
      logs[stream].push(...entries.map((entry) => entry.value))
    }
  }
  return { documents, logs }
}

/** A store whose storage for plugins fails on demand. */
export interface FaultyStore {
  readonly store: Store
  /** How often the plugin's storage was called since the fault was set. */
  readonly calls: number
  /** From now on every call of a plugin's storage does this instead. `undefined`: works again. */
  fail(fault: (() => Promise<never>) | undefined): void
}

/** Wraps `store`: documents and logs fail when told to, everything else is as it was. */
export function faultyStore(store: Store): FaultyStore {
  let fault: (() => Promise<never>) | undefined
  let calls = 0
  const wrap = <Target extends Documents | AppendLog>(target: Target): Target =>
    new Proxy(target, {
      get(inner, key) {
        const value: unknown = Reflect.get(inner, key, inner)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          if (fault === undefined) return Reflect.apply(value, inner, args) as unknown
          calls += 1
          return fault()
        }
      },
    })
  return {
    store: {
      ...store,
      documents: (namespace) => wrap(store.documents(namespace)),
      log: (namespace) => wrap(store.log(namespace)),
    },
    get calls() {
      return calls
    },
    fail(next) {
      fault = next
      calls = 0
    },
  }
}
