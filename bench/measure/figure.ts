import { median, minimum, spreadOfMedians } from './statistics.js'

/** One measured figure under its stable name. Ratios are against the floor measured in the same slices. */
export interface Figure {
  /** `group/what`, stable over versions. */
  readonly name: string
  /** What a sample is, for example `us of CPU a run`. */
  readonly unit: string
  /** Slices behind each side. */
  readonly slices: number
  readonly subject: Summary
  /** Absent for figures that stand alone (nanoseconds of a dispatch). */
  readonly floor?: Summary
  readonly ratio?: Ratio
  /** The floor against itself in the same slices. */
  readonly same?: Ratio & { readonly spread: readonly [number, number] }
  /** The most that the ratio of medians (or the median, where there is no floor) may be. */
  readonly target?: number
  readonly verdict: Verdict
}

export interface Summary {
  readonly median: number
  readonly minimum: number
}

export interface Ratio {
  readonly medians: number
  readonly minima: number
}

/** `no difference`: the ratio lies inside the spread of the floor against itself, so it is no result. */
export type Verdict = 'no target' | 'no difference' | 'met' | 'missed'

/** Samples of both sides, and a second series of the floor. */
export interface Samples {
  readonly subject: readonly number[]
  readonly floor: readonly number[]
  readonly again: readonly number[]
}

export function ratioFigure(name: string, unit: string, samples: Samples, target?: number): Figure {
  const { subject, floor, again } = samples
  const ratio = ratioOf(subject, floor)
  const spread = spreadOfMedians(again, floor)
  return {
    name,
    unit,
    slices: subject.length,
    subject: summary(subject),
    floor: summary(floor),
    ratio,
    same: { ...ratioOf(again, floor), spread },
    ...(target === undefined ? {} : { target }),
    verdict: verdictOf(ratio.medians, spread, target),
  }
}

/** A figure that stands alone: its median is held to the target. */
export function plainFigure(name: string, unit: string, samples: readonly number[], target?: number): Figure {
  const subject = summary(samples)
  return {
    name,
    unit,
    slices: samples.length,
    subject,
    ...(target === undefined ? {} : { target }),
    verdict: target === undefined ? 'no target' : subject.median <= target ? 'met' : 'missed',
  }
}

function verdictOf(ratio: number, [low, high]: readonly [number, number], target: number | undefined): Verdict {
  if (target !== undefined && ratio > target) return 'missed'
  if (ratio >= low && ratio <= high) return 'no difference'
  return target === undefined ? 'no target' : 'met'
}

function ratioOf(above: readonly number[], below: readonly number[]): Ratio {
  return { medians: median(above) / median(below), minima: minimum(above) / minimum(below) }
}

function summary(values: readonly number[]): Summary {
  return { median: median(values), minimum: minimum(values) }
}
