/**
 * Places of a longest strictly rising subsequence of `numbers`, in order: what has to be moved, or was put in, is all that
 * does not belong to it.
 *
 * @see https://en.wikipedia.org/wiki/Longest_increasing_subsequence
 */
export function longestRising(numbers: readonly number[]): readonly number[] {
  /** By length less one: the place of the smallest number that ends a rising subsequence of that length. */
  const ends: number[] = []
  const before: (number | undefined)[] = []
  for (let place = 0; place < numbers.length; place++) {
    const number = numbers[place] as number
    let low = 0
    let high = ends.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[ends[middle] as number] as number) < number) low = middle + 1
      else high = middle
    }
    before.push(low === 0 ? undefined : ends[low - 1])
    ends[low] = place
  }
  const kept: number[] = []
  for (let place = ends.at(-1); place !== undefined; place = before[place]) kept.push(place)
  return kept.reverse()
}
