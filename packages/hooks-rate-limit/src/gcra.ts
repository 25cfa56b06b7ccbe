/**
 * The generic cell rate algorithm in its form as a leaky bucket: every permit raises the level, time lowers it, and a permit
 * that would rise above the burst has to wait.
 *
 * @see ITU-T I.371, annex A: virtual scheduling and the continuous-state leaky bucket are the same algorithm
 */
export interface Pace {
  /** Permits that leave the bucket per millisecond. */
  readonly perMs: number
  /** Height of the bucket, in permits. */
  readonly burst: number
}

/** What is left of a level after `elapsedMs`. */
export function drained(level: number, pace: Pace, elapsedMs: number): number {
  return Math.max(0, level - elapsedMs * pace.perMs)
}

/** Milliseconds until `amount` fits above `level`; 0 where it fits now. `amount` is at most the burst. */
export function paceWaitMs(level: number, pace: Pace, amount: number): number {
  const above = level + amount - pace.burst
  // sums of fractions: a billionth of the bucket is nothing
  return above <= 1e-6 + pace.burst * 1e-9 ? 0 : above / pace.perMs
}
