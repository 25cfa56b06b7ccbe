import type { GateAnswer, HookPoint, PluginHost, PluginInstance } from '@sluice/core'
import { definePlugin, HOOK_POINTS, Land, Pause, Veto } from '@sluice/core'
import { testkitError } from '../testkit-error.js'
import type { FakeClock } from '../time/fake-clock.js'

/** What a failing tap does, told from its deadline. */
interface Behaviour {
  /** What a gate that does this answers. */
  readonly answer: GateAnswer
  /** Throws, returns or takes its time. `timeoutMs` is the deadline of the tap. */
  act(host: PluginHost, timeoutMs: number, point: HookPoint): unknown
}

const HOSTILE = new Proxy(
  {},
  {
    get: () => {
      throw new Error('cannot be read')
    },
    getPrototypeOf: () => {
      throw new Error('cannot be read')
    },
    ownKeys: () => {
      throw new Error('cannot be read')
    },
    getOwnPropertyDescriptor: () => {
      throw new Error('cannot be read')
    },
  },
)

const later = (host: PluginHost, ms: number, settle: () => void) =>
  new Promise<void>((resolve, reject) => {
    host.clock.setTimeout(() => {
      try {
        settle()
        resolve()
      } catch (error) {
        reject(error as Error)
      }
    }, ms)
  })

const stop = () => {
  throw new Veto('FAILING_PLUGIN', 'The failing plugin vetoes.')
}

const throws = (value: unknown): Behaviour => ({
  answer: 'failed',
  act: () => {
    throw value
  },
})
const rejects = (value: unknown): Behaviour => ({ answer: 'failed', act: () => Promise.reject(value) })
const returns = (value: unknown): Behaviour => ({ answer: 'failed', act: () => value })

/** Keeps the thread until the deadline is over; a fake clock is moved instead, without firing its timers. */
function block(host: PluginHost, timeoutMs: number): void {
  const clock = host.clock as Partial<FakeClock> & PluginHost['clock']
  if (clock.block !== undefined) {
    clock.block(timeoutMs + 1)
    return
  }
  const start = clock.monotonic()
  while (clock.monotonic() - start <= timeoutMs) {}
}

const BEHAVIOURS = {
  // (a) throws
  throw: throws(new Error('the failing plugin throws')),
  'throw-string': throws('a string'),
  'throw-undefined': throws(undefined),
  'throw-null': throws(null),
  'throw-zero': throws(0),
  'throw-object': throws({ without: 'a message' }),
  'throw-hostile': throws(HOSTILE),
  // (b) rejects
  reject: rejects(new Error('the failing plugin rejects')),
  'reject-string': rejects('a string'),
  'reject-undefined': rejects(undefined),
  'reject-null': rejects(null),
  'reject-zero': rejects(0),
  'reject-object': rejects({ without: 'a message' }),
  // (c) never settles
  hang: { answer: 'timed_out', act: () => new Promise(() => {}) },
  // (d) settles after its deadline
  'late-allow': { answer: 'timed_out', act: (host, timeoutMs) => later(host, timeoutMs + 1, () => {}) },
  'late-veto': { answer: 'timed_out', act: (host, timeoutMs) => later(host, timeoutMs + 1, stop) },
  // (e) keeps the event loop busy past its deadline
  block: { answer: 'timed_out', act: (host, timeoutMs) => block(host, timeoutMs) },
  'block-veto': {
    answer: 'timed_out',
    act: (host, timeoutMs) => {
      block(host, timeoutMs)
      stop()
    },
  },
  // gives a value, which is no answer
  'return-false': returns(false),
  'return-true': returns(true),
  'return-null': returns(null),
  'return-zero': returns(0),
  'return-object': returns({ allow: true }),
  'resolve-false': returns(Promise.resolve(false)),
  // an answer that this point does not take
  'wrong-answer': {
    answer: 'failed',
    act: (_host, _timeoutMs, point) => {
      throw point === 'beforeModelCall' ? new Pause('WRONG') : new Land('WRONG')
    },
  },
} as const satisfies Record<string, Behaviour>

/** A way of failing. Those of CASE-01 and more. */
export type Failure = keyof typeof BEHAVIOURS

/** Every way of failing, with what a gate that fails so answers (`failed` or `timed_out`): a table for tests. */
export const FAILURES: readonly { readonly as: Failure; readonly answer: GateAnswer }[] = Object.freeze(
  (Object.keys(BEHAVIOURS) as Failure[]).map((as) => Object.freeze({ as, answer: BEHAVIOURS[as].answer })),
)

/** Options of {@link failingPlugin}. */
export interface FailingPluginOptions {
  readonly point: HookPoint
  readonly as: Failure
  /** @default 'tap' */
  readonly via?: 'tap' | 'tapPromise' | 'tapAsync'
  /** @default 'failing-plugin' */
  readonly name?: string
  /** @default 0 */
  readonly stage?: number
  /** Deadline of the tap, milliseconds. @default 50 */
  readonly timeoutMs?: number
  /** Called each time the tap is asked. */
  readonly onAsked?: () => void
}

const TIMEOUT_MS = 50

/**
 * A plugin that fails on purpose: at one point, in one of the ways of {@link FAILURES}, through one way of tapping. A runtime
 * stops at it in every row if the point is a gate, and goes on if it is an observer.
 *
 * @throws FAILURE_UNKNOWN
 */
export function failingPlugin(options: FailingPluginOptions): PluginInstance {
  if (!Object.hasOwn(BEHAVIOURS, options.as)) {
    throw testkitError(
      'FAILURE_UNKNOWN',
      `"${String(options.as).slice(0, 100)}" is no way of failing; there are ${Object.keys(BEHAVIOURS).join(', ')}.`,
    )
  }
  if (!Object.hasOwn(HOOK_POINTS, options.point)) {
    const known = Object.keys(HOOK_POINTS).join(', ')
    throw testkitError(
      'FAILURE_UNKNOWN',
      `"${String(options.point).slice(0, 100)}" is no hook point to fail at; there are ${known}.`,
    )
  }
  const behaviour: Behaviour = BEHAVIOURS[options.as]
  const via = options.via ?? 'tap'
  const timeoutMs = options.timeoutMs ?? TIMEOUT_MS
  const name = options.name ?? 'failing-plugin'
  const make = definePlugin({
    name,
    hookApi: 1,
    apply(hooks, host) {
      const act = () => {
        options.onAsked?.()
        return behaviour.act(host, timeoutMs, options.point)
      }
      const tapOptions = {
        name: options.as,
        timeoutMs,
        ...(options.stage === undefined ? {} : { stage: options.stage }),
      }
      // on purpose past the types, which refuse most of this
      const hook = hooks[options.point] as unknown as Record<typeof via, (options: object, fn: unknown) => void>
      hook[via](tapOptions, via === 'tapAsync' ? withCallback(act) : act)
    },
  })
  return make()
}

/** The same behaviour with a callback: what a promise would settle with goes to it, a returned value is returned. */
function withCallback(act: () => unknown) {
  return (...args: readonly unknown[]): unknown => {
    const callback = args.at(-1) as (error?: unknown, value?: unknown) => void
    const returned = act()
    if (!(returned instanceof Promise)) {
      // code that blocked and then has nothing to say calls back
      if (returned === undefined) callback()
      return returned
    }
    // `null` and `undefined` are no errors to a callback: such a rejection can only be shown by the promise itself
    return returned.then(
      (value: unknown) => callback(undefined, value),
      (error: unknown) => {
        if (error === null || error === undefined) throw error
        callback(error)
      },
    )
  }
}
