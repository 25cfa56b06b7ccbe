import { timingSafeEqual } from 'node:crypto'
import type { AuditEntry } from './audit-entry.js'
import type { AuditKey } from './seal-entry.js'
import { hmac } from './seal-entry.js'

/**
 * Checks the message authentication codes of the entries of one log, in order. Without keys it still finds a code that is
 * missing where a key was in force, one too many, and a key that changed without an entry under both.
 */
export class KeyChecker {
  readonly #keys: ReadonlyMap<string, AuditKey> | undefined
  readonly #from: number
  /** Id of the key in force; `undefined` where the entry before is not known. */
  #inForce: string | null | undefined
  #next = 0

  constructor(keys: readonly AuditKey[] | undefined, from: number) {
    this.#keys = keys === undefined ? undefined : new Map(keys.map((key) => [key.id, key]))
    this.#from = from
  }

  /** What is wrong with the codes of an entry; `undefined` where nothing is. */
  check(entry: AuditEntry, text: string): string | undefined {
    const before = entry.seq === this.#next ? this.#inForce : undefined
    this.#next = entry.seq + 1
    this.#inForce = entry.macs?.at(-1)?.key ?? null
    return orderFault(entry, before) ?? this.#codeFault(entry, text)
  }

  #codeFault(entry: AuditEntry, text: string): string | undefined {
    if (this.#keys === undefined) return undefined
    if (entry.macs === undefined) return entry.seq >= this.#from ? 'it has no code' : undefined
    for (const { key, mac } of entry.macs) {
      const known = this.#keys.get(key)
      if (known === undefined) return `its key ${JSON.stringify(key)} was not given`
      const expected = hmac(known.secret, text)
      if (!timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(mac, 'hex'))) {
        return `its code under the key ${JSON.stringify(key)} is wrong`
      }
    }
    return undefined
  }
}

/** Which codes an entry must have, behind one under the key `before`: one under that key, two where the key changes. */
function orderFault({ event, data, macs = [] }: AuditEntry, before: string | null | undefined): string | undefined {
  const ids = macs.map(({ key }) => key)
  if (event === 'key.changed') {
    const { from, to } = data
    const both =
      from === null ? ids.length === 1 && ids[0] === to : ids.length === 2 && ids[0] === from && ids[1] === to
    return both && from !== to && (before === undefined || before === from) ? undefined : notUnderBoth(before, ids)
  }
  if (ids.length === 0) {
    return typeof before === 'string' ? `it has no code, and the key ${JSON.stringify(before)} was in force` : undefined
  }
  if (before !== undefined && before !== ids.at(-1)) return notUnderBoth(before, ids)
  return ids.length === 1 ? undefined : 'it has more codes than one'
}

function notUnderBoth(before: string | null | undefined, ids: readonly string[]): string {
  const from = JSON.stringify(before ?? null)
  return `the key changed from ${from} to ${JSON.stringify(ids.at(-1) ?? null)} without an entry under both`
}
