import { SluiceError } from '../../errors/sluice-error.js'
import type { JsonValue } from '../../internal/json.js'
import type { DocumentKey, Documents } from '../store.js'
import type { CellAccess } from './cell-access.js'
import { cellOf, checkId, encodeKey, keyOf, prefixOf } from './check-key.js'
import { checkCursorText, pageLimit } from './page.js'
import { callbackFault, refusePromise } from './refuse-promise.js'
import { snapshotJson } from './snapshot-json.js'

type Values = readonly (JsonValue | undefined)[]

/** The documents of one namespace over `access`. @throws STORE_KEY_INVALID for a name that is no id */
export function createDocuments(access: CellAccess, namespace: string): Documents {
  const space = `documents:${checkId(namespace, 'A namespace')}`
  return {
    async get(key, call) {
      return (await access.read([cellOf(space, key)], call))[0]
    },
    async getMany(keys, call) {
      return access.read(
        keys.map((key) => cellOf(space, key)),
        call,
      )
    },
    async put(key, value, call) {
      const next = [snapshotJson(value, 'The document')]
      await access.change([cellOf(space, key)], () => ({ next, result: undefined }), call)
    },
    async delete(key, call) {
      return access.change(
        [cellOf(space, key)],
        ([current]) => ({ next: [undefined], result: current !== undefined }),
        call,
      )
    },
    async list(prefix, page = {}) {
      const limit = pageLimit(page.limit)
      const after = page.after === undefined ? undefined : checkCursorText(page.after)
      const found = await access.range(prefixOf(space, prefix), after, limit + 1, page)
      const items = found.slice(0, limit).map(({ cell, value }) => ({ key: keyOf(cell), value: value as JsonValue }))
      return { items, next: found.length > limit ? (found[limit - 1]?.cell ?? null) : null }
    },
    async transact(keys, change, call) {
      const cells = distinctCells(space, keys)
      return access.change(
        cells,
        (current, at) => {
          const decision = change(current, at)
          refusePromise(decision, 'transact')
          return { next: nextValues(decision, current), result: resultOf(decision) }
        },
        call,
      )
    },
    async update(key, change, call) {
      return access.change(
        [cellOf(space, key)],
        ([current], at) => {
          const value = change(current, at)
          refusePromise(value, 'update')
          const next = nextValue(value, current)
          return { next: [next], result: next }
        },
        call,
      )
    },
  }
}

function distinctCells(space: string, keys: readonly DocumentKey[]): string[] {
  const cells = keys.map((key) => cellOf(space, key))
  if (new Set(cells).size === cells.length) return cells
  const twice = keys.find((_, index) => cells.indexOf(cells[index] as string) !== index) as DocumentKey
  throw new SluiceError(
    'STORE_KEY_INVALID',
    `transact was given the key ${JSON.stringify(twice).slice(0, 200)} twice.`,
    {
      hint: 'List every key once.',
    },
  )
}

function nextValues(decision: { readonly next: Values }, current: Values): Values {
  const next = decision !== null && typeof decision === 'object' ? decision.next : undefined
  if (!Array.isArray(next) || next.length !== current.length) {
    throw callbackFault('transact', `returned no list \`next\` of ${current.length} values`)
  }
  return current.map((value, index) => {
    refusePromise(next[index], 'transact')
    return nextValue(next[index] as JsonValue | undefined, value)
  })
}

function nextValue(value: JsonValue | undefined, current: JsonValue | undefined): JsonValue | undefined {
  return value === undefined || value === current ? value : snapshotJson(value, 'The document')
}

function resultOf<Result>(decision: { readonly result: Result }): Result {
  refusePromise(decision.result, 'transact')
  return decision.result
}

/** The cell of a document in a space of the core's own. */
export function ownCell(space: string, id: string): string {
  return encodeKey([space, id])
}
