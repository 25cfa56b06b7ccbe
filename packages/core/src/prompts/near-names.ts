const MAX_NEAR = 3

/** Up to three of `names` that a person may have meant by `name`: equal but for case, or at most two edits away. */
export function nearNames(name: string, names: readonly string[]): string[] {
  const wanted = name.toLowerCase()
  if (wanted.length > 200) return []
  const near = [...new Set(names)]
    .map((candidate) => ({ candidate, distance: distanceWithin(wanted, candidate.toLowerCase(), 2) }))
    .filter(({ distance }) => distance <= 2)
  near.sort((left, right) => left.distance - right.distance)
  return near.slice(0, MAX_NEAR).map(({ candidate }) => candidate)
}

/** Edit distance, or anything above `most` where it is larger. */
function distanceWithin(left: string, right: string, most: number): number {
  if (Math.abs(left.length - right.length) > most) return most + 1
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const swap = (row[j - 1] as number) + (left[i - 1] === right[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] as number) + 1, (next[j - 1] as number) + 1))
    }
    row = next
  }
  return row[right.length] as number
}
