import type { ExecutionRecord } from '../records.js'
import type { ExecutionFilter, Page } from '../store.js'
import { NewestFirst, newestOrder, type NewestOrder, type Node } from './newest-first.js'

/** What lists of executions are ordered and filtered by. */
export type ExecutionFields = Pick<
  ExecutionRecord,
  | 'id'
  | 'rootExecutionId'
  | 'parentExecutionId'
  | 'sessionId'
  | 'tenant'
  | 'createdBy'
  | 'agentCode'
  | 'agentId'
  | 'status'
  | 'startedAt'
>

const byStart = newestOrder<ExecutionFields>(
  (row) => row.startedAt,
  (row) => row.id,
)

/** Executions by id, by session, by tree and by start: a list of one session or tree never walks through all of them. */
export class ExecutionIndex<Row extends ExecutionFields> {
  readonly #nodes = new Map<string, Node<Row>>()
  readonly #all = newest<Row>()
  readonly #bySession = new Map<string, NewestFirst<Row>>()
  readonly #byRoot = new Map<string, NewestFirst<Row>>()
  readonly #runsOfAgent = new Map<string, number>()

  get(id: string): Row | undefined {
    return this.#nodes.get(id)?.row
  }

  *rows(): Generator<Row> {
    for (const node of this.#nodes.values()) yield node.row
  }

  /** True where a row refers to the agent. */
  hasAgent(agentId: string): boolean {
    return this.#runsOfAgent.has(agentId)
  }

  /** Adds the row, or puts it in the place of the one with its id. */
  set(row: Row): void {
    const node = this.#nodes.get(row.id)
    if (node === undefined) {
      const added = { row }
      this.#nodes.set(row.id, added)
      this.#link(added)
    } else if (samePlace(node.row, row)) {
      node.row = row
    } else {
      this.#unlink(node)
      node.row = row
      this.#link(node)
    }
  }

  page(filter: ExecutionFilter): Page<Row> {
    return this.#smallestList(filter).page(filter, (row) => matches(row, filter))
  }

  #smallestList(filter: ExecutionFilter): NewestFirst<Row> {
    if (filter.rootExecutionId !== undefined) return this.#byRoot.get(filter.rootExecutionId) ?? newest()
    if (filter.sessionId !== undefined) return this.#bySession.get(filter.sessionId) ?? newest()
    return this.#all
  }

  #link(node: Node<Row>): void {
    const { row } = node
    this.#all.add(node)
    listOf(this.#bySession, row.sessionId).add(node)
    listOf(this.#byRoot, row.rootExecutionId).add(node)
    this.#runsOfAgent.set(row.agentId, (this.#runsOfAgent.get(row.agentId) ?? 0) + 1)
  }

  #unlink(node: Node<Row>): void {
    const { row } = node
    this.#all.remove(node)
    listOf(this.#bySession, row.sessionId).remove(node)
    listOf(this.#byRoot, row.rootExecutionId).remove(node)
    const runs = (this.#runsOfAgent.get(row.agentId) ?? 1) - 1
    if (runs === 0) this.#runsOfAgent.delete(row.agentId)
    else this.#runsOfAgent.set(row.agentId, runs)
  }
}

function newest<Row extends ExecutionFields>(): NewestFirst<Row> {
  return new NewestFirst<Row>(byStart as unknown as NewestOrder<Row>)
}

function listOf<Row extends ExecutionFields>(lists: Map<string, NewestFirst<Row>>, key: string): NewestFirst<Row> {
  let list = lists.get(key)
  if (list === undefined) {
    list = newest()
    lists.set(key, list)
  }
  return list
}

function samePlace(left: ExecutionFields, right: ExecutionFields): boolean {
  return (
    left.startedAt === right.startedAt &&
    left.sessionId === right.sessionId &&
    left.rootExecutionId === right.rootExecutionId &&
    left.agentId === right.agentId
  )
}

function matches(row: ExecutionFields, filter: ExecutionFilter): boolean {
  return (
    (filter.tenant === undefined || row.tenant === filter.tenant) &&
    (filter.createdBy === undefined || row.createdBy === filter.createdBy) &&
    (filter.sessionId === undefined || row.sessionId === filter.sessionId) &&
    (filter.agentCode === undefined || row.agentCode === filter.agentCode) &&
    (filter.agentId === undefined || row.agentId === filter.agentId) &&
    (filter.rootExecutionId === undefined || row.rootExecutionId === filter.rootExecutionId) &&
    (filter.status === undefined || row.status === filter.status) &&
    (filter.startedFrom === undefined || row.startedAt >= filter.startedFrom) &&
    (filter.startedTo === undefined || row.startedAt <= filter.startedTo) &&
    (filter.level === undefined || (filter.level === 'top') === (row.parentExecutionId === null))
  )
}
