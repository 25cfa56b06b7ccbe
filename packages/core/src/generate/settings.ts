import type { Faults } from '../errors/faults.js'
import { isPlainObject } from '../internal/json.js'

/** What is counted, per tree (`levels` to `tokens`), per runtime (`runsInFlight`) or per value (bytes). */
export interface Limits {
  /** Nested runs below each other. @default 25 */
  readonly levels: number
  /** Requests to providers in one tree. @default 100 */
  readonly modelCalls: number
  /** Tool calls that run in one tree. @default 200 */
  readonly toolCalls: number
  /** Milliseconds that a tree may take; time spent paused does not count. @default 900 000 (15 minutes) */
  readonly durationMs: number
  /** Input and output tokens of one tree. @default none */
  readonly tokens: number | null
  /** Top-level runs and plain calls in flight on one runtime. @default 256 */
  readonly runsInFlight: number
  /** UTF-8 bytes of a request body, and of a reply. @default 8 MiB */
  readonly requestBytes: number
  readonly replyBytes: number
  /** UTF-8 bytes of the arguments of one tool call. @default 1 MiB */
  readonly toolArgumentBytes: number
  /** Levels of nesting in the arguments of one tool call. @default 64 */
  readonly toolArgumentDepth: number
  /** Tool calls in one reply. @default 128 */
  readonly toolCallsPerReply: number
  /** UTF-8 bytes of a tool result that the model reads; longer ones are cut and marked. @default 256 KiB */
  readonly toolResultBytes: number
  /** Events that wait for the consumer of a stream. @default 10 000 */
  readonly streamBuffer: number
}

/** Milliseconds. */
export interface Timeouts {
  /** For one gate to answer. @default 5 000 */
  readonly hookTimeoutMs: number
  /** For all observers of a point together. @default 5 000 */
  readonly observerTimeoutMs: number
  /** From an abort to the end of the run, whatever a handler does. @default 5 000 */
  readonly abortGraceMs: number
  /** Between two askings of `whileInFlight`. @default 1 000 */
  readonly watchMs: number
  /** Age from which a gate's pass is asked again before a tool runs. @default 1 000 */
  readonly gateFreshMs: number
  /** Waits that gates may ask for in one tree, together. @default 0 */
  readonly maxWaitMs: number
  /** A consumer of a stream that does not read for so long ends the run. @default 60 000 */
  readonly streamIdleMs: number
}

/** Retry of failed model calls, above the adapters: each is a new attempt that passes the gates. */
export interface RetrySettings {
  /** Attempts in all; 1 means no retry. @default 1 */
  readonly attempts: number
  /** First backoff, milliseconds; doubles, with jitter. A wait that the provider asks for (retry-after) is kept instead. @default 500 */
  readonly backoffMs: number
  /** Longest wait, milliseconds. A provider that asks for a longer one is not asked again by this call. @default 30 000 */
  readonly maxBackoffMs: number
}

/** Settings of the model and tool loop; a call or an agent may set its own. */
export interface LoopSettings {
  /** Tool calls with a result in one call. @default 10 */
  readonly maxToolCalls: number
  /** Output tokens of one request, reasoning included. @default 8 192 */
  readonly maxOutputTokens: number
  /** What follows when a handler throws. `provider`: as the provider's row says. @default 'provider' */
  readonly onToolError: 'throw' | 'return' | 'provider'
  /** What follows at the bound of tool calls. @default 'provider' */
  readonly onToolLimit: 'throw' | 'finish' | 'provider'
  /** What follows when the model asks for a tool that does not exist or sends unusable arguments. @default 'return' */
  readonly onInvalidCall: 'throw' | 'return'
  /** Tools with `effect: 'read'` that may run together. @default 1 */
  readonly toolConcurrency: number
  /** Give the model the raw text of tool errors. @default false */
  readonly exposeToolErrors: boolean
  readonly retry: RetrySettings
  /**
   * Model references (`provider/model`) tried in turn when the first one keeps failing. Raw options and the connection of a call
   * go to the provider of its first model only. @default []
   */
  readonly fallback: readonly string[]
  /** What a second turn of a session does while one is running. @default 'queue' */
  readonly sameSession: 'queue' | 'refuse'
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  levels: 25,
  modelCalls: 100,
  toolCalls: 200,
  durationMs: 900_000,
  tokens: null,
  runsInFlight: 256,
  requestBytes: 8_388_608,
  replyBytes: 8_388_608,
  toolArgumentBytes: 1_048_576,
  toolArgumentDepth: 64,
  toolCallsPerReply: 128,
  toolResultBytes: 262_144,
  streamBuffer: 10_000,
})
export const DEFAULT_TIMEOUTS: Timeouts = Object.freeze({
  hookTimeoutMs: 5_000,
  observerTimeoutMs: 5_000,
  abortGraceMs: 5_000,
  watchMs: 1_000,
  gateFreshMs: 1_000,
  maxWaitMs: 0,
  streamIdleMs: 60_000,
})
export const DEFAULT_SETTINGS: LoopSettings = Object.freeze({
  maxToolCalls: 10,
  maxOutputTokens: 8_192,
  onToolError: 'provider',
  onToolLimit: 'provider',
  onInvalidCall: 'return',
  toolConcurrency: 1,
  exposeToolErrors: false,
  retry: Object.freeze({ attempts: 1, backoffMs: 500, maxBackoffMs: 30_000 }),
  fallback: Object.freeze([]),
  sameSession: 'queue',
})

