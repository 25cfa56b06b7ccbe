/** A small generator of made-up values for property tests: the same seed gives the same values everywhere. */
export interface Seeded {
  /** A whole number from 0 to `below - 1`. */
  number(below: number): number
  pick<Item>(items: readonly Item[]): Item
  /** A text of up to `max` units, rich in characters that break parsers. */
  text(max: number): string
  /** JSON data without keys that reach a prototype. */
  json(depth: number): unknown
}

const CHARACTERS = [...'abcxyz_019 {}[]",:\\/\n\t$&%', '\0', '\u001b', '\u2028', '\u202e', 'é', '漢', '😀']
const KEYS = ['a', 'b', 'name', 'x1', '', ' ', '"', '\\', 'k:', '{', 'é', '1', 'toString']

/** The values of `seed`. */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const number = (below: number) => Math.floor(next() * below)
  const pick = <Item>(items: readonly Item[]) => items[number(items.length)] as Item
  const text = (max: number) => Array.from({ length: number(max + 1) }, () => pick(CHARACTERS)).join('')
  const scalar = () => pick([null, true, false, 0, -1.5, 1e300, number(1e6), text(8)])
  const json = (depth: number): unknown => {
    const kind = depth <= 0 ? 0 : number(4)
    if (kind < 2) return scalar()
    const size = number(4)
    if (kind === 2) return Array.from({ length: size }, () => json(depth - 1))
    return Object.fromEntries(Array.from({ length: size }, () => [pick(KEYS), json(depth - 1)]))
  }
  return { number, pick, text, json }
}
