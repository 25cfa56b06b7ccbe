import type { BenchAnswer, Caller, Clock, GateInput, HookBench, JsonValue, ObserverInput, Store } from '@sluice/core'
import { createHookBench, createIds, createMemoryStore } from '@sluice/core'
import type { RateLimitOptions } from '../rate-limit-options.js'
import { rateLimit } from '../rate-limit.js'

/** Namespace of the plugin's documents. */
export const SPACE = 'plugin:hooks-rate-limit'

/** A limiter that is asked with no run. */
export interface RateRig<TestClock extends Clock> {
  readonly bench: HookBench
  readonly clock: TestClock
  readonly store: Store
  /** Asks for one model call; a number makes its id. */
  model(id: number | string, input?: GateInput<'beforeModelCall'>, caller?: Caller): Promise<BenchAnswer>
  /** Ends it. */
  ended(id: number | string, input?: ObserverInput<'afterModelCall'>, caller?: Caller): Promise<void>
  documents(): Promise<readonly { readonly key: readonly string[]; readonly value: JsonValue }[]>
}

export interface RateRigParts<TestClock extends Clock> {
  readonly clock?: TestClock
  readonly store?: Store
}

const ROOT = '01940000-0000-7000-8000-0000000000aa'

/** Milliseconds that a refusal says to wait. */
export function retryAfter(answer: BenchAnswer): number | undefined {
  return answer.error?.details?.retryAfterMs as number | undefined
}

const QUIET = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} })

/** Makes limiters on benches, each over a memory store and a clock of its own. */
export function rateRigs<TestClock extends Clock>(makeClock: () => TestClock) {
  return async (options: RateLimitOptions, parts: RateRigParts<TestClock> = {}): Promise<RateRig<TestClock>> => {
    const clock = parts.clock ?? makeClock()
    const store = parts.store ?? createMemoryStore({ clock })
    const bench = await createHookBench([rateLimit(options)], {
      store,
      clock,
      ids: createIds(() => clock.now()),
      logger: QUIET,
    })
    const facts = (id: number | string) => ({ rootExecutionId: ROOT, effectId: `${ROOT}/m${id}` })
    const place = (caller?: Caller) => (caller === undefined ? {} : { caller })
    return {
      bench,
      clock,
      store,
      model: (id, input, caller) => bench.ask('beforeModelCall', { ...facts(id), ...input }, place(caller)),
      ended: (id, input, caller) =>
        bench.tell(
          'afterModelCall',
          {
            ...facts(id),
            attempt: 1,
            provider: 'scripted',
            model: 'test',
            outcome: 'ok',
            sent: 'yes',
            error: null,
            usage: null,
            reportedUsd: null,
            rateLimit: null,
            maxOutputTokens: 8192,
            inputTokensAtMost: 1000,
            ...input,
          },
          place(caller),
        ),
      documents: async () => [...(await store.documents(SPACE).list([], { limit: 1_000 })).items],
    }
  }
}
