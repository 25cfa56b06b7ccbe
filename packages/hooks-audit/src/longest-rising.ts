import type { SoundRun } from './sound-run.js'

/**
 * The runs that together hold most entries while their numbers rise, in order: what has to be moved, or was put in, is all
 * that does not belong to them. Any two runs have the same numbers or none in common.
 *
 * @see https://en.wikipedia.org/wiki/Longest_increasing_subsequence
 */
export function longestRising(runs: readonly SoundRun[]): readonly SoundRun[] {
  const numbers = [...new Set(runs.map(({ seq }) => seq))].sort((left, right) => left - right)
  const rankOf = new Map(numbers.map((seq, index) => [seq, index + 1]))
  /** A Fenwick tree: by rank, the place of the heaviest rising row that ends at or below it. */
  const best = Array.from({ length: numbers.length + 1 }, () => -1)
  const weight: number[] = []
  const before: number[] = []
  const weightOf = (place: number): number => (place === -1 ? 0 : (weight[place] as number))
  for (let place = 0; place < runs.length; place++) {
    const run = runs[place] as SoundRun
    const rank = rankOf.get(run.seq) as number
    let previous = -1
    for (let at = rank - 1; at > 0; at -= at & -at) {
      if (weightOf(best[at] as number) > weightOf(previous)) previous = best[at] as number
    }
    before.push(previous)
    weight.push(weightOf(previous) + run.hashes.length)
    for (let at = rank; at < best.length; at += at & -at) {
      if (weightOf(place) > weightOf(best[at] as number)) best[at] = place
    }
  }
  let last = -1
  for (let place = 0; place < runs.length; place++) if (weightOf(place) > weightOf(last)) last = place
  const kept: SoundRun[] = []
  for (let place = last; place !== -1; place = before[place] as number) kept.push(runs[place] as SoundRun)
  return kept.reverse()
}
