const MAX_LENGTH = 100
const MAX_DISTANCE = 2

/** Up to three of `known` that differ from `wanted` in case only, begin with it, or by at most two characters; nearest first. */
export function nearCodes(wanted: string, known: Iterable<string>): string[] {
  if (wanted.length === 0 || wanted.length > MAX_LENGTH) return []
  const target = wanted.toLowerCase()
  const found: { code: string; distance: number }[] = []
  for (const code of known) {
    if (code.length > MAX_LENGTH) continue
    const other = code.toLowerCase()
    const distance = other.startsWith(target) ? 0 : editDistance(target, other)
    if (distance <= MAX_DISTANCE && distance < Math.max(target.length, 2)) found.push({ code, distance })
  }
  found.sort((left, right) => left.distance - right.distance || (left.code < right.code ? -1 : 1))
  return found.slice(0, 3).map((near) => near.code)
}

/** Insertions, deletions and substitutions between two short texts; more than the bound reads as one above it. */
function editDistance(left: string, right: string): number {
  if (Math.abs(left.length - right.length) > MAX_DISTANCE) return MAX_DISTANCE + 1
  let before = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let row = 1; row <= left.length; row++) {
    const current = [row]
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1] ? 0 : 1
      current.push(
        Math.min(
          (before[column] as number) + 1,
          (current[column - 1] as number) + 1,
          (before[column - 1] as number) + same,
        ),
      )
    }
    before = current
  }
  return before[right.length] as number
}
