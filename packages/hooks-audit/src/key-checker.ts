import { timingSafeEqual } from 'node:crypto'
import type { AuditEntry } from './audit-entry.js'
import type { AuditKey } from './seal-entry.js'
import { hmac } from './seal-entry.js'

/** Checks the message authentication codes of the entries of one log, in order. */
export class KeyChecker {
  readonly #keys: ReadonlyMap<string, AuditKey> | undefined
  readonly #from: number
  /** Id of the key in force; `undefined` before the first entry. */
  #inForce: string | null | undefined

  constructor(keys: readonly AuditKey[] | undefined, from: number) {
    this.#keys = keys === undefined ? undefined : new Map(keys.map((key) => [key.id, key]))
    this.#from = from
  }

  /** What is wrong with the codes of an entry; `undefined` where nothing is, or where no keys were given. */
  check(entry: AuditEntry, text: string): string | undefined {
    if (this.#keys === undefined) return undefined
    const macs = entry.macs ?? []
    const before = this.#inForce
    const now = macs.at(-1)?.key ?? null
    this.#inForce = now
    if (macs.length === 0) {
      if (typeof before === 'string') return `it has no code, and the key "${before}" was in force`
      return entry.seq >= this.#from ? 'it has no code' : undefined
    }
    for (const { key, mac } of macs) {
      const known = this.#keys.get(key)
      if (known === undefined) return `its key ${JSON.stringify(key)} was not given`
      const expected = hmac(known.secret, text)
      if (!timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(mac, 'hex'))) {
        return `its code under the key ${JSON.stringify(key)} is wrong`
      }
    }
    return this.#changeOf(entry, before, now)
  }

  #changeOf(entry: AuditEntry, before: string | null | undefined, now: string | null): string | undefined {
    if (before === undefined || before === now) return undefined
    const ids = (entry.macs ?? []).map(({ key }) => key)
    const both = before === null ? ids.length === 1 : ids.length === 2 && ids[0] === before
    if (entry.event === 'key.changed' && both && entry.data.from === before && entry.data.to === now) return undefined
    return `the key changed from ${JSON.stringify(before)} to ${JSON.stringify(now)} without an entry under both`
  }
}
