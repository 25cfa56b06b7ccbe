import { AsyncSeriesHook } from 'tapable'
import { SluiceError } from '../errors/sluice-error.js'
import type { Hooks, TapOptions } from './hook-types.js'
import { HOOK_POINTS } from './hook-points.js'
import type { HookPoint } from './hook-points.js'
import type { CompiledTap } from './hook-set.js'
import { Stage } from './stage.js'

interface RawTap {
  readonly name: string
  readonly stage: number
  readonly timeoutMs: number | undefined
  readonly before: readonly string[]
  readonly kind: CompiledTap['kind']
  readonly fn: CompiledTap['fn']
}

/** The hook objects of one plugin, and what it registered on them. */
export interface TapSurface {
  readonly hooks: Hooks
  /** After this, every registration is refused with `HOOKS_SEALED`. */
  seal(): void
  /** The taps in the plugin's own order; throws `HOOK_REGISTRATION` for an unknown `before`. */
  taps(
    plugin: { key: string; shadow: boolean },
    timeouts: { hookTimeoutMs: number; observerTimeoutMs: number },
  ): CompiledTap[]
}

const OPTION_NAMES = new Set(['name', 'stage', 'before', 'timeoutMs'])
/** Beyond this a timer of the platform would fire at once. */
const LONGEST_TIMEOUT_MS = 2_147_483_647

/**
 * Makes the hook objects of one plugin: instances of tapable's class whose registration methods are ours. tapable's own
 * dispatch is never used: it does not await a plain `tap` with an async function, and its veto would be lost.
 */
export function createTapSurface(plugin: string): TapSurface {
  let sealed = false
  const raw = new Map<HookPoint, RawTap[]>()

  const fault = (point: HookPoint, what: string, hint: string): SluiceError =>
    new SluiceError('HOOK_REGISTRATION', `Plugin "${plugin}" cannot tap ${point}: ${what}`, {
      hint,
      details: { plugin, point },
    })

  const refuseWhenSealed = (point: HookPoint): void => {
    if (sealed) {
      throw new SluiceError(
        'HOOKS_SEALED',
        `Plugin "${plugin}" tapped ${point} after apply had ended; the tap was not taken.`,
        {
          hint: 'Register all taps before apply returns (or before its promise settles).',
          details: { plugin, point },
        },
      )
    }
  }

  function register(point: HookPoint, kind: CompiledTap['kind'], options: unknown, fn: unknown): void {
    refuseWhenSealed(point)
    if (typeof fn !== 'function')
      throw fault(point, `the tap is not a function but ${describe(fn)}.`, 'Give a function as the second argument.')
    const taps = raw.get(point) ?? []
    taps.push({ ...readOptions(options, (what, hint) => fault(point, what, hint)), kind, fn: fn as CompiledTap['fn'] })
    raw.set(point, taps)
  }

  const hooks: Record<string, unknown> = {}
  for (const point of Object.keys(HOOK_POINTS) as HookPoint[]) {
    const hook = new AsyncSeriesHook<[unknown]>(['context'], point)
    const refused = (method: string) => () => {
      throw fault(point, `${method} is not available.`, 'Use tap, tapPromise or tapAsync.')
    }
    Object.assign(hook, {
      tap: (options: unknown, fn: unknown) => register(point, 'tap', options, fn),
      tapPromise: (options: unknown, fn: unknown) => register(point, 'tapPromise', options, fn),
      tapAsync: (options: unknown, fn: unknown) => register(point, 'tapAsync', options, fn),
      intercept: refused('intercept'),
      withOptions: refused('withOptions'),
      call: refused('call'),
      callAsync: refused('callAsync'),
      promise: refused('promise'),
    })
    hooks[point] = Object.freeze(hook)
  }

  return {
    hooks: Object.freeze(hooks) as unknown as Hooks,
    seal: () => {
      sealed = true
    },
    taps({ key, shadow }, timeouts) {
      const compiled: CompiledTap[] = []
      for (const [point, taps] of raw) {
        const gate = HOOK_POINTS[point].kind === 'gate'
        for (const tap of orderWithin(taps, (what, hint) => fault(point, what, hint))) {
          compiled.push(
            Object.freeze({
              plugin: key,
              name: tap.name,
              point,
              origin: Object.freeze({ plugin: key, point }),
              stage: tap.stage,
              kind: tap.kind,
              timeoutMs: tap.timeoutMs ?? (gate ? timeouts.hookTimeoutMs : timeouts.observerTimeoutMs),
              shadow,
              passed: gate
                ? Object.freeze({ plugin: key, point, stage: tap.stage, answer: 'passed', ms: 0 })
                : undefined,
              fn: tap.fn,
            }),
          )
        }
      }
      return compiled
    },
  }
}

