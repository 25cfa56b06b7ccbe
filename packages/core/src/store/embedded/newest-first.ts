import type { Page, PageRequest } from '../store.js'
import { formatCursor, pageLimit, parseCursor } from './page.js'
import { compareText, SortedList } from './sorted-list.js'

/** A row in a list: the row itself is replaced when it changes, the node stays. */
export interface Node<Row> {
  row: Row
}

/** What rows are ordered by; one object serves all lists of one kind. */
export interface NewestOrder<Row> {
  readonly timeOf: (row: Row) => number
  readonly idOf: (row: Row) => string
  readonly compare: (left: Node<Row>, right: Node<Row>) => number
}

export function newestOrder<Row>(timeOf: (row: Row) => number, idOf: (row: Row) => string): NewestOrder<Row> {
  return {
    timeOf,
    idOf,
    compare: (left, right) => timeOf(left.row) - timeOf(right.row) || compareText(idOf(left.row), idOf(right.row)),
  }
}

/** Rows by a time, newest first, paged by the place of the last row that was given. */
export class NewestFirst<Row> {
  readonly #order: NewestOrder<Row>
  readonly #nodes: SortedList<Node<Row>>

  constructor(order: NewestOrder<Row>) {
    this.#order = order
    this.#nodes = new SortedList(order.compare)
  }

  add(node: Node<Row>): void {
    this.#nodes.add(node)
  }

  /** Takes the node out; its row must still have the time under which it was added. */
  remove(node: Node<Row>): void {
    this.#nodes.remove(node)
  }

  page(request: PageRequest, matches: (row: Row) => boolean): Page<Row> {
    const limit = pageLimit(request.limit)
    const items: Row[] = []
    for (let index = this.#start(request.after) - 1; index >= 0; index--) {
      const { row } = this.#nodes.at(index)
      if (!matches(row)) continue
      if (items.length === limit) {
        const last = items[limit - 1] as Row
        return { items, next: formatCursor(this.#order.timeOf(last), this.#order.idOf(last)) }
      }
      items.push(row)
    }
    return { items, next: null }
  }

  #start(after: string | undefined): number {
    if (after === undefined) return this.#nodes.length
    const { number, text } = parseCursor(after)
    const { timeOf, idOf } = this.#order
    return this.#nodes.firstNot(({ row }) => {
      const time = timeOf(row)
      return time < number || (time === number && idOf(row) < text)
    })
  }
}
