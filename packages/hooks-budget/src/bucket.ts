import { SluiceError } from '@sluice/core'
import type { JsonObject, JsonValue } from '@sluice/core'
import type { Span } from './window.js'

/** Who changed something, and why. */
export interface Change {
  readonly who: string
  readonly why: string
  /** Store time, milliseconds. */
  readonly at: number
}

/** What one window of one bucket holds. Amounts are disjoint. */
export interface BucketWindow extends Span {
  spent: bigint
  held: bigint
  /** Booked at what was held, as nobody said what it was. */
  unknown: bigint
  /** Sum of all charges above their hold; each has a record of its own. */
  overrun: bigint
  /** Sum of all top-ups; each has a record of its own. */
  toppedUp: bigint
  /** What the last model call has left for a last request. */
  slice: bigint
  /** Thresholds, in percent, that were passed. */
  fired: number[]
}

/** A hold that stands. */
export interface OpenHold {
  readonly effectId: string
  readonly attempt: number
  /** Its window. */
  readonly start: number
  readonly end: number | null
  readonly amount: bigint
  /** Store time at which it was taken, milliseconds. */
  readonly at: number
}

/** All that is kept of one limit and one scope: one document, whose size does not grow with what was spent. */
export interface Bucket {
  /** Stands above the amount in the code until it is cleared. */
  override: (Change & { readonly amount: bigint }) | null
  windows: BucketWindow[]
  open: OpenHold[]
}

const VERSION = 1
/** Windows that are kept although they are over and nothing in them can change any more. */
const KEPT_OVER = 2
/** Windows that are kept although they are over, as something in them is unknown. What is older is in the record of the effect. */
const KEPT_UNKNOWN = 100

/** Reads the document of a bucket. @throws LEDGER_DAMAGED */
export function readBucket(value: JsonValue | undefined): Bucket {
  if (value === undefined) return { override: null, windows: [], open: [] }
  try {
    const document = value as unknown as StoredBucket
    if (document.version !== VERSION) throw new TypeError(`version ${String(document.version)}`)
    const { override } = document
    return {
      override: override === null ? null : { ...override, amount: readDigits(override.amount) },
      windows: document.windows.map(readWindow),
      open: readOpen(document.open),
    }
  } catch (error) {
    throw damaged(error)
  }
}

/** The document of a bucket at a time, without windows that are over and settled (the last ones of them are kept). */
export function writeBucket(bucket: Bucket, at: number): JsonObject {
  const stored: StoredBucket = {
    version: VERSION,
    override: bucket.override === null ? null : { ...bucket.override, amount: bucket.override.amount.toString() },
    windows: keptWindows(bucket, at).map(storeWindow),
    open: bucket.open.flatMap(({ effectId, attempt, start, end, amount, at: since }) => {
      return [effectId, attempt, start, end, amount.toString(), since]
    }),
  }
  return stored as unknown as JsonObject
}

function keptWindows(bucket: Bucket, at: number): readonly BucketWindow[] {
  const windows = [...bucket.windows].sort((left, right) => left.start - right.start)
  // a window of another length, from before the code was changed, may begin later and be over earlier
  const over = windows.filter((window) => window.end !== null && window.end <= at)
  const dropped = new Set(over.slice(0, -KEPT_OVER))
  for (const window of over.filter((one) => one.unknown > 0n).slice(-KEPT_UNKNOWN)) dropped.delete(window)
  const stands = (window: BucketWindow) => window.held > 0n || bucket.open.some((hold) => isSpan(window, hold))
  return windows.filter((window) => !dropped.has(window) || stands(window))
}

/** True for the same stretch of time: of a limit whose length was changed in the code, others are left. */
export function isSpan(left: Span, right: Span): boolean {
  return left.start === right.start && left.end === right.end
}

/** The window of a span, made where there is none yet. */
export function windowIn(bucket: Bucket, span: Span): BucketWindow {
  let window = bucket.windows.find((one) => isSpan(one, span))
  if (window === undefined) {
    const { start, end } = span
    window = { start, end, spent: 0n, held: 0n, unknown: 0n, overrun: 0n, toppedUp: 0n, slice: 0n, fired: [] }
    bucket.windows.push(window)
  }
  return window
}

/** What may be spent in a window: the amount in force and what was topped up. */
export function amountIn(bucket: Bucket, window: BucketWindow, amount: bigint): bigint {
  return (bucket.override?.amount ?? amount) + window.toppedUp
}

/** What is used of a window. */
export function usedIn(window: BucketWindow): bigint {
  return window.spent + window.held + window.unknown
}

/** The error for a document that cannot be read. */
export function damaged(cause: unknown): SluiceError {
  return new SluiceError(
    'LEDGER_DAMAGED',
    'A document of the budget ledger cannot be read; nothing passes meanwhile.',
    {
      cause,
      hint: 'Restore it from a backup. Deleting it forgets what was spent.',
    },
  )
}

interface StoredBucket {
  readonly version: number
  readonly override: (Change & { readonly amount: string }) | null
  readonly windows: readonly StoredWindow[]
  /** Six values a hold, in one flat list: it is copied on every step. */
  readonly open: readonly (string | number | null)[]
}

type StoredWindow = Span & {
  readonly [Name in 'spent' | 'held' | 'unknown' | 'overrun' | 'toppedUp' | 'slice']: string
} & { readonly fired: readonly number[] }

const VALUES_PER_HOLD = 6

function readOpen(stored: StoredBucket['open']): OpenHold[] {
  if (stored.length % VALUES_PER_HOLD !== 0) throw new TypeError('the list of holds is cut')
  const holds: OpenHold[] = []
  for (let from = 0; from < stored.length; from += VALUES_PER_HOLD) {
    holds.push({
      effectId: stored[from] as string,
      attempt: readTime(stored[from + 1]),
      ...readSpan(stored[from + 2], stored[from + 3]),
      amount: readDigits(stored[from + 4]),
      at: readTime(stored[from + 5]),
    })
  }
  return holds
}

function readWindow(stored: StoredWindow): BucketWindow {
  if (!stored.fired.every(Number.isSafeInteger)) throw new TypeError('a threshold is no whole number')
  return {
    ...readSpan(stored.start, stored.end),
    spent: readDigits(stored.spent),
    held: readDigits(stored.held),
    unknown: readDigits(stored.unknown),
    overrun: readDigits(stored.overrun),
    toppedUp: readDigits(stored.toppedUp),
    slice: readDigits(stored.slice),
    fired: [...stored.fired],
  }
}

/** `BigInt` takes more than was written here: `''` and `true` would be amounts. */
function readDigits(value: unknown): bigint {
  if (typeof value === 'string' && /^\d+$/.test(value)) return BigInt(value)
  throw new TypeError('an amount is no whole number')
}

function readTime(value: unknown): number {
  // a clock may tell parts of a millisecond
  if (Number.isFinite(value)) return value as number
  throw new TypeError('a time or an attempt is no number')
}

function readSpan(start: unknown, end: unknown): Span {
  return { start: readTime(start), end: end === null ? null : readTime(end) }
}

function storeWindow(window: BucketWindow): StoredWindow {
  return {
    start: window.start,
    end: window.end,
    spent: window.spent.toString(),
    held: window.held.toString(),
    unknown: window.unknown.toString(),
    overrun: window.overrun.toString(),
    toppedUp: window.toppedUp.toString(),
    slice: window.slice.toString(),
    fired: window.fired,
  }
}
