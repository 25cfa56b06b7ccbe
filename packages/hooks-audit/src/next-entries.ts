import type { LogEntry } from '@sluice/core'
import type { AuditDraft, AuditEntry } from './audit-entry.js'
import { NO_ENTRY } from './audit-entry.js'
import { auditError } from './audit-error.js'
import { logDraft } from './log-draft.js'
import { readEntry } from './read-entry.js'
import type { AuditKey } from './seal-entry.js'
import { hmac, sealEntry } from './seal-entry.js'

/** Keys of a log: the one in force, and those that may stand before it. */
export interface LogKeys {
  readonly current: AuditKey | undefined
  readonly previous: readonly AuditKey[]
}

/**
 * The entries that follow `tail`: the drafts in their order, and before them an entry under both keys where the key in force
 * is not the one of `tail`. Pure.
 *
 * @throws AUDIT_LOG_FOREIGN, AUDIT_KEY_UNKNOWN
 */
export function nextEntries(
  log: string,
  tail: LogEntry | undefined,
  at: number,
  drafts: readonly AuditDraft[],
  keys: LogKeys,
): AuditEntry[] {
  const last = tail === undefined ? undefined : readTail(log, tail, keys)
  const entries: AuditEntry[] = []
  let seq = last === undefined ? 0 : last.seq + 1
  let prev = last?.hash ?? NO_ENTRY
  const add = (draft: AuditDraft, sealing: readonly AuditKey[]): void => {
    const entry = sealEntry(draft, { log, seq, storedAt: at, prev }, sealing)
    entries.push(entry)
    seq += 1
    prev = entry.hash
  }
  const { current } = keys
  const before = last?.key ?? null
  if (last !== undefined && before !== (current?.id ?? null)) {
    if (current === undefined) throw keyUnknown(log, before, 'and no key was given')
    const old = keys.previous.find((key) => key.id === before)
    if (before !== null && old === undefined) throw keyUnknown(log, before, `and "${current.id}" is to follow it`)
    const first = drafts[0]
    add(
      logDraft('key.changed', first?.at ?? at, { from: before, to: current.id }),
      old === undefined ? [current] : [old, current],
    )
  }
  const sealing = current === undefined ? [] : [current]
  for (const draft of drafts) add(draft, sealing)
  return entries
}

interface Tail {
  readonly seq: number
  readonly hash: string
  /** Id of the key in force behind it. */
  readonly key: string | null
}

/** The last entry, which has to be sound, also under its own key where that was given: nothing is built on another one. */
function readTail(log: string, tail: LogEntry, keys: LogKeys): Tail {
  const { entry, text, why } = readEntry(tail.value)
  if (entry === undefined) throw foreign(log, tail, why ?? 'it cannot be read')
  if (entry.log !== log || entry.seq !== tail.index) throw foreign(log, tail, 'it belongs to another place')
  const last = entry.macs?.at(-1)
  const known = [keys.current, ...keys.previous].find((key) => key !== undefined && key.id === last?.key)
  if (last !== undefined && known !== undefined && hmac(known.secret, text) !== last.mac) {
    throw foreign(log, tail, 'its code is wrong')
  }
  return { seq: entry.seq, hash: entry.hash, key: last?.key ?? null }
}

function foreign(log: string, tail: LogEntry, why: string): Error {
  return auditError('AUDIT_LOG_FOREIGN', `Entry ${tail.index} of the log "${log}" is not what was written: ${why}.`, {
    log,
    index: tail.index,
  })
}

function keyUnknown(log: string, key: string | null, why: string): Error {
  return auditError('AUDIT_KEY_UNKNOWN', `The log "${log}" goes on under the key "${key ?? 'none'}", ${why}.`, {
    log,
    key,
  })
}
