import { compareText, SortedList } from './sorted-list.js'

interface Space {
  readonly cells: Set<string>
  /** Made when the space is listed for the first time, kept up from then on. */
  order: SortedList<string> | undefined
}

/** Which documents there are, space by space; in key order where somebody asked for that. */
export class CellIndex {
  readonly #spaces = new Map<string, Space>()

  has(cell: string): boolean {
    return this.#spaces.get(spaceOf(cell))?.cells.has(cell) === true
  }

  add(cell: string): void {
    const name = spaceOf(cell)
    let space = this.#spaces.get(name)
    if (space === undefined) {
      space = { cells: new Set(), order: undefined }
      this.#spaces.set(name, space)
    }
    if (space.cells.has(cell)) return
    space.cells.add(cell)
    space.order?.add(cell)
  }

  delete(cell: string): void {
    const space = this.#spaces.get(spaceOf(cell))
    if (space?.cells.delete(cell) === true) space.order?.remove(cell)
  }

  *cells(): Generator<string> {
    for (const space of this.#spaces.values()) yield* space.cells
  }

  /** Cells that begin with `prefix` (an encoded key that starts with its space), behind `after`, in order. */
  range(prefix: string, after: string | undefined, limit: number): string[] {
    const space = this.#spaces.get(spaceOf(prefix))
    if (space === undefined) return []
    space.order ??= new SortedList(compareText, [...space.cells])
    const { order } = space
    const below = `${prefix}\0\0`
    const found: string[] = []
    let index = order.firstNot((cell) => cell < prefix || (after !== undefined && cell <= after))
    for (; index < order.length && found.length < limit; index++) {
      const cell = order.at(index)
      if (cell !== prefix && !cell.startsWith(below)) break
      found.push(cell)
    }
    return found
  }
}

/** The space of a cell: the first part of its encoded key. */
export function spaceOf(cell: string): string {
  const end = cell.indexOf('\0\0')
  return end < 0 ? cell : cell.slice(0, end)
}
