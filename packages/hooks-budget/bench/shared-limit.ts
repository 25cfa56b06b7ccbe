/**
 * Prints how many calls one limit admits in a second and how long its gate takes, while 256 runs are in flight; and the same
 * runs with no budget, to compare. Whole calls of the runtime over a memory store and a provider that answers at once.
 * Runs on the sources: `npm run bench`.
 */
import type { ModelProvider, ModelReply, PluginInstance } from '@sluice/core'
import { createMemoryStore, createRuntime, definePlugin, Stage } from '@sluice/core'
import { budget } from '../src/index.js'

const IN_FLIGHT = 256
const CALLS = 5_000
const WARM_UP = 1_000
const ROUNDS = 3

const silent = { debug() {}, info() {}, warn() {}, error() {} }

const REPLY: ModelReply = {
  parts: [{ type: 'text', text: 'Done.' }],
  finishReason: 'stop',
  usage: {
    inputTokens: 900,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: 100,
    reasoningTokens: 0,
    unreportedCalls: 0,
  },
}

/** Answers at once. */
const provider: ModelProvider = {
  id: 'scripted',
  protocol: 'scripted',
  defaults: { onToolError: 'throw', onToolLimit: 'throw' },
  inputTokensAtMost: () => 4_000,
  generate: async () => REPLY,
  async *stream() {
    yield { type: 'reply', reply: REPLY }
  },
}

interface Measured {
  readonly perSecond: number
  /** Processor time of a whole call, milliseconds: what else the machine does is not in it. */
  readonly cpu: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** Takes the time from the stage before the budget to the one behind it, call by call. */
function stopwatch(times: number[]): PluginInstance {
  const began = new Map<string, number>()
  return definePlugin({
    name: 'stopwatch',
    hookApi: 1,
    apply(hooks) {
      hooks.beforeModelCall.tap({ name: 'start', stage: Stage.reserve - 1 }, ({ effectId }) => {
        began.set(effectId, performance.now())
      })
      hooks.beforeModelCall.tap({ name: 'end', stage: Stage.record }, ({ effectId }) => {
        times.push(performance.now() - (began.get(effectId) ?? 0))
        began.delete(effectId)
      })
    },
  })()
}

async function measure(plugins: readonly PluginInstance[]): Promise<Measured> {
  const times: number[] = []
  const runtime = await createRuntime({
    store: createMemoryStore(),
    logger: silent,
    providers: [provider],
    plugins: [...plugins, stopwatch(times)],
    limits: { runsInFlight: IN_FLIGHT },
  })
  let left = WARM_UP
  const callOnAndOn = async () => {
    while (left-- > 0) {
      await runtime.generateText({ model: 'scripted/any', prompt: 'Well?', caller: { user: 'petra.k' } })
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, callOnAndOn))
  times.length = 0
  left = CALLS
  const start = performance.now()
  const cpu = process.cpuUsage()
  await Promise.all(Array.from({ length: IN_FLIGHT }, callOnAndOn))
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  await runtime.close()
  if (times.length !== CALLS) throw new Error(`${times.length} calls were admitted, not ${CALLS}.`)
  const sorted = times.sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0
  return { perSecond: CALLS / seconds, cpu: (user + system) / 1_000 / CALLS, p50: at(0.5), p99: at(0.99) }
}

const limited = () =>
  budget({
    limits: [{ scope: 'user', usd: '1000000' }],
    prices: {
      models: { 'scripted/any': { input: '1', output: '2' } },
      source: { name: 'none', find: () => ({ known: false, nearest: null }) },
    },
  })

const middle = (values: readonly number[]) => [...values].sort((one, other) => one - other)[values.length >> 1] ?? 0
const median = (rows: readonly Measured[]): Measured => ({
  perSecond: middle(rows.map((row) => row.perSecond)),
  cpu: middle(rows.map((row) => row.cpu)),
  p50: middle(rows.map((row) => row.p50)),
  p99: middle(rows.map((row) => row.p99)),
})

const without: Measured[] = []
const withBudget: Measured[] = []
// one behind the other, so that what the machine does beside it meets both
for (let round = 0; round < ROUNDS; round++) {
  without.push(await measure([]))
  withBudget.push(await measure([limited()]))
}
const [plain, held] = [median(without), median(withBudget)]
const line = (name: string, value: string) => process.stdout.write(`${name.padEnd(34)}${value.padStart(10)}\n`)
line('runs in flight', String(IN_FLIGHT))
line('calls of a measurement', String(CALLS))
line('calls a second, no budget', plain.perSecond.toFixed(0))
line('admissions a second, one limit', held.perSecond.toFixed(0))
line('ratio of the two', (held.perSecond / plain.perSecond).toFixed(2))
line('ratio of their processor time', (plain.cpu / held.cpu).toFixed(2))
line('p50 of the gate, ms', held.p50.toFixed(2))
line('p99 of the gate, ms', held.p99.toFixed(2))
