/**
 * Prints how many calls one limit admits in a second and how long its gate takes, while a fixed number of runs is in flight.
 * Runs on the sources: `pnpm --filter @sluice/hooks-budget bench`.
 */
import { createHookBench, createIds, createMemoryStore, systemClock } from '@sluice/core'
import { budget } from '../src/index.js'

const IN_FLIGHT = 256
const CALLS = 20_000
const WARM_UP = 2_000

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const plugin = budget({
  limits: [{ scope: 'user', usd: '1000000' }],
  prices: { models: { 'scripted/any': { input: '1', output: '2' } }, source: { name: 'none', find: unknown } },
})
const bench = await createHookBench([plugin], {
  store: createMemoryStore(),
  clock: systemClock,
  ids: createIds(),
  logger: silent,
})
const place = { caller: { user: 'petra.k' } }
const usage = {
  inputTokens: 900,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 100,
  reasoningTokens: 0,
  unreportedCalls: 0,
}
const times: number[] = []
let next = 0

for (const calls of [WARM_UP, CALLS]) {
  times.length = 0
  const until = next + calls
  const began = performance.now()
  await Promise.all(Array.from({ length: IN_FLIGHT }, () => runs(until)))
  if (calls === CALLS) print(performance.now() - began)
}
await bench.dispose()

async function runs(until: number): Promise<void> {
  while (next < until) {
    const effectId = `effect-${next++}`
    const call = { provider: 'scripted', model: 'any', effectId }
    const began = performance.now()
    const { answer } = await bench.ask('beforeModelCall', { ...call, inputTokensAtMost: 4_000 }, place)
    times.push(performance.now() - began)
    if (answer !== 'passed') throw new Error(`A call was ${answer}.`)
    const ended = { outcome: 'ok', sent: 'yes', finishReason: 'stop' } as const
    await bench.tell('afterModelCall', { ...call, ...ended, attempt: 1, answeredModel: 'any', usage }, place)
  }
}

function unknown() {
  return { known: false, nearest: null } as const
}

function print(tookMs: number): void {
  const sorted = times.sort((left, right) => left - right)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2)
  const perSecond = Math.round(sorted.length / (tookMs / 1_000))
  const told = { inFlight: IN_FLIGHT, calls: sorted.length, admissionsPerSecond: perSecond }
  process.stdout.write(`${JSON.stringify({ ...told, gateP50Ms: at(0.5), gateP99Ms: at(0.99) })}\n`)
}
