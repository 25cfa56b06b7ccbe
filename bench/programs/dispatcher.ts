// One gate point, asked as the loop asks it: frame, context, dispatch, deadlines, receipt. The dispatcher is no public
// export, so this file is bundled with the sources of core before it is measured (see suites/dispatch.ts).
import { runInFrame } from '../../packages/core/src/context/frame.js'
import type { CallScope } from '../../packages/core/src/generate/call-scope.js'
import { askPoint, Effect, receiptOf, settleGates } from '../../packages/core/src/generate/effect.js'
import { ModelGateContext } from '../../packages/core/src/generate/effect-contexts.js'
import type { ModelFacts } from '../../packages/core/src/generate/effect-contexts.js'
import type { EffectFacts } from '../../packages/core/src/hooks/asking-context.js'
import type { CompiledTap } from '../../packages/core/src/hooks/hook-set.js'
import type { Receipt } from '../../packages/core/src/hooks/receipt.js'
import { systemClock } from '../../packages/core/src/internal/clock.js'
import { Deadlines } from '../../packages/core/src/internal/deadlines.js'
import { StopSource } from '../../packages/core/src/internal/stop-source.js'

const TIMEOUT_MS = 5_000
const EXECUTION = '01940000-0000-7000-8000-000000000000'
const nothing = (): void => undefined
const logger = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const seen = { taps: 0 }

const facts: EffectFacts = {
  effectId: `${EXECUTION}/m1`,
  attempt: 1,
  executionId: EXECUTION,
  rootExecutionId: EXECUTION,
  parentExecutionId: null,
  requestId: '00000000000000000000000000000000',
  depth: 0,
  tenant: null,
  labels: [],
  agentId: EXECUTION,
  agentCode: 'ap_desk',
  createdBy: 'petra.k',
  sessionId: EXECUTION,
  appId: null,
}
const model: ModelFacts = {
  provider: 'openai',
  model: 'model',
  round: 1,
  maxOutputTokens: 8192,
  tools: ['get_invoice', 'get_vendor', 'approve_invoice'],
  hostedTools: [],
  landing: false,
  inputTokensAtMost: () => 612,
}

function tapOf(index: number, kind: 'sync' | 'async'): CompiledTap {
  const plugin = `bench-plugin-${index}`
  const touch = ({ depth }: { readonly depth: number }): void => {
    seen.taps += 1 + depth
  }
  const touchLater = async ({ depth }: { readonly depth: number }): Promise<void> => {
    seen.taps += 1 + depth
  }
  return Object.freeze({
    plugin,
    name: 'bench',
    point: 'beforeModelCall' as const,
    origin: Object.freeze({ plugin, point: 'beforeModelCall' }),
    stage: 0,
    kind: kind === 'sync' ? ('tap' as const) : ('tapPromise' as const),
    timeoutMs: TIMEOUT_MS,
    shadow: false,
    passed: Object.freeze({ plugin, point: 'beforeModelCall', stage: 0, answer: 'passed' as const, ms: 0 }),
    fn: (kind === 'sync' ? touch : touchLater) as CompiledTap['fn'],
  })
}

/** Asks one point `times` times in a row; gives back nanoseconds of CPU an asking. */
export async function askings(taps: number, kind: 'sync' | 'async', times: number): Promise<number> {
  const list = Object.freeze(Array.from({ length: taps }, (_, index) => tapOf(index, kind)))
  const deadlines = new Deadlines(systemClock, [TIMEOUT_MS])
  const run = { facts: { ...facts, runContext: {} }, stops: new StopSource() }
  const tree = { options: { caller: {}, tenant: null }, rootExecutionId: EXECUTION, state: new Map(), stateOpen: true }
  const call = {
    run,
    tree,
    parts: { runtimeKey: {}, clock: systemClock, deadlines, logger },
    clock: systemClock,
    requestId: facts.requestId,
    gatePoints: undefined,
    labels: facts.labels,
    control: { clock: systemClock, deadlines, stops: run.stops, logger },
  } as unknown as CallScope
  const frame = {
    runtimeKey: call.parts.runtimeKey,
    outer: undefined,
    tree,
    caller: {},
    run: run.facts,
    requestId: undefined,
    gate: undefined,
    scope: undefined,
  }
  const cost = await runInFrame(frame, () => measure(call, list, times))
  deadlines.close()
  return cost
}

async function measure(call: CallScope, taps: readonly CompiledTap[], times: number): Promise<number> {
  let rows = 0
  const before = process.cpuUsage()
  for (let index = 0; index < times; index++) {
    const asked = ask(call, taps)
    // what is synchronous is not awaited: a point that passes at once costs the loop no turn
    const receipt = asked instanceof Promise ? await asked : asked
    rows += receipt.askings[0]?.gates.length ?? 0
  }
  const { user, system } = process.cpuUsage(before)
  if (rows !== taps.length * times) throw new Error(`${rows} rows in ${times} receipts of ${taps.length} gates`)
  return ((user + system) * 1000) / times
}

function ask(call: CallScope, taps: readonly CompiledTap[]): Receipt | Promise<Receipt> {
  const effect = new Effect('model_call', facts, 'openai/model', 0)
  const stop = settleGates(call, effect, (gates) =>
    askPoint(call, effect, 'beforeModelCall', taps, gates, (state) => new ModelGateContext(effect.facts, state, model)),
  )
  if (stop instanceof Promise) return stop.then((settled) => close(effect, settled))
  return close(effect, stop)
}

function close(effect: Effect, stop: unknown): Receipt {
  if (stop !== undefined) throw new Error('a gate that passes has stopped')
  return receiptOf(effect, { outcome: 'ok', sent: 'yes' }, null)
}