function readOptions(
  options: unknown,
  fault: (what: string, hint: string) => SluiceError,
): Omit<RawTap, 'kind' | 'fn'> {
  if (typeof options === 'string') return readOptions({ name: options }, fault)
  if (options === null || typeof options !== 'object' || Array.isArray(options)) {
    throw fault(`the options are ${describe(options)}.`, 'Give a name, or { name, stage, before, timeoutMs }.')
  }
  const unknown = Object.keys(options).filter((key) => !OPTION_NAMES.has(key))
  if (unknown.length > 0)
    throw fault(
      `unknown option ${unknown.map((key) => `"${key}"`).join(', ')}.`,
      'Known are name, stage, before and timeoutMs.',
    )
  const { name, stage = Stage.limit, before, timeoutMs } = options as TapOptions
  if (typeof name !== 'string' || name.trim() === '')
    throw fault('it has no name.', 'Every tap has a name: it appears in errors and receipts.')
  if (typeof stage !== 'number' || !Number.isFinite(stage))
    throw fault(`tap "${name}" has the stage ${describe(stage)}.`, 'A stage is a finite number.')
  if (stage > Stage.record)
    throw fault(
      `tap "${name}" has the stage ${stage}, above Stage.record (${Stage.record}).`,
      'Nothing stands behind the record of the intent.',
    )
  if (
    timeoutMs !== undefined &&
    !(typeof timeoutMs === 'number' && Number.isFinite(timeoutMs) && timeoutMs > 0 && timeoutMs <= LONGEST_TIMEOUT_MS)
  ) {
    throw fault(
      `tap "${name}" has the timeoutMs ${describe(timeoutMs)}.`,
      'A timeout is a finite number of milliseconds above 0.',
    )
  }
  const names = before === undefined ? [] : typeof before === 'string' ? [before] : before
  if (!Array.isArray(names) || names.some((entry) => typeof entry !== 'string')) {
    throw fault(
      `tap "${name}" has the before ${describe(before)}.`,
      'It is a name or a list of names of taps of this plugin and stage.',
    )
  }
  return { name, stage, timeoutMs, before: names }
}

/** Places each tap before the ones it names, within this plugin and one stage; otherwise the order of registration stands. */
function orderWithin(taps: readonly RawTap[], fault: (what: string, hint: string) => SluiceError): RawTap[] {
  if (taps.every((tap) => tap.before.length === 0)) return [...taps]
  const behind = (tap: RawTap, name: string): RawTap[] => {
    const named = taps.filter((other) => other !== tap && other.name === name && other.stage === tap.stage)
    if (named.length > 0) return named
    throw fault(
      `tap "${tap.name}" stands before "${name}", which this plugin does not tap at stage ${tap.stage}.`,
      'Mend the name, or drop `before`.',
    )
  }
  const after = new Map(taps.map((tap) => [tap, new Set(tap.before.flatMap((name) => behind(tap, name)))]))
  const waiting = [...taps]
  const ordered: RawTap[] = []
  while (waiting.length > 0) {
    const next = waiting.findIndex(
      (tap) => !waiting.some((other) => other !== tap && after.get(other)?.has(tap) === true),
    )
    if (next < 0) {
      const names = waiting.map((tap) => `"${tap.name}"`).join(', ')
      throw fault(`the taps ${names} stand before each other in a circle.`, 'Drop one `before`.')
    }
    ordered.push(...waiting.splice(next, 1))
  }
  return ordered
}

function describe(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : `of type ${typeof value}`
}
