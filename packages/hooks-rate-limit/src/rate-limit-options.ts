import { z } from 'zod'
import type { RateScope, RateSubject } from './rate-subject.js'

/** What a limit counts. `tokens` are input and output tokens of model calls, cached ones included. */
export type RateCount = 'runs' | 'modelCalls' | 'toolCalls' | 'tokens'

/** Names of spans: elapsed time, no calendar. A day is 24 hours, whatever the clock on the wall does. */
export type RateSpan = 'second' | 'minute' | 'hour' | 'day' | 'week'

/** One limit: `max` per span (`per`), or so many at once (`inFlight`). */
export interface LimitOptions {
  /** Names the limit in answers and in storage, 1 to 200 characters. @default `<count>:<scope>:<per or in-flight>` */
  readonly name?: string
  readonly count: RateCount
  /** Whose calls are counted together; a list combines. @default 'all' */
  readonly scope?: RateScope | readonly RateScope[]
  /**
   * Any other key, in place of `scope`; synchronous and pure, as it is asked again when the call closes. `null`: this limit
   * is not about that call. Needs a `name`.
   */
  readonly key?: (subject: RateSubject) => string | null
  /** Most that is admitted in any span of `per`. 0 blocks. Needs `per`. */
  readonly max?: number
  /** A name, or milliseconds up to 31 days. */
  readonly per?: RateSpan | number
  /** Most that is admitted at once; what comes beyond is spread evenly (GCRA). 1 to `max`. @default max */
  readonly burst?: number
  /** Most that is under way at once, in place of `max` and `per`. 0 blocks. */
  readonly inFlight?: number
  /** Answers `Wait` in place of `Veto`; how long a run may wait is the runtime's `maxWaitMs`. @default false */
  readonly wait?: boolean
}

/** Limits that the providers tell of in the headers of their replies. */
export interface ProviderQuotaOptions {
  /** Answers `Wait` in place of `Veto`. @default false */
  readonly wait?: boolean
  /** Longest that one report is believed, milliseconds up to 24 hours. @default 3_600_000 */
  readonly atMostMs?: number
}

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  readonly limits?: readonly LimitOptions[]
  /** Life of a slot in flight that nobody renews, milliseconds, 3 000 to 3 600 000. @default 30_000 */
  readonly leaseMs?: number
  /** Heeds the rate-limit headers of providers. `true` stands for the defaults. @default false */
  readonly providerQuota?: boolean | ProviderQuotaOptions
}

/** Milliseconds of the named spans. */
export const SPANS: Readonly<Record<RateSpan, number>> = Object.freeze({
  second: 1_000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
})

const LONGEST_SPAN_MS = 31 * 86_400_000
const MOST = 1_000_000_000
const SCOPES = ['all', 'tenant', 'user', 'app', 'session', 'run', 'agent', 'provider', 'model', 'tool'] as const
const scope = z.enum(SCOPES)
const amount = z.number().int().min(0).max(MOST)

const span = z.union(
  [z.enum(['second', 'minute', 'hour', 'day', 'week']), z.number().int().min(1).max(LONGEST_SPAN_MS)],
  {
    error: `must be second, minute, hour, day, week, or milliseconds from 1 to ${LONGEST_SPAN_MS}; a month is no span of fixed length`,
  },
)

const limit = z
  .strictObject({
    name: z.string().min(1).max(200).optional(),
    count: z.enum(['runs', 'modelCalls', 'toolCalls', 'tokens']),
    scope: z.union([scope, z.array(scope).min(1).readonly()]).optional(),
    key: z.custom<LimitOptions['key']>((value) => typeof value === 'function', 'must be a function').optional(),
    max: amount.optional(),
    per: span.optional(),
    burst: z.number().int().min(1).max(MOST).optional(),
    inFlight: amount.optional(),
    wait: z.boolean().optional(),
  })
  .superRefine((value, context) => {
    const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message })
    const { max, per, burst, inFlight } = value
    if (inFlight === undefined) {
      if (max === undefined) fault('max', 'is missing: give `max` and `per`, or `inFlight`')
      if (per === undefined) fault('per', 'is missing: give `max` and `per`, or `inFlight`')
    } else {
      for (const [key, given] of Object.entries({ max, per, burst }))
        if (given !== undefined) fault(key, 'does not go with `inFlight`; make two limits of it')
    }
    if (burst !== undefined && max !== undefined && burst > max) fault('burst', `is above \`max\` (${max})`)
    if (value.key !== undefined && value.scope !== undefined) fault('key', 'does not go with `scope`')
    if (value.key !== undefined && value.name === undefined) fault('name', 'is needed beside `key`')
    for (const part of scopesOf(value.scope)) {
      if (!known(value.count, part)) fault('scope', `"${part}" is not known where ${value.count} are counted`)
    }
  })

/** The private schema; the public type is {@link RateLimitOptions}. */
export const rateLimitOptions: z.ZodType<RateLimitOptions, RateLimitOptions> = z
  .strictObject({
    limits: z.array(limit).readonly().optional(),
    leaseMs: z.number().int().min(3_000).max(3_600_000).optional(),
    providerQuota: z
      .union([
        z.boolean(),
        z.strictObject({
          wait: z.boolean().optional(),
          atMostMs: z.number().int().min(1_000).max(86_400_000).optional(),
        }),
      ])
      .optional(),
  })
  .superRefine(({ limits = [], providerQuota = false }, context) => {
    if (limits.length === 0 && providerQuota === false)
      context.addIssue({ code: 'custom', path: ['limits'], message: 'is empty, and nothing else is limited' })
    const names = limits.map(limitName)
    names.forEach((name, index) => {
      if (names.indexOf(name) !== index)
        context.addIssue({
          code: 'custom',
          path: ['limits', index, 'name'],
          message: `"${name}" is there twice; give one of them another name`,
        })
    })
  })

/** The scopes of a limit as a list. */
export function scopesOf(given: LimitOptions['scope']): readonly RateScope[] {
  return typeof given === 'string' || given === undefined ? [given ?? 'all'] : given
}

/** The name of a limit, or the one that is made for it. */
export function limitName({ name, count, scope: given, per, inFlight }: LimitOptions): string {
  return name ?? `${count}:${scopesOf(given).join('+')}:${inFlight === undefined ? String(per) : 'in-flight'}`
}

function known(count: RateCount, part: RateScope): boolean {
  if (part === 'tool') return count === 'toolCalls'
  if (part === 'provider' || part === 'model') return count === 'modelCalls' || count === 'tokens'
  return part !== 'run' || count !== 'runs'
}
