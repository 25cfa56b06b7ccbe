import { describeHookPlugin } from '@sluice/testkit/contracts'
import { budget } from './budget.js'

const prices = { models: { 'scripted/test': { input: '1', output: '2' } } }
const COSTLY = {
  effect: 'write',
  untrusted: false,
  cost: { usd: '0.01' },
  definitionDigest: 'digest',
  agent: null,
} as const
const limits = [
  { scope: 'run', usd: '1' },
  { scope: 'session', tokens: 100_000 },
  { scope: 'agent', per: 'day', usd: '1', thresholdPercents: [50] },
] as const

describeHookPlugin('hooks-budget', () => budget({ limits, prices, limitsVersion: '1' }), {
  module: new URL('./budget.ts', import.meta.url),
  conditions: ['sluice-source'],
  passing: { facts: { inspectToolInput: { tool: COSTLY } } },
  stopping: {
    point: 'beforeModelCall',
    code: 'BUDGET_EXHAUSTED',
    facts: { beforeModelCall: { maxOutputTokens: 10_000_000 } },
  },
  badOptions: {
    'no options': () => budget(undefined as never),
    'no limit': () => budget({ limits: [] }),
    'a limit without an amount': () => budget({ limits: [{ scope: 'run' }] }),
    'a limit in money and tokens': () => budget({ limits: [{ scope: 'run', usd: '1', tokens: 1 }] }),
    'money as a number': () => budget({ limits: [{ scope: 'run', usd: 1 as never }] }),
    'a negative amount': () => budget({ limits: [{ scope: 'run', usd: '-1' }] }),
    'tokens that are no whole number': () => budget({ limits: [{ scope: 'run', tokens: 1.5 }] }),
    'an infinite amount of tokens': () => budget({ limits: [{ scope: 'run', tokens: Number.POSITIVE_INFINITY }] }),
    'a scope that there is not': () => budget({ limits: [{ scope: 'planet' as never, usd: '1' }] }),
    'a key without scope key': () => budget({ limits: [{ scope: 'user', key: () => 'a', usd: '1' }] }),
    'scope key without a key': () => budget({ limits: [{ scope: 'key', usd: '1' }] }),
    'a time zone that there is not': () =>
      budget({ limits: [{ scope: 'user', per: 'day', timeZone: 'Mars/Base', usd: '1' }] }),
    'two limits of one id': () => budget({ limits: [...limits, limits[0]] }),
    'a price that is a number': () =>
      budget({ limits, prices: { models: { 'a/b': { input: 1 as never, output: '1' } } } }),
    'a price of all models that is not free': () =>
      budget({ limits, prices: { models: { 'a/*': { input: '1', output: '1' } } } }),
    'a multiplier of 0, which would make a model free': () =>
      budget({ limits, prices: { multipliers: { 'a/*': '0' } } }),
    'a multiplier of 0 in a price': () =>
      budget({ limits, prices: { models: { 'a/b': { input: '1', output: '1', multiplier: '0.00' } } } }),
    'a model without a provider': () => budget({ limits, prices: { models: { b: 'free' } } }),
    'an option that there is not': () => budget({ limits, onFail: 'open' } as never),
    'a source that is none': () => budget({ limits, prices: { source: {} as never } }),
  },
})
