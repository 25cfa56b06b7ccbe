import { describeHookPlugin } from '@sluice/testkit/contracts'
import { rateLimit } from './rate-limit.js'
import type { RateLimitOptions } from './rate-limit-options.js'
import { SPACE } from './testing/rate-rig.js'

const everything: RateLimitOptions = {
  limits: [
    { count: 'runs', scope: 'user', max: 5, per: 'hour' },
    { count: 'runs', scope: 'all', inFlight: 5 },
    { count: 'modelCalls', scope: 'user', max: 10, per: 'minute', burst: 5 },
    { count: 'modelCalls', scope: 'agent', inFlight: 5 },
    { count: 'tokens', scope: ['user', 'model'], max: 100_000, per: 'minute' },
    { count: 'tokens', inFlight: 50_000 },
    { count: 'toolCalls', scope: ['user', 'tool'], max: 3, per: 'day' },
    { count: 'toolCalls', scope: 'run', inFlight: 2 },
  ],
  providerQuota: true,
}
const caller = { user: 'petra.k' }

describeHookPlugin('rate-limit', () => rateLimit(everything), {
  module: new URL('./rate-limit.ts', import.meta.url),
  conditions: ['sluice-source'],
  passing: { caller },
  stopping: {
    point: 'beforeToolCall',
    code: 'RATE_LIMIT_EXCEEDED',
    caller: { user: 'busy' },
    prepare: (store) =>
      store.documents(SPACE).put(['limit', 'toolCalls:user+tool:day', '-', '=busy', '=write_note'], {
        at: Date.UTC(2026, 0, 1),
        now: 0,
        level: 0,
        until: 1_000,
        open: [],
        cells: [[1_000, 3]],
      }),
  },
  badOptions: {
    'no limit at all': () => rateLimit({}),
    'a limit below 0': () => rateLimit({ limits: [{ count: 'runs', max: -1, per: 'hour' }] }),
    'a limit that is no number': () => rateLimit({ limits: [{ count: 'runs', max: Number.NaN, per: 'hour' }] }),
    'a limit without a span': () => rateLimit({ limits: [{ count: 'runs', max: 1 }] }),
    'a span of a month': () => rateLimit({ limits: [{ count: 'runs', max: 1, per: 'month' as never }] }),
    'both a rate and slots': () => rateLimit({ limits: [{ count: 'runs', max: 1, per: 'hour', inFlight: 1 }] }),
    'a burst above the limit': () => rateLimit({ limits: [{ count: 'runs', max: 1, per: 'hour', burst: 2 }] }),
    'two limits of one name': () =>
      rateLimit({ limits: [1, 2].map((max) => ({ count: 'runs' as const, max, per: 'hour' as const })) }),
    'a scope that runs do not have': () => rateLimit({ limits: [{ count: 'runs', scope: 'tool', inFlight: 1 }] }),
    'a misspelt option': () => rateLimit({ limits: [{ count: 'runs', maxx: 1, per: 'hour' } as never] }),
    'a key without a name': () => rateLimit({ limits: [{ count: 'runs', key: () => 'a', inFlight: 1 }] }),
  },
})
