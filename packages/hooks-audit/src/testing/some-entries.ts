import type { JsonObject } from '@sluice/core'
import type { AuditDraft, AuditEntry } from '../audit-entry.js'
import { NO_ENTRY } from '../audit-entry.js'
import type { AuditKey } from '../seal-entry.js'
import { sealEntry } from '../seal-entry.js'

/** A draft of a tool's outcome; `data` and the rest as a test wants them. */
export function someDraft(fields: Partial<AuditDraft> = {}, data: JsonObject = {}): AuditDraft {
  return {
    event: 'tool.outcome',
    at: 1_767_225_600_000,
    run: 'r1',
    execution: 'r1',
    effectId: 'r1/m1.t1',
    attempt: 1,
    tenant: null,
    actor: 'petra.k',
    session: null,
    app: null,
    agent: 'desk',
    data: { outcome: 'ok', sent: 'no', ...data },
    ...fields,
  }
}

/** A whole chain of so many entries. */
export function someChain(size: number, keys: readonly AuditKey[] = [], log = 'audit'): AuditEntry[] {
  const entries: AuditEntry[] = []
  for (let seq = 0; seq < size; seq++) {
    const draft = someDraft({ effectId: `r1/m1.t${seq}` })
    const prev = entries.at(-1)?.hash ?? NO_ENTRY
    entries.push(sealEntry(draft, { log, seq, storedAt: 1_767_225_600_000 + seq, prev }, keys))
  }
  return entries
}

/** The entry with other content and a hash that fits it, as somebody would forge it. */
export function forged(entry: AuditEntry, change: Partial<AuditDraft>): AuditEntry {
  const { v: _v, hash: _hash, macs: _macs, log, seq, storedAt, prev, ...draft } = entry
  return sealEntry({ ...draft, ...change }, { log, seq, storedAt, prev }, [])
}
