import type { SessionRecord } from '../records.js'
import type { Page, SessionFilter } from '../store.js'
import { NewestFirst, newestOrder, type Node } from './newest-first.js'

/** What lists of sessions are ordered and filtered by. */
export type SessionFields = Pick<SessionRecord, 'sessionId' | 'tenant' | 'createdBy' | 'lastActivityAt'>

/** Sessions by id and by newest activity. */
export class SessionIndex<Row extends SessionFields> {
  readonly #nodes = new Map<string, Node<Row>>()
  readonly #all = new NewestFirst<Row>(
    newestOrder(
      (row) => row.lastActivityAt,
      (row) => row.sessionId,
    ),
  )

  get size(): number {
    return this.#nodes.size
  }

  get(sessionId: string): Row | undefined {
    return this.#nodes.get(sessionId)?.row
  }

  set(row: Row): void {
    const node = this.#nodes.get(row.sessionId)
    if (node === undefined) {
      const added = { row }
      this.#nodes.set(row.sessionId, added)
      this.#all.add(added)
    } else if (node.row.lastActivityAt === row.lastActivityAt) {
      node.row = row
    } else {
      this.#all.remove(node)
      node.row = row
      this.#all.add(node)
    }
  }

  page(filter: SessionFilter): Page<Row> {
    return this.#all.page(
      filter,
      (row) =>
        (filter.tenant === undefined || row.tenant === filter.tenant) &&
        (filter.createdBy === undefined || row.createdBy === filter.createdBy),
    )
  }
}
