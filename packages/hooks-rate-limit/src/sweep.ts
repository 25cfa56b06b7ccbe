import type { Documents, JsonValue } from '@sluice/core'
import { LEDGERS } from './limit-rule.js'
import { isOver } from './ledger.js'
import { QUOTAS } from './quota-rooms.js'

const PAGE = 100

/**
 * Deletes documents in which nothing stands any more: of keys that never come back, and of limits that are gone. `hint` is
 * any clock near the store's; what it picks is judged by the store's own. Returns how many went, and where to go on: `null`
 * at the end.
 */
export async function sweepPage(
  documents: Documents,
  after: string | null,
  hint: number,
  signal?: AbortSignal,
): Promise<{ readonly deleted: number; readonly next: string | null }> {
  const call = signal === undefined ? {} : { signal }
  const page = await documents.list([], { limit: PAGE, ...(after === null ? {} : { after }), ...call })
  const keys = page.items.filter(({ key, value }) => ours(key[0]) && isOver(value, hint)).map(({ key }) => key)
  if (keys.length === 0) return { deleted: 0, next: page.next }
  const deleted = await documents.transact(
    keys,
    (current, at) => {
      const next = current.map((value): JsonValue | undefined => (isOver(value, at) ? undefined : value))
      return { next, result: next.filter((value, index) => value === undefined && current[index] !== undefined).length }
    },
    call,
  )
  return { deleted, next: page.next }
}

function ours(first: string | undefined): boolean {
  return first === LEDGERS || first === QUOTAS
}
