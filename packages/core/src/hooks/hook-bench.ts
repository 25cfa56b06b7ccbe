import type { Caller } from '../context/caller.js'
import { normalizeCaller } from '../context/caller.js'
import type { Frame, RunFacts, TreeState } from '../context/frame.js'
import { currentFrame, runInFrame } from '../context/frame.js'
import type { OfferedRunContext } from '../context/run-context.js'
import { bindRunContext } from '../context/run-context.js'
import type { SluiceError } from '../errors/sluice-error.js'
import type { Clock } from '../internal/clock.js'
import { Deadlines } from '../internal/deadlines.js'
import type { Ids } from '../internal/ids.js'
import type { JsonValue } from '../internal/json.js'
import type { Logger } from '../internal/logger.js'
import { StopSource } from '../internal/stop-source.js'
import type { Store } from '../store/store.js'
import type { PluginList } from './check-plugins.js'
import { applyPlugins } from './apply-plugins.js'
import { askGates } from './ask-gates.js'
import { AskingState } from './asking-context.js'
import { augmentPrompt } from './augment-prompt.js'
import type { BenchFacts } from './bench-context.js'
import { benchClosingContext, benchGateContext, benchObserverContext } from './bench-context.js'
import type { GateContexts, GatePoint, HookPoint, ObserverContexts, ObserverPoint } from './hook-points.js'
import { HOOK_POINTS } from './hook-points.js'
import type { ObserverHealth } from './observe.js'
import { observe } from './observe.js'
import type { GateAnswer, GateReceipt } from './receipt.js'

/** What a bench needs; the same things that a runtime gives to its plugins. */
export interface HookBenchParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** Milliseconds. @default 5000 */
  readonly hookTimeoutMs?: number
  /** Milliseconds. @default 5000 */
  readonly observerTimeoutMs?: number
}

/** Facts of an asking; what is left out gets a plain default. `args` without a digest gets its own. */
export type GateInput<Point extends GatePoint> = Partial<Omit<GateContexts[Point], 'signal' | 'answers'>>
/** Facts that an observer is told; what is left out of the common ones gets a plain default. */
export type ObserverInput<Point extends ObserverPoint> = Partial<ObserverContexts[Point]>

/** Where an asking happens, and in whose name. */
export interface BenchPlace {
  readonly caller?: Caller
  readonly runContext?: OfferedRunContext
  /** Stops the tree when it fires: an asking that waits ends `aborted`. */
  readonly signal?: AbortSignal
}

/** What the gates of one point answered. */
export interface BenchAnswer {
  /** `passed`, or the answer of the gate that stopped it. */
  readonly answer: GateAnswer
  /** What the run would have got from the gate that stopped it: a `Veto`, `Refusal`, `HookFailedError` ... */
  readonly error: SluiceError | undefined
  /** One row per gate that stood there, in order, as a receipt has them. */
  readonly gates: readonly GateReceipt[]
}

/** A set of plugins that is asked point by point, with no run. */
export interface HookBench {
  /** The points that are tapped, in the order of the life of a run. */
  readonly points: readonly HookPoint[]
  /** Errors of observers, and observers that were late. */
  readonly health: Readonly<ObserverHealth>
  /** Asks all gates of a point once, as the runtime does; a `Wait` is an answer here and is not waited for. Never rejects. */
  ask<Point extends GatePoint>(point: Point, input?: GateInput<Point>, place?: BenchPlace): Promise<BenchAnswer>
  /** Tells all observers of a point; resolves when they are done or late. */
  tell<Point extends ObserverPoint>(point: Point, input?: ObserverInput<Point>, place?: BenchPlace): Promise<void>
  /** Runs the prompt chain. */
  augment(prompt: string | undefined, input?: BenchFacts, place?: BenchPlace): Promise<string | undefined>
  /** `host.run.state` of a tree by plugin key; to carry on with another bench, give it to its `restore`. */
  runState(rootExecutionId: string): Readonly<Record<string, JsonValue>>
  restore(rootExecutionId: string, state: Readonly<Record<string, JsonValue>>): void
  /** Disposes the plugins and ends all deadlines; returns what their `dispose` threw. */
  dispose(): Promise<readonly unknown[]>
}

const TIMEOUT_MS = 5_000

/**
 * Applies plugins as a runtime does and asks their hook points one by one, with no run, no agent and no provider: for tests
 * of plugins. `host.run.state` lives per `rootExecutionId`, from its first asking to its `afterExecution`.
 *
 * @throws HOOK_REGISTRATION, INVALID_CONFIG, DUPLICATE_NAME as `createRuntime` does
 */
