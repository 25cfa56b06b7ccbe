import type { HashList } from './hash-list.js'

/** Entries that are sound by themselves, stand behind one another and hold one another's hash. */
export interface SoundRun {
  /** Place of the first of them in what was read, from 0. */
  readonly place: number
  /** Number of the first. */
  readonly seq: number
  /** What the first holds as the hash of the entry before it. */
  readonly prev: string
  /** Their hashes, in order; at least one. */
  readonly hashes: HashList
}

/** Number behind the last entry of a run. */
export function endOf({ seq, hashes }: SoundRun): number {
  return seq + hashes.length
}

/** The same entries in runs of which any two have the same numbers or none in common; each also lies on one side of `at`. */
export function splitRuns(runs: readonly SoundRun[], at: number): readonly SoundRun[] {
  const bounds = [...new Set([at, ...runs.flatMap((run) => [run.seq, endOf(run)])])].sort((left, right) => left - right)
  return runs.flatMap((run) => {
    const pieces: SoundRun[] = []
    let from = run.seq
    for (let index = firstAbove(bounds, from); from < endOf(run); index++) {
      const to = bounds[index] as number
      const offset = from - run.seq
      pieces.push({
        place: run.place + offset,
        seq: from,
        prev: offset === 0 ? run.prev : (run.hashes.at(offset - 1) as string),
        hashes: run.hashes.slice(offset, to - run.seq),
      })
      from = to
    }
    return pieces
  })
}

/** The run in which a number lies, of runs in rising order without common numbers. */
export function runWith(runs: readonly SoundRun[], seq: number): SoundRun | undefined {
  let low = 0
  let high = runs.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (endOf(runs[middle] as SoundRun) <= seq) low = middle + 1
    else high = middle
  }
  const run = runs[low]
  return run !== undefined && run.seq <= seq ? run : undefined
}

function firstAbove(sorted: readonly number[], number: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sorted[middle] as number) <= number) low = middle + 1
    else high = middle
  }
  return low
}
