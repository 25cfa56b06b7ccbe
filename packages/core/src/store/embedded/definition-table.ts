import { SluiceError } from '../../errors/sluice-error.js'
import { escapeControl } from '../../internal/escape-text.js'
import type { DefinitionRecord } from '../records.js'
import type { Page, PageRequest } from '../store.js'
import { formatCursor, pageLimit, parseCursor } from './page.js'
import { compareText } from './sorted-list.js'

/**
 * The definitions of one kind at one moment. Changing makes another table: definitions are few and change seldom, and so
 * a reader, a batch and a transaction each keep the one they started from.
 */
export class DefinitionTable {
  readonly #byId: ReadonlyMap<string, DefinitionRecord>
  readonly #byCode: ReadonlyMap<string, readonly DefinitionRecord[]>

  constructor(records: Iterable<DefinitionRecord> = []) {
    this.#byId = new Map([...records].map((record) => [record.id, record]))
    const byCode = new Map<string, DefinitionRecord[]>()
    for (const record of this.#byId.values()) {
      const versions = byCode.get(record.code)
      if (versions === undefined) byCode.set(record.code, [record])
      else versions.push(record)
    }
    for (const versions of byCode.values()) versions.sort((left, right) => left.version - right.version)
    this.#byCode = byCode
  }

  get(id: string): DefinitionRecord | undefined {
    return this.#byId.get(id)
  }

  /** All versions of a code, lowest first. */
  versions(code: string): readonly DefinitionRecord[] {
    return this.#byCode.get(code) ?? []
  }

  /** @throws DUPLICATE_NAME where the id, or code and version, are taken */
  insert(record: DefinitionRecord): DefinitionTable {
    if (this.#byId.has(record.id)) throw duplicate(`A definition with the id '${escapeControl(record.id, 200)}' exists`)
    this.#refuseSecond(record)
    return new DefinitionTable([...this.#byId.values(), record])
  }

  /** @throws NOT_FOUND without a record of this id; DUPLICATE_NAME where another has its code and version */
  replace(record: DefinitionRecord): DefinitionTable {
    if (!this.#byId.has(record.id)) {
      throw new SluiceError('NOT_FOUND', `There is no definition with the id '${escapeControl(record.id, 200)}'.`, {
        hint: 'Insert it first.',
      })
    }
    this.#refuseSecond(record)
    return this.with(record)
  }

  /** The table with this record in its place; checks nothing. */
  with(record: DefinitionRecord): DefinitionTable {
    return new DefinitionTable([...this.#byId.values(), record])
  }

  without(id: string): DefinitionTable {
    return new DefinitionTable([...this.#byId.values()].filter((record) => record.id !== id))
  }

  /** Records by code and version. */
  page(request: PageRequest & { readonly status?: DefinitionRecord['status'] }): Page<DefinitionRecord> {
    const limit = pageLimit(request.limit)
    const after = request.after === undefined ? undefined : parseCursor(request.after)
    const items: DefinitionRecord[] = []
    for (const code of [...this.#byCode.keys()].sort(compareText)) {
      if (after !== undefined && code < after.text) continue
      for (const record of this.versions(code)) {
        if (after !== undefined && code === after.text && record.version <= after.number) continue
        if (request.status !== undefined && record.status !== request.status) continue
        if (items.length === limit) {
          const last = items[limit - 1] as DefinitionRecord
          return { items, next: formatCursor(last.version, last.code) }
        }
        items.push(record)
      }
    }
    return { items, next: null }
  }

  /** At most one version of an agent is active. @throws DUPLICATE_NAME */
  checkActive(code: string): void {
    const active = this.versions(code).filter((record) => record.status === 'active')
    if (active.length < 2) return
    throw duplicate(
      `Agent '${escapeControl(code, 200)}' would have ${active.length} active versions (${active.map((record) => record.version).join(', ')})`,
      'Archive the active version in the same transaction.',
    )
  }

  #refuseSecond(record: DefinitionRecord): void {
    const taken = this.versions(record.code).find((other) => other.version === record.version && other.id !== record.id)
    if (taken === undefined) return
    throw duplicate(`Version ${record.version} of '${escapeControl(record.code, 200)}' exists`)
  }
}

function duplicate(what: string, hint = 'Take the next version, or replace that record.'): SluiceError {
  return new SluiceError('DUPLICATE_NAME', `${what}; nothing was written.`, { hint })
}
