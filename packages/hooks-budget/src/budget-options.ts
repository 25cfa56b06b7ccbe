import { z } from 'zod'
import type { BudgetEvent } from './budget-event.js'
import type { Limit, Unit } from './limit.js'
import { parseDecimal, parseUsd } from './nano-usd.js'
import type { OverridePrice } from './override-prices.js'
import type { PriceSource } from './price-source.js'
import type { KeyFunction, ScopeKind } from './scope.js'
import { windowsOf } from './window.js'
import type { Per } from './window.js'

/** One limit: either `usd` or `tokens`. */
export interface LimitOptions {
  /** 1 to 100 characters, unique. What was spent is kept under it. @default scope, per and unit, as in `user:day:usd` */
  readonly id?: string | undefined
  readonly scope: ScopeKind
  /** Only with scope `key`, and needed there. */
  readonly key?: KeyFunction | undefined
  /** @default for ever (of scope `run`: the whole run) */
  readonly per?: Per | undefined
  /** IANA name, for the edges of days, weeks and months. @default 'UTC' */
  readonly timeZone?: string | undefined
  /** US dollars as a decimal string, at most 9 digits behind the point. `'0'` blocks. */
  readonly usd?: string | undefined
  /** Input and output tokens together, a whole number. 0 blocks. */
  readonly tokens?: number | undefined
  /** Whole percentages of the amount, 1 to 100, that are told to `onEvent` once in each window. @default none */
  readonly thresholdPercents?: readonly number[] | undefined
  /** Keeps a slice for one last request with at most this output, and answers `Land` when nothing else fits. @default none */
  readonly landing?: { readonly maxOutputTokens: number } | undefined
}

/** Prices of the user's own, and where the others come from. */
export interface PriceOptions {
  /** By `provider/model`: US dollars per million tokens, or `'free'`; `'provider/*': 'free'` for local models. */
  readonly models?: Readonly<Record<string, OverridePrice | 'free'>> | undefined
  /** By `provider/model` or `provider/*`: decimal strings, such as `'0.5'` for batch. Not applied to `models`. */
  readonly multipliers?: Readonly<Record<string, string>> | undefined
  /** Ids of your providers by the id that the price source knows: `{ 'our-openai': 'openai' }`. */
  readonly providers?: Readonly<Record<string, string>> | undefined
  /** @default the table of @pydantic/genai-prices, imported when the plugin is applied */
  readonly source?: PriceSource | undefined
}

/** Options of `budget`. */
export interface BudgetOptions {
  /** At least one; all that concern a call are held together or not at all. */
  readonly limits: readonly LimitOptions[]
  readonly prices?: PriceOptions | undefined
  /** After how long a hold that nobody resolved is booked as unknown; longer than any call. @default 3600000 (an hour) */
  readonly holdLifeMs?: number | undefined
  /** A second process with this version and other limits is refused at start. @default none: not checked */
  readonly limitsVersion?: string | undefined
  /** Thresholds, overruns, unknown charges and lapsed holds. What it throws, or rejects with, is logged. */
  readonly onEvent?: ((event: BudgetEvent) => void) | undefined
}

const MAX_ID = 100
const MAX_TEXT = 500
const MAX_LIMITS = 20
const DAY_MS = 86_400_000
const HOLD_LIFE_MS = 3_600_000

const isFunction = (value: unknown) => typeof value === 'function'
const usd = z.string().refine((text) => parseUsd(text) !== undefined, {
  message: "must be US dollars as a decimal string of at most 9 digits behind the point, such as '0.50'",
})
const factor = z.string().refine((text) => (parseDecimal(text)?.digits ?? 0n) > 0n, {
  message: "must be a decimal string above 0, such as '0.5'; what costs nothing is declared 'free'",
})
const tokens = z.number().int().nonnegative().max(Number.MAX_SAFE_INTEGER)
const timeZone = z.string().refine(isTimeZone, { message: "is no IANA time zone, such as 'Europe/Vienna'" })

const limit = z
  .strictObject({
    id: z.string().min(1).max(MAX_ID).optional(),
    scope: z.enum(['run', 'session', 'agent', 'user', 'app', 'tenant', 'key']),
    key: z.custom<KeyFunction>(isFunction, 'must be a function').optional(),
    per: z.enum(['hour', 'day', 'week', 'month']).optional(),
    timeZone: timeZone.default('UTC'),
    usd: usd.optional(),
    tokens: tokens.optional(),
    thresholdPercents: z.array(z.number().int().min(1).max(100)).max(MAX_LIMITS).default([]),
    landing: z.strictObject({ maxOutputTokens: tokens.min(1) }).optional(),
  })
  .refine((given) => (given.usd === undefined) !== (given.tokens === undefined), {
    message: 'must have either usd or tokens; for both, write two limits',
  })
  .refine((given) => (given.scope === 'key') === (given.key !== undefined), {
    message: "needs a key function with scope 'key', and takes none with another",
    path: ['key'],
  })