const LONGEST_TIMER_MS = 2_147_483_647
type Check = (value: unknown) => string | undefined

const count =
  (least: number): Check =>
  (value) =>
    Number.isSafeInteger(value) && (value as number) >= least
      ? undefined
      : `must be a whole number of at least ${least}`
const duration =
  (least: number): Check =>
  (value) =>
    typeof value === 'number' && Number.isFinite(value) && value >= least && value <= LONGEST_TIMER_MS
      ? undefined
      : `must be a number of milliseconds from ${least} to ${LONGEST_TIMER_MS}`
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string) ? undefined : `must be one of ${values.map((entry) => `'${entry}'`).join(', ')}`
const bool: Check = (value) => (typeof value === 'boolean' ? undefined : 'must be true or false')

const LIMIT_CHECKS: Readonly<Record<keyof Limits, Check>> = {
  levels: count(0),
  modelCalls: count(0),
  toolCalls: count(0),
  durationMs: duration(1),
  tokens: (value) => (value === null ? undefined : count(0)(value)),
  runsInFlight: count(0),
  requestBytes: count(0),
  replyBytes: count(0),
  toolArgumentBytes: count(0),
  toolArgumentDepth: count(1),
  toolCallsPerReply: count(0),
  toolResultBytes: count(64),
  streamBuffer: count(1),
}
const TIMEOUT_CHECKS: Readonly<Record<keyof Timeouts, Check>> = {
  hookTimeoutMs: duration(1),
  observerTimeoutMs: duration(1),
  abortGraceMs: duration(0),
  watchMs: duration(1),
  gateFreshMs: duration(0),
  maxWaitMs: duration(0),
  streamIdleMs: duration(1),
}
const SETTING_CHECKS: Readonly<Record<keyof LoopSettings, Check>> = {
  maxToolCalls: count(0),
  maxOutputTokens: count(1),
  onToolError: oneOf('throw', 'return', 'provider'),
  onToolLimit: oneOf('throw', 'finish', 'provider'),
  onInvalidCall: oneOf('throw', 'return'),
  toolConcurrency: count(1),
  exposeToolErrors: bool,
  retry: checkRetry,
  fallback: (value) =>
    Array.isArray(value) && value.every((entry) => typeof entry === 'string' && entry.indexOf('/') > 0)
      ? undefined
      : 'must be a list of model references like "openai/gpt-5"',
  sameSession: oneOf('queue', 'refuse'),
}

function checkRetry(value: unknown): string | undefined {
  if (!isPlainObject(value)) return 'must be an object { attempts, backoffMs, maxBackoffMs }'
  const checks: Record<string, Check> = { attempts: count(1), backoffMs: duration(0), maxBackoffMs: duration(0) }
  for (const key of Object.keys(value)) {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined
    const fault =
      check === undefined ? `has the unknown key "${key}"` : value[key] === undefined ? undefined : check(value[key])
    if (fault !== undefined) return check === undefined ? fault : `${key} ${fault}`
  }
  return undefined
}

function read<Shape extends object>(
  kind: string,
  defaults: Shape,
  checks: Readonly<Record<keyof Shape, Check>>,
  given: unknown,
  faults: Faults,
): Shape {
  if (given === undefined) return defaults
  if (!isPlainObject(given)) {
    faults.add(kind, 'must be a plain object')
    return defaults
  }
  const next = { ...defaults } as Record<string, unknown>
  for (const key of Object.keys(given)) {
    const value = given[key]
    if (value === undefined) continue
    const check = Object.hasOwn(checks, key) ? checks[key as keyof Shape] : undefined
    const fault = check === undefined ? `is not known; known are ${Object.keys(checks).join(', ')}` : check(value)
    if (fault !== undefined) faults.add(`${kind}.${key}`, fault)
    else
      next[key] =
        key === 'retry'
          ? Object.freeze({ ...(next.retry as object), ...(value as object) })
          : key === 'fallback'
            ? Object.freeze([...(value as string[])])
            : value
  }
  return Object.freeze(next) as unknown as Shape
}

/** Reads `limits` of `createRuntime`; unknown keys and unfit values are added to `faults`. */
export function readLimits(given: unknown, faults: Faults): Limits {
  return read('limits', DEFAULT_LIMITS, LIMIT_CHECKS, given, faults)
}

/** Reads `limits` of one run, which can only lower those of the runtime: a higher figure is ignored. */
export function lowerLimits(base: Limits, given: unknown, faults: Faults): Limits {
  if (given === undefined) return base
  const wanted = read('limits', base, LIMIT_CHECKS, given, faults)
  const next: Record<string, number | null> = {}
  for (const key of Object.keys(base) as (keyof Limits)[]) {
    const own = base[key]
    const asked = wanted[key]
    next[key] = own === null ? asked : asked === null ? own : Math.min(own, asked)
  }
  return Object.freeze(next) as unknown as Limits
}

export function readTimeouts(given: unknown, faults: Faults): Timeouts {
  return read('timeouts', DEFAULT_TIMEOUTS, TIMEOUT_CHECKS, given, faults)
}

/** Reads settings of the runtime, an agent or a call over `base`. */
export function readSettings(base: LoopSettings, given: unknown, faults: Faults, kind = 'settings'): LoopSettings {
  return read(kind, base, SETTING_CHECKS, given, faults)
}
