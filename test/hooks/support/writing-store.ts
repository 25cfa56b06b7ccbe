import type { Store } from '@sluice/core'

/** Writes of the store that a timeline tells, by repository. */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  executions: ['insert', 'update', 'transition'],
  sessions: ['update'],
  messages: ['append'],
  receipts: ['append'],
  journals: ['put', 'delete'],
  toolErrors: ['insert'],
}

/** The same store; each write is told before it is made. */
export function tellingWrites(store: Store, tell: (write: string, args: readonly unknown[]) => void): Store {
  const wrapped: Record<string, unknown> = {}
  for (const [name, methods] of Object.entries(WRITES)) {
    wrapped[name] = new Proxy(store[name as keyof Store] as object, {
      get: (repository, method: string) => {
        const fn = Reflect.get(repository, method) as unknown
        if (typeof fn !== 'function') return fn
        return (...args: unknown[]): unknown => {
          if (methods.includes(method)) tell(`${name}.${method}`, args)
          return Reflect.apply(fn, repository, args)
        }
      },
    })
  }
  return new Proxy(store, {
    get: (target, key: string) => {
      if (Object.hasOwn(wrapped, key)) return wrapped[key]
      const value = Reflect.get(target, key) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
