/** Middle value; of an even number of values, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right)
  const half = sorted.length >> 1
  const upper = sorted[half] as number
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] as number) + upper) / 2
}

export function minimum(values: readonly number[]): number {
  let least = Number.POSITIVE_INFINITY
  for (const value of values) if (value < least) least = value
  return least
}

/** The range in which 95 of 100 ratios of medians lie when the slices are drawn again (bootstrap, fixed seed). */
export function spreadOfMedians(above: readonly number[], below: readonly number[], draws = 1000): [number, number] {
  const random = mulberry32(0x51c1ce)
  const pick = (values: readonly number[]): number[] =>
    values.map(() => values[Math.floor(random() * values.length)] as number)
  const ratios = Array.from({ length: draws }, () => median(pick(above)) / median(pick(below)))
  ratios.sort((left, right) => left - right)
  return [ratios[Math.floor(draws * 0.025)] as number, ratios[Math.floor(draws * 0.975)] as number]
}

/** A small generator of the same numbers every time. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
