import type {
  BenchAnswer,
  BenchPlace,
  Clock,
  GateInput,
  GatePoint,
  Ids,
  Logger,
  PluginInstance,
  Store,
} from '@sluice/core'
import { createHookBench, createMemoryStore, systemClock } from '@sluice/core'
import { capturedLogger } from '../captured-logger.js'
import { checkNames } from '../check-names.js'
import { fakeIds } from '../fake-ids.js'
import { testkitError } from '../testkit-error.js'
import { factNames, GATE_POINTS } from './gate-facts.js'

/** A plugin, or the factory that makes it from `options`. */
export type GatePlugin = PluginInstance | ((...args: never[]) => PluginInstance)

/** Options of {@link callGate}. */
export interface CallGateOptions<Plugin extends GatePlugin = GatePlugin> extends BenchPlace {
  /** Options of the plugin, where its factory was given. */
  readonly options?: Plugin extends (...args: infer Args) => PluginInstance ? Args[0] : never
  /** @default a fresh memory store */
  readonly store?: Store
  /** @default a wall clock that stands at 2026-01-01T00:00:00Z; deadlines run in real time */
  readonly clock?: Clock
  /** @default fakeIds() */
  readonly ids?: Ids
  /** @default one that keeps its lines to itself */
  readonly logger?: Logger
  /** Deadline of a gate, milliseconds. @default 5000 */
  readonly timeoutMs?: number
}

/** What the gate answered. */
export interface GateResult extends BenchAnswer {
  /** Code of the answer; `undefined` where it passed. */
  readonly code: string | undefined
}

type MakePlugin = (options?: unknown) => PluginInstance

const OPTIONS = ['options', 'caller', 'runContext', 'signal', 'store', 'clock', 'ids', 'logger', 'timeoutMs']
const STANDING_AT = Date.UTC(2026, 0, 1)

/**
 * Asks one gate point of one plugin, with no run, no agent and no provider, through the machinery that a runtime uses: the
 * options are validated, the taps are asked by stage, awaited and timed. It gives what was answered and never throws it.
 *
 * @example
 * const result = await callGate(deskRules, 'beforeToolCall', { agentCode: 'ap_desk', toolCode: 'ap_approve_invoice' })
 * expect(result).toBeVetoed({ code: 'AP_CLERK_REQUIRED' })
 *
 * @throws GATE_UNKNOWN, GATE_NOT_TAPPED; OPTION_UNKNOWN for a fact or an option that there is not; what applying the plugin throws
 */
export async function callGate<Plugin extends GatePlugin, Point extends GatePoint>(
  plugin: Plugin,
  point: Point,
  input: GateInput<Point> = {},
  options: CallGateOptions<Plugin> = {},
): Promise<GateResult> {
  if (!GATE_POINTS.includes(point)) {
    const known = GATE_POINTS.join(', ')
    throw testkitError('GATE_UNKNOWN', `"${String(point).slice(0, 100)}" is no gate point; there are ${known}.`)
  }
  checkNames(`The facts of ${point}`, input, factNames(point))
  checkNames('The options of callGate', options, OPTIONS)
  const instance = typeof plugin === 'function' ? (plugin as MakePlugin)(options.options) : (plugin as PluginInstance)
  const clock = options.clock ?? { ...systemClock, now: () => STANDING_AT }
  const bench = await createHookBench([instance], {
    store: options.store ?? createMemoryStore({ clock }),
    clock,
    ids: options.ids ?? fakeIds(),
    logger: options.logger ?? capturedLogger(),
    ...(options.timeoutMs === undefined ? {} : { hookTimeoutMs: options.timeoutMs }),
  })
  try {
    if (!bench.points.includes(point)) {
      throw testkitError(
        'GATE_NOT_TAPPED',
        `The plugin "${instance.name}" does not tap ${point}; nothing was asked. It taps ${bench.points.join(', ')}.`,
      )
    }
    const answer = await bench.ask(point, input, options)
    return Object.freeze({ ...answer, code: answer.error?.code })
  } finally {
    await bench.dispose()
  }
}
