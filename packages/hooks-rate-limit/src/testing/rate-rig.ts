import type { BenchAnswer, Caller, GateInput, HookBench, JsonValue, ObserverInput, Store } from '@sluice/core'
import { createHookBench, createMemoryStore } from '@sluice/core'
import type { FakeClock } from '@sluice/testkit'
import { capturedLogger, fakeClock, fakeIds } from '@sluice/testkit'
import type { RateLimitOptions } from '../rate-limit-options.js'
import { rateLimit } from '../rate-limit.js'

/** Namespace of the plugin's documents. */
export const SPACE = 'plugin:sluice-hooks-rate-limit'

/** A limiter that is asked with no run. */
export interface RateRig {
  readonly bench: HookBench
  readonly clock: FakeClock
  readonly store: Store
  /** Asks for one model call; a number makes its id. */
  model(id: number | string, input?: GateInput<'beforeModelCall'>, caller?: Caller): Promise<BenchAnswer>
  /** Ends it. */
  ended(id: number | string, input?: ObserverInput<'afterModelCall'>, caller?: Caller): Promise<void>
  documents(): Promise<readonly { readonly key: readonly string[]; readonly value: JsonValue }[]>
}

export interface RateRigParts {
  readonly clock?: FakeClock
  readonly store?: Store
}

const ROOT = '01940000-0000-7000-8000-0000000000aa'

/** Milliseconds that a refusal says to wait. */
export function retryAfter(answer: BenchAnswer): number | undefined {
  return answer.error?.details?.retryAfterMs as number | undefined
}

/** A limiter on a bench, over a memory store on a fake clock. */
export async function rateRig(options: RateLimitOptions, parts: RateRigParts = {}): Promise<RateRig> {
  const clock = parts.clock ?? fakeClock()
  const store = parts.store ?? createMemoryStore({ clock })
  const bench = await createHookBench([rateLimit(options)], {
    store,
    clock,
    ids: fakeIds(),
    logger: capturedLogger(),
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
