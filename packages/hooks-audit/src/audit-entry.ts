import type { JsonObject, JsonValue } from '@sluice/core'

/** What an entry tells. An intent is durable before its effect; the outcome follows, paired by `effectId` and `attempt`. */
export type AuditEvent =
  | 'run.intent'
  | 'run.outcome'
  | 'model.intent'
  | 'model.outcome'
  | 'tool.intent'
  | 'tool.outcome'
  | 'stop'
  | 'key.changed'
  | 'personal.erased'

/** A message authentication code over the hashed bytes of an entry. */
export interface EntryMac {
  /** Id of the key. */
  readonly key: string
  /** HMAC-SHA256, 64 hexadecimal characters. */
  readonly mac: string
}

/** Stands where a personal value was; the value and its salt lie beside the chain until they are erased. */
export interface PersonalReference {
  /** Id of the value. */
  readonly personal: string
  /** HMAC-SHA256 of the canonical value under its salt, 64 hexadecimal characters. */
  readonly hmac: string
}

/** What is known of an entry before it gets its place in the chain. Times are milliseconds since the epoch. */
export interface AuditDraft {
  readonly event: AuditEvent
  /** The writer's time. */
  readonly at: number
  /** Root execution id of the run, or of a plain call outside one; `null` for entries about the log itself. */
  readonly run: string | null
  readonly execution: string | null
  readonly effectId: string | null
  readonly attempt: number | null
  readonly tenant: JsonValue
  /** Who started the run, or who asked for what an entry about the log tells. */
  readonly actor: JsonValue
  readonly session: JsonValue
  readonly app: JsonValue
  readonly agent: JsonValue
  readonly data: JsonObject
}

/**
 * One entry of a log. Everything but `hash` and `macs` is hashed, as canonical JSON (RFC 8785): `hash` is its SHA-256, `prev`
 * that of the entry before it (64 zeros in the first).
 *
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export interface AuditEntry extends AuditDraft {
  readonly v: 1
  /** Name of the log. */
  readonly log: string
  /** Place in the log, from 0, without gaps. */
  readonly seq: number
  /** The store's time, read when the entry got its place. */
  readonly storedAt: number
  readonly prev: string
  readonly hash: string
  /** One per key: two in the entry that changes the key. Absent where there is no key. */
  readonly macs?: readonly EntryMac[]
}

/** `prev` of the first entry. */
export const NO_ENTRY = '0'.repeat(64)
