/** Items in the order of `compare`; no two are equal under it. Adding at the end, the common case, shifts nothing. */
export class SortedList<Item> {
  readonly #items: Item[]
  readonly #compare: (left: Item, right: Item) => number

  constructor(compare: (left: Item, right: Item) => number, items: readonly Item[] = []) {
    this.#compare = compare
    this.#items = items.length === 0 ? [] : [...items].sort(compare)
  }

  get length(): number {
    return this.#items.length
  }

  at(index: number): Item {
    return this.#items[index] as Item
  }

  /** Index of the first item for which `isBefore` is false; it must be true for all items up to some place, false behind it. */
  firstNot(isBefore: (item: Item) => boolean): number {
    let low = 0
    let high = this.#items.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(this.#items[middle] as Item)) low = middle + 1
      else high = middle
    }
    return low
  }

  add(item: Item): void {
    const last = this.#items.length - 1
    if (last < 0 || this.#compare(this.#items[last] as Item, item) < 0) {
      this.#items.push(item)
      return
    }
    this.#items.splice(this.#placeOf(item), 0, item)
  }

  remove(item: Item): void {
    const index = this.#placeOf(item)
    const found = this.#items[index]
    if (found !== undefined && this.#compare(found, item) === 0) this.#items.splice(index, 1)
  }

  #placeOf(item: Item): number {
    return this.firstNot((other) => this.#compare(other, item) < 0)
  }
}

/** Order of texts by UTF-16 units, the same on every machine. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
