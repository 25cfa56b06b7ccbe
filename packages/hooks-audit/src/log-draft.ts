import type { JsonObject } from '@sluice/core'
import type { AuditDraft, AuditEvent } from './audit-entry.js'

/** An entry about the log itself: it belongs to no run, and to nobody. */
export function logDraft(event: AuditEvent, at: number, data: JsonObject): AuditDraft {
  return {
    event,
    at,
    run: null,
    execution: null,
    effectId: null,
    attempt: null,
    tenant: null,
    actor: null,
    session: null,
    app: null,
    agent: null,
    data,
  }
}