const rates = {
  input: usd,
  output: usd,
  cacheRead: usd.optional(),
  cacheWrite: usd.optional(),
  reasoning: usd.optional(),
}
const price = z.strictObject({
  ...rates,
  tiers: z.array(z.strictObject({ ...rates, above: tokens })).optional(),
  multiplier: factor.optional(),
})
const modelId = z.string().regex(/^[^/]+\/.+$/, "must be 'provider/model'")
const source = z.custom<PriceSource>(
  (value) => typeof value === 'object' && value !== null && isFunction((value as PriceSource).find),
  'must be a price source: { name, find(query) }',
)

const prices = z
  .strictObject({
    models: z.record(modelId, z.union([z.literal('free'), price])).default({}),
    multipliers: z.record(modelId, factor).default({}),
    providers: z.record(z.string(), z.string()).default({}),
    // wrapped, so that what is frozen is not the user's own object
    source: source.transform(wrapSource).optional(),
  })
  .superRefine((given, context) => {
    for (const [id, value] of Object.entries(given.models)) {
      if (id.endsWith('/*') && value !== 'free') {
        context.addIssue({
          code: 'custom',
          path: ['models', id],
          message: "of all models of a provider can only be 'free'",
        })
      }
    }
  })

/** The schema of the options; all faults are told at once, by path. */
export const budgetOptions: z.ZodType<ParsedBudgetOptions, BudgetOptions> = z
  .strictObject({
    limits: z.array(limit).min(1, 'must have at least one limit').max(MAX_LIMITS),
    prices: prices.default({ models: {}, multipliers: {}, providers: {} }),
    holdLifeMs: z
      .number()
      .int()
      .min(1_000)
      .max(366 * DAY_MS)
      .default(HOLD_LIFE_MS),
    limitsVersion: z.string().min(1).max(MAX_TEXT).optional(),
    onEvent: z.custom<(event: BudgetEvent) => void>(isFunction, 'must be a function').optional(),
  })
  .superRefine((given, context) => {
    const seen = new Set<string>()
    given.limits.forEach((one, index) => {
      const id = idOf(one)
      if (seen.has(id)) {
        const message = `is the second limit "${id}"; give each an id of its own`
        context.addIssue({ code: 'custom', path: ['limits', index, 'id'], message })
      }
      seen.add(id)
    })
  })

/** Options as the plugin gets them: checked, and with their defaults. */
export interface ParsedBudgetOptions {
  readonly limits: readonly (LimitOptions & {
    readonly timeZone: string
    readonly thresholdPercents: readonly number[]
  })[]
  readonly prices: PriceOptions & {
    readonly models: Readonly<Record<string, OverridePrice | 'free'>>
    readonly multipliers: Readonly<Record<string, string>>
    readonly providers: Readonly<Record<string, string>>
  }
  readonly holdLifeMs: number
  readonly limitsVersion?: string | undefined
  readonly onEvent?: ((event: BudgetEvent) => void) | undefined
}

/** The limits of checked options. */
export function toLimits(options: ParsedBudgetOptions): readonly Limit[] {
  return options.limits.map((given) => ({
    id: idOf(given),
    scope: given.scope,
    key: given.key,
    unit: unitOf(given),
    amount: given.usd === undefined ? BigInt(given.tokens ?? 0) : (parseUsd(given.usd) as bigint),
    windowOf: windowsOf(given.per, given.timeZone),
    thresholdPercents: [...given.thresholdPercents].sort((left, right) => left - right),
    landing: given.landing,
  }))
}

/** What two processes with one `limitsVersion` must have in common, as one text. */
export function describeLimits(options: ParsedBudgetOptions): string {
  const rows = options.limits.map((given) => {
    const amount = given.usd === undefined ? String(given.tokens) : String(parseUsd(given.usd))
    return [idOf(given), given.scope, given.per ?? null, given.timeZone, unitOf(given), amount, given.landing ?? null]
  })
  return JSON.stringify(rows.sort((left, right) => (String(left[0]) < String(right[0]) ? -1 : 1)))
}

function idOf(given: Pick<LimitOptions, 'id' | 'scope' | 'per' | 'usd'>): string {
  return given.id ?? [given.scope, ...(given.per === undefined ? [] : [given.per]), unitOf(given)].join(':')
}

function unitOf(given: Pick<LimitOptions, 'usd'>): Unit {
  return given.usd === undefined ? 'tokens' : 'usd'
}

function wrapSource(given: PriceSource): PriceSource {
  const name = typeof given.name === 'string' ? given.name : 'custom'
  return { name, load: async () => given.load?.(), find: (query) => given.find(query) }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone.length > 0
  } catch {
    return false
  }
}
