/**
 * What is wrong with a log.
 *
 * - `changed`: the entry at this place of the chain is not what was written there
 * - `dropped`: entries are missing inside the log
 * - `reordered`: an entry stands at another place than its own
 * - `inserted`: an entry that does not belong to the chain
 * - `duplicated`: an entry of the chain that stands there once more
 * - `truncated`: the log ends before what an anchor holds
 * - `rewritten`: the chain is whole, and is not the one that an anchor holds
 * - `mac`: a code that is missing or wrong, or a key that changed without an entry under both keys
 */
export type AuditFaultKind =
  | 'changed'
  | 'dropped'
  | 'reordered'
  | 'inserted'
  | 'duplicated'
  | 'truncated'
  | 'rewritten'
  | 'mac'

/** One fault, by the numbers (`seq`) of the entries that it is about. */
export interface AuditFault {
  readonly kind: AuditFaultKind
  /** The first entry that it is about. */
  readonly from: number
  /** The last one. */
  readonly to: number
  /** Where it was found: place in what was read, from 0; `null` for what is not there. */
  readonly place: number | null
  /** One sentence that names it. */
  readonly message: string
}
