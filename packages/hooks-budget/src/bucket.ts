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

/** A charge that was larger than its hold. */
export interface Overrun {
  readonly effectId: string
  readonly attempt: number
  /** By how much. */
  readonly amount: bigint
}

/** What one window of one bucket holds. Amounts are disjoint. */
export interface BucketWindow extends Span {
  spent: bigint
  held: bigint
  /** Booked at what was held, as nobody said what it was. */
  unknown: bigint
  /** Sum of all overruns; the last ones are listed. */
  overrun: bigint
  overruns: Overrun[]
  /** Thresholds, in percent, that were passed. */
  fired: number[]
  topUps: (Change & { readonly key: string; readonly amount: bigint })[]
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

/** All that is kept of one limit and one scope: one document. */
export interface Bucket {
  /** Stands above the amount in the code until it is cleared. */
  override: (Change & { readonly amount: bigint }) | null
  windows: BucketWindow[]
  open: OpenHold[]
}

const VERSION = 1
/** Windows that are kept although nothing in them can change any more. */
const KEPT_WINDOWS = 3
const LISTED_OVERRUNS = 100

/** Reads the document of a bucket. @throws LEDGER_DAMAGED */
export function readBucket(value: JsonValue | undefined): Bucket {
  if (value === undefined) return { override: null, windows: [], open: [] }
  try {
    const document = value as unknown as StoredBucket
    if (document.version !== VERSION) throw new TypeError(`version ${String(document.version)}`)
    return {
      override: document.override === null ? null : { ...document.override, amount: BigInt(document.override.amount) },
      windows: document.windows.map(readWindow),
      open: readOpen(document.open),
    }
  } catch (error) {
    throw damaged(error)
  }
}

/** The document of a bucket, without windows that are over and settled (the last ones of them are kept). */
export function writeBucket(bucket: Bucket): JsonObject {
  const windows = [...bucket.windows].sort((left, right) => left.start - right.start)
  const settled = (window: BucketWindow) => window.held === 0n && window.unknown === 0n
  const isOpen = (window: BucketWindow) => bucket.open.some((hold) => isSpan(window, hold))
  const kept = windows.filter(
    (window, index) => index >= windows.length - KEPT_WINDOWS || !settled(window) || isOpen(window),
  )
  const stored: StoredBucket = {
    version: VERSION,
    override: bucket.override === null ? null : { ...bucket.override, amount: bucket.override.amount.toString() },
    windows: kept.map(storeWindow),
    open: bucket.open.flatMap(({ effectId, attempt, start, end, amount, at }) => {
      return [effectId, attempt, start, end, amount.toString(), at]
    }),
  }
  return stored as unknown as JsonObject
}

/** True for the same stretch of time: of a limit whose length was changed in the code, others are left. */
export function isSpan(left: Span, right: Span): boolean {
  return left.start === right.start && left.end === right.end
}

/** The window of a span, made where there is none yet. */
export function windowIn(bucket: Bucket, span: Span): BucketWindow {
  let window = bucket.windows.find((one) => isSpan(one, span))
  if (window === undefined) {
    window = {
      start: span.start,
      end: span.end,
      spent: 0n,
      held: 0n,
      unknown: 0n,
      overrun: 0n,
      overruns: [],
      fired: [],
      topUps: [],
    }
    bucket.windows.push(window)
  }
  return window
}

/** Books an overrun; the list keeps the last hundred, the sum all. */
export function addOverrun(window: BucketWindow, overrun: Overrun): void {
  window.overrun += overrun.amount
  window.overruns = [...window.overruns, overrun].slice(-LISTED_OVERRUNS)
}

/** What may be spent in a window: the amount in force and what was topped up. */
export function amountIn(bucket: Bucket, window: BucketWindow, amount: bigint): bigint {
  return window.topUps.reduce((sum, topUp) => sum + topUp.amount, bucket.override?.amount ?? amount)
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

interface StoredWindow extends Span {
  readonly spent: string
  readonly held: string
  readonly unknown: string
  readonly overrun: string
  readonly overruns: readonly { readonly effectId: string; readonly attempt: number; readonly amount: string }[]
  readonly fired: readonly number[]
  readonly topUps: readonly (Change & { readonly key: string; readonly amount: string })[]
}

const VALUES_PER_HOLD = 6

function readOpen(stored: StoredBucket['open']): OpenHold[] {
  if (stored.length % VALUES_PER_HOLD !== 0) throw new TypeError('the list of holds is cut')
  const holds: OpenHold[] = []
  for (let from = 0; from < stored.length; from += VALUES_PER_HOLD) {
    holds.push({
      effectId: stored[from] as string,
      attempt: stored[from + 1] as number,
      start: stored[from + 2] as number,
      end: stored[from + 3] as number | null,
      amount: BigInt(stored[from + 4] as string),
      at: stored[from + 5] as number,
    })
  }
  return holds
}

function readWindow(stored: StoredWindow): BucketWindow {
  return {
    start: stored.start,
    end: stored.end,
    spent: BigInt(stored.spent),
    held: BigInt(stored.held),
    unknown: BigInt(stored.unknown),
    overrun: BigInt(stored.overrun),
    overruns: stored.overruns.map((row) => ({ ...row, amount: BigInt(row.amount) })),
    fired: [...stored.fired],
    topUps: stored.topUps.map((row) => ({ ...row, amount: BigInt(row.amount) })),
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
    overruns: window.overruns.map((row) => ({ ...row, amount: row.amount.toString() })),
    fired: window.fired,
    topUps: window.topUps.map((row) => ({ ...row, amount: row.amount.toString() })),
  }
}
