import type {
  AppendLog,
  DefinitionRepository,
  Documents,
  ErrorCode,
  ExecutionRepository,
  JournalRepository,
  MessageRepository,
  ReceiptRepository,
  SessionRepository,
  Store,
  StoreTransaction,
  ToolErrorRepository,
} from '@sluice/core'
import { SluiceError } from '@sluice/core'
import { testkitError } from './testkit-error.js'
import type { Latch } from './time/latch.js'
import { latch } from './time/latch.js'

/** A method of a store by its repository; `transaction`, `orphans` and `close` are the store's own. */
export type StoreMethod =
  | 'transaction'
  | 'orphans'
  | 'close'
  | `agents.${keyof DefinitionRepository}`
  | `prompts.${keyof DefinitionRepository}`
  | `executions.${keyof ExecutionRepository}`
  | `sessions.${keyof SessionRepository}`
  | `messages.${keyof MessageRepository}`
  | `toolErrors.${keyof ToolErrorRepository}`
  | `receipts.${keyof ReceiptRepository}`
  | `journals.${keyof JournalRepository}`
  | `documents.${keyof Documents}`
  | `log.${keyof AppendLog}`

/**
 * How a call fails. `error`, `full` and `read-only` wrote nothing and say so; `unknown` took effect and `unknown-lost` did
 * not, and both say that it cannot be known; `hang` does not settle before {@link FailingStore.release}, or the signal of
 * the call, and then goes on.
 */
export type StoreFailure = 'error' | 'full' | 'read-only' | 'unknown' | 'unknown-lost' | 'hang'

/** One fault of a plan. */
export interface StoreFault {
  readonly on: StoreMethod
  /** Which call of that method fails, counted from 1. @default all of them */
  readonly nth?: number
  /** Only calls on documents or logs of this namespace fail and are counted. @default any */
  readonly namespace?: string
  readonly as: StoreFailure
}

/** A store that fails where its plan says so, and works as the one below it everywhere else. */
export interface FailingStore extends Store {
  /** Every call so far, in order, those of a transaction's repositories included. */
  readonly calls: readonly StoreMethod[]
  /** How often a fault of the plan has struck. */
  readonly struck: number
  /** Lets every call go on that hangs now, and those that would hang later. */
  release(): void
}

const CODES: Readonly<Record<Exclude<StoreFailure, 'hang'>, ErrorCode>> = {
  error: 'STORE_FAILED',
  full: 'STORE_FULL',
  'read-only': 'STORE_READ_ONLY',
  unknown: 'STORE_OUTCOME_UNKNOWN',
  'unknown-lost': 'STORE_OUTCOME_UNKNOWN',
}

type Call = (...args: unknown[]) => unknown

/**
 * Wraps `store` so that chosen calls fail.
 *
 * @example
 * const store = failingStore(createMemoryStore(), [{ on: 'executions.insert', nth: 2, as: 'error' }])
 *
 * @throws FAILURE_UNKNOWN for a way to fail that is not one of {@link StoreFailure}
 */
export function failingStore(store: Store, plan: readonly StoreFault[]): FailingStore {
  for (const { as } of plan) {
    if (as === 'hang' || Object.hasOwn(CODES, as)) continue
    throw testkitError('FAILURE_UNKNOWN', `A store cannot fail as '${String(as)}'.`, {
      known: [...Object.keys(CODES), 'hang'],
    })
  }
  const door = latch()
  const faults = plan.map((fault) => ({ fault, seen: 0 }))
  const calls: StoreMethod[] = []
  let struck = 0

  function next(method: StoreMethod, namespace: string | undefined): StoreFault | undefined {
    calls.push(method)
    let found: StoreFault | undefined
    for (const entry of faults) {
      const { on, nth, namespace: only } = entry.fault
      if (on !== method || (only !== undefined && only !== namespace)) continue
      entry.seen += 1
      if (nth === undefined || nth === entry.seen) found ??= entry.fault
    }
    if (found !== undefined) struck += 1
    return found
  }

  function wrap<Target extends object>(target: Target, prefix: string, namespace?: string): Target {
    return new Proxy(target, {
      get(inner, key) {
        const value: unknown = Reflect.get(inner, key, inner)
        if (typeof value !== 'function' || typeof key === 'symbol') return value
        const call: Call = (...args) => Reflect.apply(value, inner, args) as unknown
        return (...args: unknown[]) => strike(next(`${prefix}${key}` as StoreMethod, namespace), call, args, door)
      },
    })
  }

  const wrapTransaction = (transaction: StoreTransaction): StoreTransaction => ({
    agents: wrap(transaction.agents, 'agents.'),
    prompts: wrap(transaction.prompts, 'prompts.'),
    documents: (namespace) => wrap(transaction.documents(namespace), 'documents.', namespace),
  })

  return {
    kind: store.kind,
    agents: wrap(store.agents, 'agents.'),
    prompts: wrap(store.prompts, 'prompts.'),
    executions: wrap(store.executions, 'executions.'),
    sessions: wrap(store.sessions, 'sessions.'),
    messages: wrap(store.messages, 'messages.'),
    toolErrors: wrap(store.toolErrors, 'toolErrors.'),
    receipts: wrap(store.receipts, 'receipts.'),
    journals: wrap(store.journals, 'journals.'),
    documents: (namespace) => wrap(store.documents(namespace), 'documents.', namespace),
    log: (namespace) => wrap(store.log(namespace), 'log.', namespace),
    async transaction(fn) {
      const call = () => store.transaction((transaction) => fn(wrapTransaction(transaction)))
      return (await strike(next('transaction', undefined), call, [], door)) as never
    },
    async orphans() {
      return (await strike(next('orphans', undefined), () => store.orphans(), [], door)) as never
    },
    async close() {
      await strike(next('close', undefined), () => store.close(), [], door)
    },
    get calls() {
      return calls
    },
    get struck() {
      return struck
    },
    release: () => door.open(),
  }
}

async function strike(fault: StoreFault | undefined, call: Call, args: unknown[], door: Latch): Promise<unknown> {
  if (fault === undefined) return call(...args)
  if (fault.as === 'hang') {
    await door.wait(signalOf(args))
    return call(...args)
  }
  if (fault.as === 'unknown') await call(...args)
  throw new SluiceError(CODES[fault.as], `The store was told to fail at ${fault.on} (${fault.as}).`, {
    details: { on: fault.on, as: fault.as },
  })
}

function signalOf(args: readonly unknown[]): AbortSignal | undefined {
  const options = args.at(-1)
  const signal = options !== null && typeof options === 'object' ? (options as { signal?: unknown }).signal : undefined
  return signal instanceof AbortSignal ? signal : undefined
}
