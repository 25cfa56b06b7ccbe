import type { Store } from '@sluice/core'
import { SluiceError } from '@sluice/core'

const REPOSITORIES = [
  'agents',
  'prompts',
  'executions',
  'sessions',
  'messages',
  'toolErrors',
  'receipts',
  'journals',
] as const

/** How a call fails: `error` wrote nothing; `unknown` did what it was asked, `lost` did not, and both say that nobody knows. */
export type Failure = 'error' | 'unknown' | 'lost'

/**
 * The same store. Every call is told before it is made, as `plugin:hooks-budget documents.transact` or `executions.insert`;
 * what `tell` gives back is how it fails.
 */
export function watchedStore(store: Store, tell: (call: string) => Failure | undefined | void): Store {
  const made = (name: string, call: () => unknown): unknown => {
    const failure = tell(name)
    return typeof failure === 'string' ? failed(name, failure, call) : call()
  }
  const watch = <Part extends object>(part: Part, name: string): Part =>
    new Proxy(part, {
      get(inner, key) {
        const value = Reflect.get(inner, key) as unknown
        if (typeof value !== 'function' || typeof key === 'symbol') return value
        return (...args: unknown[]): unknown =>
          made(`${name}.${key}`, () => Reflect.apply(value, inner, args) as unknown)
      },
    })
  const repositories = Object.fromEntries(REPOSITORIES.map((name) => [name, watch(store[name], name)]))
  return {
    ...store,
    ...repositories,
    documents: (space) => watch(store.documents(space), `${space} documents`),
    log: (space) => watch(store.log(space), `${space} log`),
    transaction: (fn) => made('transaction', () => store.transaction(fn)) as never,
  }
}

async function failed(name: string, failure: Failure, call: () => unknown): Promise<never> {
  if (failure === 'unknown') await call()
  const code = failure === 'error' ? 'STORE_FAILED' : 'STORE_OUTCOME_UNKNOWN'
  throw new SluiceError(code, `The store was told to fail at ${name} (${failure}).`)
}

/** True for a call that a guard made: those of core are not counted here. */
export const ofGuard = (call: string): boolean => call.startsWith('plugin:')

/** How many of these calls are transactions, how many are reads, and how many are neither. */
export function tally(calls: readonly string[]) {
  const count = (...methods: string[]): number =>
    calls.filter((call) => methods.includes(call.slice(call.lastIndexOf('.') + 1))).length
  const transactions = count('transact', 'update', 'put', 'delete', 'append')
  const reads = count('get', 'getMany', 'list', 'read', 'tail', 'streams')
  return { transactions, reads, others: calls.length - transactions - reads }
}
