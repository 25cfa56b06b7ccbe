import { SluiceError } from '@sluice/core'
import type { JsonObject, JsonValue } from '@sluice/core'
import { OpenHolds, readDigits, readNumber, readSpan } from './open-holds.js'
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

/** All that is kept of one limit and one scope: one document, whose size does not grow with what was spent. */
export interface Bucket {
  /** Stands above the amount in the code until it is cleared. */
  override: (Change & { readonly amount: bigint }) | null
  windows: BucketWindow[]
  readonly open: OpenHolds
}

const VERSION = 1
/** Windows that are kept although they are over and nothing in them can change any more. */
const KEPT_OVER = 2
/** Windows that are kept although they are over, as something in them is unknown. What is older is in the record of the effect. */
const KEPT_UNKNOWN = 100

/** Reads the document of a bucket. @throws LEDGER_DAMAGED */
export function readBucket(value: JsonValue | undefined): Bucket {
  if (value === undefined) return { override: null, windows: [], open: new OpenHolds('', null) }
  try {
    const document = value as unknown as StoredBucket
    if (document.version !== VERSION) throw new TypeError(`version ${String(document.version)}`)
    const { override } = document
    return {
      override: override === null ? null : { ...override, amount: readDigits(override.amount) },
      windows: document.windows.map(readWindow),
      open: readOpen(document),
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
    open: bucket.open.text,
    openSince: bucket.open.since,
  }
  return stored as unknown as JsonObject
}

function keptWindows(bucket: Bucket, at: number): readonly BucketWindow[] {
  const windows = [...bucket.windows].sort((left, right) => left.start - right.start)
  // a window of another length, from before the code was changed, may begin later and be over earlier
  const over = windows.filter((window) => window.end !== null && window.end <= at)
  const dropped = new Set(over.slice(0, -KEPT_OVER))
  for (const window of over.filter((one) => one.unknown > 0n).slice(-KEPT_UNKNOWN)) dropped.delete(window)
  return windows.filter((window) => !dropped.has(window) || window.held > 0n)
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
  readonly open: string
  readonly openSince: number | null
}

type StoredWindow = Span & {
  readonly [Name in 'spent' | 'held' | 'unknown' | 'overrun' | 'toppedUp' | 'slice']: string
} & { readonly fired: readonly number[] }

/** The text itself is read where a hold may have lapsed. */
function readOpen({ open, openSince }: StoredBucket): OpenHolds {
  if (typeof open !== 'string' || (open !== '' && !open.endsWith('\n'))) throw new TypeError('the list of holds is cut')
  return new OpenHolds(open, open === '' ? null : readNumber(openSince))
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