export async function createHookBench(plugins: PluginList, parts: HookBenchParts): Promise<HookBench> {
  const { clock, logger } = parts
  const runtimeKey = {}
  const timeouts = {
    hookTimeoutMs: parts.hookTimeoutMs ?? TIMEOUT_MS,
    observerTimeoutMs: parts.observerTimeoutMs ?? TIMEOUT_MS,
  }
  const origin = { kind: 'explicit', path: null, digest: null } as const
  const set = await applyPlugins(plugins, origin, { ...parts, ...timeouts, runtimeKey })
  const deadlines = new Deadlines(clock)
  const health: ObserverHealth = { errors: 0, late: 0, lastError: null }
  const observing = {
    clock,
    deadlines,
    logger,
    health,
    observerTimeoutMs: timeouts.observerTimeoutMs,
    misses: new Map<string, number>(),
  }
  const trees = new Map<string, TreeState>()

  function treeOf(rootExecutionId: string): TreeState {
    let tree = trees.get(rootExecutionId)
    if (tree === undefined) {
      tree = { state: new Map(), stateOpen: true }
      trees.set(rootExecutionId, tree)
    }
    return tree
  }

  function frameFor(facts: BenchFacts, place: BenchPlace, gate: Frame['gate'], recorded: boolean): Frame {
    const caller = normalizeCaller(place.caller)
    const run: RunFacts = {
      agentId: facts.agentId ?? null,
      agentCode: facts.agentCode ?? null,
      executionId: facts.executionId ?? null,
      parentExecutionId: facts.parentExecutionId ?? null,
      rootExecutionId: facts.rootExecutionId,
      depth: facts.depth ?? 0,
      sessionId: facts.sessionId ?? null,
      createdBy: facts.createdBy ?? null,
      runContext: bindRunContext(undefined, place.runContext),
    }
    const tree = treeOf(facts.rootExecutionId)
    return {
      runtimeKey,
      outer: currentFrame(),
      tree,
      caller,
      // before the record exists there is no execution context (H-17)
      run: recorded ? run : undefined,
      requestId: facts.requestId ?? undefined,
      gate,
      scope: undefined,
    }
  }

  const tapped = new Set(set.plugins.flatMap((plugin) => plugin.taps.map((tap) => tap.point)))
  const points = (Object.keys(HOOK_POINTS) as HookPoint[]).filter((point) => tapped.has(point))

  return {
    points: Object.freeze(points),
    health,
    async ask(point, input = {}, place = {}) {
      const state = new AskingState()
      const context = benchGateContext(point, input, normalizeCaller(place.caller), state)
      const stops = new StopSource()
      const onAbort = () => stops.stop(place.signal?.reason)
      if (place.signal?.aborted === true) onAbort()
      place.signal?.addEventListener('abort', onAbort, { once: true })
      const gates: GateReceipt[] = []
      const frame = frameFor(context, place, { point, effectId: context.effectId }, point !== 'beforeExecution')
      const stop = await runInFrame(frame, () =>
        askGates({ clock, deadlines, stops, logger }, point, set.gates[point], context, state, gates),
      )
      place.signal?.removeEventListener('abort', onAbort)
      return Object.freeze({ answer: stop?.answer ?? 'passed', error: stop?.error, gates: Object.freeze(gates) })
    },
    async tell(point, input = {}, place = {}) {
      const state = new AskingState()
      const caller = normalizeCaller(place.caller)
      const closing = point !== 'onEvent'
      const context = closing ? benchClosingContext(input, caller, state) : benchObserverContext(input, caller)
      await runInFrame(frameFor(context, place, undefined, true), () =>
        observe(observing, set.observers[point], context, true, closing ? state : undefined),
      )
      if (point === 'afterExecution') trees.delete(context.rootExecutionId)
    },
    async augment(prompt, input, place = {}) {
      const context = benchObserverContext(input ?? {}, normalizeCaller(place.caller))
      return runInFrame(frameFor(context, place, undefined, true), () =>
        augmentPrompt(observing, set.prompt, prompt, context),
      )
    },
    runState: (rootExecutionId) => Object.fromEntries(trees.get(rootExecutionId)?.state ?? []),
    restore(rootExecutionId, state) {
      const tree = treeOf(rootExecutionId)
      for (const [key, value] of Object.entries(state)) tree.state.set(key, value)
    },
    async dispose() {
      const errors = await set.dispose()
      deadlines.close()
      return errors
    },
  }
}
