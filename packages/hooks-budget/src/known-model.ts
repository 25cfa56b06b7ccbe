const DATED = /^(.+)[-@](\d{4})-?(\d{2})-?(\d{2})$/

/** The id without the date behind it: `gpt-5-2025-08-07`, `claude-opus-4-5-20251101`, `claude-opus-4-5@20251101`. */
export function withoutDate(model: string): string | undefined {
  const found = DATED.exec(model)
  if (found === null) return undefined
  const [, base, year, month, day] = found
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)))
  const real = date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day) && Number(year) >= 2000
  return real ? base : undefined
}

/** Among `known`, the id that is nearest to `model` and near enough to be meant; `null` where none is. */
export function nearestId(model: string, known: Iterable<string>): string | null {
  const wanted = model.slice(0, LONGEST)
  let best: string | null = null
  let bestDistance = Math.ceil(wanted.length / 2)
  for (const id of known) {
    if (Math.abs(id.length - wanted.length) >= bestDistance) continue
    const distance = editDistance(wanted, id)
    if (distance < bestDistance) {
      best = id
      bestDistance = distance
    }
  }
  return best
}

const LONGEST = 200

function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let at = 1; at <= left.length; at++) {
    const next = [at]
    for (let to = 1; to <= right.length; to++) {
      const same = left[at - 1] === right[to - 1] ? 0 : 1
      next.push(Math.min((row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1, (row[to - 1] ?? 0) + same))
    }
    row = next
  }
  return row[right.length] ?? 0
}
