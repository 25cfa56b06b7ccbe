import type { Documents, ExecuteOptions, Run, Runtime, RuntimeOptions, Store } from '@sluice/core'
import { createMemoryStore, createRuntime, defineAgent, SluiceError } from '@sluice/core'
import type { BudgetApi, BudgetOptions } from '@sluice/hooks-budget'
import { budget } from '@sluice/hooks-budget'
import type { Script } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds, scriptedProvider } from '@sluice/testkit'
import { onTestFinished } from 'vitest'

/** A call of `desk` has 1 000 tokens of input at most and 1 000 of output: it holds $0.003. */
export const CALL_NANO_USD = 3_000_000n
export const PRICES: BudgetOptions['prices'] = {
  models: { 'scripted/any': { input: '1', output: '2' }, 'other/any': { input: '10', output: '20' } },
}
export const PETRA = { user: 'petra.k', tenant: 'acme', appId: 'desk-app' } as const

export interface BudgetRigOptions extends Omit<BudgetOptions, 'limits'> {
  readonly store?: Store
  readonly runtime?: Partial<RuntimeOptions>
}

/** A runtime with a budget over a script; it ends with the test. */
export async function budgetRig(script: Script, limits: BudgetOptions['limits'], options: BudgetRigOptions = {}) {
  const { store: given, runtime: parts, ...rest } = options
  const clock = fakeClock()
  const store = given ?? createMemoryStore({ clock })
  const provider = scriptedProvider(script, { inputTokensAtMost: () => 1_000 })
  const logger = capturedLogger()
  const { plugins = [], agents = [], providers = [], ...others } = parts ?? {}
  const runtime = await createRuntime({
    store,
    clock,
    logger,
    ids: fakeIds(),
    providers: [provider, ...providers],
    agents: [desk(), ...agents],
    plugins: [budget({ limits, prices: PRICES, ...rest }), plugins],
    ...others,
    settings: { maxOutputTokens: 1_000, ...parts?.settings },
  })
  onTestFinished(() => runtime.close())
  return {
    runtime,
    provider,
    clock,
    store,
    logger,
    api: runtime.plugin(budget) as BudgetApi,
    start: (more: Partial<ExecuteOptions> = {}) => start(runtime, more),
    run: (more: Partial<ExecuteOptions> = {}) => clock.settle(start(runtime, more)),
  }
}

export interface Ended {
  readonly run: Run | undefined
  readonly error: SluiceError | undefined
}

function start(runtime: Runtime, more: Partial<ExecuteOptions>): Promise<Ended> {
  return runtime.execute({ agent: 'desk', input: { question: 'Well?' }, caller: PETRA, ...more }).then(
    (run) => ({ run: run as Run, error: undefined }),
    (error: unknown) => {
      if (SluiceError.isInstance(error)) return { run: undefined, error }
      throw error
    },
  )
}

export function desk(parts: { readonly code?: string; readonly tools?: readonly never[] } = {}) {
  return defineAgent({
    code: parts.code ?? 'desk',
    description: 'The desk.',
    model: 'scripted/any',
    user: '{question}',
    ...(parts.tools === undefined ? {} : { tools: parts.tools }),
  })
}

/** A store that calls `look` after every step over documents, with the documents of the budget. */
export function watchedStore(base: Store, look: (documents: Documents) => Promise<void>): Store {
  return new Proxy(base, {
    get(target, name) {
      const value = Reflect.get(target, name) as unknown
      if (name !== 'documents') return typeof value === 'function' ? value.bind(target) : value
      return (namespace: string): Documents => {
        const documents = target.documents(namespace)
        if (namespace !== 'plugin:hooks-budget') return documents
        const transact: Documents['transact'] = async (keys, change, call) => {
          const result = await documents.transact(keys, change, call)
          await look(documents)
          return result
        }
        return { ...bound(documents), transact }
      }
    },
  })
}

function bound(documents: Documents): Documents {
  return {
    get: documents.get.bind(documents),
    getMany: documents.getMany.bind(documents),
    put: documents.put.bind(documents),
    delete: documents.delete.bind(documents),
    list: documents.list.bind(documents),
    transact: documents.transact.bind(documents),
    update: documents.update.bind(documents),
  }
}
